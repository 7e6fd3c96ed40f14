"""What the ranker of a reranker sees of a tagger's proposed label sequences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from perceptive import _core
from perceptive.errors import Parameter, ParameterError
from perceptive.evaluation.conlleval import segments
from perceptive.features.templates import Templates

Candidate = tuple[list[Any], float]  # labels and score
Features = Callable[[Sequence[Any], Sequence[Any]], Mapping[str, float]]
Structure = Callable[[Sequence[Any], Sequence[Any]], Any]
Piece = tuple[int, int, str]  # begin, end, kind
Clusters = Sequence[tuple[int, dict[str, str]]]  # of which column, and the cluster of each word
OUTSIDE = "O"
MOST = 4  # of a kind that are counted


def clusters_of(templates: Templates | None) -> Clusters:
    """Return the word clusters that templates have learned; templates not yet chosen have none."""
    if templates is None:
        return []
    known = [(name, column) for name, (_, column) in templates.clusters.items() if name not in templates.unlearned]
    return [(column, dict(line.split("\t") for line in templates.dictionaries[name])) for name, column in known]


class View(NamedTuple):
    """What is described.

    Attributes
    ----------
    features : callable or None
        ``features(sentence, labels)`` returns more features of a candidate.
    structure : str, callable or None
        What the ranker's kernel compares; see `structure_of`.
    clusters : list or None
        Word clusters; the cluster of a word is one more column. None: as the first builds described candidates.
    of_tokens : bool
        Whether labels mark no segments, so that each token is described with its label.
    """

    features: Features | None = None
    structure: str | Structure | None = None
    clusters: Clusters | None = ()
    of_tokens: bool = False


PLAIN = View()


def describe(
    x: Sequence[Any], found: list[Candidate], view: View = PLAIN, recalled: Mapping[str, Any] | None = None
) -> list[Any]:
    """Describe the candidates of a sentence for the ranker: dicts of features, or pairs of a dict and a structure.

    Features that all candidates share cancel out, so most of them are left out. ``recalled`` has the labels that words
    had in earlier sentences (see `Lookback`); None describes candidates as builds without them did.
    """
    pieces = [_tokens(labels) if view.of_tokens else _pieces(labels) for labels, _ in found]
    shared = set.intersection(*map(set, pieces))
    rows = _rows(x, found, pieces, shared, view.clusters)
    if recalled is not None:
        more = [
            _links(x, pieces, shared, view.of_tokens),
            _counts(pieces, shared),
            _of_labels(x, [labels for labels, _ in found], recalled),
        ]
        for row, *names in zip(rows, *more, strict=True):
            row |= Counter(name for some in names for name in some)
    if view.features is not None:
        for row, (labels, _) in zip(rows, found, strict=True):
            given = view.features(x, labels)
            if not isinstance(given, Mapping):
                raise ValueError(
                    f"features gave a {type(given).__name__} for {labels!r}; give a dict of numbers by name"
                )
            row |= given
    if view.structure is None:
        return rows
    structure = structure_of(view.structure)
    seen = [structure(x, labels) for labels, _ in found]
    for (labels, _), one in zip(found, seen, strict=True):
        if one is None:
            raise ValueError(f"structure gave None for {labels!r}; give what the kernel compares")
    return list(zip(rows, seen, strict=True))


def _rows(
    x: Sequence[Any], found: list[Candidate], pieces: list[list[Piece]], shared: set[Piece], clusters: Clusters | None
) -> list[dict[str, float]]:
    """The score of each candidate, its segments, and how these follow each other."""
    columns = [_seen(columns_of(token), clusters or ()) for token in x]
    made: dict[Any, list[str]] = {}
    best = found[0][1]
    rows: list[dict[str, float]] = []
    for place, ((_, score), mine) in enumerate(zip(found, pieces, strict=True)):
        row = {"place": math.log(place + 1.0)} if clusters is None else {}
        row["score"] = score - best
        kinds = ["^", "^", *(kind for _, _, kind in mine), "$"]
        same = [True, True, *(piece in shared for piece in mine), True]
        for at, piece in enumerate(mine):
            *_, before, _, after = around = kinds[at : at + 4]
            begin, end, kind = piece
            names = []
            if clusters is None or not all(same[at : at + 4]):
                names = [f"n {' '.join(around[i:j])}" for i, j in ((1, 3), (1, 4), (0, 4))]
            if piece not in shared:
                key = (begin, before, after) if kind == OUTSIDE else piece
                if key not in made and kind == OUTSIDE:
                    made[key] = _of_token(columns[begin], before, after)
                elif key not in made:
                    made[key] = _of_segment(x, columns, begin, end, kind)
                names += made[key]
            for name in names:
                row[name] = row.get(name, 0.0) + 1.0
        rows.append(row)
    return rows


# ---------------------------------------------------------------- what goes beyond one segment


def _links(x: Sequence[Any], pieces: list[list[Piece]], shared: set[Piece], of_tokens: bool) -> list[list[str]]:
    """Two and three segments in a row, with the last words of one or two of them."""
    words = [*words_of(x), "$", "^"]  # those at the edges have the numbers n and -1
    first, last = (-1, 0, "^"), (len(x), len(x) + 1, "$")
    same = {first, *shared, last}
    made: dict[tuple[Piece, ...], list[str]] = {}
    every = []
    for mine in pieces:
        row = [first, *mine, last]
        names: list[str] = []
        for some in (*pairwise(row), *zip(mine, mine[1:], mine[2:], strict=False)):
            if some not in made:
                of_some = _pair if len(some) == 2 else _triple
                made[some] = [] if same.issuperset(some) else of_some(words, some, of_tokens)
            names += made[some]
        every.append(names)
    return every


def _pair(words: list[str], some: tuple[Piece, ...], of_tokens: bool) -> list[str]:
    (start, end, kind), (begin, last, after) = some
    kinds, one, other = f"{kind} {after}", words[end - 1], words[last - 1]
    names = [f"link {kinds} {one} _", f"link {kinds} _ {other}", f"link {kinds} {one} {other}"]
    if not of_tokens:
        whole, following = " ".join(words[max(start, 0) : end]), " ".join(words[begin:last])
        names += [f"opens {kinds} {words[begin]}", f"whole {kinds} {whole} _", f"whole {kinds} _ {following}"]
    return names


def _triple(words: list[str], some: tuple[Piece, ...], _: bool) -> list[str]:
    kinds = " ".join(kind for *_, kind in some)
    one, two, three = (words[end - 1] for _, end, _ in some)
    return [f"links {kinds} {one} {two} _", f"links {kinds} _ {two} {three}"]


def _counts(pieces: list[list[Piece]], shared: set[Piece]) -> list[list[str]]:
    """How often each kind occurs that some candidate has elsewhere than the others."""
    kinds = {kind for mine in pieces for piece in mine if piece not in shared for kind in piece[2:]}
    every = []
    for mine in pieces:
        counted = Counter(kind for *_, kind in mine if kind in kinds)
        every.append([f"count {kind} {min(n, MOST)}" for kind, n in counted.items()])
    return every


def _of_labels(x: Sequence[Any], proposed: list[list[Any]], recalled: Mapping[str, Any]) -> list[list[str]]:
    """Labels of words that came before, in this sentence or an earlier one; and labels beside how a word is written."""
    first = [word_of(token) for token in x]
    words, written, places = words_of(x), capitals(first), dict[str, int]()
    alike = [len({*some}) == 1 for some in zip(*proposed, strict=True)]
    again: list[tuple[int, int]] = []  # place of a word, and where it was before; -1: in another sentence
    for t, word in enumerate(words):
        before = places.get(word, -1)
        if not (alike[t] and (before < 0 or alike[before])) and (before >= 0 or word in recalled):
            again.append((t, before))
        places[word] = t
    shapes = [(t, shape(word)) for t, word in enumerate(first) if not alike[t]]
    every = []
    for labels in proposed:
        names = [f"case {written} {how} {labels[t]}" for t, how in shapes]
        for t, before in again:
            where, was = ("here", labels[before]) if before >= 0 else ("text", recalled[words[t]])
            names += [f"again {where} {was} {labels[t]}", f"again {where} {was == labels[t]}"]
        every.append(names)
    return every


def capitals(words: Sequence[str]) -> str:
    """Return how the words of a sentence are written: headlines and shouting are not like other text.

    The share of words in capitals alone (0 to 2), of those that begin with one (0 to 3), and whether the first does.

    Examples
    --------
    >>> capitals("The cat sat on Ann 's mat .".split()), capitals("Cat Sat On Mat".split()), capitals(["hi", "!"])
    ('0 1 True', '0 3 True', 'few')
    """
    words = [word for word in words if word[:1].isalpha()]
    if len(words) < 2:
        return "few"
    longer = [word for word in words if len(word) > 1]
    upper = sum(map(str.isupper, longer)) / max(1, len(longer))
    begun = sum(word[0].isupper() for word in words[1:]) / (len(words) - 1)
    return f"{round(2 * upper)} {math.ceil(3 * begun)} {words[0][0].isupper()}"


def words_of(x: Sequence[Any]) -> list[str]:
    """Return the words of a sentence in lower case."""
    return [word_of(token).lower() for token in x]


def word_of(token: Any) -> str:
    """Return the word of a token: its first column, or what stands first among its features.

    Examples
    --------
    >>> [word_of(token) for token in ("Ann", ("Ann", "NNP"), {"word": "Ann"}, {"w=Ann": 1.0, "caps": 1.0}, {})]
    ['Ann', 'Ann', 'Ann', 'w=Ann', '']
    """
    if isinstance(token, Mapping):
        return next((value if isinstance(value, str) else str(name) for name, value in token.items()), "")
    return next(iter(columns_of(token)), "")


# ---------------------------------------------------------------- what kernels compare


def structure_of(structure: str | Structure) -> Structure:
    """Return what a kernel compares: "tree" is `to_tree`, "tags" the labels; or the result of the user's function."""
    if callable(structure):
        return structure
    if structure not in STRUCTURES:
        raise ParameterError(
            "{}: choose 'tree', 'tags', or a function of sentence and labels", Parameter("structure", structure)
        )
    return STRUCTURES[structure]


