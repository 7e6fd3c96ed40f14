"""The loop of all training that goes over the same examples several times: play, write down, look, perhaps stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from perceptive import _core


class Learner(Protocol):
    """What counts its mistakes, and can go back to what it was."""

    first_pass: tuple[int, int] | None

    @property
    def rounds(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def loss(self) -> float: ...

    def snapshot(self) -> Any: ...
    def restore(self, state: Any) -> None: ...


@dataclass
class History:
    """What happened, pass by pass."""

    mistakes: list[int] = field(default_factory=list)
    updates: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)  # the perceptron criterion of the mistakes as they happened
    held_out: list[float] = field(default_factory=list)  # accuracy on the validation part
    converged: bool = False  # a pass went by without a mistake or an update

    @classmethod
    def from_meta(cls, meta: dict[str, Any]) -> Self:
        """What a file says of it; raises where that cannot be."""
        history = cls(**meta)
        lists = (history.mistakes, history.updates, history.loss, history.held_out)
        sound = all(type(one) is list and all(type(entry) in (int, float) for entry in one) for one in lists)
        if not sound or not isinstance(history.converged, bool):
            raise ValueError("an impossible history")
        return history

    @property
    def epochs(self) -> int:
        """Passes begun."""
        return len(self.mistakes)

    @property
    def settled(self) -> bool:
        """Whether the latest pass made no update: then none to come would, either.

        There may be mistakes that nobody can learn from (K(x, x) = 0, say): then it has settled, but not converged.
        """
        return self.updates[-1] == 0


TELLS_NOTHING = "the held-out lists tell nothing: in none is a candidate better than another; hold out more, or none"


def hash_seed(random_state: int, epoch: int) -> int:
    """A seed for each pass."""
    return (int(random_state) * 0x9E3779B97F4A7C15 + epoch * 0xD1342543DE82EF95 + 1) % 2**64


def orders(n: int, shuffle: bool, random_state: int) -> Callable[[int], NDArray[np.int64]]:
    """The order of n examples in each pass, as a function of the pass; each shuffles that of the one before."""
    order = np.arange(n)

    def of(epoch: int) -> NDArray[np.int64]:
        if shuffle:
            _core.shuffle(order, hash_seed(random_state, epoch))
        return order

    return of


def play_passes(
    learner: Learner,
    play: Callable[[int], None],
    epochs: int,
    *,
    held_out: Callable[[], float] | None = None,
    patience: int = 1,
    history: History | None = None,
    after_pass: Callable[[History], None] | None = None,
) -> History:
    """Play up to ``epochs`` passes.

    Training ends early on a pass without updates, or when the held-out score has not risen for ``patience`` passes;
    then the learner goes back to the best pass. Where an exception (Ctrl-C, say) breaks training off, the learner keeps
    what it has learned so far, and the history has the pass that was broken off.

    Parameters
    ----------
    learner : Learner
    play : callable
        Plays all examples once; it is told which pass it is.
    epochs : int
    held_out : callable or None
        The score on the held-out part, asked for after each pass.
    patience : int
    history : History or None
        Is filled as training goes on, so that it is there also if training is broken off.
    after_pass : callable or None
        Called with the history after each pass.
    """
    history = History() if history is None else history
    best_score, best_epoch, best = -1.0, 0, None
    for epoch in range(epochs):
        before = learner.mistakes, learner.updates, learner.loss, learner.rounds
        try:
            play(epoch)
        finally:
            history.mistakes.append(learner.mistakes - before[0])
            history.updates.append(learner.updates - before[1])
            history.loss.append(learner.loss - before[2])
        if learner.first_pass is None:
            learner.first_pass = learner.rounds - before[3], history.mistakes[-1]
        history.converged = history.settled and history.mistakes[-1] == 0
        if held_out is not None:
            history.held_out.append(held_out())
        if after_pass is not None:
            after_pass(history)
        if held_out is not None:
            score = history.held_out[-1]
            if score > best_score or (history.settled and score == best_score):
                best_score, best_epoch, best = score, epoch, learner.snapshot()
            elif epoch - best_epoch >= patience:
                break
        if history.settled:
            break
    if best is not None and best_epoch < history.epochs - 1:
        learner.restore(best)
    return history
