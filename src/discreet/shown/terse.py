"""A record in a line or two: what it is made of, by name, and no array or long fraction in full."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

MOST = 4  # entries of a list that are shown
LONGEST = 40  # letters of a text
SHORT = 9  # letters of a fraction that is shown as it is
LARGE = 10**9  # numbers that are shown as they are
POWERS = 12  # of ten: numbers so large or so small are not written out
LONG_FRACTION = re.compile(r"-?\d+/\d+|-?\d+\.\d+")


def in_digits(number: float, digits: int) -> str:
    """Rounded to so many, and written out as people do, without a power of ten."""
    rounded = Decimal(f"{number:.{digits}g}")
    return f"{rounded:,f}" if rounded.is_finite() and abs(rounded.adjusted()) < POWERS else f"{number:.{digits}g}"


class Terse:
    """A value whose parts may be long."""

    def __repr__(self) -> str:
        return terse(self)


def terse(value: Any, depth: int = 2) -> str:
    """In one line; of values within values only so many are opened."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = ", ".join(_fields(value, depth - 1)) if depth else "..."
        return f"{type(value).__name__}({inside})"
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(f'{size:,}' for size in value.shape)} numbers>"
    if isinstance(value, (str, Fraction)):
        return _text(value)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{name!r}: {terse(item, depth)}" for name, item in value.items())
        return f"{{{inside}}}" if len(value) <= MOST else f"<{len(value):,} entries>"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(terse(item, depth) for item in value)
        return f"({inside})" if len(value) <= MOST else f"<{len(value):,} of them>"
    if isinstance(value, int) and abs(value) >= LARGE:
        return f"~{Decimal(value):.6g}"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def _fields(value: Any, depth: int) -> Iterator[str]:
    """Those that say something: what is none or empty is left out."""
    for one in fields(value):
        held = getattr(value, one.name)
        if one.repr and held is not None and not (isinstance(held, (tuple, dict, str)) and not held):
            yield f"{one.name}={terse(held, depth)}"


def _text(value: str | Fraction) -> str:
    """A number that takes many digits, rounded; any other text, cut short."""
    said = str(value)
    if LONG_FRACTION.fullmatch(said) and len(said) > SHORT:
        return f"~{float(Fraction(said)):.6g}"
    shown = said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"
    return shown if isinstance(value, Fraction) else repr(shown)
