"""Changes the gate's code in one place at a time and says which changes no test notices.

    python scripts/mutate.py [--jobs N] [--only TEXT] [FILE ...]

Each mutant runs in a forked process in which the one module is compiled from changed source, so
no file is touched and third-party packages are imported once. Own code instead of mutmut, whose
copied tree and wrapped functions break tests that read sources or look at exact types, and which
leaves module-level tables and thresholds alone. Exit 4 if a mutant survives that
`tests/proofs/equivalent_mutants.json` does not explain, or if that file explains one that died.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
TARGETS: Final = [
    f"certirag/render/{name}.py" for name in ("gate", "rules", "certify", "probe_verdicts")
]
TARGETS.append("certirag/core/policy.py")
EQUIVALENT: Final = ROOT / "tests/proofs/equivalent_mutants.json"
# Nearest first: most mutants die in the first file.
TESTS: Final = [
    *("attacks/test_rules_exact", "attacks/test_gate_exact", "attacks/test_planted_exact"),
    *("attacks/test_fail_open", "attacks/test_sealed_decision", "unit/test_policy"),
    "attacks/test_probe",
]
LIMIT_S: Final = 120
SWAPS: Final[dict[type, type]] = {
    one: other
    for a, b in (
        *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Is, ast.IsNot)),
        *((ast.In, ast.NotIn), (ast.And, ast.Or), (ast.Add, ast.Sub)),
    )
    for one, other in ((a, b), (b, a))
}
CALLS: Final = {"all": "any", "any": "all", "max": "min", "min": "max", "sorted": "list"}


def changes(node: ast.AST, parent: ast.AST) -> Iterator[ast.AST]:  # noqa: PLR0912  # one table
    """Yield each changed copy of *node*."""
    match node:
        case ast.Compare(ops=ops):
            for place, op in enumerate(ops):
                if type(op) in SWAPS:
                    changed = deepcopy(node)
                    changed.ops[place] = SWAPS[type(op)]()
                    yield changed
        case ast.BoolOp(values=values):
            yield ast.BoolOp(SWAPS[type(node.op)](), values)
            for place in range(len(values)):
                yield ast.BoolOp(node.op, values[:place] + values[place + 1 :])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        case ast.If(body=body, orelse=rest):
            for fixed in (True, False):
                yield ast.If(ast.Constant(fixed), body, rest)
        case ast.IfExp(body=body, orelse=rest):
            yield from (body, rest)
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield ast.Call(ast.Name(CALLS[name]), node.args, node.keywords)
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=str() as value) if value and not isinstance(parent, ast.JoinedStr):
            if isinstance(parent, ast.Compare | ast.Tuple | ast.Subscript | ast.Dict | ast.Set):
                yield ast.Constant(value + "~")
        case ast.comprehension(ifs=tests):
            for place in range(len(tests)):
                kept = tests[:place] + tests[place + 1 :]
                yield ast.comprehension(node.target, node.iter, kept, node.is_async)
        case ast.Raise() | ast.AugAssign():
            yield ast.Pass()


def mutants(path: str) -> Iterator[tuple[str, str]]:
    """Yield (name, source) of every mutant of the file; a name holds no line numbers."""
    tree = ast.parse((ROOT / path).read_text())
    seen = Counter[str]()
    for place, within in _places(tree, ""):
        parent, name, index = place
        child = getattr(parent, name)
        node = child if index is None else child[index]
        for changed in changes(node, parent):
            if index is None:
                setattr(parent, name, changed)
            else:
                child[index] = changed
            source = ast.unparse(ast.fix_missing_locations(tree))
            label = f"{path}::{within}: {_short(node)} -> {_short(changed)}"
            seen[label] += 1
            yield label + (f" #{seen[label]}" if seen[label] > 1 else ""), source
            if index is None:
                setattr(parent, name, node)
            else:
                child[index] = node


def _short(node: ast.AST) -> str:
    shown = ast.If(node.test, [ast.Pass()], []) if isinstance(node, ast.If) else node
    return " ".join(ast.unparse(ast.fix_missing_locations(deepcopy(shown))).split())[:160]


def _places(node: ast.AST, within: str) -> Iterator[tuple[tuple[Any, str, int | None], str]]:
    """Yield where each expression and statement hangs, and in which function; no type hints."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        within = f"{within}.{node.name}".strip(".")
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and not text:
                yield (node, name, index), within
                yield from _places(child, within)


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Loads one module from changed source."""

    def __init__(self, path: str, source: str) -> None:
        self._name = path.removesuffix(".py").replace("/", ".")
        self._path, self._source = path, source

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> Any:
        origin = str(ROOT / self._path)
        if fullname == self._name:
            return importlib.util.spec_from_loader(fullname, self, origin=origin)
        return None

    def get_source(self, _fullname: str) -> str:
        return self._source


def survives(path: str, source: str, tests: list[str]) -> bool:
    """Say whether every test passes with *source* in place of the file at *path*."""
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(LIMIT_S)
        code = 1
        try:
            import pytest  # noqa: PLC0415  # imported before the fork

            sys.meta_path.insert(0, _Mutated(path, source))
            options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
            code = int(pytest.main([*options, *tests]))
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main() -> int:
    """Run every mutant of the files; print the survivors and a count."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("files", nargs="*", default=TARGETS)
    options.add_argument("--jobs", type=int, default=4)
    options.add_argument("--tests", nargs="+", default=TESTS, help="test files, without .py")
    options.add_argument("--only", default="", help="only mutants whose name holds this text")
    chosen = options.parse_args()
    os.chdir(ROOT)
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp()
    for package in (
        "pytest",
        "hypothesis",
        "pydantic",
        "cryptography.hazmat.primitives.asymmetric.ed25519",
    ):
        importlib.import_module(package)
    tests = [f"tests/{name}.py" for name in chosen.tests if (ROOT / f"tests/{name}.py").exists()]
    known = json.loads(EQUIVALENT.read_text()) if EQUIVALENT.exists() else {}
    todo = [
        (path, name, source)
        for path in chosen.files
        for name, source in mutants(path)
        if chosen.only in name
    ]
    if not survives(todo[0][0], (ROOT / todo[0][0]).read_text(), tests):
        print("the tests fail without any change", file=sys.stderr)
        return 2
    began, wrong = time.monotonic(), []
    with ThreadPoolExecutor(chosen.jobs) as pool:
        alive = pool.map(lambda one: survives(one[0], one[2], tests), todo)
        for done, ((_, name, _), survived) in enumerate(zip(todo, alive, strict=True), 1):
            if survived != (name in known):
                wrong.append(name)
                print("SURVIVED" if survived else "EXPLAINED BUT KILLED", name, flush=True)
            if done % 100 == 0:
                print(f"{done} of {len(todo)}", file=sys.stderr, flush=True)
    spent = time.monotonic() - began
    print(f"{len(todo)} mutants, {len(wrong)} unexplained, {len(known)} equivalent, {spent:.0f} s")
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
