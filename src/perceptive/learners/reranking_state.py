"""A reranker as plain values and arrays: its tagger and its ranker, each in a folder of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

from perceptive.learners.candidates import hashed
from perceptive.learners.description import structure_of
from perceptive.learners.ranking import RankingLearner
from perceptive.model_file import ModelFileError
from perceptive.named_functions import Functions, function_of, name_of
from perceptive.state import Meta, State, below

FOLDERS = ("tagger", "ranker")


class Parts(NamedTuple):
    """What the state of a reranker is made of."""

    tagger: State
    ranker: State
    features: Any
    structure: Any
    functions: Functions  # the user's and our own, by name, for the kernel of the ranker


def join_states(tagger: State, ranker: State, about: Meta, features: Any, structure: Any) -> State:
    """The state of a reranker. Functions are known by their names, as those of the ranker's kernel are."""
    parts = dict(zip(FOLDERS, (tagger, ranker), strict=True))
    names, own = _functions_in(ranker.meta.get("kernel")), {}
    for what, function in (("features", features), ("structure", structure)):
        own[what] = {"function": name_of(function)} if callable(function) else function
        if not callable(function):
            continue
        if (name := name_of(function)) in names:
            raise ModelFileError(
                f"two functions of the model are called {name!r}, and a file knows them by name; rename {what}"
            )
        names.add(name)
    meta = {**{name: part.meta for name, part in parts.items()}, **about, **own}
    return State(meta, {f"{name}/{at}": array for name, part in parts.items() for at, array in part.arrays.items()})


def part_states(state: State, functions: Functions | None = None) -> Parts:
    """What `join_states` put together; raises ValueError where it does not fit, or a function is missing."""
    meta, functions = state.meta, functions or {}
    features = function_of("features", meta.get("features"), functions)  # files from before kernels have neither
    structure = function_of("structure", meta.get("structure"), functions)
    if structure is not None:
        structure_of(structure)
    tagger, ranker = (State(meta[name], below(state.arrays, f"{name}/")) for name in FOLDERS)
    return Parts(tagger, ranker, features, structure, {**functions, "hashed": hashed})


def ranker_class(state: State) -> Any:
    """The class of a ranker that a state is of."""
    if "kernel" not in state.meta:
        return RankingLearner
    from perceptive.learners.kernel_ranking import KernelRankingLearner

    return KernelRankingLearner


def _functions_in(plain: Any) -> set[str]:
    """The names of the functions that a kernel is made of."""
    if not isinstance(plain, dict):
        return set()
    found = {plain["function"]} if "function" in plain else set()
    parameters = plain.get("parameters", {})
    if plain.get("kernel") == "Custom":
        found.add(parameters["name"]["value"])
    return found.union(*(_functions_in(value) for value in parameters.values()))
