"""Which releases there are to make, and a file that remembers those that were made: a line for each cell and method."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from discreet.arrays import Floats
from discreet_lab.code import version_of
from discreet_lab.frontier.methods import GROUPS, MEASURED, BothErrors, Method, StudySetting, released
from discreet_lab.frontier.tables import StudyTable

EPSILONS = ("0.1", "0.25", "0.5", "1", "2", "4")
# a result belongs to the code that made it: these make or judge releases, in the two packages
DECIDING = ("distribution", "laws", "ways/keep_distribution", "public_map.py", "sample")
DECIDING_LAB = ("baselines", "frontier/methods.py", "frontier/tables.py")


@dataclass(frozen=True, order=True)
class StudyCell:
    """A table, a budget, and whether max_count is known."""

    table: str
    epsilon: str
    with_max_count: bool

    @property
    def budget(self) -> float:
        return float(self.epsilon)

    def __str__(self) -> str:
        return f"{self.table} {self.epsilon} {'with' if self.with_max_count else 'without'}"


@dataclass(frozen=True)
class Run:
    """The errors of one method in one cell, repeat by repeat from the `first` on."""

    cell: StudyCell
    method: Method
    first: int
    count: tuple[float, ...]
    distribution: tuple[float, ...]
    promised: tuple[float, ...]
    seconds: float  # a repeat of all methods that were made together
    code: str

    @property
    def repeats(self) -> int:
        return len(self.count)

    @property
    def errors(self) -> Floats:
        """A line for each repeat: count error, distribution error."""
        return np.column_stack([self.count, self.distribution])


@dataclass(frozen=True, eq=False)
class StudyJob:
    """Repeats of a group of methods in a cell."""

    cell: StudyCell
    setting: StudySetting
    group: tuple[Method, ...]
    repeats: range


def cells_of(
    tables: Iterable[StudyTable], epsilons: Sequence[str] = EPSILONS
) -> Iterator[tuple[StudyCell, StudySetting]]:
    for table in tables:
        for known in (False, True):
            for epsilon in epsilons:
                cell, top = StudyCell(table.name, epsilon, known), table.max_count if known else None
                yield cell, StudySetting(table.name, table.as_released(known), top, epsilon)


def jobs_of(
    cells: Iterable[tuple[StudyCell, StudySetting]],
    repeats: int,
    done: Sequence[Run],
    groups: Sequence[tuple[Method, ...]] = GROUPS,
) -> list[StudyJob]:
    """What is still to be made."""
    made = {(run.cell, run.method): run.repeats for run in done}
    asked = [(cell, setting, group) for cell, setting in cells for group in groups]
    jobs = [
        StudyJob(cell, setting, group, range(made.get((cell, group[0]), 0), times(group, repeats)))
        for cell, setting, group in asked
    ]
    return [job for job in jobs if len(job.repeats)]


def times(group: tuple[Method, ...], repeats: int) -> int:
    """A release with a first measurement takes most of the time, and is compared with what is further from it."""
    return (repeats + 1) // 2 if group == MEASURED else repeats


def run_job(job: StudyJob) -> tuple[Run, ...]:
    """Every method of the group, with all its repeats."""
    began = time.perf_counter()
    made = [released(job.setting, job.group, repeat) for repeat in job.repeats]
    seconds = (time.perf_counter() - began) / len(made)
    return tuple(_run(job, column, seconds) for column in zip(*made))


def _run(job: StudyJob, column: tuple[BothErrors, ...], seconds: float) -> Run:
    promised = tuple(_short(one.promised) for one in column if one.promised is not None)
    count, distribution = ([_short(getattr(one, name)) for one in column] for name in ("count", "distribution"))
    return Run(
        job.cell, column[0].method, job.repeats.start, tuple(count), tuple(distribution), promised, _short(seconds),
        code_version(),
    )  # fmt: skip


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def code_version() -> str:
    """Of all that decides what is released; comments and the breaking of lines do not."""
    return version_of(DECIDING, DECIDING_LAB)


def append(runs: Iterable[Run], file: Path) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(asdict(run)) + "\n" for run in runs)


def remembered(file: Path, any_code: bool = False) -> list[Run]:
    """What was made by this very code (or by any), the parts of each run joined; broken lines are left out."""
    joined: dict[tuple[StudyCell, Method], Run] = {}
    for run in _lines(file):
        if run.code != code_version() and not any_code:
            continue
        before = joined.get((run.cell, run.method))
        joined[run.cell, run.method] = run if before is None or run.first == 0 else _joined(before, run)
    return list(joined.values())


def _joined(one: Run, more: Run) -> Run:
    if more.first != one.repeats:
        return one
    return replace(
        one, count=one.count + more.count, distribution=one.distribution + more.distribution,
        promised=one.promised + more.promised,
    )  # fmt: skip


def _lines(file: Path) -> Iterator[Run]:
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            for name in ("count", "distribution", "promised"):
                entry[name] = tuple(entry[name])
            yield Run(**entry | {"cell": StudyCell(**entry["cell"])})
        except (ValueError, KeyError, TypeError):  # a line that a stopped study left half written
            continue
