"""Every row by itself: noise clamped at one end or both, and what the report says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.estimate.view import publication_of
from discreet.report.facts import page_of
from discreet.report.prepared import prepared
from discreet.ways import way_named


def skewed(rows: int = 800) -> dc.Table:
    """Mostly zeros, where clamped noise errs about half as much as noise."""
    rng = np.random.default_rng(0)
    counts = np.where(rng.random(rows) < 0.7, 0, rng.geometric(0.1, rows))
    return dc.table(pa.table({"row": [f"r{k:04d}" for k in range(rows)], "n": counts}), count="n")


def test_geometric_without_max_count_is_clamped_at_zero_only(tmp_path: Path) -> None:
    table = skewed()
    out = dc.release(table, epsilon=1, mechanism="geometric", seed=1)
    measured = publication_of(out).measured
    assert measured is not None and measured.min() < 0 == out.counts.min()
    assert np.array_equal(out.counts, np.maximum(measured, 0)) and out.counts.max() > 40
    assert "negative" not in out.guarantee.sentence and "treated as" not in out.guarantee.sentence
    out.save(tmp_path / "out")
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    assert record["mechanism"]["clamp"] == [0, None] and record["schema"]["max_count"] is None
    assert dc.verify(tmp_path / "out", allow_seeded=True)
    low, high = dc.estimate(tmp_path / "out", level="0.9999").total().interval
    assert low < table.counts.sum() < high


def test_its_sums_can_be_estimated_without_the_measurements(tmp_path: Path) -> None:
    table = skewed()
    out = dc.release(table, epsilon=1, mechanism="geometric", measurements=False, seed=1)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out", allow_seeded=True)
    low, high = dc.estimate(tmp_path / "out", level="0.9999").total().interval
    assert low < table.counts.sum() < high
    assert out.counts.sum() > high, "clamping makes the published sum too large"


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "geometric"},
        {"mechanism": "geometric", "max_count": 20},
        {"mechanism": "discrete-gaussian", "max_count": 20, "delta": "1e-6"},
        {"mechanism": "explicit-fair", "max_count": 20},
        {"mechanism": "staircase", "max_count": 20},
        {"mechanism": "randomized-response", "max_count": 20},
        {"mechanism": "signed-geometric"},
    ],
    ids=str,
)
@pytest.mark.parametrize("epsilon", ["0.3", "1"])
def test_the_report_says_how_far_off_a_count_is(options: dict[str, Any], epsilon: str) -> None:
    table, measured, said = skewed(), [], []
    truth = np.minimum(table.counts, options.get("max_count", np.inf))
    for seed in range(6):
        out = publication_of(dc.release(table, epsilon=epsilon, seed=seed, **options))
        measured.append(np.abs(out.counts - truth).mean())
        said.append(way_named(out.record.way).errors(out, None).typical)
    assert np.mean(said) == pytest.approx(np.mean(measured), rel=0.1)


def test_where_rows_say_nothing_no_error_is_called_typical() -> None:
    out = publication_of(dc.release(skewed(), epsilon="1/2", mechanism="uniform", max_count=20))
    found = way_named(out.record.way).errors(out, None)
    assert found is not None and found.typical is None and found.absolute[0] == pytest.approx(10)
    assert page_of(out, prepared(out)).typical_error is None
