"""Kernels and prepared examples as plain values and arrays, for model files: nothing is pickled.

Functions are known by their names: see `perceptive.named_functions`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptive.kernels import algebra, custom, rescaling, strings, trees, vectors, views
from perceptive.kernels.examples import Dense, Objects, Parts, Sparse, as_list
from perceptive.kernels.kernel import Kernel
from perceptive.named_functions import Functions, function_of, name_of
from perceptive.sparse import csr_from, inspected

Arrays = dict[str, NDArray[Any]]
ABSTRACT = (Kernel, algebra.OfOne, algebra.Pair, strings.StringKernel, trees.TreeKernel, vectors.VectorKernel)
KINDS: dict[str, type[Kernel]] = {
    found.__name__: found
    for module in (algebra, custom, rescaling, strings, trees, vectors, views)
    for found in vars(module).values()
    if isinstance(found, type) and issubclass(found, Kernel) and not found.__name__.startswith("_")
    if found not in ABSTRACT
}


# ---------------------------------------------------------------- kernels


def kernel_to_plain(kernel: Kernel, arrays: Arrays) -> dict[str, Any]:
    """A kernel as plain values; its arrays are put beside. No two of its functions may have one name."""
    return _to_plain(kernel, arrays, {})


def _to_plain(kernel: Kernel, arrays: Arrays, named: dict[str, Any]) -> dict[str, Any]:
    if type(kernel) is not KINDS.get(type(kernel).__name__):
        raise ValueError(f"{kernel!r} is a kernel of your own and cannot be saved; wrap its function in Custom")
    parameters = kernel.get_params(deep=False)
    if isinstance(kernel, rescaling.Centered):
        return {"kernel": "Centered", "parameters": _centered_to_plain(kernel, arrays, named)}
    if isinstance(kernel, custom.Custom):
        parameters["name"] = _name(kernel.f, kernel.label, named)
        parameters["f"] = None  # goes by the name
    return {
        "kernel": type(kernel).__name__,
        "parameters": {name: _value_to_plain(value, arrays, named) for name, value in parameters.items()},
    }


def _centered_to_plain(kernel: rescaling.Centered, arrays: Arrays, named: dict[str, Any]) -> dict[str, Any]:
    """The reference as arrays: rows, sparse or not, as they are; texts, trees and other objects as examples are."""
    X, k = kernel.X_ref, _to_plain(kernel.k, arrays, named)
    if hasattr(X, "tocsr"):
        reference: Any = Sparse(inspected(X).tocsr())
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        reference = Dense(X)
    else:
        prepared = kernel.k.prepare(X)
        reference = prepared if isinstance(prepared, trees.Trees) else Objects(as_list(X))
    prefix = f"kernel.{len(arrays)}"
    return {"k": k, "X_ref": {"examples": examples_to_arrays(reference, prefix, arrays), "under": prefix}}


def _value_to_plain(value: Any, arrays: Arrays, named: dict[str, Any]) -> Any:
    if isinstance(value, Kernel):
        return _to_plain(value, arrays, named)
    if isinstance(value, np.ndarray) and value.dtype != object:
        name = f"kernel.{len(arrays)}"
        arrays[name] = value
        return {"array": name}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if isinstance(value, np.generic):
        return value.item()
    if callable(value):
        return {"function": _name(value, name_of(value), named)}
    return {"value": to_plain(value)}


def _name(function: Any, name: str, named: dict[str, Any]) -> str:
    """Note that a function goes by this name; raise where another one does."""
    if named.setdefault(name, function) != function:
        raise ValueError(
            f"two functions of the kernel are called {name!r}, and a saved model knows them by name; name one of them "
            "otherwise, with def, or with Custom(f, name=…)"
        )
    return name


def kernel_from_plain(plain: Mapping[str, Any], arrays: Arrays, functions: Functions) -> Kernel:
    """The kernel again; raises ValueError where a function is missing."""
    parameters = dict(plain["parameters"])
    if plain["kernel"] == "Custom":
        parameters.pop("f")  # goes by the name of the kernel
    made = {name: _value_from_plain(value, arrays, functions) for name, value in parameters.items()}
    if plain["kernel"] == "Custom":
        made["f"] = function_of("kernel", {"function": made["name"]}, functions)
    kind = KINDS.get(plain["kernel"])
    if kind is None or set(made) - set(kind._parameter_names()):
        raise ValueError(f"there is no kernel {plain['kernel']!r} with {', '.join(made) or 'no parameters'}")
    for name in {"k", "k1", "k2"} & set(made):
        if not isinstance(made[name], Kernel):
            raise ValueError(f"{name} of {plain['kernel']} must be a kernel")
    return kind(**made)


def _value_from_plain(value: Any, arrays: Arrays, functions: Functions) -> Any:
    if not isinstance(value, Mapping):
        return value
    if "kernel" in value:
        return kernel_from_plain(value, arrays, functions)
    if "array" in value:
        return np.array(arrays[value["array"]])
    if "examples" in value:
        examples = examples_from_arrays(value["examples"], value["under"], arrays)
        return examples.rows if isinstance(examples, Dense | Sparse) else examples.items
    if "slice" in value:
        return slice(*value["slice"])
    if "function" in value:
        return function_of("kernel", value, functions)
    return from_plain(value["value"])


# ---------------------------------------------------------------- examples


def examples_to_arrays(examples: Any, prefix: str, arrays: Arrays) -> dict[str, Any]:
    """Prepared examples as arrays and a few words about them."""
    if isinstance(examples, Dense):
        arrays[f"{prefix}.rows"] = examples.array
        return {"kind": "dense"}
    if isinstance(examples, Sparse):
        matrix = examples.matrix
        arrays |= {f"{prefix}.{name}": getattr(matrix, name) for name in ("data", "indices", "indptr")}
        return {"kind": "sparse", "shape": list(matrix.shape)}
    if isinstance(examples, Parts):
        parts = [examples_to_arrays(part, f"{prefix}.{i}", arrays) for i, part in enumerate(examples.parts)]
        return {"kind": "parts", "parts": parts, "derived": examples.derived}
    forest = isinstance(examples, trees.Trees)
    plain = examples.layouts() if forest else [_item_to_plain(item, i) for i, item in enumerate(examples.items)]
    lines = [json.dumps(item, separators=(",", ":")).encode() for item in plain]
    arrays[f"{prefix}.text"] = np.frombuffer(b"".join(lines), dtype=np.uint8)
    arrays[f"{prefix}.ends"] = np.cumsum([len(line) for line in lines], dtype=np.int64)
    if forest:
        return {"kind": "trees"}
    return {"kind": "texts", "single": examples.single} if isinstance(examples, strings.Texts) else {"kind": "objects"}


def examples_from_arrays(about: Mapping[str, Any], prefix: str, arrays: Arrays) -> Any:
    """Return the prepared examples that `examples_to_arrays` was given."""
    kind = about["kind"]
    if kind == "dense":
        rows = np.array(arrays[f"{prefix}.rows"])
        if rows.ndim != 2:
            raise ValueError("rows of the wrong shape")
        return Dense(rows)
    if kind == "sparse":
        data, indices, indptr = (np.array(arrays[f"{prefix}.{name}"]) for name in ("data", "indices", "indptr"))
        return Sparse(csr_from(data, indices, indptr, about["shape"]))
    if kind == "parts":
        parts = [examples_from_arrays(part, f"{prefix}.{i}", arrays) for i, part in enumerate(about["parts"])]
        return Parts(parts, bool(about.get("derived", False)))
    text, ends = np.asarray(arrays[f"{prefix}.text"]).tobytes(), np.asarray(arrays[f"{prefix}.ends"])
    borders = [0, *ends.tolist()]
    if borders != sorted(borders) or borders[-1] != len(text):
        raise ValueError("texts do not fit together")
    lines = [json.loads(text[a:b]) for a, b in pairwise(borders)]
    if kind == "trees":
        return trees.from_layouts(lines)
    items = [from_plain(line) for line in lines]
    if kind == "texts":
        return strings.Spectrum(1).prepare(items, np.float32 if about["single"] else np.float64)
    if kind != "objects":
        raise ValueError(f"examples of an unknown kind {kind!r}")
    return Objects(items)


def check_fit(kernel: Kernel, examples: Any) -> None:
    """Raise ValueError where this kernel does not prepare examples so."""
    if isinstance(examples, Parts) and len({len(part) for part in examples.parts}) != 1:
        raise ValueError("parts of different lengths")
    if isinstance(kernel, algebra.Pair) and not kernel.shared:
        _check_parts(examples, [kernel.k1, kernel.k2])
    elif isinstance(kernel, rescaling.ScaledBy | rescaling.Normalized | rescaling.Centered):
        _check_parts(examples, [kernel.k, None])
    elif isinstance(kernel, custom.Precomputed):
        _check_parts(examples, [None, None])
        rows, index = examples.parts[0].array, examples.parts[1].array[:, 0]
        if not np.isin(index, np.arange(rows.shape[1])).all():
            raise ValueError("examples beyond the Gram matrix")
    elif isinstance(kernel, vectors.VectorKernel):
        _check_numbers(examples)
    elif isinstance(kernel, strings.StringKernel | trees.TreeKernel | custom.Custom | algebra.Constant):
        wanted = {strings.StringKernel: strings.Texts, trees.TreeKernel: trees.Trees}
        kind = next((kind for of, kind in wanted.items() if isinstance(kernel, of)), Objects)
        if type(examples) is not kind:
            raise ValueError(f"the supports are not examples of {kernel!r}")
    else:
        for _, inner in kernel.kernels():  # the ones that it is a function of, or compares parts with
            check_fit(inner, examples)


def _check_parts(examples: Any, kernels: list[Kernel | None]) -> None:
    """Raise where examples do not have the parts that kernels compare; None stands for a part of numbers."""
    if not isinstance(examples, Parts) or len(examples.parts) != len(kernels):
        raise ValueError("the supports do not have the parts that the kernel compares")
    for part, kernel in zip(examples.parts, kernels, strict=True):
        if kernel is None:
            _check_numbers(part)
        else:
            check_fit(kernel, part)
    if kernels[-1] is None and examples.parts[-1].array.shape[1] != 1:
        raise ValueError("more than one number for a support")


def _check_numbers(examples: Any) -> None:
    if not isinstance(examples, Dense | Sparse):
        raise ValueError("supports that should be rows of numbers, and are not")
    values = examples.array if isinstance(examples, Dense) else examples.matrix.data
    if values.dtype not in (np.float32, np.float64) or not np.isfinite(values).all():
        raise ValueError("the supports contain NaN or inf")


def _item_to_plain(item: Any, i: int) -> Any:
    try:
        return to_plain(item)
    except RecursionError:
        raise ValueError(f"support {i} is nested too deeply to be saved; give flatter examples") from None


# ---------------------------------------------------------------- plain values


def to_plain(value: Any) -> Any:
    """Any nesting of strings, numbers, tuples, lists, dicts and arrays, as JSON has it; no subclasses of these."""
    kind = type(value)
    if value is None or kind in (str, bool, int):
        return value
    if kind is float:
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if kind is tuple:
        return {"tuple": [to_plain(item) for item in value]}
    if kind is list:
        return [to_plain(item) for item in value]
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is np.ndarray and value.dtype.kind in "fiub":
        return {"array": value.tolist(), "dtype": value.dtype.str}
    if kind is np.ndarray and value.dtype.kind in "OU":
        return to_plain(value.tolist())
    if kind is dict:
        return {"dict": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    raise ValueError(
        f"a {type(value).__name__} cannot be saved; use strings, numbers, tuples, lists, dicts and arrays of numbers"
    )


def from_plain(plain: Any) -> Any:
    """Return the value that `to_plain` was given."""
    if isinstance(plain, list):
        return [from_plain(item) for item in plain]
    if not isinstance(plain, dict):
        return plain
    if "tuple" in plain:
        return tuple(from_plain(item) for item in plain["tuple"])
    if "dict" in plain:
        return {from_plain(key): from_plain(item) for key, item in plain["dict"]}
    if "bytes" in plain:
        return bytes.fromhex(plain["bytes"])
    if "float" in plain:
        return float(plain["float"])
    dtype = np.dtype(plain["dtype"])
    if dtype.kind not in "fiub":
        raise ValueError("an array of an unknown kind")
    return np.array(plain["array"], dtype=dtype)
