"""Mutation testing: of all small changes to a module, how many does a test notice? `make mutants`.

A mutant is the module with one change: an operator, a comparison, a constant, a condition, a keyword left out, `min`
for `max`. It is never written to a file: a fork of this process imports it in place of the module, and runs the tests
that concern it until one fails. What is heavy to import is imported before the fork.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import itertools
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GOLDEN = "tests/golden/test_golden_models.py::test_a_golden_model_loads_and_says_the_same"
# In stages, the quickest first: most mutants die there, before the tests of the next are even collected.
ROLES = [["tests/parameters/test_rules_and_hypotheses.py"], ["tests/parameters/test_roles.py"]]
CERTIFICATES = [
    ["tests/certificates/test_certificate.py", "tests/certificates/test_choosing_theorems.py"],
    ["tests/certificates/test_bins_by_hand.py"],
    ["tests/certificates/test_bins.py"],
    [f"{GOLDEN}[{path.stem}]" for path in sorted((ROOT / "tests/golden/models").glob("certificate-*.json"))],
    [f"tests/theorems/test_{name}.py" for name in ("certificate_claims", "mixing_bound", "certificates_by_hand")],
]
TESTS = {
    "perceptive.rules": ROLES,
    "perceptive.hypotheses": ROLES,
    **dict.fromkeys(
        (f"perceptive.certificates.{name}" for name in ("bins", "margins", "theorems", "certificate")), CERTIFICATES
    ),
}

COMPARED = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "maximum": "minimum", "argmin": "argmax"}
NAMES |= {"argmax": "argmin"}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in a node's place."""
    match node:
        case ast.Compare(left, [op], [right]):
            yield from (ast.Compare(left, [other()], [right]) for other in COMPARED[type(op)])
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.AugAssign(target, OPERATORS[type(op)](), value)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Return(value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Pass()
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(str(value)):
            yield ast.Constant(f"{value}?")
        case ast.Name(name, context) if name in NAMES:
            yield ast.Name(NAMES[name], context)
        case ast.Attribute(value, name, context) if name in NAMES:
            yield ast.Attribute(value, NAMES[name], context)
        case ast.Call(function, arguments, keywords):
            for i, keyword in enumerate(keywords):
                if keyword.arg is not None:
                    yield ast.Call(function, arguments, keywords[:i] + keywords[i + 1 :])


def mutants(source: str) -> Iterator[tuple[str, ast.Module]]:
    """Every mutant, and in words what was changed; annotations, docstrings and what types need stay as they are."""
    tree = ast.parse(source)

    def within(node: ast.AST, path: list[tuple[str, int | None]]) -> Iterator[tuple[str, ast.Module]]:
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for i, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or _untouched(child):
                    continue
                here = [*path, (name, i)]
                for changed in changes(child):
                    mutant = copy.deepcopy(tree)
                    _put(mutant, here, changed)
                    told = " → ".join(ast.unparse(one).partition("\n")[0] for one in (child, changed))
                    yield f"line {getattr(child, 'lineno', '?')}: {told}", ast.fix_missing_locations(mutant)
                yield from within(child, here)

    yield from within(tree, [])


def _untouched(node: ast.AST) -> bool:
    match node:
        case ast.Expr(ast.Constant(str())) | ast.Import() | ast.ImportFrom():
            return True
        case ast.If(ast.Name("TYPE_CHECKING")):
            return True
        case ast.Assign([ast.Name("__all__" | "Floats" | "Weigh")]):
            return True
    return False


def _put(node: Any, path: Sequence[tuple[str, int | None]], changed: ast.AST) -> None:
    for name, i in path[:-1]:
        node = getattr(node, name) if i is None else getattr(node, name)[i]
    name, i = path[-1]
    if i is None:
        setattr(node, name, changed)
    else:
        getattr(node, name)[i] = changed


class Instead(SourceFileLoader):
    """Loads a mutant where its module is asked for."""

    def __init__(self, name: str, path: Path, mutant: ast.Module) -> None:
        super().__init__(name, str(path))
        self.mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """As a finder."""
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def get_code(self, name: str) -> Any:
        """What the module is."""
        return compile(self.mutant, self.path, "exec")


def survives(name: str, path: Path, mutant: ast.Module, seconds: float) -> bool:
    """Whether no test fails. One that takes too long has failed."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
        sys.meta_path.insert(0, Instead(name, path, mutant))
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-W", "ignore"]
        options.append("--hypothesis-profile=brief")
        code = next((code for stage in TESTS[name] if (code := pytest.main([*options, *stage])) != 0), 0)
        loaded = isinstance(getattr(sys.modules.get(name), "__loader__", None), Instead)  # pytest has loaders, too
        os._exit(99 if code == 0 and not loaded else int(code))
    status = os.waitpid(child, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    if code in (4, 5, 99):
        sys.exit(f"the tests of {name} cannot be run")
    return code == 0


def main() -> None:
    """Count the mutants that live."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TESTS), metavar="MODULE", help="of " + ", ".join(TESTS))
    parser.add_argument("--least", type=float, default=90, help="fail where fewer per cent are killed (default: 90)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try every N-th mutant only")
    options = parser.parse_args()
    if unknown := set(options.modules) - set(TESTS):
        parser.error(f"{', '.join(sorted(unknown))}: no such module; choose from {', '.join(TESTS)}")
    os.chdir(ROOT)
    import pandas  # noqa: F401
    import pytest  # noqa: F401
    import scipy.sparse  # noqa: F401
    import sklearn.linear_model
    import sklearn.utils.estimator_checks  # noqa: F401

    killed = total = 0
    for name in options.modules:
        path = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
        source = path.read_text(encoding="utf-8")
        began = time.monotonic()
        if not survives(name, path, ast.parse(source), 1200):
            sys.exit(f"the tests of {name} fail before anything is changed")
        limit = 5 * (time.monotonic() - began) + 10
        alive, of = [], 0
        for told, mutant in itertools.islice(mutants(source), 0, None, options.every):
            of += 1
            if survives(name, path, mutant, limit):
                alive.append(told)
                print(f"  {name}, {told}", flush=True)
        print(f"{name}: {of - len(alive)} of {of} killed, {100 * (of - len(alive)) / of:.1f} %", flush=True)
        killed, total = killed + of - len(alive), total + of
    share = 100 * killed / total
    print(f"{killed} of {total} mutants killed, {share:.1f} %")
    sys.exit(share < options.least)


if __name__ == "__main__":
    main()
