"""What classifiers predict, as lines: one for each line of the files, also for those that hold no example."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.cli.console import in_line
from perceptive.cli.options import as_json
from perceptive.errors import UsageError
from perceptive.learners.calibration import probabilities


def probabilities_of(learner: Any, hypothesis: str | None) -> Callable[[Any], NDArray[np.float64]] | None:
    """What makes probabilities of scores: shares of votes, or what was calibrated; None where there is neither."""
    if (hypothesis or learner.parameters.hypothesis) == "voted":
        return partial(probabilities, temperature=None)
    temperature = getattr(learner, "temperature", None)
    return None if temperature is None else partial(probabilities, temperature=temperature)


class Predictions:
    """How the predictions of a learner are written.

    A line without an example (empty, a comment, or skipped) has an empty line, in JSON ``null``.
    """

    def __init__(self, learner: Any, options: argparse.Namespace) -> None:
        self.learner, self.options = learner, options
        self.names = [in_line(one) for one in learner.classes]
        self.number = "proba" if options.proba else "score"
        self.proba = probabilities_of(learner, options.hypothesis)
        if options.proba and self.proba is None:
            raise UsageError(f"{options.model}: was not calibrated; train it with --holdout, or ask for --scores")
        if options.header and options.json:
            raise UsageError("--header does not go with --json, which names everything; leave it out")

    def header(self) -> bytes:
        """The names of the fields; where two classes have one score, it is that of the second."""
        options = self.options
        fields = ["label"]
        if options.top:
            n = min(options.top, len(self.names))
            fields = [f"{name}{i}" if i > 1 else name for i in range(1, n + 1) for name in ("label", self.number)]
        elif options.proba or (options.scores and not self.learner.binary):
            fields += self.names
        elif options.scores:
            fields.append(self.names[1])
        return ("\t".join(fields) + "\n").encode()

    def lines(self, scores: Any, gaps: NDArray[np.int64]) -> bytes:
        """The lines of some examples, with the gaps between them (see `Examples.gaps`)."""
        told = self._told(scores) if len(scores) else []
        if len(gaps):
            empty, filled = "null" if self.options.json else "", iter(told)
            behind = np.zeros(len(told) + len(gaps), bool)
            behind[gaps + np.arange(len(gaps))] = True
            told = [empty if gap else next(filled) for gap in behind.tolist()]
        return "".join([line + "\n" for line in told]).encode()

    def _told(self, scores: Any) -> list[str]:
        options, names = self.options, self.names
        decided = self.learner.decide(scores)
        if not (options.scores or options.proba or options.json or options.top):
            return [names[i] for i in decided.tolist()]
        if self.proba is not None and options.proba:
            scores = self.proba(scores)
        if options.top:
            return self._best(scores if scores.ndim == 2 else np.stack([-scores, scores], axis=1), decided)
        numbers = scores if scores.ndim == 2 else scores[:, None]
        if options.json:
            rows = zip(decided.tolist(), np.round(numbers, 9).tolist(), strict=True)
            return [as_json({"label": self.learner.classes[i], **self._by_class(row)}) for i, row in rows]
        rows = zip(decided.tolist(), numbers.tolist(), strict=True)
        return ["\t".join([names[i], *(f"{s:.6g}" for s in row)]) for i, row in rows]

    def _by_class(self, row: list[float]) -> dict[str, Any]:
        if len(row) == 1:
            return {"score": row[0]}
        name = "proba" if self.options.proba else "scores"
        return {name: dict(zip(map(str, self.learner.classes), row, strict=True))}

    def _best(self, scores: NDArray[np.float64], decided: NDArray[np.int64]) -> list[str]:
        """The classes with the highest scores, that of the prediction first."""
        first = scores.copy()
        first[np.arange(len(scores)), decided] = np.inf
        best = np.argsort(-first, axis=1, kind="stable")[:, : self.options.top]
        rows = zip(best.tolist(), np.take_along_axis(scores, best, axis=1).tolist(), strict=True)
        if not self.options.json:
            return ["\t".join(f"{self.names[i]}\t{s:.6g}" for i, s in zip(*row, strict=True)) for row in rows]
        classes = self.learner.classes
        told = [[{"label": classes[i], self.number: round(s, 9)} for i, s in zip(*row, strict=True)] for row in rows]
        return [as_json({"label": top[0]["label"], "top": top}) for top in told]
