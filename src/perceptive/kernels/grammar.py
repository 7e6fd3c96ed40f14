"""Kernels as text, such as ``0.5*gaussian(sigma=2) + spectrum(3)@text``: a small grammar, without ``eval``.

::

    sum      = product { "+" product }
    product  = power { "*" power }
    power    = part [ "**" whole number ]
    part     = atom { "@" column | ".exp()" | ".normalized()" }
    atom     = number | name [ "(" [ argument { "," argument } ] ")" ] | "(" sum ")"
    argument = [ name "=" ] ( number | word | "quoted text" )
    column   = name | whole number | "quoted text"
"""

from __future__ import annotations

import inspect
import re
from typing import Any, NoReturn

from perceptive.content import shown
from perceptive.kernels.custom import Custom, Precomputed
from perceptive.kernels.kernel import Kernel
from perceptive.kernels.strings import AllSubsequences, Spectrum, Subsequence
from perceptive.kernels.trees import SubsetTree, Subtree
from perceptive.kernels.vectors import Gaussian, Laplacian, Linear, Polynomial, Quadratic

NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "quadratic": Quadratic,
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "laplacian": Laplacian,
    "spectrum": Spectrum,
    "subsequence": Subsequence,
    "allsubsequences": AllSubsequences,
    "subsettree": SubsetTree,
    "subtree": Subtree,
    "precomputed": Precomputed,
}
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<sign>\*\*|[-+*@.,()=]))"
)
DEPTH = 50
OPERATIONS = 100  # they nest, and Python calls no deeper than so far
DIGITS = 1000


def as_kernel(kernel: Any) -> Kernel:
    """Make a kernel from a kernel, its text, or a function of two examples."""
    if isinstance(kernel, Kernel):
        _check_nesting(kernel)
        return kernel
    if isinstance(kernel, str):
        return parse(kernel)
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel={kernel.__name__} is a class of kernels; give one of them, {kernel.__name__}(…)")
    if hasattr(kernel, "is_stationary"):  # of sklearn.gaussian_process
        raise TypeError(
            f"kernel={kernel!r} compares whole matrices; give one of perceptive.kernels, such as Gaussian(sigma=1), "
            "or 'precomputed' and the Gram matrix"
        )
    if callable(kernel):
        return Custom(kernel)
    raise TypeError(f"kernel={kernel!r}: give a kernel, its name as in 'poly(4)', a function, or 'precomputed'")


def _check_nesting(kernel: Kernel) -> None:
    """Raise ValueError where kernels lie too deep within each other."""
    level = [kernel]
    for _ in range(OPERATIONS + 1):
        level = list({id(inner): inner for one in level for _, inner in one.kernels()}.values())  # k + k is one below
        if not level:
            return
    raise ValueError(
        f"the kernel is nested more than {OPERATIONS} levels deep; add many in pairs, and the pairs in pairs again"
    )


