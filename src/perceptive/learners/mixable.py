"""`Mixable`: a learner of weight vectors that can be replicated, learn apart, and be mixed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

from numpy.typing import NDArray

from perceptive.learners.mixture import VectorMixture, replica_of
from perceptive.learners.recorded import Recorded
from perceptive.learners.weight_vector import WeightVector
from perceptive.state import State


class Mixable(Recorded):
    """A recorded learner with a vector for each of its problems.

    Attributes
    ----------
    vectors : dict
        The `WeightVector` of each problem.
    """

    vectors: dict[Any, WeightVector]

    @abstractmethod
    def state(self) -> State:
        """The whole state; see `Learner`."""

    def replica(self) -> Self:
        """A learner with the same vectors that learns on its own; see `Learner`."""
        twin = type(self).__new__(type(self))
        with self.lock.shared():
            mine = {name: value for name, value in self.__dict__.items() if name not in twin.__dict__}
            twin.__dict__.update(mine)
            twin.vectors = {key: replica_of(vector) for key, vector in self.vectors.items()}
        return twin

    def departure(self) -> tuple[State, Mapping[str, Any]]:
        """The state of a replica; see `Learner`. What is zero is left out, and so are averages."""
        return self.replica().state(), {}

    def divide(self, n: int, sums: Callable[[Any], NDArray[Any]]) -> bool:
        """Make ready for shards of n examples; see `Learner`.

        Averages wait to the end of the run, as in serial learning, where what waits (a number for each example and
        class) is less than the weights: on a cluster it travels with them.
        """
        defer = all(n * vector.n_classes <= vector.n_features * vector.stride for vector in self.vectors.values())
        with self.lock.learning(), self.lock.changing():
            for key, vector in self.vectors.items():
                vector.divide(defer, partial(sums, key))
        return any(vector.put_off is not None for vector in self.vectors.values())

    def mixture(self, replica: Self, by_updates: bool) -> dict[Any, VectorMixture]:
        """What a replica has become, for each problem; see `Learner`."""
        return {key: VectorMixture(vector, replica.vectors[key], by_updates) for key, vector in self.vectors.items()}

    def mix(self, mixture: dict[Any, VectorMixture]) -> None:
        """Move by what replicas have learned."""
        with self.lock.learning(), self.lock.changing():
            for key, vector in self.vectors.items():
                vector.mix(mixture[key], self.threads)
