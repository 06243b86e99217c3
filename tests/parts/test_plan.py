"""Plans for tables in parts: those of one table, and no count is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.parts.plan import parts_schema, plan_parts
from discreet.privacy.values import Pure
from discreet.spec.values import TableSpec
from discreet.ways import spec_of
from tests.parts.tables import KEYS, frame, in_parts, usual

PRIOR = [0.5, 0.25, 0.25]  # one shape in place of several: faster


def planned(folder: Path, options: dict[str, Any], **said: Any) -> Any:
    return plan_parts(TableSpec(str(folder), "n", KEYS, **said), Pure(1), spec_of(options), PRIOR)


@pytest.mark.parametrize("options", [{"mechanism": "geometric"}, {"keep": "margin:area"}], ids=str)
def test_a_plan_is_that_of_one_table_but_for_its_grade(options: dict[str, Any], tmp_path: Path) -> None:
    made = planned(usual(tmp_path / "in"), options)
    one = dc.plan(dc.table(frame(), "n", KEYS), epsilon=1, prior=PRIOR, **options)
    assert (made.done, made.expected, made.published_columns) == (one.done, one.expected, one.published_columns)
    assert made.promise.grade == "computational" and one.promise.grade == "exact"
    assert "SHAKE-256" in made.guarantee


def test_no_count_is_read(tmp_path: Path) -> None:
    """Counts that would be refused are none of a plan's business."""
    table = frame().set_column(2, "n", [["not a count"] * 240])
    found = parts_schema(TableSpec(str(in_parts(tmp_path / "in", table, [80, 160])), "n", KEYS), needs_rows=True)
    assert found.rows == 240 and found.keys == tuple(KEYS) and found.categories.equals(frame().select(KEYS))


def test_what_files_and_universes_say_is_planned_for(tmp_path: Path) -> None:
    bound = frame().replace_schema_metadata({b"discreet.contributions": b"3"})
    given = in_parts(tmp_path / "in", bound.slice(0, 200), [80, 120])
    pq.write_table(frame().select(KEYS), tmp_path / "all.parquet")
    spec = TableSpec(str(given), "n", KEYS)
    assert parts_schema(spec, needs_rows=False).contributions == 3
    whole = TableSpec(str(given), "n", KEYS, universe=str(tmp_path / "all.parquet"))
    assert parts_schema(whole, needs_rows=False).rows == 240


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"measure": ["margin:area"]}, "In parts go"),
        ({"keep": ["margin:area", "margin:age"]}, "Keep total, or one margin"),
        ({"mechanism": "heuristic-best", "max_count": 9}, "Use transport"),
        ({"keep": "margin:area,age"}, "determine every single cell"),
    ],
)
def test_what_could_not_be_released_is_not_planned(options: dict[str, Any], match: str, tmp_path: Path) -> None:
    with pytest.raises(dc.DiscreetError, match=match):
        planned(usual(tmp_path / "in"), options)


def test_totals_are_refused_and_dropped(tmp_path: Path) -> None:
    areas = pa.array(np.where(np.arange(240) < 8, "Total", frame()["area"].to_numpy()))
    given = in_parts(tmp_path / "in", frame().set_column(0, "area", areas), [80, 160])
    with pytest.raises(dc.BadInput, match="total"):
        parts_schema(TableSpec(str(given), "n", KEYS), needs_rows=False)
    found = parts_schema(TableSpec(str(given), "n", KEYS, drop_totals=True), needs_rows=False)
    assert (found.rows, found.dropped_totals) == (232, 8)
