"""How recorded values are compared: bit for bit, or to 1e-6 where BLAS, exp or log had a part in them."""

import math
import re

RTOL = 1e-6
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


def plain(value):
    """A value as JSON has it; the floats of JSON keep all bits."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def differences(expected, found, exact, where=""):
    """Where two plain values differ, as text."""
    if isinstance(expected, dict) and isinstance(found, dict):
        lost = [f"{where}.{key}: is missing" for key in expected if key not in found]
        both = (differences(one, found[key], exact, f"{where}.{key}") for key, one in expected.items() if key in found)
        return lost + [said for part in both for said in part]
    if isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            return [f"{where}: {len(found)} values, recorded {len(expected)}"]
        both = (differences(a, b, exact, f"{where}[{i}]") for i, (a, b) in enumerate(zip(expected, found, strict=True)))
        return [said for part in both for said in part]
    return [] if same(expected, found, exact) else [f"{where}: {found!r}, recorded {expected!r}"]


def same(expected, found, exact):
    """Whether two values are equal: floats to the last bit, or nearly."""
    if isinstance(expected, list) and isinstance(found, list):
        return not differences(expected, found, exact)
    if isinstance(expected, float) and isinstance(found, int | float) and not isinstance(found, bool):
        if exact:
            return float(found).hex() == expected.hex()
        return math.isclose(found, expected, rel_tol=RTOL, abs_tol=RTOL) or (math.isnan(found) and math.isnan(expected))
    return type(expected) is type(found) and expected == found


def numbers_of(text):
    """The numbers of a text, in order."""
    return [float(word.replace(",", "")) for word in NUMBER.findall(text)]


def same_numbers(expected, found, exact):
    """Whether two lists of printed numbers are equal; the last digit of a rounded one may differ if not exact."""
    if len(expected) != len(found):
        return False
    if exact:
        return expected == found
    return all(math.isclose(a, b, rel_tol=2e-3, abs_tol=2e-3) for a, b in zip(expected, found, strict=True))


def differing_text(expected, found, exact):
    """What differs between two texts; printed numbers may differ in their last digit if not exact."""
    if expected == found:
        return []
    skeletons = NUMBER.sub("#", expected).split(), NUMBER.sub("#", found).split()
    if not exact and skeletons[0] == skeletons[1] and same_numbers(numbers_of(expected), numbers_of(found), False):
        return []
    return [f"{found!r}, recorded {expected!r}"]


def leaves(value, where=""):
    """Each value within JSON by its path; long texts, which are prose, are left out."""
    if isinstance(value, dict):
        return {path: one for key, part in value.items() for path, one in leaves(part, f"{where}/{key}").items()}
    if isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        return {path: one for i, part in enumerate(value) for path, one in leaves(part, f"{where}/{i}").items()}
    if isinstance(value, str) and len(value) > 40:
        return {}
    return {where: value}


def shape_of(value):
    """The keys of JSON, without its values: lists by their first element."""
    if isinstance(value, dict):
        return {key: shape_of(one) for key, one in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [shape_of(value[0])]
    return type(value).__name__
