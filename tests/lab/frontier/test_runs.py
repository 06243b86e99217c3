"""Runs are remembered, added to, and thrown away with the code that made them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet_lab.frontier.methods import FITTED, MEASURED, OTHERS, StudySetting
from discreet_lab.frontier.runs import StudyCell, append, cells_of, code_version, jobs_of, remembered, run_job
from discreet_lab.frontier.tables import some_tables

CELL = StudyCell("small", "1", False)
SETTING = StudySetting("small", np.array([0, 1, 2, 3] * 10), None, "1")


def test_a_stopped_study_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    assert remembered(file) == []
    (job,) = jobs_of([(CELL, SETTING)], 2, [], [OTHERS])
    append(run_job(job), file)
    assert jobs_of([(CELL, SETTING)], 2, remembered(file), [OTHERS]) == []
    with file.open("a") as lines:
        lines.write('{"cell": {"table": "sm')  # it was stopped while it wrote
    with file.open("a") as lines:
        lines.write("\n")
    (more,) = jobs_of([(CELL, SETTING)], 5, remembered(file), [OTHERS])
    assert more.repeats == range(2, 5)
    append(run_job(more), file)
    (whole,) = jobs_of([(CELL, SETTING)], 5, [], [OTHERS])
    at_once = {run.method: run for run in run_job(whole)}
    for run in remembered(file):
        assert run.errors.tolist() == at_once[run.method].errors.tolist() and run.repeats == 5


def test_what_other_code_made_is_not_used(tmp_path: Path) -> None:
    (job,) = jobs_of([(CELL, SETTING)], 1, [], [OTHERS])
    runs = run_job(job)
    assert runs[0].code == code_version()
    append([replace(run, code="other") for run in runs], tmp_path / "runs.jsonl")
    assert remembered(tmp_path / "runs.jsonl") == []
    assert len(remembered(tmp_path / "runs.jsonl", any_code=True)) == len(runs)


def test_what_the_record_says_is_kept() -> None:
    (job,) = jobs_of([(CELL, SETTING)], 2, [], [FITTED])
    for run in run_job(job):
        assert len(run.promised) == 2 and run.seconds > 0
        assert run.errors[:, 0].tolist() == pytest.approx(list(run.promised), rel=1)


def test_cells_are_tables_by_budgets_by_what_is_known() -> None:
    (table,) = some_tables(("heaped",))
    cells = list(cells_of([table], ["0.1", "1"]))
    assert [str(cell) for cell, _ in cells] == [
        "heaped 0.1 without", "heaped 1 without", "heaped 0.1 with", "heaped 1 with",
    ]  # fmt: skip
    tops = {setting.counts.max() for _, setting in cells}
    assert tops == {table.counts.max(), table.max_count}


def test_what_takes_longest_is_repeated_half_as_often() -> None:
    jobs = jobs_of([(CELL, SETTING)], 7, [])
    assert {job.group: len(job.repeats) for job in jobs} == {FITTED: 7, MEASURED: 4, OTHERS: 7}
