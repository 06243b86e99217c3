"""The way that keeps the distribution of counts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.estimate.view import publication_of
from discreet.laws import Gaussian, Geometric, NoiseLaw
from discreet.privacy import Approximate, Concentrated, Pure
from discreet.privacy.convert import zcdp_epsilon
from discreet.privacy.parse import loss_of
from discreet.public_map import rank_rows
from discreet.record.codec import encode
from discreet.sample.bits import seeded
from discreet.table import Schema
from discreet.testing import epsilons
from discreet.ways import way_named
from discreet.ways.keep_distribution.draw import draw
from discreet.ways.keep_distribution.plan import DistributionPlan, plan
from discreet.ways.keep_distribution.publish import as_drawn, publish
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED, KeepDistribution
from tests.releases import KINDS, ROWS, example, make

MAPPED = [kind for kind in KINDS if kind.startswith(("transport", "rank")) and kind != "transport, signed"] + ["seeded"]


def parts_of(made: DistributionPlan) -> dict[str, tuple[Any, NoiseLaw]]:
    """Every share of the budget, with the law of the noise that was drawn for it."""
    measured = draw(made, np.zeros(made.rows, dtype=np.int64), seeded(1))
    found = {
        "distribution": (made.distribution, None if measured.stage_one is None else measured.stage_one.noise),
        "counts": (made.counts, made.noise),
    }
    assert all((share is None) == (noise is None) for share, noise in found.values())
    return {what: (share, noise) for what, (share, noise) in found.items() if noise is not None}


@given(
    epsilons(), st.integers(1, 4), st.sampled_from([5, "auto"]), st.sampled_from([None, Fraction(1, 3), Fraction(0)])
)
def test_the_parts_of_a_pure_budget_make_the_whole_and_their_noise_is_enough(
    epsilon: Any, people: int, top: Any, split: Fraction | None
) -> None:
    schema = Schema(("place",), "people", 100_000 * people, None, contributions=people)
    made = plan(schema, Pure(epsilon), KeepDistribution(max_count=top, split=split, favor="distribution"))
    parts = parts_of(made)
    assert sum((share.epsilon.rational() for share, _ in parts.values()), Fraction(0)) == epsilon.rational()
    for share, noise in parts.values():
        assert isinstance(noise, Geometric) and isinstance(share, Pure)
        # one person moves each of the measured numbers by `people` in all
        assert share.epsilon.allows(noise.odds**people)
    assert list(parts) == (["distribution"] if split != 0 and made.distribution else []) + ["counts"]


@given(st.fractions(Fraction(1, 20), 4, max_denominator=20), st.integers(1, 3), st.sampled_from([5, "auto"]))
def test_the_parts_of_a_concentrated_budget(rho: Fraction, people: int, top: Any) -> None:
    schema = Schema(("place",), "people", 100_000 * people, None, contributions=people)
    spent = Fraction(0)
    made = plan(schema, Concentrated(rho), KeepDistribution(max_count=top, favor="distribution"))
    for share, noise in parts_of(made).values():
        assert isinstance(noise, Gaussian) and share.rho == Fraction(people**2) / (2 * noise.variance)
        spent += share.rho
    assert spent == rho


def test_epsilon_and_delta_are_met_by_gaussian_noise() -> None:
    made = plan(example().schema, Approximate(1, "1e-6"), KeepDistribution(base="gaussian", max_count=5))
    parts = parts_of(made)
    assert zcdp_epsilon(sum((share.rho for share, _ in parts.values()), Fraction(0)), Fraction(1, 10**6)) <= 1


@pytest.mark.parametrize("kind", MAPPED)
def test_the_table_has_the_published_histogram(kind: str) -> None:
    release = make(kind)
    published, top = release.distribution, release.max_count
    seen = np.bincount(release.counts, minlength=len(published.histogram))
    assert seen.tolist() == published.histogram.tolist()
    assert not release.mechanism.top_code or release.counts.max() <= top
    if release.mechanism.aim.lam == "inf":  # the distribution was followed, and a row is a whole row
        kept = slice(None, top)
        shares = np.pad(published.distribution, (0, max(0, len(seen) - len(published.distribution))))[: len(seen)]
        assert np.abs(np.cumsum(seen / ROWS - shares)[kept]).max() <= 1 / ROWS + 1e-9


def test_counts_above_the_range_keep_their_own_noise() -> None:
    table = dc.table(pa.table({"place": [f"p{i}" for i in range(60)], "n": [3] * 57 + [400, 500, 90_000]}), "n")
    release = dc.release(table, 1, max_count=10)
    noisy = np.asarray(release.measurements["n"])
    large = noisy > 10
    assert large.sum() >= 3 and (release.counts[large] == noisy[large]).all()
    assert (release.counts[~large] <= 10).all() and "treated as" not in release.guarantee.sentence
    cut = dc.release(table, 1, max_count=10, top_code=True)
    assert cut.counts.max() <= 10 and "Counts above 10 are treated as 10." in cut.guarantee.sentence
    assert np.asarray(cut.measurements["n"]).max() < 100


def test_counts_beyond_what_can_be_mapped_keep_their_own_noise(tmp_path: Path) -> None:
    frame = pa.table({"place": [f"p{i:02d}" for i in range(30)], "n": [3_000_000, 2_000_000, *[5] * 28]})
    release = dc.release(dc.table(frame, "n"), 1, seed=1)
    assert release.max_count is None and len(release.distribution.histogram) == LARGEST_MAPPED + 1
    assert np.abs(release.counts[:2] - np.array([3_000_000, 2_000_000])).max() < 100
    assert np.abs(release.counts[2:] - 5).mean() < 1.5
    dc.release(dc.table(frame, "n"), 1).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid, dc.verify(tmp_path / "out").problems


@pytest.mark.parametrize("options", [{}, {"favor": "distribution"}, {"favor": "distribution", "refine": False}])
def test_counts_beyond_what_can_be_mapped_are_in_the_promised_error(options: dict[str, Any], tmp_path: Path) -> None:
    true = np.repeat([0, 10**6], 300)
    table = dc.table(pa.table({"place": [f"p{i:03d}" for i in range(600)], "n": true}), "n")
    release = dc.release(table, "0.3", seed=1, **options)
    measured, aim = np.abs(release.counts - true).mean(), release.mechanism.aim
    assert aim is not None and measured > 1
    assert aim.count_error == pytest.approx(measured, rel=0.3)  # five standard errors
    assert aim.distribution_error == pytest.approx(measured, rel=0.3)  # all of them alike: whole noise is its error
    dc.release(table, "0.3", measurements=False, **options).save(tmp_path / "out")
    assert not dc.verify(tmp_path / "out").problems


def test_signed_leaves_the_noise_in_place(tmp_path: Path) -> None:
    release = dc.release(example(), "0.3", signed=True)
    assert release.counts.min() < 0 and release.measurements is None and release.mechanism.name == "signed"
    assert "may be negative" in release.guarantee.sentence
    assert abs(release.distribution.distribution.sum() - 1) < 1e-6
    release.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid, dc.verify(tmp_path / "out").problems
    low, high = dc.estimate(dc.release(example(), "0.3", signed=True, seed=1)).total().interval
    assert low < example().counts.sum() < high


@pytest.mark.parametrize("rows", [1, 2, 5, 20, 50, 100])
@pytest.mark.parametrize("shape", ["equal", "zero", "one enormous", "mixed"])
def test_small_tables_are_released_and_verify(rows: int, shape: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(rows)
    counts = {
        "equal": np.full(rows, 7),
        "zero": np.zeros(rows, dtype=int),
        "one enormous": np.append(np.zeros(rows - 1, dtype=int), 10**9),
        "mixed": rng.poisson(4, rows),
    }[shape]
    table = dc.table(pa.table({"p": [f"r{i:03d}" for i in range(rows)], "n": counts}), "n")
    release, seeded = dc.release(table, "0.5"), dc.release(table, "0.5", seed=1)
    noisy = np.asarray(release.measurements["n"])
    if rows < 20:  # too few to tell anything but the noisy counts themselves
        assert release.mechanism.aim.lam is None and (release.counts == np.maximum(noisy, 0)).all()
    plain = np.maximum(np.asarray(seeded.measurements["n"]), 0)
    assert np.abs(seeded.counts - counts).mean() <= np.abs(plain - counts).mean() + 1.5
    release.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid, dc.verify(tmp_path / "out").problems


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"favor": "both"}, "favor"),
        ({"lam": -1}, "a weight is not negative"),
        ({"lam": "much"}, "lam was given as"),
        ({"lam": 0, "favor": "counts"}, "what becomes of the counts"),
        ({"signed": True, "favor": "counts"}, "what becomes of the counts"),
        ({"signed": True, "consistent": True}, "nothing is mapped"),
        ({"consistent": True, "favor": "counts"}, "whatever that costs"),
        ({"refine": False, "max_count": 5, "lam": 1}, "whatever that costs"),
        ({"top_code": True}, "nobody said where to cut"),
        ({"privatizer": "laplace"}, "known range"),
        (
            {"privatizer": "cyclic-gaussian", "max_count": 5},
            "holds for real numbers.*Use one that is exact.*cyclic-lap",
        ),
        ({"privatizer": "cyclic-gauss", "max_count": 5}, "no privatizer of that name"),
        ({"mechanism": "unfixed", "max_count": 5, "favor": "counts"}, "by a matrix"),
        ({"mechanism": "unfixed", "max_count": 5, "lam": 0}, "by a matrix"),
        ({"mechanism": "unfixed"}, "needs a max_count"),
        ({"max_count": 100_001}, "up to 100,000 only"),
        ({"split": 0, "refine": False}, "nothing would tell the distribution"),
    ],
)
def test_what_contradicts_itself_is_refused(options: dict[str, Any], found: str) -> None:
    with pytest.raises(dc.BadInput, match=found):
        dc.release(example(), 1, **options)


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/2"}], ids=str)
@pytest.mark.parametrize("options", [{"refine": False}, {"privatizer": "hierarchical"}], ids=str)
def test_what_nothing_else_would_tell_is_measured_whatever_the_weight(
    budget: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    asked = {**budget, **options, "max_count": 8, "lam": "inf"}
    assert plan_of(ROWS, **asked).distribution is not None
    dc.release(example(), **asked).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


def test_auto_is_another_word_for_leaving_max_count_out() -> None:
    assert KeepDistribution(max_count="auto") == KeepDistribution()


def test_rank_is_transport_made_consistent() -> None:
    assert make("rank").mechanism.name == "rank"
    consistent = dc.release(example(), 1, max_count=8, consistent=True)
    assert consistent.mechanism.name == "rank"
    assert "not independent of each other" in consistent.guarantee.sentence


def test_a_release_says_whether_its_rows_depend_on_each_other() -> None:
    """A map made from all noisy rows ties them together, just as ranks do; noise alone does not."""
    assert "not independent of each other" in make("transport").guarantee.sentence
    alone = dc.release(example(), 1, max_count=8, mechanism="geometric")
    assert "not independent" not in alone.guarantee.sentence


@given(st.lists(st.integers(-5, 9), min_size=1, max_size=30), st.data())
def test_ranks_are_kept(values: list[int], data: Any) -> None:
    bins = np.bincount(data.draw(st.lists(st.integers(0, 6), min_size=len(values), max_size=len(values))), minlength=7)
    rows = np.array(values)
    out = rank_rows(rows, bins, "seed", beyond=False)
    assert np.bincount(out, minlength=7).tolist() == bins.tolist()
    kept = rank_rows(rows, bins, "seed")
    assert (kept == np.where(out == 6, np.maximum(rows, 6), out)).all()
    order = np.lexsort((out, rows))
    assert (np.diff(out[order]) >= 0).all()


def test_the_map_never_reverses_an_order() -> None:
    release = make("transport")
    public_map = release.mechanism.form.map
    assert (np.diff(public_map.outputs) > 0).all() and (np.diff(public_map.keys.astype(float)) >= 0).all()
    measured, published = np.asarray(release.measurements["people"]), release.counts
    for low, high in ((0, 1), (2, 5), (-3, 8)):
        if (measured <= low).any() and (measured >= high).any():
            assert published[measured <= low].max() <= published[measured >= high].max()


def test_what_was_learned_is_published_and_nothing_else(tmp_path: Path) -> None:
    """Both measurements are noisy: no exact prefix of the histogram and no exact count reaches the folder."""
    release = dc.release(example(), "0.2", max_count=8, favor="distribution")
    exact = np.cumsum(np.bincount(np.minimum(example().counts, 8), minlength=9))[:-1]
    noisy = release.distribution.measurements
    assert len(noisy) == 8 and (noisy != exact).any()
    assert isinstance(release.distribution.noise, Geometric)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "release.json").read_text()
    assert json.dumps(exact.tolist()) not in text


@settings(max_examples=8)
@given(
    st.integers(0, 2**32),
    st.sampled_from([{"consistent": True}, {"refine": False}, {"rho": "0.3", "epsilon": None}, {}]),
)
def test_seeded_releases_repeat(seed: int, options: dict[str, Any]) -> None:
    asked = {"epsilon": 1, "max_count": 6, "seed": seed, **options}
    one, other = dc.release(example(), **asked), dc.release(example(), **asked)
    assert one.counts.tolist() == other.counts.tolist()
    assert encode(one.record.facts) == encode(other.record.facts)


def test_an_accurate_release_is_accurate() -> None:
    release = dc.release(example(), 30, max_count=15, seed=1)
    assert np.abs(release.counts - example().counts).mean() < 0.1


def plan_of(rows: int, epsilon: Any = None, rho: Any = None, **options: Any) -> DistributionPlan:
    return plan(Schema((), "count", rows, None), loss_of(epsilon, rho=rho), KeepDistribution(**options))


@pytest.mark.parametrize(
    "options", [{"signed": True}, {}, {"max_count": 9, "top_code": True}, {"rho": 2, "epsilon": None}], ids=str
)
@pytest.mark.parametrize("rows", [1, 29])
def test_counts_that_are_as_they_were_drawn_are_those_that_are_published(rows: int, options: dict[str, Any]) -> None:
    made = plan_of(rows, **{"epsilon": 1, **options})
    for seed in range(3):
        drawn = draw(made, np.arange(rows) ** 2, seeded(seed))
        quick = as_drawn(made, drawn)
        assert quick is not None and (quick == publish(made, drawn).counts).all()


def test_counts_that_follow_a_distribution_are_worked_out() -> None:
    for rows, options in ((30, {}), (5, {"favor": "counts"}), (5, {"max_count": 9, "mechanism": "unfixed"})):
        made = plan_of(rows, epsilon=1, **options)
        assert as_drawn(made, draw(made, np.arange(rows), seeded(1))) is None


@pytest.mark.parametrize("mechanism, epsilon", [("unfixed", 2), ("unfixed", 4), ("heuristic-best", 2)])
def test_a_mechanism_made_for_a_noisy_distribution_is_not_judged_by_it(mechanism: str, epsilon: int) -> None:
    counts = np.minimum(np.random.default_rng(1).negative_binomial(3, 0.12, 300), 40)
    table = dc.table(pa.table({"row": np.arange(300), "n": counts}), count="n", keys=["row"], keep_order=True)
    measured, said = [], []
    for seed in range(4):
        out = publication_of(dc.release(table, epsilon=epsilon, mechanism=mechanism, max_count=40, seed=seed))
        measured.append(np.abs(out.counts - counts).mean())
        said.append(way_named(out.record.way).errors(out, None).typical)
    assert np.mean(said) == pytest.approx(np.mean(measured), rel=0.15)
