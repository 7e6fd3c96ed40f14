"""What a value of a table means, in every format: missing, a number, or a word."""

import re

MISSING = (b"", b"na", b"nan", b"null")
MOMENT = re.compile(
    rb"(?:([0-9]{4}-[0-9]{2}-[0-9]{2})[ T])?([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]*))?"
    rb"(?:(Z)|([+-][0-9]{2}):?([0-9]{2}))?"
)


def is_missing(value: bytes) -> bool:
    """Whether there is no value."""
    return value.lower() in MISSING


def meant(value: bytes) -> bytes:
    """The word that a value stands for, however it is written.

    Examples
    --------
    >>> [meant(value) for value in (b"TRUE", b"2020-01-31T00:00:00.000", b"2020-01-31 12:30:00.500Z", b"12:30:00.0")]
    [b'True', b'2020-01-31', b'2020-01-31 12:30:00.5+00:00', b'12:30:00']
    """
    if value.lower() in (b"true", b"false"):
        return value.lower().capitalize()
    match = MOMENT.fullmatch(value)
    if match is None:
        return value
    date, time, fraction, utc, hours, minutes = (part or b"" for part in match.groups())
    fraction, zone = fraction.rstrip(b"0"), b"+00:00" if utc else hours + b":" * bool(hours) + minutes
    if date and time == b"00:00:00" and not fraction and not zone:
        return date
    return date + b" " * bool(date) + time + b"." * bool(fraction) + fraction + zone
