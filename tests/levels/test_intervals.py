"""What intervals are made of: characteristic functions against sums over all values."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.arrays import Floats
from discreet.laws import Gaussian, Geometric, NoiseLaw, Staircase
from discreet.levels.intervals import BEYOND, SMOOTH, _wave
from discreet.privacy import Pure
from discreet.ways.measure.plan import plan
from discreet.ways.measure.spec import Measure

LAWS = [
    Geometric(Fraction(101, 100)), Geometric(Fraction(3)), Geometric(Fraction(10**6)),
    Gaussian(Fraction(1, 5)), Gaussian(Fraction(4)), Gaussian(Fraction(300)),
    Staircase.calibrated(Pure(1)),
]  # fmt: skip


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_waves(law: NoiseLaw) -> None:
    steps, half = np.linspace(0, 15, 200), law.masses(4000)
    wanted = half[0] + 2 * (np.cos(np.outer(steps, np.arange(1, len(half)))) @ half[1:])
    np.testing.assert_allclose(_wave(law, steps), wanted, atol=1e-9)


BUDGETS = [{"epsilon": "4.2"}, {"epsilon": "2.1"}, {"epsilon": "4.8"}, {"rho": "0.5"}]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("rows", [12, 3, 2])
def test_intervals_of_sums_of_few_whole_noises_hold_what_they_say(budget: dict[str, str], rows: int) -> None:
    """The law of such a sum has steps, and an interval that ends just before one holds far less: the slow version adds
    the law up, value by value."""
    keys = {"county": [f"c{i // 3}" for i in range(12)], "sex": ["f", "m", "x"] * 4, "n": [3] * 12}
    made = dc.release(dc.table(pa.table(keys), "n", keys=["county", "sex"]), measure="cells", seed=1, **budget)  # type: ignore[arg-type]
    half = made.record.facts.mechanism.questions[0].noise.masses(60)
    law = np.ones(1)
    for _ in range(rows):
        law = np.convolve(law, np.concatenate([half[:0:-1], half]))
    reach = np.cumsum(np.append(law[len(law) // 2], 2 * law[len(law) // 2 + 1 :]))
    view = dc.estimate(made)
    few = [1, -1, *[0] * 10]
    answer = view.total() if rows == 12 else view.by("county")["c0"] if rows == 3 else view.region(few)  # type: ignore[union-attr]
    found = answer.interval[1] - answer.estimate
    assert reach[int(found + 1e-9)] >= 0.95 - 0.006
    deviation = np.sqrt(law @ (np.arange(len(law)) - len(law) // 2) ** 2)
    rounded_off = (4 + BEYOND) * SMOOTH * deviation  # a step is all but over four times as far as it is smoothed
    assert found <= int(np.argmax(reach >= 0.95)) + rounded_off


def test_many_rare_noises_that_differ_are_as_smooth_as_they_are_taken_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """An irregular tree has many weights in a node's estimate: to see the law of each takes minutes, and moves
    an interval by less than a hundredth of it."""
    from discreet.levels import intervals

    parts = np.random.default_rng(1).integers(1, 9, 16)
    county = np.repeat(np.arange(16), parts)
    columns = {"s": county // 4, "c": county, "p": np.arange(len(county))}
    frame = {name: [f"{name}{value:03d}" for value in values] for name, values in columns.items()}
    table = dc.table(pa.table({**frame, "n": np.arange(len(county)) % 4}), "n", list(columns))
    shares = ["total@1/10", "margin:s@2/10", "margin:c@3/10", "cells@4/10"]
    found = []
    for most in (intervals.MOST_SEEN, 10**6):
        monkeypatch.setattr(intervals, "MOST_SEEN", most)
        answers = dc.release(table, rho=10, measure=shares, levels=list(columns), seed=1).answers
        found.append(np.concatenate([one["high"].to_numpy() - one["low"].to_numpy() for one in answers.values()]))
    assert np.allclose(*found, rtol=0.01) and not np.array_equal(*found)


def test_frequencies_at_which_nothing_is_left_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that lack rows have many weights that differ: each was looked at in every frequency, for a minute."""
    from discreet.levels import intervals

    rows = [row for k, row in enumerate(itertools.product("ab", repeat=6)) if k % 3]
    columns = {f"c{i}": [row[i] for row in rows] for i in range(6)}
    table = dc.table(pa.table(columns | {"n": [4] * len(rows)}), "n", keys=list(columns))
    made, looked_at, plain = plan(table.schema, Pure("1/2"), Measure()), [], intervals._wave

    def counted(law: NoiseLaw, steps: Floats) -> Floats:
        looked_at.append(len(steps))
        return plain(law, steps)

    monkeypatch.setattr(intervals, "_wave", counted)
    intervals.half_widths(made.spread, made.noise, made.asked[-2], 0.95)
    assert looked_at and sum(looked_at) < 0.2 * len(looked_at) * intervals.FREQUENCIES
