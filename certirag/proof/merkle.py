"""The Merkle tree of RFC 9162 §2.1: roots, inclusion proofs and consistency proofs, pure.

Hashes are 32 bytes of SHA-256; a leaf is hashed with the prefix 0x00, a pair of nodes with 0x01.
The tree is read through a `NodeReader`, which returns the hash of a complete subtree, so a proof
over n leaves reads O(log n) of them, and nothing of the rest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Final

from certirag.errors import CertificateError

EMPTY_ROOT: Final = hashlib.sha256(b"").digest()
# (level, number) → hash of the complete subtree over leaves number·2^level up to the next one.
NodeReader = Callable[[int, int], bytes]


def leaf_hash(leaf: bytes) -> bytes:
    """Return the hash of one leaf's bytes."""
    return hashlib.sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return the hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def completed_nodes(size: int, leaf: bytes, node: NodeReader) -> tuple[bytes, ...]:
    """Return the subtrees that the leaf hash *leaf*, appended to *size* leaves, completes.

    The first is the leaf itself (level 0), the next ones the levels above it, each read from its
    left half: as many as *size* has trailing one bits.
    """
    found = [leaf]
    level = 0
    while (size >> level) & 1:
        found.append(node_hash(node(level, (size >> level) - 1), found[-1]))
        level += 1
    return tuple(found)


def root_hash(size: int, node: NodeReader) -> bytes:
    """Return the root over the first *size* leaves."""
    return _subtree(0, size, node) if size else EMPTY_ROOT


def inclusion_path(index: int, size: int, node: NodeReader) -> tuple[bytes, ...]:
    """Return the audit path of leaf *index* in the tree of *size* leaves (RFC 9162 §2.1.3.1)."""
    if not 0 <= index < size:
        raise CertificateError(f"there is no leaf {index} in a tree of {size}")
    path: list[bytes] = []
    low, high = 0, size
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(_subtree(middle, high, node))
            high = middle
        else:
            path.append(_subtree(low, middle, node))
            low = middle
    return tuple(reversed(path))


def consistency_path(first: int, second: int, node: NodeReader) -> tuple[bytes, ...]:
    """Return the proof that *second* leaves begin with the same *first* (RFC 9162 §2.1.4.1)."""
    if not 0 < first <= second:
        raise CertificateError(f"a tree of {second} leaves cannot extend one of {first}")
    path: list[bytes] = []
    low, high, whole = 0, second, True
    while first != high:
        middle = low + _split(high - low)
        if first <= middle:
            path.append(_subtree(middle, high, node))
            high = middle
        else:
            path.append(_subtree(low, middle, node))
            low, whole = middle, False
    if not whole:
        path.append(_subtree(low, high, node))
    return tuple(reversed(path))


def root_from_inclusion(index: int, size: int, leaf: bytes, path: Sequence[bytes]) -> bytes:
    """Return the root that *path* gives the leaf hash *leaf* (RFC 9162 §2.1.3.2).

    *size* must come from the signed checkpoint: a path does not bind it. Raises CertificateError
    for a path of the wrong length.
    """
    if not 0 <= index < size:
        raise CertificateError(f"there is no leaf {index} in a tree of {size}")
    number, last, root = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise CertificateError("the inclusion proof is too long")
        if number & 1 or number == last:
            root = node_hash(sibling, root)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            root = node_hash(root, sibling)
        number, last = number >> 1, last >> 1
    if last != 0:
        raise CertificateError("the inclusion proof is too short")
    return root


def is_consistent(
    first: int, second: int, first_root: bytes, second_root: bytes, path: Sequence[bytes]
) -> bool:
    """Say whether *path* proves that the second tree extends the first (RFC 9162 §2.1.4.2)."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    rest = list(path) if first & (first - 1) else [first_root, *path]
    if not rest:
        return False
    number, last = first - 1, second - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    one = other = rest[0]
    for sibling in rest[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            one, other = node_hash(sibling, one), node_hash(sibling, other)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            other = node_hash(other, sibling)
        number, last = number >> 1, last >> 1
    return last == 0 and one == first_root and other == second_root


def _split(size: int) -> int:
    """Return the largest power of two below *size* (at least 2)."""
    return 1 << ((size - 1).bit_length() - 1)


def _subtree(low: int, high: int, node: NodeReader) -> bytes:
    """Return the hash over leaves *low* to *high*; *low* is where a subtree of that size begins."""
    peaks: list[bytes] = []
    at = low
    while at < high:
        level = (high - at).bit_length() - 1
        peaks.append(node(level, at >> level))
        at += 1 << level
    root = peaks.pop()
    while peaks:
        root = node_hash(peaks.pop(), root)
    return root
