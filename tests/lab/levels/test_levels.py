"""The study of levels on a small table: what is compared, remembered, judged and written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.io.csv_text import arrow_text, owned_by_arrow
from discreet.io.tables import table
from discreet.sample.bits import seeded
from discreet.ways.measure.draw import draw
from discreet.ways.measure.publish import publish
from discreet_lab.levels import methods, verdicts
from discreet_lab.levels.methods import GROUPS, INTERVALS, OTHERS, OURS, LevelsSetting, released
from discreet_lab.levels.runs import append, code_version, jobs_of, remembered
from discreet_lab.levels.scale import Scale
from discreet_lab.levels.tables import TABLES, LevelsTable, study_tables
from discreet_lab.levels.verdicts import cells_of, covered

HEADER = ["state", "county", "sex", "people"]
LINES = [",".join(HEADER)]
LINES += [f"s{i // 4},c{i:02},{sex},{(i * i + 3 * k) % 17}" for i in range(12) for k, sex in enumerate("fm")]
TEXT = owned_by_arrow("\n".join(LINES).encode())
SMALL = LevelsTable(
    "small", "twelve counties", table(arrow_text(TEXT, HEADER, Path("small.csv"), skipped=1), "people", "all"),
    ("state", "county"),
)  # fmt: skip
SETTING = LevelsSetting(SMALL, "epsilon 1")


def test_tables_are_named_and_stand_in_for_real_ones(tmp_path: Path) -> None:
    tables = study_tables(tmp_path)
    assert [one.name for one in tables] == list(TABLES) and sum(one.held_out for one in tables) == 2
    assert all("in place of" in one.about and one.cells.min() >= 0 for one in tables)
    with pytest.raises(BadInput, match="Did you mean 'murders'"):
        study_tables(None, ["murder"])


def test_real_tables_are_read_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "us_county_murders_2012.csv").write_text("fips,murder\n01001,3\n02001,70\n01003,0\n")
    (tmp_path / "adult_targets.csv").write_text("age,sex,income\n30,F,low\n32,M,high\n32,M,high\n")
    murders, adults = study_tables(tmp_path, ["murders", "adult-3"])
    assert murders.table.counts.tolist() == [3, 0, 70] and murders.layout.levels == ("state", "county")
    assert adults.cells.shape == (1, 3, 2, 2) and adults.table.counts.sum() == 3  # nobody is 31: a zero is a cell


def test_ours_is_what_the_product_releases() -> None:
    made = SETTING.asked
    out = publish(made, draw(made, SMALL.table.counts, seeded(SETTING.seed(3))))
    found = {one.method: one for one in released(SETTING, OURS, 3)}
    off = np.abs(out.counts - SMALL.table.counts)
    assert found["measure"].errors["cells"] == pytest.approx(off.mean())
    assert found["measure"].errors["total"] == abs(out.counts.sum() - SMALL.table.counts.sum())
    assert set(found) == {"measure", "measure, even shares", "estimates", "cells", "default"}


def test_cells_beside_what_is_asked_where_these_are_many() -> None:
    (adults,) = study_tables(None, ["adult-6"])
    setting = LevelsSetting(adults, "rho 1/20")
    cells, with_cells = adults.layout.design.cells, setting.with_cells
    assert cells not in setting.asked.asked and with_cells is not None and cells in with_cells.asked
    assert SETTING.with_cells is None


def test_the_reach_of_intervals_is_the_published_one() -> None:
    made = SETTING.asked
    out = publish(made, draw(made, SMALL.table.counts, seeded(1)))
    for question, one in zip(made.answered, out.answers or ()):
        np.testing.assert_array_equal(one.high - one.estimates, SETTING.reach[question])


def test_coverage_is_counted_and_would_show_intervals_that_are_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    (right,) = released(SETTING, INTERVALS, 0)
    assert all(share > 0.85 for share in right.errors.values())
    short = LevelsSetting(SMALL, "epsilon 1")
    monkeypatch.setitem(vars(short), "reach", {q: reach // 2 for q, reach in SETTING.reach.items()})
    (wrong,) = released(short, INTERVALS, 0)
    assert wrong.errors["cells"] < 0.85


def test_of_whole_noise_alone_an_interval_may_have_to_hold_more() -> None:
    alone = LevelsSetting(SMALL, "epsilon 1").cells_alone
    law = alone.noise[SMALL.layout.design.cells]
    least = methods._least(alone, SMALL.layout.design.cells)
    reach = [law.masses(60)[0] + 2 * law.masses(60)[1 : k + 1].sum() for k in range(60)]
    assert least == pytest.approx(min(share for share in reach if share >= 0.95)) and least > 0.95
    assert methods._least(SETTING.asked, SMALL.layout.design.cells) == 0.95


def test_runs_are_remembered_and_thrown_away_with_their_code(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    jobs = jobs_of([SETTING], 2, remembered(file), [OTHERS])
    assert len(jobs) == 2
    runs = jobs[0].run()
    append(runs, file)
    with file.open("a") as lines:
        lines.write('{"table": "sm\n')
    assert [run.outcome.method for run in remembered(file)] == list(OTHERS)
    assert [job.repeat for job in jobs_of([SETTING], 2, remembered(file), [OTHERS])] == [1]
    append([replace(run, code="other", repeat=1) for run in runs], file)
    assert len(remembered(file)) == 2
    assert len({code_version(group) for group in GROUPS}) == len(GROUPS)


def test_goals_can_fail() -> None:
    runs = [
        run for group in (OURS, OTHERS, INTERVALS) for job in jobs_of([SETTING], 3, [], [group]) for run in job.run()
    ]
    (cell,) = cells_of(runs, [SMALL], ["epsilon 1"])
    assert cell.known("estimates", "total") and len(covered(cell)) == len(SMALL.truth)
    doubled = [
        replace(run, outcome=replace(run.outcome, errors=dict.fromkeys(run.outcome.errors, 99.0)))
        if run.outcome.method == "measure" else run
        for run in runs
    ]  # fmt: skip
    worse = verdicts.below(cells_of(doubled, [SMALL], ["epsilon 1"]), "measure", "top-down", "goal")
    assert not worse.holds and "small epsilon 1 cells x" in worse.found
    slow = verdicts.sizes(Scale(1000, 11.0, 1.0, 1.0, 5.0, 1.0, 0.01, 300.0, (290.0, 310.0), 3_000_000_000))
    assert [one.holds for one in slow] == [False, False, False]
    fast = verdicts.sizes(Scale(1000, 1.0, 0.1, 0.05, 5.0, 0.05, 0.01, 20.0, (19.0, 26.0), 1_000_000_000))
    assert [one.holds for one in fast] == [True, True, True]
