"""Errors that carry what they are about, so that each interface can name it in its own terms.

In Python, a message says ``rule='arow'`` and sentence 3; on the command line, ``--rule arow`` and ``train.conll:17``.
Messages are never rewritten: an error keeps the parameters and examples that it mentions.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Self


class Parameter:
    """A parameter that a message mentions, alone or with a value.

    Examples
    --------
    >>> str(Parameter("rule", "arow")), str(Parameter("delta"))
    ("rule='arow'", 'delta')
    """

    def __init__(self, name: str, *value: Any) -> None:
        self.name, self._value = name, value

    @property
    def has_value(self) -> bool:
        """Whether a value is mentioned as well."""
        return len(self._value) == 1

    @property
    def value(self) -> Any:
        """The value that is mentioned."""
        return self._value[0]

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}" if self.has_value else self.name


def _mentioned(parameters: Sequence[Parameter | str]) -> list[Parameter]:
    return [Parameter(one) if isinstance(one, str) else one for one in parameters]


def literal(text: str) -> str:
    """Return text with its braces escaped, for a message with places for parameters.

    Examples
    --------
    >>> print(ParameterError(literal("label '{x}' is odd; set ") + "{}", Parameter("constraints", None)))
    label '{x}' is odd; set constraints=None
    """
    return text.replace("{", "{{").replace("}", "}}")


def plural(n: int, noun: str) -> str:
    """Return a noun as it is after a number.

    Examples
    --------
    >>> plural(1, "line"), plural(2, "line")
    ('line', 'lines')
    """
    return noun if n == 1 else f"{noun}s"


class UsageError(ValueError):
    """The request is impossible; the user must change it. The command line exits with code 2."""


class OfParameters(Exception):
    """A message that mentions parameters.

    Parameters
    ----------
    message : str
        With a place ``{}`` for each parameter.
    *parameters : Parameter or str
        In the order of the places; a str is the name of a parameter without a value.
    """

    def __init__(self, message: str, *parameters: Parameter | str) -> None:
        self.message = message
        self.parameters = _mentioned(parameters)
        super().__init__(self.worded(str))

    def worded(self, name: Callable[[Parameter], str]) -> str:
        """Return the message, with the parameters as an interface names them."""
        return self.message.format(*map(name, self.parameters))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, *self.parameters)


class ParameterError(OfParameters, UsageError):
    """Parameters that are wrong, or cannot be combined.

    Examples
    --------
    >>> error = ParameterError("{} does not go with {}; leave it out", "delta", Parameter("rule", "arow"))
    >>> str(error)
    "delta does not go with rule='arow'; leave it out"
    >>> error.worded(lambda parameter: f"--{parameter.name}")
    '--delta does not go with --rule; leave it out'
    """


class DataError(OfParameters, ValueError):
    """The data are at fault, but a parameter may help. The command line exits with code 1."""


class ParameterWarning(OfParameters, UserWarning):
    """Something odd, against which a parameter may help."""


def overflowed(what: str) -> DataError:
    """Return the error for weights, or scores, that are too large for their type.

    Examples
    --------
    >>> print(overflowed("weights"))
    the weights have overflowed; rescale the features, or use dtype='float64'
    """
    message = f"the {what} have overflowed; rescale the features, or use {{}}"
    return DataError(message, Parameter("dtype", "float64"))


class _OfExample(Exception):
    """What is wrong with an example: which one it is, and what.

    Parameters
    ----------
    message : str
        What is wrong, and the cure.
    example : int
        Its number, from 0.
    token : int or None
        The token of a sentence, where the message is about one.
    kind : str
        What the example is called: "sentence", "tree", "example".
    about : str
        What stands before the place: "forced, ".
    parameters : sequence of Parameter or str
        Those that the message mentions, as in `ParameterError`: with them it has a place ``{}`` for each.
    also : sequence of pairs (example, token)
        Other places that the message mentions, as ``{also[0]}``, ``{also[1]}``, …
    """

    def __init__(
        self,
        message: str,
        example: int,
        token: int | None = None,
        *,
        kind: str = "sentence",
        about: str = "",
        parameters: Sequence[Parameter | str] = (),
        also: Sequence[tuple[int, int | None]] = (),
    ) -> None:
        self.message, self.example, self.token = message, example, token
        self.kind, self.about, self.parameters, self.also = kind, about, _mentioned(parameters), also
        super().__init__(self.worded(self._numbered))

    @property
    def place(self) -> str:
        """Where it is, in numbers."""
        return self._numbered(self.example, self.token)

    def _numbered(self, example: int, token: int | None) -> str:
        return f"{self.kind} {example}" + ("" if token is None else f", token {token}")

    def worded(self, place: Callable[[int, int | None], str], name: Callable[[Parameter], str] = str) -> str:
        """The message, with the place and the parameters as a surface names them."""
        message = self.message
        if self.parameters or self.also:
            message = message.format(*map(name, self.parameters), also=[place(*one) for one in self.also])
        return f"{self.about}{place(self.example, self.token)}: {message}"

    def moved(self, example: int) -> Self:
        """The same about an example of another number."""
        return type(self)(self.message, example, self.token, **self._facts)

    @property
    def _facts(self) -> dict[str, Any]:
        return {"kind": self.kind, "about": self.about, "parameters": self.parameters, "also": self.also}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._facts), (self.message, self.example, self.token)


class ExampleError(_OfExample, ValueError):
    """An example that cannot be learned from, or predicted.

    Examples
    --------
    >>> error = ExampleError("unknown label 'X'; repair it", 3, 2)
    >>> str(error)
    "sentence 3, token 2: unknown label 'X'; repair it"
    >>> error.worded(lambda example, token: f"a.conll:{10 * example + token}")
    "a.conll:32: unknown label 'X'; repair it"
    >>> print(ExampleError("too long; set {}", 3, parameters=[Parameter("max_segment", 5)]))
    sentence 3: too long; set max_segment=5
    """


class ExampleTypeError(ExampleError, TypeError):
    """An example of a type that cannot be read."""


class ExampleWarning(_OfExample, UserWarning):
    """Something odd about an example."""


class ScaleWarning(UserWarning):
    """Columns differ so much in size that only the largest count, or their numbers are too small or too large."""


def warn_caller(said: str | Warning) -> None:
    """Warn at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(said, stacklevel=level)


