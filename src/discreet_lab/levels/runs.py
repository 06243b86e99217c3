"""Which releases there are to make, and a file that remembers those that were made: a line for each of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from discreet_lab.code import version_of
from discreet_lab.levels.methods import (
    GROUPS,
    INTERVALS,
    MODEL,
    OTHERS,
    OURS,
    LevelsOutcome,
    LevelsSetting,
    Method,
    released,
)

# a result belongs to the code that made it: what is measured, and what is made of it
NOISE = ("levels/asked.py", "levels/design.py", "levels/layout.py", "levels/loss.py", "levels/division.py",
         "levels/shares.py", "laws", "sample", "ways/measure/plan.py", "ways/measure/draw.py")  # fmt: skip
MADE = tuple(f"levels/{name}.py" for name in (
    "combine", "either", "feedback", "fit", "fixed", "flat", "held", "margins", "order", "ragged", "ragged_table",
    "regress", "rounding", "shrink", "table", "told", "top",
))  # fmt: skip
TABLES = (*MADE, *NOISE, "lattice/blocks.py", "distribution", "public_map.py", "ways/measure", "ways/keep_distribution")
COMBINED = (*NOISE, "levels/combine.py", "levels/intervals.py", "ways/measure/follow.py")
LAB = ("levels/tables.py", "levels/methods.py")
DECIDING: dict[tuple[Method, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {
    OURS: (TABLES, LAB),
    OTHERS: ((*NOISE, "levels/fit.py", "levels/rounding.py", "lattice/blocks.py"), (*LAB, "levels/top_down.py")),
    MODEL: (NOISE, (*LAB, "levels/graphical.py")),
    INTERVALS: (COMBINED, LAB),
}
FEW = 4  # releases of a large table, at most


@dataclass(frozen=True)
class LevelsRun:
    """A release, and where it belongs."""

    table: str
    budget: str
    repeat: int
    outcome: LevelsOutcome
    code: str


@dataclass(frozen=True, eq=False)
class LevelsJob:
    """One repeat of a group of methods."""

    setting: LevelsSetting
    group: tuple[Method, ...]
    repeat: int

    def run(self) -> tuple[LevelsRun, ...]:
        name, budget, code = self.setting.study.name, self.setting.budget, code_version(self.group)
        made = released(self.setting, self.group, self.repeat)
        return tuple(LevelsRun(name, budget, self.repeat, outcome, code) for outcome in made)


def jobs_of(
    settings: Iterable[LevelsSetting], repeats: int, done: Sequence[LevelsRun],
    groups: Sequence[tuple[Method, ...]] = GROUPS,
) -> list[LevelsJob]:  # fmt: skip
    """What is still to be made, group after group of a table."""
    made = {(run.table, run.budget, run.outcome.method, run.repeat) for run in done}
    return [
        LevelsJob(setting, group, repeat)
        for setting in settings
        for group in groups
        for repeat in range(times(setting, group, repeats))
        if (setting.study.name, setting.budget, group[0], repeat) not in made
    ]


def times(setting: LevelsSetting, group: tuple[Method, ...], repeats: int) -> int:
    """Large tables take long, and so does mbi."""
    most = min(repeats, FEW) if setting.study.large else repeats
    return (most + 1) // 2 if group == MODEL else most


def code_version(group: tuple[Method, ...]) -> str:
    """Of all that decides what these methods release; comments and the breaking of lines do not."""
    return version_of(*DECIDING[group])


def append(runs: Iterable[LevelsRun], file: Path) -> None:
    with file.open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(_short(asdict(run))) + "\n" for run in runs)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


def remembered(file: Path) -> list[LevelsRun]:
    """What was made by this very code; broken lines are left out."""
    group_of = {method: group for group in GROUPS for method in group}
    found = {
        (run.table, run.budget, run.outcome.method, run.repeat): run
        for run in _lines(file)
        if run.code == code_version(group_of[run.outcome.method])
    }
    return list(found.values())


def _lines(file: Path) -> Iterator[LevelsRun]:
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
            yield LevelsRun(**entry | {"outcome": LevelsOutcome(**entry["outcome"])})
        except (ValueError, KeyError, TypeError):  # a line that a stopped study left half written
            continue
