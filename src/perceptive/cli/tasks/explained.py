"""What ``perceptive explain`` tells of an example: as text, JSON, or bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from perceptive.cli.options import as_json

if TYPE_CHECKING:
    from perceptive.explanation import Explanation

MOST_BARS = 20  # explanations in one picture


class Explained(NamedTuple):
    """The explanations of an example: one of its label, or one for each of its tokens or candidates."""

    found: Sequence[Explanation]
    titles: Sequence[str] = ()  # what each is about: a token, a candidate; empty where that is the example itself
    beside: Mapping[str, Any] = MappingProxyType({})  # what JSON says beside them

    def text(self) -> str:
        """For people; ends with an empty line."""
        heads = [f"{title}: " for title in self.titles] or [""]
        return "".join(f"{head}{told}\n" for head, told in zip(heads, self.found, strict=True)) + "\n"

    def json(self) -> str:
        """Return it as a line of JSON."""
        parts = [told.to_dict() for told in self.found]
        return as_json({**self.beside, "explanations": parts} if self.titles else {**self.beside, **parts[0]}) + "\n"


def draw(examples: Iterable[Explained], file: IO[bytes], kind: str) -> bool:
    """Draw the explanations of the first examples into a picture; returns whether there are more."""
    from perceptive.plots import plot_explanation
    from perceptive.plots.pyplot import pyplot

    titled = ((title, told) for one in examples for title, told in zip(one.titles or [""], one.found, strict=True))
    shown = list(islice(titled, MOST_BARS))
    if not shown:
        raise ValueError("there are no examples; check the files and the format")
    plt = pyplot()
    heights = [0.3 * len(told.parts) + 1.4 for _, told in shown]
    sizes = {"figsize": (6, sum(heights)), "height_ratios": heights, "layout": "constrained", "squeeze": False}
    figure, axes = plt.subplots(len(shown), **sizes)
    for ax, (title, told) in zip(axes[:, 0], shown, strict=True):
        plot_explanation(told, top=len(told.parts), ax=ax)
        if title:
            ax.set_title(f"{title}: {ax.get_title()}")
    figure.savefig(file, format=kind)
    plt.close(figure)
    return next(titled, None) is not None
