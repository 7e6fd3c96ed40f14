"""How files become rows: what a model must remember to read more files of this kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive import _core
from perceptive.errors import Parameter, ParameterError, UsageError, literal
from perceptive.streams.scaling import SCALES, Scaling

FORMATS = ("svmlight", "vw", "text", "csv", "json", "arrow")
ALIASES = {
    "libsvm": "svmlight",
    "fasttext": "text",
    "tsv": "csv",
    "jsonl": "json",
    "ndjson": "json",
    "parquet": "arrow",
}
NAMED_FEATURES = ("csv", "arrow", "json")  # whose features have the same names
FEATURES = ("any", "categorical")  # kinds of columns that become features with names
LABELS = ("typed", "numbers", "words")  # how labels are read that may be numbers
PASSING = ("known", "numerals", "learned", "columns")  # how a model reads files of today, which it need not remember
BITS = 20  # of formats with named features, where none are given
NO_KEY = "\0"  # the label, the weight or the text of what has none
INDEX = ("", "Unnamed: 0", "__index_level_0__")  # columns of row names, as R, pandas and Parquet of pandas have them
LONGEST = 32  # n-gram: `TextOptions::longest` in core/text/text.hpp
TEXT = {"words": (1, 1), "chars": None, "lowercase": True, "weighting": "tf", "idf": False, "normalize": True}


@dataclass(frozen=True)
class Header:
    """The first line of a table."""

    columns: Sequence[str]
    delimiter: str
    categorical: Sequence[str] = ()  # besides those that the format names
    strings: bool = False  # whether the label is one, by its type


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """The format of files, and how its features become columns.

    Parameters
    ----------
    name : str
        One of `FORMATS`.
    zero_based : bool
        svmlight: whether the first feature is 0.
    n_features : int or None
        svmlight: number of columns; larger indices are refused.
    bits : int or None
        Hash the features into 2^bits columns; formats with named features always do, by default into 2^20.
    hash_seed : int
        The start value of the hash.
    interactions : tuple of str
        Products of two features: ("all",), or pairs of namespaces ("a:b", …): those of VW, columns of CSV, keys of
        JSON. Features of texts are not included.
    labelled : bool
        text: whether lines begin with a label.
    label : str
        csv, json, arrow: the column or key of the label. If it is absent, examples have no label.
    text_column : str or None
        csv, arrow, json: the column or key with a text; None: no column, and the key "text"; "": no key.
    categorical, ignore : tuple of str
        csv, json, arrow: columns or keys whose numbers are names; columns or keys to leave out.
    delimiter : str or None
        csv: by default the one of comma, tab and semicolon that splits the header into most columns.
    quote : one of '"', None
        csv: the character around values that may contain delimiters and newlines; None if quotes have no meaning.
    weight : str or None
        csv, json, arrow: the column or key of the importance; None: no column, and the key "weight".
    missing : one of None, "indicator"
        csv, json, arrow: "indicator" gives a missing value the feature ``column=missing``.
    scale : one of "auto", "standard", "max", None
        How numbers are scaled, by column, before hashing: see `perceptive.streams.scaling`. "auto" is "standard" for
        numbers of csv, json and arrow that a model learns from, else None.
    scaling : Scaling or None
        The factors, after the columns have been measured.
    lists : bool
        json: whether a line is a list whose candidates are the rows; these have no labels and no weights.
    list_weight : str or None
        json: the key of the importance of a list, which ``weight`` names there; None: "weight".
    apart : bool or None
        csv, json, arrow: whether a number of a column and a word of a text with the same name are different features.
        None: yes for a model that learns from both, else no.
    words : tuple of str or None
        csv, json, arrow: columns whose numbers are names according to the training files themselves (Parquet by its
        types, JSON by strings). None in models from before a value meant the same in every format.
    labels : one of "typed", "numbers", "words", None
        csv, json, arrow: how to read a label that may be a number. "typed": by its type in the file; strings of JSON
        and Parquet are words, CSV has numbers. "numbers": strings that read as numbers are numbers too. "words": as
        written, which ``categorical`` requires if it names the label. None in models from before a label meant the same
        in every format.
    text : mapping
        How texts become features: words, chars, lowercase, weighting, idf and normalize, as for
        `perceptive.features.text.TextFeatures`.
    known : tuple of str or None
        csv, json, arrow: the columns that a model has learned from, if it must see no others.
    numerals : bool
        json, arrow: whether strings are read as in csv files, where "37" is a number, except in columns of words.
    learned : bool
        csv, json, arrow: whether a model has learned with it; columns that it names may then be missing.
    columns : mapping or None
        csv, json, arrow, vw: the columns of features by name, if they are not hashed. Others have the last of 2^bits
        columns; if n_features is given, they are left out.

    Examples
    --------
    >>> FileFormat(name="svmlight", bits=10).width
    1024
    """

    name: str = "svmlight"
    zero_based: bool = False
    n_features: int | None = None
    bits: int | None = None
    hash_seed: int = 0
    interactions: tuple[str, ...] = ()
    labelled: bool = True
    label: str = "label"
    text_column: str | None = None
    categorical: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    delimiter: str | None = None
    quote: str | None = '"'
    weight: str | None = None
    missing: str | None = None
    scale: str | None = "auto"
    scaling: Scaling | None = None
    lists: bool = False
    list_weight: str | None = None
    apart: bool | None = None
    words: tuple[str, ...] | None = ()
    labels: str | None = "typed"
    text: Mapping[str, Any] = field(default_factory=dict)
    known: tuple[str, ...] | None = None
    numerals: bool = False
    learned: bool = field(default=False, compare=False)
    columns: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        if self.name in ("conll", "conllu"):
            raise ParameterError("files of tokens in columns are for taggers; choose {}", Parameter("task", "tag"))
        if self.name not in (*FORMATS, *ALIASES):
            known = ", ".join((*FORMATS, *ALIASES))
            raise ParameterError(f"{{}}: it must be one of {known}", Parameter("format", self.name))
        if self.name == "tsv" and self.delimiter is None:
            self._set("delimiter", "\t")
        self._set("name", ALIASES.get(self.name, self.name))
        if self.bits is None and self.name != "svmlight":
            self._set("bits", BITS)
        if self.lists:
            if self.weight not in (None, NO_KEY):
                self._set("list_weight", self.weight)
            self._set("label", NO_KEY)
            self._set("weight", NO_KEY)
        self._check_names()
        if self.labels not in (*LABELS, None):
            raise ParameterError("{}: it must be 'typed', 'numbers' or 'words'", Parameter("labels", self.labels))
        if self.label in self.categorical:
            self._set("labels", "words")
        for name in ("scale", "quote"):
            value = getattr(self, name)
            self._set(name, {"none": None, "double": '"'}.get(value, value))  # these words are the command line's
        if self.quote not in ('"', None):
            raise ParameterError("{}: it must be '\"' or None", Parameter("quote", self.quote))
        if self.scale not in SCALES:
            raise ParameterError("{}: it must be 'auto', 'standard', 'max' or None", Parameter("scale", self.scale))
        if self.missing not in (None, "indicator"):
            raise ParameterError("{}: it must be 'indicator' or None", Parameter("missing", self.missing))
        if self.n_features is not None and not 0 <= self.n_features < 2**31:
            raise ParameterError("{}: it must be from 0 to 2³¹ − 1", Parameter("n_features", self.n_features))
        if self.bits is not None and not 1 <= self.bits <= 30:
            raise ParameterError("{}: it must be from 1 to 30", Parameter("bits", self.bits))
        if not 0 <= self.hash_seed < 2**32:
            raise ParameterError("{}: it must be from 0 to 2³² − 1", Parameter("hash_seed", self.hash_seed))
        if self.interactions and self.bits is None:
            raise ParameterError("{} needs hashed features; give {}", "interactions", "bits")
        for pair in self.interactions:
            if pair != "all" and pair.count(":") != 1:
                said = literal(f"{pair!r} is neither 'all' nor a pair of namespaces 'a:b'")
                raise ParameterError("{}: " + said, "interactions")
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError(
                "{}: it must be one ASCII character, no quote, no newline", Parameter("delimiter", self.delimiter)
            )
        self._check_text()

    @property
    def width(self) -> int | None:
        """The columns, if they are known before the data."""
        return self.n_features if self.bits is None or self.columns is not None else 1 << self.bits

    @property
    def has_text(self) -> bool:
        """Whether texts become features."""
        return self.name in ("text", "json") or self.text_column is not None

    @property
    def absent_is_zero(self) -> bool:
        """Whether a row without a number in a column has 0 there, not a missing value."""
        return self.name in ("svmlight", "vw")

    @property
    def has_idf(self) -> bool:
        """Whether texts are weighted by rarity; the files are read once before for it."""
        return self.has_text and bool(self.text["idf"])

    def parser(
        self,
        remember: bool = False,
        limit: int | None = None,
        idf: NDArray[np.float32] | None = None,
        header: Header | None = None,
        queries: bool = False,
        measuring: bool = False,
    ) -> Any:
        """Make the core's parser.

        Parameters
        ----------
        remember : bool
            Whether it also returns the names of hashed features.
        limit : int or None
            svmlight: maximum number of columns, if neither ``n_features`` nor ``bits`` sets a limit.
        idf : array of float32 or None
            2^bits factors, if texts use idf. Without them, idf counts as 1.
        header : Header
            csv: header of the file.
        queries : bool
            svmlight: whether every line must have a query.
        measuring : bool
            Whether to measure columns, for scaling.
        """
        if self.scale in ("standard", "max") and self.scaling is None and not measuring:
            raise ValueError("numbers are scaled by how large columns are; measure them first, with measured")
        features = self._features(remember)
        if self.name == "svmlight":
            most = limit if self.n_features is None and features is None else self.n_features
            return _core.Svmlight(self.zero_based, most, features, queries, self._factors())
        assert features is not None
        if self.name == "vw":
            return _core.Vw(features)
        if self.name == "text":
            return _core.LabelledText(self._texts(idf), self.labelled, remember)
        if self.name == "json":
            keys = self.label, "text" if self.text_column is None else self.text_column or NO_KEY
            weight = self.weight or ("weight" if "weight" not in self.ignore else NO_KEY)
            read = features, self._texts(idf), *keys, weight, self.known
            words = (*self.categorical, *(self.words or ()))
            return _core.JsonLines(*read, self.numerals, words, self.labels or "before", self.ignore)
        assert header is not None
        kinds = list(zip(header.columns, self.kinds(header.columns, header.categorical), strict=True))
        labels = "words" if self.labels == "typed" and header.strings else self.labels
        return self.table_parser(kinds, header.delimiter, remember, idf, labels, self.quote is not None)

    def table_parser(
        self,
        columns: Sequence[tuple[str, str]],
        delimiter: str = ",",
        remember: bool = False,
        idf: NDArray[np.float32] | None = None,
        labels: str | None = "typed",
        quotes: bool = True,
    ) -> _core.Csv:
        """Make the parser of the rows of a table; each column has a name and a kind: see `kinds`."""
        features = self._features(remember)
        assert features is not None
        texts = None if self.text_column is None else self._texts(idf)
        return _core.Csv(features, texts, delimiter, columns, labels or "before", quotes)

    def kinds(self, columns: Sequence[str], categorical: Sequence[str] = ()) -> list[str]:
        """Return the kind of each column of a table; ``categorical`` are those that the table itself marks so.

        Several columns without a name, as delimiters at the ends of the lines make them, are left out.
        """
        known = dict.fromkeys((*categorical, *self.categorical, *(self.words or ())), "categorical")
        known |= {} if self.text_column is None else {self.text_column: "text"}
        known |= {} if self.weight is None else {self.weight: "weight"}
        known |= {self.label: "label", **dict.fromkeys(self.ignore, "ignored")}
        if columns.count("") > 1:
            known[""] = "ignored"
        kinds = [known.get(column, "any") for column in columns]
        met = {*columns} if self.known is None else {*self.known}
        return [k if k not in FEATURES or name in met else "ignored" for name, k in zip(columns, kinds, strict=True)]

    def read_as(self, told: str) -> FileFormat:
        """Return how files of another format give the same features; raise if they cannot.

        Examples
        --------
        >>> FileFormat(name="csv", text_column="body").read_as("jsonl").text_column
        'body'
        >>> FileFormat(name="csv").read_as("svmlight")
        Traceback (most recent call last):
        ValueError: the model has learned from csv files, and cannot read svmlight; give csv, arrow or json files
        """
        name = ALIASES.get(told, told)
        if name == self.name:
            tabs = {"tsv": "\t", "csv": None}  # another delimiter was asked for, and stays
            return replace(self, delimiter=tabs.get(told)) if self.delimiter in tabs.values() else self
        alike = ("csv", "arrow", "json") if self.name != "text" else ("text", "csv", "arrow", "json")
        if self.name not in (*NAMED_FEATURES, "text") or name not in NAMED_FEATURES:
            can = ", ".join(alike[:-1]) + f" or {alike[-1]}" if self.name in (*NAMED_FEATURES, "text") else self.name
            raise ValueError(f"the model has learned from {self.name} files, and cannot read {told}; give {can} files")
        text = self.text_column or ("text" if self.name in ("text", "json") else None)
        if name == "json" and text is None:
            text = ""  # no key is a text
        numerals = self.words is not None or (self.name == "csv" and name == "json")
        how: dict[str, Any] = {"delimiter": "\t" if told == "tsv" else None, "numerals": numerals}
        return replace(self, name=name, text_column=text, labelled=True, **how)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        for name in ("interactions", "categorical", "ignore"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(one, str) for one in value):
                raise ParameterError("{}: it must be a tuple of strings", Parameter(name, value))
            self._set(name, tuple(value))

    def _check_text(self) -> None:
        unknown = set(self.text) - set(TEXT)
        if unknown:
            raise ValueError(f"unknown text option {min(unknown)!r}; there are {', '.join(TEXT)}")
        text = {**TEXT, **self.text}
        for name in ("words", "chars"):
            text[name] = pair = None if text[name] is None else tuple(text[name])
            if pair and not 1 <= pair[0] <= pair[-1] <= LONGEST:
                said = f"{{}}: {pair[0]} to {pair[-1]} is no range of n-grams; give 1 ≤ shortest ≤ longest ≤ {LONGEST}"
                raise ParameterError(said, f"text.{name}")
        self._set("text", text)
        if text["words"] is None and text["chars"] is None:
            raise ParameterError("there are neither {} nor {}; give one of them", "text.words", "text.chars")
        try:
            self._texts(None)  # the core checks the rest
        except ValueError as error:
            raise UsageError(str(error)) from None

    def _texts(self, idf: NDArray[np.float32] | None) -> _core.TextReading:
        text = self.text
        ngrams, kernel = (text["words"] or (0, 0), text["chars"] or (0, 0)), (self.bits or BITS, self.hash_seed, True)
        how = text["lowercase"], text["weighting"], text["normalize"]
        return _core.TextReading(*(*ngrams, *how, *kernel), idf if text["idf"] else None)

    def _features(self, remember: bool) -> _core.FeatureOptions | None:
        if self.bits is None:
            return None
        pairs = [(a, b) for a, _, b in (pair.partition(":") for pair in self.interactions if pair != "all")]
        kernel, products = (self.bits, self.hash_seed, True, remember), ("all" in self.interactions, pairs)
        values = self.missing == "indicator", bool(self.apart), self.words is not None
        named = None if self.columns is None else list(self.columns.items())
        others = (1 << self.bits) - 1 if self.n_features is None else -1
        return _core.FeatureOptions(*kernel, *products, self._factors(), *values, named, others)

    def _factors(self) -> list[tuple[str, float, float]]:
        return [] if self.scaling is None else self.scaling.factors

    def to_meta(self) -> dict[str, Any]:
        """Return it as plain values, for a model file."""
        meta = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        meta = {name: value for name, value in meta.items() if name not in PASSING}
        meta["format"] = meta.pop("name")  # as files have always called it
        meta["scale"] = None if self.scale == "auto" else self.scale  # nothing was scaled
        meta = {name: value for name, value in meta.items() if value or name not in ("apart", "lists", "list_weight")}
        if self.quote is not None:
            del meta["quote"]
        if self.words is None or self.name not in NAMED_FEATURES:
            del meta["words"]  # as files were from before
        if self.labels is None or self.lists or self.name not in NAMED_FEATURES:
            del meta["labels"]
        meta["text"] = {name: list(value) if isinstance(value, tuple) else value for name, value in self.text.items()}
        return meta

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> FileFormat:
        """Make it from what `to_meta` returned; raise if that is impossible."""
        known = {f.name for f in fields(cls)} - {"name", *PASSING} | {"format"}
        if not isinstance(meta, dict) or set(meta) - known:
            raise ValueError("an unknown file format")
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in meta.items()}
        values["scale"] = meta.get("scale")  # models from before there was scaling have none
        values["apart"] = meta.get("apart", False)
        values |= {"words": values.get("words"), "numerals": "words" in meta}
        labelled = meta.get("format") in NAMED_FEATURES and not meta.get("lists")
        values.setdefault("labels", None if labelled else "typed")
        values["learned"] = True
        values["scaling"] = Scaling.from_meta(meta.get("scaling"))
        values["name"] = values.pop("format")
        return cls(**values)