@contextmanager
def renumbered(numbers: Sequence[int]) -> Iterator[None]:
    """Let errors use the original numbers of examples after some were removed: example i was ``numbers[i]``."""
    try:
        yield
    except ExampleError as error:
        raise error.moved(int(numbers[error.example])) from None


# ---------------------------------------------------------------- files that cannot be written

CURES = {
    errno.ENOSPC: "make room",
    errno.EDQUOT: "make room",
    errno.EFBIG: "raise the limit on the size of files",
    errno.EIO: "check the disk",
    errno.ENOENT: "make the folder first",
    errno.EACCES: "check the permissions",
    errno.EPERM: "check the permissions",
    errno.EROFS: "check the permissions",
}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class NotWritten(UserWarning):
    """A file could not be written; the run continues without it."""


class OrderMatters(UserWarning):
    """The order of the examples decides what is learned."""


@contextmanager
def naming(path: str, otherwise: str = "") -> Iterator[None]:
    """Add the file name and a cure to the system's message; ``otherwise`` is another cure."""
    try:
        yield
    except OSError as error:
        number = errno.EIO if error.errno is None else error.errno
        cure = CURES.get(number, "give another path")
        said = f"cannot be written ({error.strerror or error}); {cure}{otherwise}"
        raise OSError(number, said, path) from error


@contextmanager
def naming_full(path: str) -> Iterator[None]:
    """Say what is full if the system does not name the file; other errors pass unchanged."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno not in FULL:
            raise
        with naming(path):
            raise


def told(error: OSError) -> str:
    """Return an error of `naming`, as a sentence.

    Examples
    --------
    >>> told(OSError(28, "cannot be written (No space left on device); make room", "a.model"))
    'a.model: cannot be written (No space left on device); make room'
    """
    return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename is not None else str(error)


class ClusterError(RuntimeError):
    """A cluster cannot do what it was asked, or not in time."""
