"""The chain: every line of a ledger carries a hash of what it says and of the line before it.

A line that is changed, taken out or put in between breaks the chain at that place. Lines cut off at the end break
nothing: whoever keeps the head that a statement prints, or any published release, can tell.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

START = "0" * 64  # what the first line takes for the hash of the line before it


@dataclass(frozen=True)
class Line:
    """One line of the ledger as it is stored."""

    number: int
    content: str  # compact JSON
    previous: str
    hash: str

    @property
    def value(self) -> Mapping[str, Any]:
        read: Mapping[str, Any] = json.loads(self.content)
        return read


class Broken(ValueError):
    """The chain does not hold: at which line, and why."""

    def __init__(self, number: int, why: str) -> None:
        self.number, self.why = number, why
        super().__init__(f"line {number} {why}")


def compact(value: object) -> str:
    """JSON in the one form that is hashed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def hash_of(previous: str, number: int, content: str) -> str:
    return hashlib.sha256(f"{previous}\n{number}\n{content}".encode()).hexdigest()


def next_line(last: Line | None, value: object) -> Line:
    """What comes after `last`."""
    number, previous = (1, START) if last is None else (last.number + 1, last.hash)
    content = compact(value)
    return Line(number, content, previous, hash_of(previous, number, content))


def checked(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The same lines, if each follows from the one before."""
    found = tuple(lines)
    previous = START
    for place, line in enumerate(found, start=1):
        if line.number != place:
            raise Broken(place, f"is missing: line {line.number} stands in its place")
        if line.previous != previous:
            raise Broken(place, "does not follow from the line before it")
        if not isinstance(line.content, str) or hash_of(previous, place, line.content) != line.hash:
            raise Broken(place, "does not say what it said when it was written")
        previous = line.hash
    return found
