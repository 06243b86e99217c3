"""Bounded noise released: its delta is worked out, announced, and never above the one that was allowed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.laws import Bounded
from discreet.numbers import Epsilon
from discreet.privacy import Approximate
from discreet.sample.contract import assert_sampler_law, assert_shares
from discreet.table import Table
from tests.clock import within
from tests.shell import shell

HALF = {"mechanism": "bounded", "truth": "1/2", "support": 8}


def table(counts: Any, contributions: int = 1) -> Table:
    keys = [f"r{i:07d}" for i in range(len(counts))]
    return dc.table(pa.table({"k": keys, "n": np.asarray(counts)}), count="n", contributions=contributions)


def excess(one: dict[int, Fraction], other: dict[int, Fraction], odds: Fraction) -> Fraction:
    """The hockey stick, slow and obvious."""
    return sum((max(Fraction(0), mass - odds * other.get(k, Fraction(0))) for k, mass in one.items()), Fraction(0))


def masses(law: Bounded, centre: int = 0, least: int | None = None) -> dict[int, Fraction]:
    """Exactly, from the distribution function; what is below `least` is put there."""
    found: dict[int, Fraction] = {}
    for k in range(-law.support, law.support + 1):
        place = centre + k if least is None else max(least, centre + k)
        found[place] = found.get(place, Fraction(0)) + law.chance_below(k) - law.chance_below(k - 1)
    return found


@settings(max_examples=60, deadline=None)
@given(
    odds=st.fractions(Fraction(21, 20), Fraction(20), max_denominator=20),
    truth=st.fractions(Fraction(1, 500), Fraction(99, 100), max_denominator=500),
    support=st.integers(1, 10),
    factor=st.fractions(Fraction(1), Fraction(60), max_denominator=20),
    shift=st.integers(1, 5),
)
def test_a_delta_is_the_sum_of_all_excesses(
    odds: Fraction, truth: Fraction, support: int, factor: Fraction, shift: int
) -> None:
    law = Bounded(odds, truth, support)
    here, there = masses(law), masses(law, shift)
    assert sum(here.values()) == 1 and here[0] == truth and set(here) == set(range(-support, support + 1))
    assert all(here[k] == here[-k] for k in here)
    if factor > 1:
        least, said = excess(here, there, factor), law.delta(Epsilon(ratio=factor), shift)
        assert least <= said <= least * (1 + Fraction(1, 2**100))


def test_the_noise_is_the_one_of_least_delta() -> None:
    noise = dc.bounded_noise("1.1", truth="1/20", support=9)
    law = Bounded(noise.epsilon.odds(), noise.truth, 9)
    assert tuple(masses(law).values()) == noise.pmf_optimal


def test_no_table_of_weights_is_needed_for_wide_noise() -> None:
    epsilon = Epsilon(value=Fraction(1, 1000))
    law = Bounded(epsilon.odds(), Fraction(1, 100), 5000)
    with within(10):
        drawn = law.add(np.zeros(200_000, dtype=np.int64), dc.sample.bits.secure())
        assert law.delta(epsilon) > 0 and np.abs(drawn).max() <= 5000
    edges = range(-4500, 5001, 500)
    near = Bounded(Epsilon(value=Fraction(11, 10_000)).odds(), Fraction(1, 100), 5000)
    right, wrong = (np.diff([float(one.chance_below(k)) for k in edges], prepend=0) for one in (law, near))
    assert_shares(np.bincount(np.searchsorted(edges, drawn), minlength=len(edges)), right, wrong)


def test_noise_is_released_verified_and_estimated(tmp_path: Path) -> None:
    noise = dc.bounded_noise("1.1", truth="1/2", support=8)
    counts = np.random.default_rng(1).poisson(12, 200)
    out = dc.release(table(counts), mechanism=noise)
    assert np.abs(out.measurements["n"].to_numpy() - counts).max() <= 8
    assert (out.counts == np.maximum(out.measurements["n"].to_numpy(), 0)).all()
    promise = out.guarantee
    assert promise.epsilon == noise.epsilon and promise.grade == "exact"
    least = Bounded(noise.epsilon.odds(), noise.truth, 8).delta(noise.epsilon)
    assert least <= promise.delta <= least * Fraction(100_001, 100_000)
    assert float(promise.delta) == pytest.approx(7.553e-5, rel=1e-3)
    digest = out.save(tmp_path / "out")
    verification = dc.verify(tmp_path / "out", digest)
    assert verification.valid, verification.problems
    shown = out.guarantee.sentence
    assert "0.000075535" in shown and "0.000075535" in (tmp_path / "out" / "report.html").read_text()
    estimate = dc.estimate(tmp_path / "out")
    rows = estimate.rows().table()
    assert (rows["low"].to_numpy() >= out.measurements["n"].to_numpy() - 8).all()
    low, high = dc.estimate(dc.release(table(counts), mechanism=noise, seed=1)).total().interval
    assert low < counts.sum() < high and high - low < 200


@pytest.mark.parametrize("measurements", [True, False])
def test_totals_are_covered(measurements: bool) -> None:
    counts = np.random.default_rng(2).poisson(3, 80)
    secret, hits = table(counts), 0
    for seed in range(60):
        out = dc.release(secret, "1.1", measurements=measurements, seed=seed, **HALF)
        low, high = dc.estimate(out).total().interval
        hits += low <= counts.sum() <= high
    assert hits >= 50, "57 are expected of 60; so few has a chance below one in 5,000"


def test_published_counts_follow_the_law_and_no_nearby_one() -> None:
    """Counts of 1 and of 9; what is below zero is published as zero."""
    law = Bounded(Epsilon(value=Fraction(11, 10)).odds(), Fraction(1, 2), 8)
    near = Bounded(Epsilon(value=Fraction(13, 10)).odds(), Fraction(1, 2), 8)
    for count in (1, 9):
        right, wrong = (masses(one, count, 0) for one in (law, near))
        many = dc.release(table([count] * 60_000), "1.1", **HALF).counts
        assert_sampler_law(
            lambda _, many=many: many, [float(right.get(k, 0)) for k in range(20)], size=60_000,
            wrong=[float(wrong.get(k, 0)) for k in range(20)],
        )  # fmt: skip


@pytest.mark.parametrize("people", [1, 2, 3])
def test_what_is_promised_holds_for_every_change_of_one_person(people: int) -> None:
    """Several units in one row, and in several: against the sums of all excesses of the joint laws."""
    out = dc.release(table([5, 7, 9], people), 3, **{**HALF, "support": 5})
    promise, law, odds = out.guarantee, out.mechanism.noise, Epsilon(value=Fraction(3)).bounds()[0]
    one_row = excess(masses(law), masses(law, people), odds)
    assert one_row <= promise.delta
    if people == 2:
        pair = {(a, b): p * q for a, p in masses(law).items() for b, q in masses(law).items()}
        moved = {(a + 1, b + 1): mass for (a, b), mass in pair.items()}
        assert excess(pair, moved, odds) <= promise.delta  # type: ignore[arg-type]
    each = promise.unit.rate
    assert isinstance(each, Approximate) and promise.delta == (
        each.delta if people == 1 else dc.privacy.price.group_delta(each.delta, each.epsilon, people)
    )


def test_a_smallest_count_is_announced_and_looks_at_nothing(tmp_path: Path) -> None:
    for counts in ([0, 3, 40], [40, 41, 42]):
        out = dc.release(table(counts), "1.1", min_count=8, **HALF)
        assert "Counts below 8 are treated as 8." in out.guarantee.sentence
        assert (out.measurements["n"].to_numpy() >= 0).all() and out.mechanism.min_count == 8
        assert "below 8 as 8" in " ".join(dc.plan(table(counts), "1.1", min_count=8, **HALF).steps)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
    assert "Counts below 8 are treated as 8" in (tmp_path / "out" / "report.html").read_text()
    many = dc.release(table([0] * 40_000), "1.1", min_count=8, **HALF).counts
    law = Bounded(Epsilon(value=Fraction(11, 10)).odds(), Fraction(1, 2), 8)
    right, wrong = ([float(masses(law, count, 0).get(k, 0)) for k in range(20)] for count in (8, 7))
    assert_sampler_law(lambda _: many, right, size=40_000, wrong=wrong)
    assert sum(k * mass for k, mass in enumerate(right)) == pytest.approx(8), "right on average, treated as 8"


def test_a_largest_count_is_announced_too() -> None:
    out = dc.release(table([3, 900]), "1.1", max_count=20, min_count=2, **HALF)
    assert out.counts.max() <= 20 and out.measurements["n"].to_numpy().max() <= 28
    assert "above 20 are treated as 20" in out.guarantee.sentence


def test_delta_is_the_most_it_may_be_and_nothing_is_charged_beyond(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "book.db")
    book.create("people", epsilon=5, delta="1e-3")
    paid = {"ledger": book, "dataset": "people"}
    with pytest.raises(BadInput, match=r"its delta is 0\.000075535.*support 10.*epsilon.*delta") as refused:
        dc.release(table([9]), "1.1", delta="1e-5", **HALF, **paid)
    assert not book.history("people")
    out = dc.release(table([9]), "1.1", delta="1e-4", **HALF, **paid)
    charged = book.history("people")[0].charged
    assert out.guarantee.delta < Fraction(1, 10_000)
    assert (charged.epsilon, charged.delta) == (Fraction(11, 10), out.guarantee.delta)
    advised = str(refused.value).partition("would do: ")[2].rstrip(".").split(", ")
    for name, value in (one.split() for one in advised):
        asked = {"epsilon": "1.1", "delta": "1e-5", **HALF, name: int(value) if name == "support" else value}
        assert dc.release(table([9]), **asked).guarantee.delta <= Fraction(str(asked["delta"]))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"truth": 0}, "both excluded"),
        ({"truth": "1"}, "both excluded"),
        ({"truth": "7/5"}, "between 0 and 1"),
        ({"truth": None}, "truth is not given"),
        ({"support": None}, "support is not given"),
        ({"support": 0}, "at least 1"),
        ({"support": 2.0}, "whole number"),
        ({"support": 10**7}, "fill the memory"),
        ({"min_count": -1}, "at least 0"),
        ({"min_count": 9, "max_count": 8}, "above the largest count, 8"),
        ({"max_count": "auto"}, "no stage that could measure"),
        ({"small_counts": "nice"}, "small_counts"),
        ({"mechanism": "geometric"}, "it belongs to bounded noise"),
        ({"rho": 1, "epsilon": None}, "Give epsilon"),
        ({"mechanism": dc.bounded_noise(2, truth="1/2", support=8)}, r"the noise given is for epsilon = 2"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_charged(changed: dict[str, Any], message: str, tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "book.db")
    book.create("people", epsilon=5, delta="1e-3")
    with pytest.raises(BadInput, match=message):
        dc.release(table([9]), ledger=book, dataset="people", **{"epsilon": "1.1", **HALF, **changed})
    assert not book.history("people")


def test_from_the_shell_and_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("k,n\na,3\nb,40\n")
    words = "release t.csv --count n --keys k --epsilon 1.1 --mechanism bounded --truth 0.5 --support 8 --min-count 8"
    monkeypatch.chdir(tmp_path)
    done = shell(*words.split(), "--write-spec", "r.toml", "--out", "out", "--json")
    assert done.returncode == 0 and '"delta": "0.000075535"' in done.stdout
    assert dc.verify("out").valid
    spec = dc.read_spec("r.toml")
    assert spec.way == dc.RowByRow(mechanism="bounded", truth=Fraction(1, 2), support=8, min_count=8)
    _, digest = dc.run(spec, "again")
    assert dc.verify("again", digest).valid
    done = shell(*words.split(), "--delta", "1e-6", "--out", "never")
    assert done.returncode == 2 and "Any one of these would do" in done.stderr
    assert not (tmp_path / "never").exists()


def test_a_million_rows_in_about_a_second() -> None:
    secret = table(np.random.default_rng(0).poisson(20, 1_000_000))
    with within(5):
        dc.release(secret, "1.1", **HALF)


@pytest.mark.parametrize("kind", ["clamped", "unbiased", "both"])
@pytest.mark.parametrize(("epsilon", "truth", "support"), [("1.3", "0.95", 4), ("2.6", "1/4", 3), ("1", "0.0001", 2)])
def test_whatever_is_advised_would_do(kind: str, epsilon: str, truth: str, support: int) -> None:
    asked: dict[str, Any] = {"epsilon": epsilon, "truth": truth, "support": support, "small_counts": kind}
    with pytest.raises(BadInput, match="Any one of these would do") as refused:
        dc.release(table([1]), delta="1e-7", mechanism="bounded", **asked)
    advised = str(refused.value).split("would do: ")[1].rstrip(".").split(", ")
    for name, value in (one.split(" ") for one in advised):
        changed = {"delta": "1e-7", **asked, name: int(value) if name == "support" else value}
        assert dc.release(table([1]), mechanism="bounded", **changed).guarantee.delta <= Fraction(changed["delta"])


def test_noise_of_ones_own_is_not_changed_behind_ones_back() -> None:
    noise = dc.bounded_noise("1.1", truth="1/2", support=8)
    for changed in ({"truth": "0.4"}, {"support": 9}):
        with pytest.raises(BadInput, match="the noise given has"):
            dc.release(table([1]), mechanism=noise, **changed)
    assert dc.release(table([1]), mechanism=noise, truth="0.5", support=8).guarantee.delta < Fraction(1, 10**4)


def test_a_delta_that_rounds_to_one_is_said_as_it_is() -> None:
    with pytest.raises(BadInput, match="what can be promised is a delta of 1 or more"):
        dc.release(table([1]), "1.1", mechanism="bounded", truth="0.999999999", support=8)


@pytest.mark.parametrize("name", ["min_count", "max_count"])
def test_counts_beyond_64_bits_are_refused(name: str) -> None:
    with pytest.raises(BadInput, match="it must be at most"):
        dc.release(table([1]), "1.1", mechanism="bounded", truth="0.5", support=8, **{name: 10**20})