def to_tree(x: Sequence[Any], labels: Sequence[Any]) -> tuple[Any, ...]:
    """Turn a labelled sentence into a tree of segments, for tree kernels.

    Words stand under their second column (for example the part of speech), or under their shape if there is none.

    Examples
    --------
    >>> to_tree([("the", "DT"), ("dog", "NN"), ("ran", "VB")], ["B-NP", "I-NP", "O"])
    ('S', ('NP', ('DT', 'the'), ('NN', 'dog')), ('VB', 'ran'))
    """
    words = []
    for token in x:
        columns = columns_of(token)
        words.append((columns[1] if len(columns) > 1 else shape(columns[0]) or "_", columns[0] or "_"))
    nodes: list[Any] = []
    at = 0
    for begin, end, kind in segments(labels):
        nodes += [*words[at:begin], (kind or "segment", *words[begin:end])]
        at = end
    return ("S", *nodes, *words[at:])


STRUCTURES: dict[str, Structure] = {"tree": to_tree, "tags": lambda x, labels: tuple(labels)}


# ---------------------------------------------------------------- segments and their tokens


def shape(word: str) -> str:
    """Return the word shape, equal kinds in a row as one: New-York → X-X, U.S. → X.X., 1,200 → 0,0."""
    kinds = re.sub(r"[^\W\d_a-z]+[a-z]*", "X", word)
    return re.sub(r"\d+", "0", re.sub(r"[a-z]+", "x", kinds))


