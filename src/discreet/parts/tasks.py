"""What an engine carries: tasks, which name parts and files, and summaries of what was done; never rows.

Nothing in a task or in a summary is secret: what must not be seen is sealed by the key, or stands in the function that
is run, which no engine writes down. Summaries come back as bytes with a proof under the key: what an engine did to them
on their way is found before anything is published of them.
"""

from __future__ import annotations

import hmac
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io.made_of_others import FewValues
from discreet.public_map import SeenValues

NAME = "part-{:05d}.parquet"  # of a part that is published
NAMED = 5  # parts that an error names
MOST_PARTS = 100_000  # of a release: five digits, and a manifest that can be read


@dataclass(frozen=True)
class Failed:
    """What is wrong with a part, so that the release is refused: asked, found, do."""

    part: int
    asked: str
    found: str
    do: str = ""


@dataclass(frozen=True)
class LookTask:
    """Look at a part before anything is spent."""

    part: int
    file: str

    @property
    def of(self) -> str:
        """What is worked on, by which a summary is known to be of this task."""
        return self.file


@dataclass(frozen=True)
class Looked:
    """What is public about a part, and a tag by which it is known again: a digest under a key, which tells nothing."""

    part: int
    rows: int
    tag: bytes = field(repr=False)
    columns: tuple[tuple[str, str], ...]  # key columns, and the types of their values
    first: tuple[Any, ...]  # keys of the first row
    last: tuple[Any, ...]
    keys: str  # digest of all keys
    contributions: int
    dropped_totals: int
    disjoint: bool
    formulas: tuple[str, ...] = ()  # key columns with values that a spreadsheet would take for formulas
    blocks: Any = field(default=None, repr=False)  # the keys of blocks whose sums are kept (Arrow)
    sizes: Integers | None = field(default=None, repr=False)  # and how many rows each of them has here
    few: tuple[FewValues, ...] = field(default=(), repr=False)  # key columns with few values
    unsorted: bool = False  # whether the rows were not in the order of their keys
    of: str = ""  # the file

    @property
    def same(self) -> tuple[object, ...]:
        return self.part, self.rows, self.tag


@dataclass(frozen=True)
class NoiseTask:
    """Add noise to a part."""

    part: int
    file: str
    tag: bytes = field(repr=False)  # of the part as it was looked at
    sealed: bytes = field(default=b"", repr=False)  # what else is needed, under the key

    @property
    def of(self) -> bytes:
        return self.tag


@dataclass(frozen=True, eq=False)
class Noised:
    """A part with noise, in a file of its own: its digest, and the noisy values in it."""

    part: int
    file: str
    rows: int
    digest: str
    seen: SeenValues
    sealed: bytes = field(default=b"", repr=False)  # what only who gave the task may know, under the key
    sums: Integers | None = field(default=None, repr=False)  # of the noisy values in each block
    of: bytes = field(default=b"", repr=False)  # the tag of the data

    @property
    def same(self) -> tuple[object, ...]:
        """By which two summaries of one part are the same."""
        sums = None if self.sums is None else self.sums.tobytes()
        return self.part, self.rows, self.digest, self.sealed, sums, told(self.seen)


@dataclass(frozen=True, eq=False)
class MapTask:
    """Turn the noisy values of a part into counts: anybody can do it again."""

    part: int
    file: str
    digest: str  # of the file
    before: Integers  # how many rows of each noisy value are in earlier parts

    @property
    def of(self) -> str:
        return self.digest


@dataclass(frozen=True, eq=False)
class Mapped:
    """A part of the table, in a file of its own."""

    part: int
    file: str
    rows: int
    digest: str
    seen: SeenValues
    of: str  # the digest of the noisy values

    @property
    def same(self) -> tuple[object, ...]:
        return self.part, self.rows, self.digest, told(self.seen)


def told(seen: SeenValues) -> tuple[bytes, bytes]:
    return seen.values.tobytes(), seen.numbers.tobytes()


@dataclass(frozen=True)
class Summary:
    """What was done to a part, as bytes, and a proof that they are those that the task wrote."""

    content: bytes = field(repr=False)
    proof: bytes = field(repr=False)


def summary_of(found: Looked | Noised | Mapped | Failed, key: bytes) -> Summary:
    content = pickle.dumps(found)
    return Summary(content, _proof(content, key))


def _proof(content: bytes, key: bytes) -> bytes:
    return hmac.digest(hmac.digest(key, b"summaries", "sha256"), content, "sha256")


def _opened(summary: object, key: bytes) -> Any:
    """What a task found; refused, without being unpacked, if it is not as the task wrote it."""
    if not isinstance(summary, Summary):
        raise _no_summary(summary)
    if not hmac.compare_digest(_proof(summary.content, key), summary.proof):
        found = "what the engine gave back is not what a task of this release wrote: it was changed on its way"
        raise BadInput("a release was made in parts", found, "Look at the engine, and release again")
    return pickle.loads(summary.content)


def accepted(
    summaries: Iterable[Summary], tasks: Sequence[Any], key: bytes, done: Callable[[int], None] | None = None
) -> list[Any]:
    """One summary of every part, in their order. A part may come twice, but not as two different things."""
    found: dict[int, Looked | Noised | Mapped] = {}
    problems: dict[int, BadInput] = {}
    if not isinstance(summaries, Iterable):
        raise _no_summary(summaries)
    for summary in summaries:
        one = _opened(summary, key)
        if isinstance(one, Failed):
            problems[one.part] = BadInput(one.asked, one.found, one.do, part=one.part)
            continue
        if not 0 <= one.part < len(tasks) or one.of != tasks[one.part].of:
            found_other = f"what the engine gave back of part {one.part + 1} is of another task"
            raise BadInput("a release was made in parts", found_other, "Look at the engine, and release again")
        first = found.setdefault(one.part, one)
        if first.same != one.same:
            raise BadInput(
                "a release was made in parts",
                f"part {one.part + 1} came back twice, and not as the same: its data or the software changed meanwhile",
                "Leave the data alone while they are released, run one version everywhere, and release again",
                part=one.part,
            )
        if done is not None:
            done(len(found))
    if problems:
        raise all_of([problems[part] for part in sorted(problems)])
    lacking = [task.part for task in tasks if task.part not in found]
    if lacking:
        found_parts = f"{len(lacking)} of {len(tasks)} did not come back, the first is part {lacking[0] + 1}"
        raise BadInput("a release was made in parts", found_parts, "Look at the engine, and release again")
    return [found[task.part] for task in tasks]


def _no_summary(thing: object) -> BadInput:
    return BadInput(
        "a release was made in parts", f"the engine gave back a {type(thing).__name__}",
        "Its method run gives back what function(task) gives, of every task",
    )  # fmt: skip


def all_of(problems: list[BadInput]) -> BadInput:
    """All in one, each with its part: whoever mends the parts would rather know all of them."""
    first, some = problems[0], [one.parts for one in problems[:NAMED]]
    if len(problems) == 1:
        return first
    told = "; and ".join(f"{asked}: {found}" for asked, found, _ in some)
    more = f"; and {len(problems) - NAMED} more" if len(problems) > NAMED else ""
    do = ". ".join(dict.fromkeys(do.rstrip(".") for *_, do in some if do))
    return BadInput("a table in parts was to be read", told + more, do, **first.values)
