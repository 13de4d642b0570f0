"""The tree of RFC 9162: known answers, the recursive definition, and proofs that are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_runs import examples

from certirag.errors import CertificateError
from certirag.proof.merkle import (
    EMPTY_ROOT,
    completed_nodes,
    consistency_path,
    inclusion_path,
    is_consistent,
    leaf_hash,
    root_from_inclusion,
    root_hash,
)

# The reference tree of the Certificate Transparency tests (RFC 6962; RFC 9162 hashes alike).
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
FIRST = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
SECOND = "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
THIRD_FOURTH = "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
FIFTH = "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
FIFTH_SIXTH = "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"
SEVENTH_EIGHTH = "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
LAST_FOUR = "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
# (index, size) → audit path
INCLUSIONS = {
    (0, 1): [],
    (0, 8): [SECOND, THIRD_FOURTH, LAST_FOUR],
    (5, 8): [FIFTH, SEVENTH_EIGHTH, ROOTS[3]],
    (2, 3): [ROOTS[1]],
    (1, 5): [FIRST, THIRD_FOURTH, FIFTH],
}
# (first, second) → proof
CONSISTENCIES = {
    (1, 1): [],
    (1, 8): [SECOND, THIRD_FOURTH, LAST_FOUR],
    (6, 8): [FIFTH_SIXTH, SEVENTH_EIGHTH, ROOTS[3]],
    (2, 5): [THIRD_FOURTH, FIFTH],
}
EXHAUSTIVE = 40


class Tree:
    """All nodes of a tree, grown leaf by leaf as a log grows it."""

    def __init__(self, leaves: Sequence[bytes] = ()) -> None:
        self.size = 0
        self.nodes: dict[tuple[int, int], bytes] = {}
        for leaf in leaves:
            for level, node in enumerate(completed_nodes(self.size, leaf_hash(leaf), self.node)):
                self.nodes[level, self.size >> level] = node
            self.size += 1

    def node(self, level: int, number: int) -> bytes:
        return self.nodes[level, number]


def numbered(size: int) -> list[bytes]:
    """Return *size* leaves, each another."""
    return [f"leaf {number}".encode() for number in range(size)]


def defined_root(leaves: Sequence[bytes]) -> bytes:
    """The Merkle Tree Hash as RFC 9162 §2.1.1 defines it, by recursion over the leaves."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    halves = defined_root(leaves[:split]) + defined_root(leaves[split:])
    return hashlib.sha256(b"\x01" + halves).digest()


def defined_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """The audit path as RFC 9162 §2.1.3.1 defines it."""
    if len(leaves) == 1:
        return []
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if index < split:
        return [*defined_path(index, leaves[:split]), defined_root(leaves[split:])]
    return [*defined_path(index - split, leaves[split:]), defined_root(leaves[:split])]


