"""The named features of one example, and their products, on their way through the hash kernel into a row."""

from collections.abc import Mapping, Sequence
from itertools import combinations

from perceptive.reference.hashing import murmur3
from twins.lines import Bad, fits, rounded

Feature = tuple[bytes | int, float, bytes]  # name, or the bucket of what comes hashed; value; namespace
Pairs = Sequence[tuple[bytes, bytes]]
Scaling = Mapping[bytes, tuple[float, float]]  # of each column its shift and its factor


def scaled(column: bytes, x: float, scaling: Scaling | None) -> float:
    """A number of a column as it becomes the value of a feature.

    Examples
    --------
    >>> scaled(b"age", 40.0, {b"age": (30.0, 0.1)}), scaled(b"size", 40.0, {b"age": (30.0, 0.1)})
    (1.0, 40.0)
    """
    shift, factor = (scaling or {}).get(column, (0.0, 1.0))
    return (x - shift) * factor


def interactions(features: Sequence[Feature], pairs: Pairs = (), all_pairs: bool = False) -> list[tuple[bytes, float]]:
    """The products of every two features, or of those of two namespaces: the names joined by '*', the smaller first.

    Examples
    --------
    >>> interactions([(b"a", 2.0, b"x"), (b"c", 1.0, b"x"), (b"b", 3.0, b"y")], [(b"y", b"x")])
    [(b'a*b', 6.0), (b'b*c', 3.0)]
    """
    wanted = {*pairs} | {(b, a) for a, b in pairs}
    named = [(name, x, space) for name, x, space in features if isinstance(name, bytes) and x != 0]
    return [
        (b"*".join(sorted([a, b])), x * y)
        for (a, x, s), (b, y, t) in combinations(named, 2)
        if all_pairs or (s, t) in wanted
    ]


def row(
    features: Sequence[Feature],
    *,
    bits: int = 20,
    seed: int = 0,
    signed: bool = True,
    pairs: Pairs = (),
    all_pairs: bool = False,
    single: bool = False,
    at: int = 0,
    named: Mapping[bytes, int] | None = None,
    others: int = -1,
) -> tuple[tuple[int, float], ...]:
    """φ[h] = Σ_{j: bucket(j) = h} ξ(j) x_j, added up in the order of the features, their products last.

    With ``named`` names are not hashed: each has its column, all others count in that of the others, if there is one.

    Examples
    --------
    >>> row([(b"a", 2.0, b""), (b"b", 5.0, b""), (b"c", 0.5, b"")], named={b"a": 1}, others=3)
    ((1, 2.0), (3, 2.0))
    """
    found: dict[int, float] = {}
    products = interactions(features, pairs, all_pairs)
    for name, value in [*((name, x) for name, x, _ in features if x != 0), *products]:
        if isinstance(name, bytes) and named is not None:
            if name not in named and others < 0:
                continue
            name, value = (named[name], value) if name in named else (others, 1.0)
        elif isinstance(name, bytes):
            h = murmur3(name, seed)
            name, value = h % 2**bits, -value if signed and h >> 31 else value
        found[name] = found.get(name, 0.0) + value
    kept = [(h, value) for h, value in sorted(found.items()) if value != 0]
    if not all(fits(value, single) for _, value in kept):
        raise Bad(at, "the features of one bucket add up to too large a number; rescale")
    return tuple((h, rounded(value, single)) for h, value in kept)