def parse(text: str) -> Kernel:
    """Read a kernel.

    Examples
    --------
    >>> from perceptive.kernels.grammar import parse
    >>> parse("0.5*gaussian(sigma=2) + poly(4)@pixels")
    0.5 * Gaussian(sigma=2) + Polynomial(degree=4).on('pixels')
    """
    return _Parser(text).all()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[int, str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if match is None:
                at += len(text[at:]) - len(text[at:].lstrip())
                self.fail(at, f"cannot read {text[at]!r}")
            assert match.lastgroup is not None
            self.tokens.append((match.start(match.lastgroup), match.lastgroup, match[match.lastgroup]))
            at = match.end()
            if match.lastgroup == "number" and len(match["number"]) > DIGITS:
                self.fail(match.start("number"), f"a number of more than {DIGITS} digits")
        self.tokens.append((len(text), "end", ""))
        self.next = 0
        self.depth = 0
        operations = [at for at, kind, word in self.tokens if kind == "sign" and word in ("+", "*", "**", "@", ".")]
        if len(operations) > OPERATIONS:
            self.fail(operations[OPERATIONS], f"more than {OPERATIONS} operations")

    def fail(self, at: int, what: str) -> NoReturn:
        place = f"kernel {shown(self.text)}, position {at + 1}"
        raise ValueError(f"{place}: {what}; write, say, '0.5*gaussian(sigma=2)+spectrum(3)@text'")

    def peek(self) -> str:
        return self.tokens[self.next][2]

    def pop(self) -> tuple[int, str, str]:
        self.next += 1
        return self.tokens[self.next - 1]

    def take(self, *wanted: str) -> bool:
        found = self.tokens[self.next][1] == "sign" and self.peek() in wanted
        self.next += found
        return found

    def expect(self, sign: str) -> None:
        if not self.take(sign):
            self.fail(self.tokens[self.next][0], f"expected {sign!r}, found {self.peek() or 'the end'!r}")

    def all(self) -> Kernel:
        found = self.sum()
        if self.tokens[self.next][1] != "end":
            self.fail(self.tokens[self.next][0], f"did not expect {self.peek()!r}")
        if not isinstance(found, Kernel):
            self.fail(0, "a number is not a kernel")
        return found

    def sum(self) -> Any:
        found = self.product()
        while self.take("+"):
            found = found + self.product()
        return found

    def product(self) -> Any:
        found = self.power()
        while self.take("*"):
            found = found * self.power()
        return found

    def power(self) -> Any:
        found = self.part()
        if not self.take("**"):
            return found
        at, kind, word = self.pop()
        if kind != "number" or not word.isdigit() or not isinstance(found, Kernel):
            self.fail(at, "a power is a whole number, and of a kernel")
        return found ** int(word)

    def part(self) -> Any:
        found = self.atom()
        while self.peek() in ("@", "."):
            at, kind, _ = self.tokens[self.next]
            if kind != "sign" or not isinstance(found, Kernel):
                self.fail(at, "only a kernel has parts")
            if self.take("@"):
                at, kind, word = self.pop()
                if kind == "number" and word.isdigit():
                    found = found.on(int(word))
                elif kind in ("name", "text"):
                    found = found.on(word.strip("\"'"))
                else:
                    self.fail(at, "expected the name or number of a column")
            else:
                self.expect(".")
                at, _, word = self.pop()
                if word not in ("exp", "normalized"):
                    self.fail(at, "a kernel becomes .exp() or .normalized()")
                self.expect("(")
                self.expect(")")
                try:
                    found = found.exp() if word == "exp" else found.normalized()
                except ValueError as error:
                    self.fail(at, str(error))
        return found

    def atom(self) -> Any:
        at, kind, word = self.pop()
        if kind == "number":
            return _number(word)
        if kind == "sign" and word == "(":
            self.depth += 1
            if self.depth > DEPTH:
                self.fail(at, f"more than {DEPTH} brackets within each other")
            found = self.sum()
            self.expect(")")
            self.depth -= 1
            return found
        if kind != "name":
            self.fail(at, f"expected a kernel, found {word or 'the end'!r}")
        if word not in NAMES:
            self.fail(at, f"no kernel is called {word!r}: there are {', '.join(NAMES)}")
        positional, named = self.arguments() if self.take("(") else ([], {})
        signature = inspect.signature(NAMES[word])
        try:
            signature.bind(*positional, **named)
        except TypeError as error:
            self.fail(at, f"{error}; it is {word}({', '.join(signature.parameters)})")
        try:
            return NAMES[word](*positional, **named)
        except (TypeError, ValueError) as error:
            self.fail(at, str(error))

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        named: dict[str, Any] = {}
        while not self.take(")"):
            at, kind, word = self.pop()
            if kind == "name" and self.take("="):
                if word in named:
                    self.fail(at, f"{word} is given twice")
                named[word] = self.argument()
            elif named:
                self.fail(at, "arguments without a name come first")
            else:
                self.next -= 1
                positional.append(self.argument())
            if not self.take(","):
                self.expect(")")
                break
        return positional, named

    def argument(self) -> Any:
        negative = self.take("-")
        at, kind, word = self.pop()
        if kind == "number":
            return -_number(word) if negative else _number(word)
        if kind == "text" and not negative:
            return word[1:-1]
        if kind == "name" and not negative:
            return {"True": True, "true": True, "False": False, "false": False}.get(word, word)
        return self.fail(at, "expected a number or a word")


def _number(word: str) -> int | float:
    return int(word) if word.isdigit() else float(word)
