"""The rules of the perceptron family: name, requirements, and known theorems of each.

The arithmetic is in ``core/rules.hpp`` and, for reading with the notes, in ``reference/rules.py``.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """Facts about a rule."""

    paper: str  # where it comes from
    theorem: str  # which bound a run is certified by (see `certificate`); empty where none is known
    takes_weights: bool = True  # whether sample weights are defined for it
    takes_delta: bool = True  # whether the Δ-trick is
    heeds: tuple[str, ...] = ()  # of the parameters learning_rate, margin, C and r
    # Whether weights in float32 are too coarse for its steps: those of ROMMA meet two constraints that may nearly
    # contradict each other.
    needs_float64: bool = False


RULES = {
    "perceptron": Rule(
        "Rosenblatt 1958; bound: Block 1962, Novikoff 1962, Freund & Schapire 1999",
        "perceptron",
        heeds=("learning_rate", "margin"),
    ),
    "pa": Rule("Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006", "pa", takes_weights=False),
    "pa1": Rule("Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006", "pa1", heeds=("C",)),
    "pa2": Rule("Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006", "pa2", heeds=("C",)),
    "mira": Rule("Crammer & Singer 2003", "pa", takes_weights=False, heeds=("C",)),  # C: of sequences
    "romma": Rule("Li & Long 2002", "romma", takes_weights=False, needs_float64=True),
    "aggressive-romma": Rule("Li & Long 2002", "romma", takes_weights=False, needs_float64=True),
    "arow": Rule("Crammer, Kulesza & Dredze 2009", "", takes_delta=False, heeds=("r",)),
}
