"""Bounded noise near zero: what each of the three promises costs, and that rows of their own keep them exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.build.bounded_edge import _program, edge_of
from discreet.build.edge_rows import rows_by_formula
from discreet.build.least_rows import least_rows
from discreet.certify.profile import least_delta
from discreet.errors import BadInput
from discreet.laws import Bounded
from discreet.mechanism import EdgeThenNoise, Mechanism, Weights
from discreet.numbers import Epsilon
from discreet.record.codec import form_json, form_of_json
from discreet.sample.bits import secure
from discreet.sample.contract import assert_sampler_law
from discreet.sample.rows import draw_from_the_edge
from tests.ways.test_bounded import HALF, excess, masses, table

EPSILON = Epsilon(value=Fraction(11, 10))


def noise(support: int = 4) -> Bounded:
    return Bounded(EPSILON.odds(), Fraction(1, 2), support)


def law_of(form: EdgeThenNoise, count: int) -> dict[int, Fraction]:
    """What becomes of a count, slow and obvious."""
    used = max(form.first, count if form.top is None else min(count, form.top))
    if used >= form.beyond:
        return masses(form.noise, used)  # type: ignore[arg-type]
    row = form.edge.rows[used - form.first]
    return {output: Fraction(weight, form.edge.total) for output, weight in enumerate(row) if weight}


def mean(law: dict[int, Fraction]) -> Fraction:
    return sum((k * mass for k, mass in law.items()), Fraction(0))


@pytest.mark.parametrize("kind, delta", [("clamped", 7.55e-5), ("unbiased", 1.13e-4), ("both", 0.058)])
def test_the_price_of_each_promise(kind: str, delta: float, tmp_path: Path) -> None:
    counts = [0, 1, 2, 5, 7, 8, 9, 12, 40, 5000]
    out = dc.release(table(counts), "1.1", small_counts=kind, **HALF)
    assert float(out.guarantee.delta) == pytest.approx(delta, rel=2e-3)
    assert out.counts.min() >= 0 and (np.abs(out.counts - counts) <= 8).all()
    out.save(tmp_path / "out")
    verification = dc.verify(tmp_path / "out")
    assert verification.valid, verification.problems
    assert "right on average" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("always_true", [False, True])
def test_rows_keep_what_they_promise_and_their_delta_is_the_worst_of_all_pairs(first: int, always_true: bool) -> None:
    found = edge_of(noise(), first, always_true=always_true)
    form = found.form
    laws = [law_of(form, count) for count in range(16)]
    for count, law in enumerate(laws):
        used = max(count, first)
        assert sum(law.values()) == 1 and min(law) >= 0 and max(abs(k - used) for k in law) <= 4
        assert used == 0 or mean(law) == used
        assert law[used] == Fraction(1, 2) or (not always_true and used < 4)
    odds = EPSILON.bounds(160)[1]
    worst = max(excess(one, other, odds) for a, b in pairwise(laws) for one, other in ((a, b), (b, a)))
    said = least_delta(form, EPSILON)
    assert worst <= said <= worst + Fraction(1, 2**60)
    at_its_odds = least_delta(form, Epsilon(ratio=form.noise.odds))
    assert found.lower_bound <= at_its_odds <= found.lower_bound * (1 + Fraction(1, 10**6))


def worst_of(form: EdgeThenNoise, odds: Fraction, counts: int) -> Fraction:
    """The largest hockey-stick of neighbours, by enumeration in rationals, of counts that keep every promise."""
    laws = [law_of(form, count) for count in range(form.first, counts)]
    assert all(min(law.values()) > 0 and sum(law.values()) == 1 for law in laws)
    assert all(mean(law) == count for count, law in enumerate(laws, form.first) if count)
    assert all(max(abs(k - count) for k in law) <= form.noise.centre[1] for count, law in enumerate(laws, form.first))
    return max(excess(one, other, odds) for a, b in pairwise(laws) for one, other in ((a, b), (b, a)))


UNBIASED = [
    ("3", "1/2", 20),
    ("8", "1/3", 10),
    ("9/4", "3/10", 9),
    ("6", "7/10", 5),
    ("9/2", "1/5", 4),
    ("50", "1/20", 30),
]


@pytest.mark.parametrize(("odds", "truth", "support"), UNBIASED)
@pytest.mark.parametrize("first", [0, 1])
def test_what_is_right_on_average_from_one_on_is_the_noise_or_a_formula(
    odds: str, truth: str, support: int, first: int
) -> None:
    """Its proof needs no more than three lines: docs/proofs/near-zero.md."""
    ratio, chance = Fraction(odds), Fraction(truth)
    form = edge_of(Bounded(ratio, chance, support), first, always_true=False).form
    worst = worst_of(form, ratio, support + 4)
    assert all(law_of(form, count)[count] == chance for count in range(support, support + 4))
    alone = (1 - chance) / 2 * (ratio - 1) / (ratio**support - 1)
    least = max(alone, 1 / (ratio**support + ratio ** (support - 1) + support))
    assert least <= worst <= least * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize(
    ("odds", "truth", "support"),
    [("2", "1/4", 8), ("2001/1000", "1/4", 12), ("5/2", "1/10", 8), ("3", "3/4", 8), ("6", "3/4", 6)],
)
def test_where_the_formula_ends_a_program_reaches_the_same_bound(odds: str, truth: str, support: int) -> None:
    """Odds of hardly two, a rare truth, a frequent one: the rows by formula are none there, or cost more."""
    ratio, law = Fraction(odds), Bounded(Fraction(odds), Fraction(truth), support)
    least = max(law.delta(Epsilon(ratio=ratio)), 1 / (ratio**support + ratio ** (support - 1) + support))
    by_formula = rows_by_formula(law, always_true=False)
    if by_formula is not None:
        edge = Weights(tuple(map(tuple, by_formula.rows)), by_formula.total)
        assert least_delta(EdgeThenNoise(0, edge, law), Epsilon(ratio=ratio)) > least * Fraction(11, 10)
    found = edge_of(law, 0, always_true=False)
    worst = worst_of(found.form, ratio, support + 7)
    assert worst <= found.delta
    assert least * (1 - Fraction(1, 10**12)) <= worst <= least * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize("support", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("odds", "truth"), [("5/2", "1/4"), ("3", "3/10"), ("6", "1/2"), ("10", "7/10")])
def test_no_program_finds_rows_that_undercut_the_formula(odds: str, truth: str, support: int) -> None:
    """With the truth always told with its chance; the bound is that of a program, proven in rationals."""
    noise, ratio = Bounded(Fraction(odds), Fraction(truth), support), Fraction(odds)
    found = edge_of(noise, 0, always_true=True)
    worst = worst_of(found.form, ratio, 2 * support + 3)
    assert all(law_of(found.form, count)[count] == Fraction(truth) for count in range(2 * support + 3))
    program = _program(noise, 0, support + 6, always_true=True)
    bound = least_rows(program, ratio, 0, worst, lambda rows, total: found.delta).bound
    assert bound * (1 - Fraction(1, 10**8)) <= worst <= bound * (1 + Fraction(1, 10**8))


@pytest.mark.parametrize(("kind", "epsilon", "support"), [("unbiased", 2, 64), ("both", 2, 42), ("unbiased", 30, 8)])
def test_wide_noise_and_a_large_epsilon_are_released(kind: str, epsilon: int, support: int, tmp_path: Path) -> None:
    options: dict[str, Any] = {"mechanism": "bounded", "truth": "1/2", "support": support, "small_counts": kind}
    out = dc.release(table([0, 1, 9, 5000]), epsilon, **options)
    assert out.counts.min() >= 0 and float(out.guarantee.delta) < 1e-30
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


@pytest.mark.parametrize(("odds", "support"), [("11/10", 6), ("3/2", 10), ("19/10", 12)])
def test_what_is_right_on_average_from_one_on_costs_much_below_odds_of_two(odds: str, support: int) -> None:
    """The mean doubles from 1 to 2, and no output is above support + 2."""
    found = edge_of(Bounded(Fraction(odds), Fraction(1, 100), support), 0, always_true=False)
    assert least_delta(found.form, Epsilon(ratio=Fraction(odds))) >= (2 - Fraction(odds)) / (support + 2)


@pytest.mark.parametrize("epsilon", ["5", "10"])
def test_the_mechanism_over_a_range_has_a_small_delta_at_a_large_epsilon(epsilon: str) -> None:
    """Everything from 1 on costs hardly more there than the noise alone."""
    made = dc.bounded_mechanism(12, epsilon, truth="1/2", support=4)
    alone = Bounded(made.epsilon.odds(), Fraction(1, 2), 4).delta(made.epsilon)
    assert alone / 2 < made.delta < 2 * alone and dc.certify(made.mechanism, epsilon, made.delta).holds
    assert not dc.certify(made.mechanism, epsilon, made.delta * Fraction(999, 1000)).holds


@pytest.mark.parametrize("epsilon", [30, 100])
def test_a_delta_too_small_for_the_solver_is_refused_with_what_to_do(epsilon: int) -> None:
    with pytest.raises(BadInput, match="too small for the solver"):
        dc.bounded_mechanism(12, epsilon, truth="1/2", support=4)


def test_rows_that_no_record_could_hold_are_refused_and_cost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("data", epsilon=100, delta="1/2")
    monkeypatch.setattr("discreet.mechanism.LARGEST_WRITTEN", 1 << 16)
    options: dict[str, Any] = {"mechanism": "bounded", "truth": "1/2", "support": 61, "small_counts": "unbiased"}
    with pytest.raises(BadInput, match="small_counts = clamped"):
        dc.release(table([9]), 2, ledger=book, dataset="data", **options)
    assert not book.history("data")


def test_draws_follow_the_rows_and_the_noise_and_no_nearby_law() -> None:
    form = edge_of(noise(), 1, always_true=False, top=30).form
    for count in (0, 1, 3, 6, 20, 99):
        right, wrong = law_of(form, count), law_of(form, 5 if count != 6 else 7)
        size = 40_000 if count < 20 else 5_000

        def many(number: int, count: int = count) -> Any:
            return draw_from_the_edge(form, np.full(number, count), secure())

        assert_sampler_law(
            many,
            [float(right.get(k, 0)) for k in range(60)],
            size=size,
            wrong=[float(wrong.get(k, 0)) for k in range(60)],
        )
    mixed = draw_from_the_edge(form, np.array([0, 99, 3]), secure())
    assert abs(mixed[0] - 1) <= 4 and abs(mixed[1] - 30) <= 4 and abs(mixed[2] - 3) <= 4


def test_it_is_read_as_it_was_written() -> None:
    form = edge_of(noise(), 1, always_true=True, top=30).form
    assert form_of_json(form_json(form)) == form


def test_rows_that_do_not_fit_are_refused() -> None:
    form = edge_of(noise(), 0, always_true=False).form
    with pytest.raises(BadInput, match="below 0"):
        EdgeThenNoise(0, Weights(form.edge.rows[:3], form.edge.total), form.noise)
    with pytest.raises(BadInput, match="do not fit"):
        EdgeThenNoise(1, form.edge, form.noise)
    with pytest.raises(BadInput, match="do not fit"):
        EdgeThenNoise(0, form.edge, form.noise, 3)
    with pytest.raises(BadInput, match="it has none"):
        Mechanism("bounded", form).matrix()


@pytest.mark.parametrize(
    ("kind", "changed", "message"),
    [
        ("both", {"support": 41}, "up to support 40"),
        ("unbiased", {"support": 61, "truth": "1/100"}, "up to support 60"),
        ("both", {"max_count": 9}, "Give 12 or more"),
    ],
)
def test_what_has_no_rows_is_refused(kind: str, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        dc.release(table([9]), "1.1", small_counts=kind, **{**HALF, **changed})


def test_a_forged_row_is_found(tmp_path: Path) -> None:
    """Another row that keeps every promise but one: the mean, the truth, the largest error."""
    from discreet.ways.row_by_row.facts import keeps_its_promises

    form = edge_of(noise(), 0, always_true=True).form
    assert keeps_its_promises(form)
    for place, moved in ((5, {5: -1, 6: 1}), (5, {5: -2, 4: 1, 6: 1}), (3, {3: -1, 2: 1})):
        rows = [list(row) for row in form.edge.rows]
        for output, more in moved.items():
            rows[place][output] += more
        wrong = EdgeThenNoise(0, Weights(tuple(map(tuple, rows)), form.edge.total), form.noise)
        assert not keeps_its_promises(wrong)


def test_more_outputs_than_inputs(tmp_path: Path) -> None:
    """41 counts lead to 45: certified, released, verified, estimated, drawn as a picture."""
    made = dc.bounded_mechanism(40, "1.1", truth="1/2", support=4)
    counts = np.random.default_rng(3).integers(0, 60, 300)
    out = dc.release(table(counts), "1.1", delta=made.delta, mechanism=made)
    assert out.max_count == 40 and out.counts.max() <= 44
    out.save(tmp_path / "out")
    verification = dc.verify(tmp_path / "out")
    assert verification.valid, verification.problems
    seeded = dc.release(table(counts), "1.1", delta=made.delta, mechanism=made, seed=1)
    low, high = dc.estimate(seeded).total().interval
    assert low < np.minimum(counts, 40).sum() < high
    picture = dc.plot.heat_map(made.mechanism.matrix())
    assert picture.axes[0].images[0].get_array().shape == (45, 41)
    with pytest.raises(BadInput, match="no fewer outputs"):
        dc.release(
            table([1]), 1, mechanism=dc.build.bounded_inputs.published_bounded_mechanism(6, 1, truth="1/2", support=2)
        )
    with pytest.raises(BadInput, match="3 inputs and 2 outputs"):
        dc.release(table([1]), 1, mechanism=[[0.5, 0.5]] * 3)


def test_estimates_say_that_nothing_is_known_below_the_smallest_count() -> None:
    counts = np.random.default_rng(4).poisson(6, 200)
    for kind in ("clamped", "unbiased"):
        view = dc.estimate(dc.release(table(counts), "1.1", min_count=4, small_counts=kind, seed=1, **HALF))
        with pytest.raises(BadInput, match="treats counts below 4 as 4"):
            view.share_zero()
        with pytest.raises(BadInput, match="treats counts below 4 as 4"):
            view.share_above(3)
        low, high = view.total().interval
        assert low < np.maximum(counts, 4).sum() < high
