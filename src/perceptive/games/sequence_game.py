"""The game over sequences (`000_…` §4), with a referee that checks every labelling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from perceptive.games.game import Game, GameRound, IllegalMove
from perceptive.reference.sequence import SequencePerceptron, minus
from perceptive.reference.sequence import dot as product

MOST = 4096  # labellings of a sentence, which the referee goes through


class SequenceGame(Game):
    """A shows words and labels that u scores γ above every other labelling; B is the structured perceptron.

    Φ counts words with their label, ``(word, label)``, and labels with the previous one, ``("@", before, label)``.

    Parameters
    ----------
    u : dict
        The target: weights of these features, of length 1.
    labels : sequence
        The label names.
    margin, radius : float
        γ, and R for the ‖Φ(x, y*) − Φ(x, ŷ)‖ of any ŷ.

    Examples
    --------
    >>> s = 0.5**0.5
    >>> game = SequenceGame({("Ziv", "B"): s, ("tell", "O"): s}, labels="OB", margin=0.5, radius=3)
    >>> played = game.round(["tell", "Ziv"], ["O", "B"])
    >>> played.prediction, played.mistake, played.v["Ziv", "B"]
    (('O', 'O'), True, 1.0)
    """

    def __init__(self, u: Mapping[Any, float], labels: Sequence[Any], margin: float, radius: float) -> None:
        super().__init__(margin, radius)
        self.labels = list(labels)
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels):
            raise ValueError(f"labels={self.labels!r}: give two at least, each once")
        self._number = {label: i for i, label in enumerate(self.labels)}
        self.u = {self._numbered(name): float(weight) for name, weight in u.items()}
        length = math.sqrt(product(self.u, self.u))
        if not abs(length - 1) <= 1e-6:
            raise ValueError(f"u has the length {length:.6g}; give a unit vector")
        self.learner = SequencePerceptron(len(self.labels))

    def _numbered(self, name: Any) -> Any:
        """A name of a weight, its labels by number."""
        try:
            return ("@", *(self._number[y] for y in name[1:])) if name[0] == "@" else (name[0], self._number[name[1]])
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"u has {name!r}; name weights (word, label) and ('@', before, label)") from None

    def _named(self, weights: Mapping[Any, float]) -> dict[Any, float]:
        """Weights by the names of their labels."""
        return {
            (name[0], *(self.labels[y] for y in name[1:])): weight for name, weight in weights.items() if weight != 0.0
        }

    def phi(self, words: Sequence[str], labels: Sequence[Any]) -> dict[Any, float]:
        """Φ(x, y)."""
        return self._named(self.learner.phi([{w: 1.0} for w in words], tuple(self._number[y] for y in labels)))

    def round(self, x: Sequence[str], y: Sequence[Any]) -> GameRound:
        """A shows words, B labels them, A reveals the labels."""
        words, n = [str(word) for word in x], len(self.labels)
        if not words or len(y) != len(words) or any(label not in self._number for label in y):
            raise IllegalMove(f"labels {list(y)!r} for {len(words)} words: give each word one of {self.labels!r}")
        if n ** len(words) > MOST:
            raise IllegalMove(f"{len(words)} words have {n}^{len(words)} labellings, more than {MOST}; show fewer")
        tokens = [{word: 1.0} for word in words]
        truth = tuple(self._number[label] for label in y)
        right = self.learner.phi(tokens, truth)
        for other in itertools.product(range(n), repeat=len(words)):
            if other != truth:
                delta = minus(right, self.learner.phi(tokens, other))
                against = " ".join(str(self.labels[label]) for label in other)
                self._far_enough(product(delta, self.u), f"the lead over {against} under u")
                self._within(math.sqrt(product(delta, delta)), f"‖δ‖ against {against}", self.radius)
        guess = self.learner.predict(tokens)
        mistake = self.learner.learn(tokens, truth)
        self.k += mistake
        v = self.learner.v
        said, along, length = tuple(self.labels[label] for label in guess), product(self.u, v), product(v, v)
        return self._note(words, tuple(y), said, mistake, self._named(v), along, math.sqrt(length))
