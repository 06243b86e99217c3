"""Every value of a JSON document, and what a forger might put in its place: generated, so that new fields are met."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.numbers import text

Place = tuple[str | int, ...]
MOST_VISITED = 3  # entries of a list: the first, one in the middle, the last
GONE = object()  # a field that is left out


@dataclass(frozen=True)
class Edit:
    """What is put where."""

    place: Place
    value: Any

    def __str__(self) -> str:
        shown = "(left out)" if self.value is GONE else json.dumps(self.value)
        return f"{pattern(self.place)} <- {shown[:60]}"

    def of(self, document: dict[str, Any]) -> dict[str, Any]:
        edited = copy.deepcopy(document)
        inside: Any = edited
        for step in self.place[:-1]:
            inside = inside[step]
        if self.value is GONE:
            del inside[self.place[-1]]
        else:
            inside[self.place[-1]] = self.value
        return edited


def pattern(place: Place) -> str:
    """A place without the numbers of entries: guarantee.remarks[].code."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in place).lstrip(".")


def edits(document: dict[str, Any], pool: dict[str, list[Any]]) -> Iterator[Edit]:
    """Of every field at every depth; `pool` holds what other documents have in a field of the same name."""
    yield Edit(("nothing-known",), "x")
    yield from _inside(document, (), pool)


def _inside(value: Any, place: Place, pool: dict[str, list[Any]]) -> Iterator[Edit]:
    if place:
        seen = {_written(value)}
        for other in (*others(value), *pool.get(str(place[-1]), ())):
            if _written(other) not in seen:
                seen.add(_written(other))
                yield Edit(place, other)
    if isinstance(value, dict):
        for name in value:
            yield Edit((*place, name), GONE)
            yield from _inside(value[name], (*place, name), pool)
    elif isinstance(value, list):
        for i in sorted({0, len(value) // 2, len(value) - 1}) if value else ():
            yield from _inside(value[i], (*place, i), pool)


def _written(value: Any) -> str:
    """1, 1.0 and true are different values."""
    return json.dumps(value, sort_keys=True)


def others(value: Any) -> list[Any]:
    """Of the same kind and of others."""
    if isinstance(value, bool):
        return [not value, int(value), int(not value), "no", "true", None]
    if value is None:
        return [0, 1, "1", "", True, [], {}]
    if isinstance(value, int):
        wrong = [float(value) if abs(value) < 1 << 60 else 0.5, str(value), True, None, [value]]
        return [value + 1, value - 1, 0, -value, 2 * value + 1, 10**18, 1 << 63, 10**400, *wrong]
    if isinstance(value, float):
        odd = [float("nan"), float("inf"), -float("inf"), 1e300, -1.0, "0.5", None]
        return [value + 0.01, value * 1.01, 0.0, -value, *odd]
    if isinstance(value, str):
        return [*_texts(value), None, 0, [value]]
    if isinstance(value, list):
        return [value[:-1], value[1:], [*value, *value[-1:]], value[::-1], [], None, {}, "x"]
    return [{**value, "nothing-known": 1}, {}, [], None, [value]]


def _texts(value: str) -> list[str]:
    alike = value.replace("e", "\u0435").replace("a", "\u0430").replace("1", "\u0661")
    odd = ["", value + "x", value + " ", " " + value, value.upper(), value[:-1], alike, value + "\u200b", "../" + value]
    try:
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        return odd
    exact = [number + 1, number / 2, number * 2, -number, Fraction(0), number * Fraction(1001, 1000), number - 1]
    absurd = ["1e400", "1e-40000000", "9" * 5000, "nan", "inf", "1/0", f"+{value}", f"{value}/1", f"{value}e0"]
    return [*map(text, exact), *absurd, *odd]