def columns_of(token: Any) -> list[str]:
    return [token] if isinstance(token, str) else [str(column) for column in token]


def _seen(columns: list[str], clusters: Clusters) -> list[str]:
    """The columns of a token that segments are described by."""
    of_words = [of.get(_core.norm(columns[column]), "?") for column, of in clusters]
    return [column.lower() for column in columns] + of_words


def _pieces(labels: Sequence[Any]) -> list[Piece]:
    """The segments and, one by one, the tokens outside, in order."""
    pieces: list[Piece] = []
    at = 0
    for begin, end, kind in [*sorted(segments(labels)), (len(labels), len(labels), OUTSIDE)]:
        pieces += [(t, t + 1, OUTSIDE) for t in range(at, begin)]
        if begin < end:
            pieces.append((begin, end, kind))
        at = end
    return pieces


def _tokens(labels: Sequence[Any]) -> list[Piece]:
    """The tokens one by one, each of the kind that its label says."""
    return [(t, t + 1, str(label)) for t, label in enumerate(labels)]


def _of_token(columns: list[str], before: str, after: str) -> list[str]:
    """Features of a token outside: each column, alone and with the kinds around it."""
    return [f"{OUTSIDE} {c} {text}" for c, value in enumerate(columns) for text in (value, f"{before} {value} {after}")]


def _of_segment(x: Sequence[Any], columns: list[list[str]], begin: int, end: int, kind: str) -> list[str]:
    """Features of one segment: each column as a whole, its ends, its shape, its length, and what surrounds it."""
    shapes = " ".join(shape(next(iter(columns_of(token)), "")) for token in x[begin:end])
    names = [f"{kind} length {min(end - begin, 8)}", f"{kind} shape {shapes}"]
    for c in range(len(columns[begin])):
        outer = [*("^" * 2), *(row[c] if c < len(row) else "" for row in columns), *("$" * 2)]
        inside = outer[begin + 2 : end + 2]
        (left, before), (after, right) = outer[begin : begin + 2], outer[end + 2 : end + 4]
        first, last = inside[0], inside[-1]
        names += [
            f"{kind} {c} {what}"
            for what in (
                f"all {' '.join(inside)}",
                f"first {first}",
                f"last {last}",
                f"before {before}",
                f"after {after}",
                f"around {before} {after}",
                f"begins {before} {first}",
                f"begins {left} {before} {first}",
                f"ends {last} {after}",
                f"ends {last} {after} {right}",
            )
        ]
    return names