def spoiled(path: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Yield every neighbour of *path* that is another proof."""
    for place, step in enumerate(path):
        yield (*path[:place], *path[place + 1 :])
        yield (*path[:place], bytes([step[0] ^ 1]) + step[1:], *path[place + 1 :])
        yield (*path[:place], step, *path[place:])
        if place and path[place - 1] != step:
            yield (*path[: place - 1], step, path[place - 1], *path[place + 1 :])
    yield (*path, bytes(32))
    yield (bytes(32), *path)


def includes(index: int, size: int, leaf: bytes, path: Sequence[bytes], root: bytes) -> bool:
    """Say whether *path* leads from the leaf hash *leaf* to *root*; a malformed one does not."""
    try:
        return root_from_inclusion(index, size, leaf, path) == root
    except CertificateError:
        return False


def test_known_roots() -> None:
    """The eight roots of the reference tree, and the root of no leaf at all."""
    assert hashlib.sha256(b"").hexdigest() == EMPTY_ROOT.hex() == root_hash(0, Tree().node).hex()
    for size, root in enumerate(ROOTS, start=1):
        tree = Tree(LEAVES[:size])
        assert root_hash(size, tree.node).hex() == root
        assert root_hash(size, Tree(LEAVES).node).hex() == root  # out of the larger tree too


@pytest.mark.parametrize(("index", "size"), INCLUSIONS)
def test_known_inclusion_proofs(index: int, size: int) -> None:
    """The reference audit paths are made, and lead to the reference roots."""
    path = [bytes.fromhex(step) for step in INCLUSIONS[index, size]]
    assert list(inclusion_path(index, size, Tree(LEAVES).node)) == path
    found = root_from_inclusion(index, size, leaf_hash(LEAVES[index]), path)
    assert found.hex() == ROOTS[size - 1]


@pytest.mark.parametrize(("first", "second"), CONSISTENCIES)
def test_known_consistency_proofs(first: int, second: int) -> None:
    """The reference consistency proofs are made, and hold between the reference roots."""
    path = [bytes.fromhex(step) for step in CONSISTENCIES[first, second]]
    assert list(consistency_path(first, second, Tree(LEAVES).node)) == path
    one, other = bytes.fromhex(ROOTS[first - 1]), bytes.fromhex(ROOTS[second - 1])
    assert is_consistent(first, second, one, other, path)


def test_every_inclusion_proof_of_small_trees() -> None:
    """For each leaf of each tree: the defined path, the defined root, and no neighbour of it."""
    tree = Tree(numbered(EXHAUSTIVE))
    for size in range(1, EXHAUSTIVE + 1):
        leaves = numbered(size)
        root = defined_root(leaves)
        assert root_hash(size, tree.node) == root
        for index in range(size):
            leaf = leaf_hash(leaves[index])
            path = inclusion_path(index, size, tree.node)
            assert list(path) == defined_path(index, leaves)
            assert includes(index, size, leaf, path, root)
            assert not any(includes(index, size, leaf, other, root) for other in spoiled(path))
            # With another leaf's path or place it is no proof either.
            assert not includes(index + 1, size, leaf, path, root)
            assert not includes(index, size, leaf_hash(b"other"), path, root)


def test_every_consistency_proof_of_small_trees() -> None:
    """For each pair of sizes the proof holds, and none of its neighbours does."""
    tree = Tree(numbered(EXHAUSTIVE))
    roots = [root_hash(size, tree.node) for size in range(EXHAUSTIVE + 1)]
    for second in range(1, EXHAUSTIVE + 1):
        for first in range(1, second + 1):
            path = consistency_path(first, second, tree.node)
            one, other = roots[first], roots[second]
            assert is_consistent(first, second, one, other, path)
            assert not any(is_consistent(first, second, one, other, p) for p in spoiled(path))
            assert not is_consistent(first, second, bytes(32), other, path)
            assert not is_consistent(first, second, one, bytes(32), path)
            if first < second:
                assert not is_consistent(second, first, other, one, path)
                # Not for another first size, unless that root is given too.
                assert not is_consistent(first + 1, second, one, other, path)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (2, 1), (-1, 1)])
def test_no_consistency_with_nothing_or_with_less(first: int, second: int) -> None:
    """There is no proof from an empty tree, or to a smaller one, and none is accepted."""
    with pytest.raises(CertificateError):
        consistency_path(first, second, Tree(LEAVES).node)
    assert not is_consistent(first, second, EMPTY_ROOT, bytes.fromhex(ROOTS[0]), [])


@pytest.mark.parametrize(("index", "size"), [(0, 0), (1, 1), (-1, 1), (8, 8)])
def test_no_inclusion_of_what_is_not_there(index: int, size: int) -> None:
    """An index outside the tree has no path, and none leads to a root."""
    with pytest.raises(CertificateError):
        inclusion_path(index, size, Tree(LEAVES).node)
    with pytest.raises(CertificateError):
        root_from_inclusion(index, size, leaf_hash(b""), [])


@given(st.lists(st.binary(max_size=24), max_size=70), st.data())
@examples(150)
def test_any_leaves(leaves: list[bytes], data: st.DataObject) -> None:
    """Grown leaf by leaf or defined by recursion, it is one tree; its proofs read few nodes."""
    tree = Tree(leaves)
    root = root_hash(len(leaves), tree.node)
    assert root == defined_root(leaves)
    if not leaves:
        return
    size = len(leaves)
    index = data.draw(st.integers(0, size - 1))
    first = data.draw(st.integers(1, size))
    read: list[tuple[int, int]] = []

    def counted(level: int, number: int) -> bytes:
        read.append((level, number))
        return tree.node(level, number)

    path = inclusion_path(index, size, counted)
    assert includes(index, size, leaf_hash(leaves[index]), path, root)
    assert len(path) <= (size - 1).bit_length() >= len(consistency_path(first, size, counted)) - 1
    assert len(read) <= 2 * 2 * size.bit_length()
    proof = consistency_path(first, size, tree.node)
    assert is_consistent(first, size, defined_root(leaves[:first]), root, proof)


@given(st.integers(1, 200), st.data())
@examples(200)
def test_a_changed_bit_in_a_proof_is_refused(size: int, data: st.DataObject) -> None:
    """Any bit of any hash of a proof, and any bit of the leaf hash."""
    tree = Tree(numbered(size))
    root = root_hash(size, tree.node)
    index = data.draw(st.integers(0, size - 1))
    steps = [leaf_hash(numbered(size)[index]), *inclusion_path(index, size, tree.node)]
    place, bit = data.draw(st.integers(0, len(steps) - 1)), data.draw(st.integers(0, 255))
    changed = bytearray(steps[place])
    changed[bit // 8] ^= 1 << bit % 8
    steps[place] = bytes(changed)
    assert not includes(index, size, steps[0], steps[1:], root)


@given(st.integers(2, 120), st.data())
@examples(150)
def test_another_history_has_no_consistency_proof(size: int, data: st.DataObject) -> None:
    """Where one leaf before the checkpoint differs, the honest proof of the fork is refused."""
    first = data.draw(st.integers(1, size))
    changed = data.draw(st.integers(0, first - 1))
    leaves, forked = numbered(size), numbered(size)
    forked[changed] = b"another"
    tree = Tree(forked)
    proof = consistency_path(first, size, tree.node)
    root = root_hash(size, tree.node)
    assert not is_consistent(first, size, defined_root(leaves[:first]), root, proof)
    assert is_consistent(first, size, defined_root(forked[:first]), root, proof)


def test_a_leaf_is_no_node() -> None:
    """The prefixes keep a leaf made of two hashes from passing as the node over them."""
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert leaf_hash(left + right) != root_hash(2, Tree([b"a", b"b"]).node)
