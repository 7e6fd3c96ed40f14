"""`make mutants` changes one thing at a time, and nothing that has no meaning."""

import ast

from mutants import TESTS, mutants

SOURCE = '''
from a import b

def f(x: int = 3) -> "int":
    """A docstring."""
    if x < 3 and not b:
        return g(x, key=True)
    x += -1
    return max(x, 2) if x else "none"
'''


def test_every_mutant_has_one_change():
    told = [text.partition(": ")[2] for text, _ in mutants(SOURCE)]
    assert told == [
        "3 → 4",
        "if x < 3 and (not b): → if not (x < 3 and (not b)):",
        "x < 3 and (not b) → x < 3 or not b",
        "x < 3 → x <= 3",
        "x < 3 → x > 3",
        "3 → 4",
        "not b → b",
        "return g(x, key=True) → return None",
        "g(x, key=True) → g(x)",
        "True → False",
        "x += -1 → x -= -1",
        "-1 → 1",
        "1 → 2",
        "return max(x, 2) if x else 'none' → return None",
        "max(x, 2) if x else 'none' → 'none' if x else max(x, 2)",
        "max → min",
        "2 → 3",
        "'none' → 'none?'",
    ]
    sources = {ast.unparse(mutant) for _, mutant in mutants(SOURCE)}
    assert len(sources) == len(told)
    assert ast.unparse(ast.parse(SOURCE)) not in sources
    for _, mutant in mutants(SOURCE):
        compile(mutant, "mutant", "exec")


def test_what_the_modules_are_tested_by_is_there(pytestconfig):
    for stages in TESTS.values():
        assert all((pytestconfig.rootpath / test.partition("::")[0]).exists() for stage in stages for test in stage)
