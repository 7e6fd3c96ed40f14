"""JSON lines: one object a line, strict (RFC 8259).

``label``, ``weight`` and ``text`` are members of their own (the names of the label and of the text are options); an
object ``features`` holds features like those beside it. A number is the feature ``name``, a string the feature
``name=string`` of value 1, true the feature ``name=True`` (where values are not ``alike`` the feature ``name`` of value
1, and none for false); null is no feature. Nested objects give ``outer.inner``, items of arrays ``name=string`` or else
``name[0]``, ``name[1]``, … Strings are read as in tables where they are ``alike``, and as numbers with ``numerals``; in
columns of ``words`` numbers are names.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from twins.features import Feature, Scaling, row, scaled
from twins.label import label_of
from twins.labelled_text import text_row
from twins.lines import DECIMAL, NOT_FINITE, Bad, Example, fits, parse_lines, require_short, shown, whole_or_float
from twins.meaning import is_missing, meant

DEEPEST = 64
ESCAPES = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))


def parse(text: bytes, *, name: str = "<bytes>", first_line: int = 1, **options: Any) -> list[Example]:
    r"""Parse whole lines; options are those of `features.row`, and label, text_key, text_options.

    Examples
    --------
    >>> parse(b'{"label": "spam", "size": 1.5, "sender": {"known": true}}\n', bits=4)
    [Example(label=b'spam', weight=1.0, entries=((10, -1.5), (14, -1.0)))]
    """
    return parse_lines(text, partial(_line, **options), name, first_line)


def _line(
    line: bytes,
    label: bytes = b"label",
    text_key: bytes = b"text",
    text_options: dict[str, Any] | None = None,
    single: bool = False,
    scaling: Scaling | None = None,
    missing: bool = False,
    apart: bool = False,
    weight_key: bytes = b"weight",
    alike: bool = False,
    labels: str = "typed",
    ignored: Sequence[bytes] = (),
    numerals: bool = False,
    words: Sequence[bytes] = (),
    **options: Any,
) -> Example | None:
    how = {"single": single, "scaling": scaling, "missing": missing, "apart": apart}
    read = partial(_features, how=how | {"alike": alike, "numerals": numerals, "words": words, "ignored": ignored})
    reader = _Reader(line)
    if not reader.peek() and reader.p == len(line):
        return None
    y: float | int | bytes | None = None
    weight = 1.0
    features: list[Feature] = []
    for key in reader.object():
        kind = reader.peek()
        at = reader.p
        if key == label:
            if y is not None:
                raise Bad(at, "there are two labels; give one")
            if kind in (b"{", b"["):
                raise Bad(at, "the label must be a number, a string, true, false or null")
            y = label_of(at, reader.string(), labels, True) if kind == b'"' else reader.scalar()
            if alike and kind in (b"t", b"f"):
                y = b"True" if y else b"False"
            if isinstance(y, float) and kind != b'"':
                written = line[at : reader.p]
                y = written if labels == "words" else whole_or_float(written, y)
        elif key == weight_key:
            if kind in (b'"', b"{", b"["):
                raise Bad(at, "the weight must be a number, 0 or more")
            number = reader.scalar()
            weight = 1.0 if number is None else number + 0.0  # −0 is 0
            if weight < 0:
                raise Bad(at, "the weight is negative; give 0 or more")
        elif key == text_key and kind == b'"' and key not in ignored:
            kernel = {name: options[name] for name in ("bits", "seed", "signed") if name in options}
            row_of_text = text_row(reader.string(), **kernel, **(text_options or {}))
            features += [(h, x, b"") for h, x in row_of_text]
        elif key == b"features" and kind == b"{" and key not in ignored:
            for inner in reader.object():
                features += read(reader, inner, inner)
        else:
            features += read(reader, key, key)
    reader.finish()
    entries = row(features, single=single, at=len(line), **options)
    return Example(None if y == b"" else y, weight, entries)


def _skip(reader: "_Reader") -> None:
    """Read a value that is left out."""
    kind = reader.peek()
    if kind == b"{" or kind == b"[":
        for _ in reader.object() if kind == b"{" else reader.array():
            _skip(reader)
    else:
        reader.string() if kind == b'"' else reader.scalar()


def _features(reader: "_Reader", name: bytes, space: bytes, how: dict[str, Any]) -> Iterator[Feature]:
    """The features of the value that comes next."""
    if name in how["ignored"]:
        _skip(reader)
        return
    within = partial(_features, reader, space=space, how=how)
    alike = how["alike"]
    kind = reader.peek()
    at = reader.p
    if kind == b"{":
        require_short(at, name)
        for key in reader.object():
            yield from within(name + b"." + key)
    elif kind == b"[":
        require_short(at, name)
        for i in reader.array():
            place = b"" if reader.peek() == b'"' else b"[%d]" % i
            yield from within(name + place)
    elif kind == b'"':
        value = reader.string().strip(b" \t") if alike else reader.string()
        if (alike or how["numerals"]) and is_missing(value):
            if how["missing"]:
                yield name + b"=missing", 1.0, space
            return
        if how["numerals"] and name not in how["words"]:
            if DECIMAL.fullmatch(value):
                yield _number(at, name, float(value), space, how)
                return
            if NOT_FINITE.fullmatch(value):
                raise Bad(at, f"value '{shown(value)}' is not finite; drop or impute such examples first")
        yield name + b"=" + (meant(value) if alike else value), 1.0, space
    else:
        x = reader.scalar()
        if x is None:
            if how["missing"]:
                yield name + b"=missing", 1.0, space
        elif kind in (b"t", b"f"):
            yield (name + b"=" + str(bool(x)).encode(), 1.0, space) if alike else (name + b":" * how["apart"], x, space)
        elif name in how["words"]:
            value = reader.line[at : reader.p]
            yield name + b"=" + (meant(value) if alike else value), 1.0, space
        else:
            yield _number(at, name, x, space, how)


def _number(at: int, name: bytes, x: float, space: bytes, how: dict[str, Any]) -> Feature:
    x = scaled(name, x, how["scaling"])
    if not fits(x, how["single"]):
        raise Bad(at, f"the number is too large for {'float32' if how['single'] else 'float64'}; rescale")
    return name + b":" * how["apart"], x, space


class _Reader:
    """Reads a line from left to right."""

    def __init__(self, line: bytes) -> None:
        self.line, self.p, self.depth = line, 0, 0

    def peek(self) -> bytes:
        while self.line[self.p : self.p + 1] in (b" ", b"\t", b"\r"):
            self.p += 1
        return self.line[self.p : self.p + 1]

    def expected(self, what: str) -> Bad:
        rest = self.line[self.p :]
        found = f"'{shown(rest[:1])}'" if rest else "the end of the line; write each object on one line"
        for name in (b"NaN", b"Infinity"):
            if rest.startswith(name):
                found = f"{name.decode()}, which is not JSON; write null if it is missing"
        return Bad(self.p, f"expected {what}, found {found}")

    def object(self) -> Iterator[bytes]:
        """The keys; the value must be read before the next one is asked for."""
        self._open(b"{", "an object")
        more = self.peek() != b"}" or self._close()
        while more:
            if self.peek() != b'"':
                raise self.expected("a key in quotes")
            key = self.string()
            if self.peek() != b":":
                raise self.expected("':' after the key")
            self.p += 1
            yield key
            more = self._next(b"}")

    def array(self) -> Iterator[int]:
        """The places; the item must be read before the next one is asked for."""
        self._open(b"[", "an array")
        more = self.peek() != b"]" or self._close()
        i = 0
        while more:
            yield i
            i += 1
            more = self._next(b"]")

    def scalar(self) -> float | None:
        """A number; 1 and 0 for true and false; none for null."""
        for word, value in ((b"true", 1.0), (b"false", 0.0), (b"null", None)):
            if self.line.startswith(word, self.p):
                self.p += len(word)
                return value
        if not re.compile(rb"[-0-9]").match(self.line, self.p):
            raise self.expected("a value")
        begin = self.p
        self.p += self.line.startswith(b"-", self.p)
        if self.line.startswith(b"0", self.p):
            self.p += 1
        else:
            self._digits()
        if self.line.startswith(b".", self.p):
            self.p += 1
            self._digits()
        if self.line[self.p : self.p + 1] in (b"e", b"E"):
            self.p += 2 if self.line[self.p + 1 : self.p + 2] in (b"+", b"-") else 1
            self._digits()
        token = self.line[begin : self.p]
        if not fits(float(token), single=False):
            raise Bad(begin, f"number '{shown(token)}' is too large for float64; rescale")
        return float(token)

    def string(self) -> bytes:
        out = b""
        quote = self.p
        self.p += 1
        while True:
            c = self.line[self.p : self.p + 1]
            if not c:
                raise Bad(quote, "the string that begins here is not closed; close it with a quote")
            if c == b'"':
                self.p += 1
                return out
            if c == b"\\":
                out += self._escape()
            elif c < b" ":
                raise Bad(self.p, "there is a control character in a string; write it as \\u00..")
            else:
                length = next((n for n in range(1, 5) if self._sound(n)), 0)
                if not length:
                    raise Bad(self.p, "a string is not UTF-8; convert the file to it")
                out += self.line[self.p : self.p + length]
                self.p += length

    def finish(self) -> None:
        if self.peek():
            raise self.expected("the end of the line")

    def _sound(self, length: int) -> bool:
        try:
            return len(self.line[self.p : self.p + length].decode()) == 1
        except UnicodeDecodeError:
            return False

    def _open(self, bracket: bytes, what: str) -> None:
        if self.peek() != bracket:
            raise self.expected(what)
        self.depth += 1
        if self.depth > DEEPEST:
            raise Bad(self.p, "values are nested deeper than 64; flatten them")
        self.p += 1

    def _close(self) -> bool:
        self.depth -= 1
        self.p += 1
        return False

    def _next(self, bracket: bytes) -> bool:
        c = self.peek()
        if c == bracket:
            return self._close()
        if c != b",":
            raise self.expected(f"',' or '{bracket.decode()}'")
        self.p += 1
        return True

    def _digits(self) -> None:
        match = re.compile(rb"[0-9]+").match(self.line, self.p)
        if not match:
            raise self.expected("a digit")
        self.p = match.end()

    def _escape(self) -> bytes:
        begin = self.p
        self.p += 1
        c = self.line[self.p : self.p + 1]
        if not c:
            raise self.expected("what is escaped")
        if c != b"u":
            if ord(c) not in ESCAPES:
                raise self.expected("one of \" \\ / b f n r t u after '\\'")
            self.p += 1
            return bytes([ESCAPES[ord(c)]])
        code = self._hex()
        if 0xD800 <= code < 0xDC00 and self.line.startswith(b"\\u", self.p):
            self.p += 1
            low = self._hex()
            code = 0x10000 + ((code - 0xD800) << 10) + low - 0xDC00 if 0xDC00 <= low < 0xE000 else 0xD800
        if 0xD800 <= code < 0xE000:
            raise Bad(begin, "there is half a surrogate pair in a string; write both, high before low")
        return chr(code).encode()

    def _hex(self) -> int:
        match = re.compile(rb"u[0-9a-fA-F]{4}").match(self.line, self.p)
        if not match:
            some = re.compile(rb"u[0-9a-fA-F]*").match(self.line, self.p)
            assert some is not None
            self.p = some.end()
            raise self.expected("four hexadecimal digits after '\\u'")
        self.p += 5
        return int(match[0][1:], 16)
