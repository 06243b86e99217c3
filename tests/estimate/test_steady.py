"""Large counts behind one noise that has an end: a window tells what the whole matrix would."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.estimate import evidence as of_evidence
from discreet.estimate import steady
from discreet.estimate.steady import SteadyNoise


def table(counts: np.ndarray) -> dc.Table:
    return dc.table(pa.table({"k": [f"r{i:05d}" for i in range(len(counts))], "n": counts}), count="n", keys=["k"])


@st.composite
def noises(draw: st.DrawFn) -> SteadyNoise:
    settled, width = draw(st.integers(0, 3)), draw(st.integers(1, 5))
    down = draw(st.integers(0, min(width - 1, settled)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    start, noise = (rng.integers(0, 4, shape) + np.eye(shape[-1])[0] for shape in ((settled, width + 2), (width,)))
    return SteadyNoise(start / start.sum(axis=1, keepdims=True), noise / noise.sum(), down)


def written_out(noise: SteadyNoise, last: int) -> np.ndarray:
    """The specification: every row by itself."""
    rows = np.zeros((last + 1, last + noise.up + noise.start.shape[1] + 1))
    for count in range(last + 1):
        if count < noise.settled:
            rows[count, : noise.start.shape[1]] = noise.start[count]
        else:
            rows[count, count - noise.down : count + noise.up + 1] = noise.noise
    return rows


@given(noises(), st.integers(0, 30), st.integers(0, 12))
def test_a_window_is_the_whole_matrix_with_what_is_seen_cut(noise: SteadyNoise, low: int, more: int) -> None:
    low = 0 if low - noise.up < max(noise.start.shape) else low
    high = max(low + more, noise.settled)
    first, found = noise.window(low, high)
    whole = written_out(noise, first + len(found) + 5)
    cut = np.zeros((len(whole), high - low + 1))
    for seen in range(whole.shape[1]):
        cut[:, min(max(seen, low), high) - low] += whole[:, seen]
    assert found == pytest.approx(cut[first : first + len(found)])
    assert (cut[: first + 1, 0] > 1 - 1e-12).all() or low == 0, "the first row stands for all before it"
    assert (cut[first + len(found) - 1 :, -1] > 1 - 1e-12).all(), "the last row stands for all after it"


@given(noises(), st.lists(st.integers(0, 20), min_size=1, max_size=5))
def test_what_may_be_behind_is_all_that_may_be(noise: SteadyNoise, seen: list[int]) -> None:
    counts, chances = noise.behind(np.array(seen))
    whole = written_out(noise, 40)
    for one, places, found in zip(seen, counts.astype(int), chances):
        assert found == pytest.approx(whole[places, one])
        assert found.sum() == pytest.approx(whole[:, one].sum())


WAYS: list[dict[str, Any]] = [
    {"mechanism": "bounded", "truth": "1/2", "support": 3},
    {"mechanism": "bounded", "truth": "1/2", "support": 3, "small_counts": "unbiased"},
    {"mechanism": "bounded", "truth": "1/2", "support": 3, "small_counts": "both", "min_count": 2},
]


@pytest.mark.parametrize("options", WAYS)
def test_it_says_what_the_whole_matrix_says(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    counts = np.arange(300) % 45
    made = dc.release(table(counts), 1, seed=1, **options)
    whole = dc.estimate(made)
    monkeypatch.setattr(steady, "WIDE", 4)
    monkeypatch.setattr(steady, "MARGIN", 60)
    window = dc.estimate(made)
    assert window.shares is not None and window.shares.evidence.steady is not None
    assert window.total().estimate == pytest.approx(whole.total().estimate, rel=1e-3)
    for t in (2, 5, 20, 40):
        one, other = whole.share_above(t), window.share_above(t)
        assert one.estimate == pytest.approx(other.estimate, abs=0.01)
        assert np.ptp(other.interval) == pytest.approx(np.ptp(one.interval), abs=0.02)
    assert np.abs(whole.rows().estimate - window.rows().estimate).max() < 0.25


def test_intervals_of_large_counts_cover_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "MARGIN", 25)
    counts = np.concatenate([np.arange(150) % 6, 70_000 + 3 * np.arange(150)])
    options = {"mechanism": "bounded", "truth": "1/2", "support": 4, "small_counts": "unbiased"}
    held = []
    for seed in range(6):
        view = dc.estimate(dc.release(table(counts), 1, seed=seed, **options), level=0.9)
        asked = [(view.share_above(t), (counts > t).mean()) for t in (3, 70_200)]
        for answer, truth in (*asked, (view.total(), counts.sum())):
            held.append(answer.interval[0] <= truth <= answer.interval[1])
    assert np.mean(held) > 0.75


@pytest.mark.parametrize("options", WAYS[:2])
def test_raised_counts_are_never_told_below_the_smallest(options: dict[str, Any]) -> None:
    made = dc.release(table(np.array([0, 1, 2, 9] * 30)), 1, seed=1, **{**options, "min_count": 2})
    rows = dc.estimate(made).rows()
    assert rows.estimate.min() >= 2 and rows.low.min() >= 2
    low, high = dc.estimate(made, level="0.9999").total().interval
    assert low <= 30 * (2 + 2 + 2 + 9) <= high and high - low < 120


def test_a_share_above_what_is_told_is_refused_and_not_nothing() -> None:
    view = dc.estimate(dc.release(table(np.array([3] * 20 + [10**6] * 20)), 1, mechanism="geometric", seed=1))
    assert view.share_above(1000).estimate == pytest.approx(0.5, abs=0.1)
    with pytest.raises(BadInput, match="told up to"):
        view.share_above(500_000)


def test_no_matrix_over_all_counts_is_made() -> None:
    assert of_evidence.LARGEST_COUNT == 100_000
    made = dc.release(table(np.array([3, 10**12])), 1, mechanism="geometric", max_count=10**13)
    assert dc.estimate(made).total().estimate == pytest.approx(10**12, rel=1e-6)
