"""`Table`: how the rows of a data frame become dicts of features, as those of a file do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from perceptive.cached import cached
from perceptive.streams.scaling import Scaling
from perceptive.streams.values import plain_row


@dataclass(frozen=True)
class Table:
    """What a model of a data frame remembers of it.

    Attributes
    ----------
    words : tuple of str
        The columns whose numbers are names.
    ignore : tuple of str
        The columns that are left out.
    scaling : Scaling or None
        How the numbers of the others are scaled; None where they are taken as they are.

    Examples
    --------
    >>> table = Table(words=("zip",), scaling=Scaling(("year",), (2000.0,), (0.1,)))
    >>> table.row({"year": 2010, "zip": 101, "ripe": True, "colour": None})
    {'year': 1.0, 'zip': '101', 'ripe': 'True'}
    """

    words: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    scaling: Scaling | None = None

    @cached
    def _factors(self) -> dict[str, tuple[float, float]]:
        return {} if self.scaling is None else {name: how for name, *how in self.scaling.factors}  # type: ignore[misc]

    def row(self, row: Mapping[Any, Any]) -> dict[str, Any]:
        """A dict of values as features: numbers, and words."""
        found = plain_row(row, self.words)
        for name in self.ignore:
            found.pop(name, None)
        for name, (shift, factor) in self._factors.items():
            x = found.get(name)
            if isinstance(x, int | float):
                found[name] = (x - shift) * factor
        return found

    def to_meta(self) -> dict[str, Any]:
        """As plain values, for a model file."""
        meta: dict[str, Any] = {"table": list(self.words)}
        meta |= {"table_ignore": list(self.ignore)} if self.ignore else {}
        return meta if self.scaling is None else {**meta, "table_scaling": asdict(self.scaling)}

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any]) -> Self | None:
        """What `to_meta` gave; None where there is none, as in models that have not learned from a frame."""
        if "table" not in meta:
            return None
        scaling = Scaling.from_meta(meta.get("table_scaling"))
        return cls(tuple(meta["table"]), tuple(meta.get("table_ignore", ())), scaling)
