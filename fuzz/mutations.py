"""Small changes to the contents of a model file: to a field of its header, or to one of its arrays.

Every change is drawn from a random generator and says what it did, so that a seed tells the same story again.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from perceptive.model_file import CODES

Arrays = dict[str, Any]

WHOLE = [0, 1, 2, 3, 5, 30, 31, 62, 63, 64, 255, 1000, 2**15, 2**31 - 2, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62]
WHOLE += [2**63 - 2, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 10**400]
REAL = [0.0, -0.0, 0.5, 1.0, 1.5, 1e-320, 1e-30, 1e30, 1e154, 1.7e308, float("nan"), float("inf")]
TEXT = [
    "",
    "x",
    "0",
    "-1",
    "a\nb",
    "Ω",
    "nan",
    "<U536870911",
    "<U0",
    "<U",
    "<f8",
    "object",
    "averaged",
    "voted",
    "pa1",
    "ovo",
    "all",
]
TEXT += [
    "B-x",
    "I-x",
    "O",
    "linear",
    "gaussian",
    "dense",
    "sparse",
    "objects",
    "1" * 5000,
    "(" * 500,
    "linear+" * 400 + "linear",
]


def deep(depth: int) -> Any:
    """A list within a list within …"""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def odd_value(rng: random.Random) -> Any:
    """A value that a field hardly expects."""
    kind = rng.randrange(8)
    if kind <= 2:
        return rng.choice(WHOLE) * rng.choice([1, 1, -1])
    if kind == 3:
        return rng.choice(REAL) * rng.choice([1, -1])
    if kind == 4:
        return rng.choice(TEXT)
    if kind == 5:
        return rng.choice([None, True, False])
    some = [[], [0], [1, 2], ["x"], [None], [0.5, -1], [2**70], [[0, 1]], deep(60), deep(300), list(range(50))]
    named = [{}, {"a": 1}, {"kernel": "Linear", "parameters": {}}, {"value": 1}, {"array": "z"}, {"function": "f"}]
    return copy.deepcopy(rng.choice([*some, *named]))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within plain values."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = list(enumerate(value))[:8]  # the many labels of one list are as good as a few
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def value_at(value: Any, path: tuple[Any, ...]) -> Any:
    """What lies there."""
    for key in path:
        value = value[key]
    return value


class Contents:
    """What a model file holds, to be changed.

    Attributes
    ----------
    meta : dict
        Plain values.
    arrays : dict
        Arrays by name.
    said : list of str
        What was done to them.
    """

    def __init__(self, meta: dict[str, Any], arrays: Arrays, others: list[dict[str, Any]]) -> None:
        self.meta, self.arrays, self.others = copy.deepcopy(meta), dict(arrays), others
        self.said: list[str] = []

    def mutate(self, rng: random.Random) -> None:
        """Make one change, of the header or of an array."""
        change_array = bool(self.arrays) and rng.random() < 0.4
        (self.mutate_array if change_array else self.mutate_meta)(rng)

    # ------------------------------------------------------------ the header

    def mutate_meta(self, rng: random.Random) -> None:
        """Change a field of the header."""
        found = list(places(self.meta))
        if not found:
            return
        path = rng.choice(found)
        holder, key = value_at(self.meta, path[:-1]), path[-1]
        old, where = holder[key], "/".join(map(str, path))
        how = rng.randrange(10)
        if how <= 3:
            holder[key] = odd_value(rng)
        elif how <= 5 and isinstance(old, int | float) and not isinstance(old, bool):
            less = max(-(2**99), min(old, 2**99))  # a double holds it
            with np.errstate(all="ignore"):
                holder[key] = rng.choice(
                    [old + 1, old - 1, -old, old * 2, float(less), less + 0.5, [old], str(old), old + 2**63]
                )
        elif how <= 5 and isinstance(old, str):
            holder[key] = rng.choice([old + "x", old[:-1], old * 2, old.upper(), [old], old + "\n", old[::-1]])
        elif how <= 5 and isinstance(old, list):
            many: list[Any] = [old[:-1], old + old, old[::-1], [*old, None], dict.fromkeys(map(str, old)), old[:1]]
            many += [[*old, "y" * 2**20], [*old, *map(str, range(300))], [*old, *(f"B-{i}" for i in range(20_000))]]
            holder[key] = rng.choice(many)
        elif how == 6:
            del holder[key]
            where += " dropped"
        elif how == 7 and isinstance(holder, dict):
            holder[key + "x"] = holder.pop(key)
            where += " renamed"
        elif how == 8:
            other = rng.choice(found)
            holder[key] = copy.deepcopy(value_at(self.meta, other))
            where += " from " + "/".join(map(str, other))
        else:
            foreign = rng.choice(self.others)
            same = [place for place in places(foreign) if place[-1] == key]
            holder[key] = copy.deepcopy(value_at(foreign, rng.choice(same))) if same else odd_value(rng)
        if "dropped" not in where and "renamed" not in where:
            where += f" = {_short(holder[key])}"
        self.said.append(where)

    # ------------------------------------------------------------ arrays

    def mutate_array(self, rng: random.Random) -> None:
        """Change an array."""
        name = rng.choice(sorted(self.arrays))
        array = np.array(self.arrays[name])
        how = rng.randrange(9)
        if how == 0:
            del self.arrays[name]
            self.said.append(f"array {name} dropped")
        elif how == 1:
            self.arrays[name + "x"] = self.arrays.pop(name)
            self.said.append(f"array {name} renamed")
        elif how == 2:
            other = rng.choice(sorted(self.arrays))
            self.arrays[name], self.arrays[other] = self.arrays[other], self.arrays[name]
            self.said.append(f"arrays {name} and {other} swapped")
        elif how == 3:
            self.arrays[name] = _retyped(array, rng)
            self.said.append(f"array {name} {array.dtype} became {self.arrays[name].dtype}")
        elif how == 4:
            self.arrays[name] = _reshaped(array, rng)
            self.said.append(f"array {name} {array.shape} became {self.arrays[name].shape}")
        else:
            self.arrays[name], said = _with_odd_numbers(array, rng)
            self.said.append(f"array {name} {said}")


def _short(value: Any) -> str:
    large = isinstance(value, list) and len(value) > 1000
    return f"[… {len(value)} values]" if large else f"{value!r:.80}"


def _retyped(array: Any, rng: random.Random) -> Any:
    dtype = np.dtype(rng.choice(sorted(CODES)))
    if rng.random() < 0.5 and array.nbytes % dtype.itemsize == 0 and dtype.kind != "b":
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8).view(dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _reshaped(array: Any, rng: random.Random) -> Any:
    shapes = [
        array[:-1] if array.ndim else array,
        array[:0] if array.ndim else array,
        array[1:] if array.ndim else array,
        np.concatenate([array, array]) if array.ndim else array,
        array.T,
        array.reshape(-1),
        array[None],
        array[..., None],
        array.reshape(-1)[:1].reshape(()) if array.size else array,
        np.zeros((0, 2**40), array.dtype),
        np.repeat(array, 3, axis=-1) if array.ndim else array,
    ]
    return np.ascontiguousarray(rng.choice(shapes)) if array.ndim else array.reshape(1)


def _with_odd_numbers(array: Any, rng: random.Random) -> tuple[Any, str]:
    flat = array.reshape(-1)
    if not flat.size:
        return np.ones(3, array.dtype), "filled"
    kind = array.dtype.kind
    if kind == "b":
        pool: list[Any] = [True, False]
    elif kind == "f":
        with np.errstate(over="ignore"):
            pool = [np.array(value * sign).astype(array.dtype) for value in REAL for sign in (1, -1)]
    else:
        about = np.iinfo(array.dtype)
        pool = [about.min, about.max, about.max - 1, about.max // 2, 0, 1, 2]
        pool += [] if kind == "u" else [-1, -2]
        pool += [value for value in WHOLE if value <= about.max]
        pool += [min(int(flat.max()) + 1, int(about.max)), max(int(flat.min()) - 1, int(about.min))]
    value, how = rng.choice(pool), rng.randrange(5)
    if how == 0:
        flat[:] = value
        return array, f"all {value}"
    if how == 1:
        order = list(range(flat.size))
        rng.shuffle(order)
        return flat[order].reshape(array.shape), "shuffled"
    if how == 2:
        return flat[::-1].reshape(array.shape).copy(), "reversed"
    where = rng.choice([0, flat.size - 1, rng.randrange(flat.size)])
    flat[where] = value
    return array, f"[{where}] = {value}"
