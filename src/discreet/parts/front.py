"""What comes before a release in parts: every part is looked at, and all are put in the order of their public keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.errors import BadInput
from discreet.io.counted import OTHERS
from discreet.parts.engine import Engine
from discreet.parts.given import Given
from discreet.parts.passes import Look, Reading
from discreet.parts.sorted import PEOPLE, sorted_parts
from discreet.parts.tasks import Looked, LookTask, accepted

PART_ROWS = 1 << 20  # of a part that is made here: with its keys and a copy or two it takes some hundred megabytes
LARGEST_PART = 1 << 23  # rows of a part that is taken as it comes: it must fit into memory, several times


@dataclass(frozen=True)
class Arranged:
    """Parts in the order of their keys: their files, and what was seen of each."""

    files: tuple[str, ...]
    looked: tuple[Looked, ...]

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.looked)

    def each(self) -> Iterator[tuple[Looked, str]]:
        return zip(self.looked, self.files)


def arranged(
    given: Given, first: Look, universe: Any, engine: Engine, scratch: Path, part_rows: int
) -> tuple[Arranged, Reading]:
    """The parts in the order of their keys: as they are if they are so, sorted anew if not."""
    reading = replace(first.reading, folders=given.folders)
    people = reading.count == PEOPLE
    if universe is None and people:
        found = "no universe says which rows there are, and those that occur would give people away"
        raise BadInput("people were to be counted", found, "Give universe, a public file with every row")
    if not people:
        looked = look(given.files, replace(first, reading=reading), engine)
        bound = bound_of_all((one.contributions for one in looked), given, reading.contributions)
        order = sorted(range(len(looked)), key=lambda place: looked[place].first)
        ready = Arranged(tuple(given.files[place] for place in order), tuple(looked[place] for place in order))
        if universe is None and _in_order(ready.looked) and max(one.rows for one in looked) <= LARGEST_PART:
            return _numbered(ready), reading
        # what files say of themselves is not in those that are made of them
        reading = replace(reading, keys=tuple(name for name, _ in looked[0].columns), contributions=bound)
    staged, reading = sorted_parts(given, reading, universe, scratch, part_rows)
    looked = look(staged, replace(first, reading=reading), engine)
    return _numbered(Arranged(tuple(staged), tuple(looked))), reading


def look(files: Sequence[str], function: Look, engine: Engine) -> list[Looked]:
    """Every part; that all have the same columns, and none a key that means all the others."""
    tasks = [LookTask(number, file) for number, file in enumerate(files)]
    looked: list[Looked] = accepted(engine.run(replace(function, parts=len(files)), tasks), tasks, function.key)
    first = looked[0]
    for one, file in zip(looked, files):
        if one.columns != first.columns:
            found = f"{Path(file).name} has {_columns(one)}, and {Path(files[0]).name} has {_columns(first)}"
            raise BadInput("a table in parts was to be read", found, "Give all parts the same columns", part=one.part)
    function.reading.refuse_totals([one.few for one in looked], first.contributions)
    return looked


def _columns(one: Looked) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in one.columns)


def _in_order(looked: Sequence[Looked]) -> bool:
    apart = all(one.last < other.first for one, other in pairwise(looked))
    return apart and not any(one.unsorted for one in looked)


def bound_of_all(said: Iterable[int], given: Given, asked: int | None) -> int:
    """In how many rows of all parts one person may be counted: what is said of it holds for all of them."""
    bounds = set(said)
    if asked is None and given.counted is not None and given.rows > given.counted:
        raise _in_doubt(f"they have more rows {OTHERS}", bounds)
    if len(bounds) > 1:
        raise _in_doubt("their files say different bounds on the rows of one person", bounds)
    return bounds.pop()


def _in_doubt(found: str, bounds: set[int]) -> BadInput:
    return BadInput("a table in parts was to be read", found, f"Give contributions, {max(bounds)} or more")


def _numbered(ready: Arranged) -> Arranged:
    """Numbered by their order."""
    return replace(ready, looked=tuple(replace(one, part=number) for number, one in enumerate(ready.looked)))
