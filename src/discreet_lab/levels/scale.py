"""Time and memory of one release of a large table, in a process of its own: python -m discreet_lab.levels.scale FILE"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from discreet.io.tables import read_table
from discreet.privacy.values import Pure
from discreet.sample.bits import source
from discreet.table import Table
from discreet.ways.measure.draw import draw
from discreet.ways.measure.follow import Heard, answer, apart, mapped, targets_of
from discreet.ways.measure.follow import table as whole
from discreet.ways.measure.plan import MeasurePlan, plan
from discreet.ways.measure.spec import Measure
from discreet_lab.levels.tables import LevelsTable

T = TypeVar("T")
ROUNDS = 7  # the middle of so many: others use the machine and its caches, too
GIGABYTE = 1e9


@dataclass(frozen=True)
class Scale:
    """Of one release, in bytes and processor seconds: medians over rounds, each step timed once in each."""

    rows: int
    search: float  # for the shares
    measuring: float
    combining: float  # least squares
    answering: float  # estimates, deviations and intervals of all questions
    rounding: float  # from the answers to the table
    randomness: float  # os.urandom of eight bytes a row
    ratio: float  # of measuring, combining and rounding to randomness
    ratios: tuple[float, float]  # the least and the largest in a round
    memory: int  # the most that the process ever had

    @property
    def whole_ratio(self) -> float:
        """With the answers that are published beside the table."""
        return self.ratio + self.answering / self.randomness


def scale_of(study: LevelsTable) -> Scale:
    """The table is written to a file, and a process that has nothing else reads it."""
    with tempfile.TemporaryDirectory() as folder:
        file, schema = Path(folder) / "table.csv", study.table.schema
        with file.open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines)
            writer.writerow([*schema.keys, schema.count])
            writer.writerows(zip(*(schema.column(name) for name in schema.keys), study.table.counts.tolist()))
        command = [sys.executable, "-m", __name__, str(file), schema.count, *study.levels]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Scale(**json.loads(done.stdout))


def main(file: str, count: str, *levels: str) -> None:
    table = read_table(file, count=count, keys="all")
    search, made = _timed(lambda: plan(table.schema, Pure("0.5"), Measure(levels=levels)))
    rounds = np.array([_round(made, table) for _ in range(ROUNDS)])
    ratios = rounds[:, [0, 1, 3]].sum(axis=1) / rounds[:, 4]
    measuring, combining, answering, rounding, randomness = np.median(rounds, axis=0).tolist()
    found = Scale(
        len(table), search, measuring, combining, answering, rounding, randomness,
        float(np.median(ratios)), (float(ratios.min()), float(ratios.max())), _memory(),
    )  # fmt: skip
    print(json.dumps(asdict(found)))


def _round(made: MeasurePlan, table: Table) -> tuple[float, ...]:
    """Seconds of measuring, combining, answering, rounding; and of randomness."""
    layout = made.layout
    measuring, drawn = _timed(lambda: draw(made, table.counts, source(None)))
    told = Heard(layout, made.noise, apart(layout.design, list(made.noise), drawn.noisy), drawn.kept)
    combining, combined = _timed(told.combined)
    answering, answers = _timed(lambda: {question: answer(told, combined, question) for question in made.answered})
    targets = targets_of(answers, told, mapped(told))
    rounding, _ = _timed(lambda: whole(layout, answers, told.kept, targets))
    randomness, _ = _timed(lambda: os.urandom(8 * len(table)))
    return measuring, combining, answering, rounding, randomness


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def _memory() -> int:
    """The largest resident set: on Linux of this program, elsewhere as the system tells it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(*sys.argv[1:])
