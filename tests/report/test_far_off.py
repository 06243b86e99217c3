"""How far off the report says that numbers are is how far off they are, over many releases of one table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.report import render
from discreet.report.facts import page_of
from discreet.report.prepared import prepared

COUNTIES, SEXES = [f"county {i:02d}" for i in range(12)], ["f", "m"]


def small() -> dc.Table:
    rows = [(county, sex) for county in COUNTIES for sex in SEXES]
    keys = {"county": [one[0] for one in rows], "sex": [one[1] for one in rows]}
    return dc.table(pa.table({**keys, "n": np.random.default_rng(2).poisson(20, len(rows))}), "n", keys=list(keys))


def large() -> dc.Table:
    counts = np.random.default_rng(4).negative_binomial(1, 0.2, 800)
    return dc.table(pa.table({"k": [f"{i:04d}" for i in range(800)], "n": counts}), "n", keys=["k"])


def truths(table: dc.Table, by: tuple[int, ...]) -> dict[tuple[Any, ...], int]:
    columns = [table.schema.column(table.schema.keys[place]) for place in by]
    found: dict[tuple[Any, ...], int] = {}
    for row, count in enumerate(table.counts.tolist()):
        key = tuple(column[row] for column in columns)
        found[key] = found.get(key, 0) + count
    return found


@pytest.mark.parametrize(
    "options",
    [{"signed": True}, {"mechanism": "geometric"}, {"keep": "margin:sex"}, {"keep": "total", "nonnegative": True}],
    ids=str,
)
def test_intervals_reach_as_far_as_the_table_of_them_says(options: dict[str, Any]) -> None:
    """Nineteen of twenty are inside; and of intervals half as long many fewer."""
    secret, runs = small(), 20
    inside: dict[str, list[bool]] = {}
    nearly: dict[str, list[bool]] = {}
    for seed in range(runs):
        out = dc.release(secret, 1, seed=seed, **options)
        found = prepared(out.publication)
        page = page_of(out.publication, found)
        said = {name: far for name, _, far in page.reaches}
        for one in found.asked:
            name = "a row" if len(one.by) == 2 else f"by {secret.schema.keys[one.by[0]]}" if one.by else "total"
            true = truths(secret, one.by)
            names = list(zip(*([found.values[place][k] for k in codes] for place, codes in zip(one.by, one.groups))))
            exact = np.asarray(one.numbers.exact, dtype=bool)
            half = (one.numbers.high - one.numbers.low) / 2
            off = np.abs([true[key] - value for key, value in zip(names or [()], one.numbers.estimate)])
            assert (off[exact] < 1e-9).all()
            if (~exact).any():
                far = float(np.median(half[~exact]))
                assert float(said[name].removeprefix("± ").replace(",", "")) == pytest.approx(far, rel=0.06)
                inside.setdefault(name, []).extend((off <= half + 1e-9)[~exact])
                nearly.setdefault(name, []).extend((off <= half / 2)[~exact])
            else:
                assert said[name] == "exact"
    assert inside
    for name, hits in inside.items():
        slack = 4 * np.sqrt(0.05 * 0.95 / runs)  # numbers of one release are not independent
        assert np.mean(hits) >= 0.95 - slack, name
        assert np.mean(nearly[name]) < np.mean(hits), name
    assert np.mean(nearly["a row"]) < 0.9


@pytest.mark.parametrize("options", [{}, {"keep": "margin:sex"}, {"measure": ["total", "cells"]}], ids=str)
def test_beside_the_first_rows_stands_where_the_true_counts_are(options: dict[str, Any]) -> None:
    """In as many rows as is said; of the same intervals around the counts of other rows many fewer."""
    secret, inside, elsewhere = small(), [], []
    for seed in range(12):
        out = dc.release(secret, 1, seed=seed, **options)
        page = page_of(out.publication, prepared(out.publication))
        ends = [[float(word.replace(",", "")) for word in told.split(" to ")] for told in page.head_reach]
        assert len(ends) == len(page.head) == 8
        inside += [low <= true <= high for (low, high), true in zip(ends, secret.counts.tolist())]
        elsewhere += [low <= other <= high for (low, high), other in zip(ends, secret.counts[4:].tolist())]
    assert np.mean(inside) >= 0.95 - 4 * np.sqrt(0.05 * 0.95 / len(inside)) and np.mean(elsewhere) < 0.85
    assert all(f"<td>{far}</td>" in render(out.publication) for far in page.head_reach)


def test_a_first_row_that_is_known_is_exact_and_large_tables_have_no_intervals_beside_them() -> None:
    frame = {"k": ["a", "b", "c"], "n": [5, 7, 9]}
    kept = dc.release(dc.table(pa.table(frame), "n", keys=["k"]), 1, keep=["sum:k=a"])
    page = page_of(kept.publication, prepared(kept.publication))
    assert page.head_reach[0] == "exact" and " to " in page.head_reach[1]
    rows = 20_001
    many = dc.table(pa.table({"k": [f"{i:05d}" for i in range(rows)], "n": [1] * rows}), "n", keys=["k"])
    large = dc.release(many, 1, mechanism="signed-geometric").publication
    assert page_of(large, prepared(large)).head_reach == []


@pytest.mark.parametrize(
    ("options", "unbiased"),
    [
        ({"epsilon": "1/2"}, False), ({"epsilon": "1/2", "mechanism": "geometric"}, False),
        ({"epsilon": 1, "mechanism": "explicit-fair", "max_count": 60}, False), ({"epsilon": 1, "signed": True}, True),
        ({"epsilon": 1, "keep": "total"}, True), ({"epsilon": 1, "keep": "total", "nonnegative": True}, False),
    ],
    ids=str,
)  # fmt: skip
def test_errors_and_bias_are_those_that_are_said(options: dict[str, Any], unbiased: bool) -> None:
    secret, runs = large(), 8
    true = secret.counts
    off, apart, small_ones, pages = [], [], [], []
    for seed in range(runs):
        out = dc.release(secret, seed=seed, **options)
        pages.append(page_of(out.publication, prepared(out.publication)))
        off.append(np.abs(out.counts - true).mean())
        apart.append(np.abs(np.sort(out.counts) - np.sort(true)).mean())
        small_ones.append((out.counts - true)[true == 0].mean())
    said = [page.typical_error for page in pages]
    if said[0] is not None:
        assert np.mean([float(one) for one in said]) == pytest.approx(np.mean(off), rel=0.1)
    told = [page.distribution_error for page in pages]
    if told[0] is not None:
        assert np.mean([float(one) for one in told]) == pytest.approx(np.mean(apart), rel=0.3)
    else:
        assert np.mean(apart) <= np.mean(off), "as is said: no further off than a count"
    noise = np.std(small_ones, ddof=1) / np.sqrt(runs) + np.mean(off) / np.sqrt(runs * (true == 0).sum())
    assert bool(abs(np.mean(small_ones)) <= 5 * noise) is unbiased
    assert pages[0].bias.startswith("bias-none") is unbiased


@pytest.mark.parametrize(
    ("options", "leaning"), [({}, True), ({"favor": "counts"}, True), ({"mechanism": "geometric"}, False)]
)
def test_among_zeros_other_counts_are_too_small_where_that_is_said(options: dict[str, Any], leaning: bool) -> None:
    """Noise that is cut at 0 makes small counts too large; a table that follows its distribution does not."""
    draws = np.random.default_rng(2)
    true = np.where(draws.random(1000) < 0.9, 0, draws.geometric(0.2, 1000))
    secret = dc.table(pa.table({"k": [f"{i:04d}" for i in range(1000)], "n": true}), "n", keys=["k"])
    outs = [dc.release(secret, "0.3", seed=seed, **options) for seed in range(4)]
    off = np.mean([out.counts - true for out in outs], axis=0)
    assert off[true == 0].mean() > 0
    assert bool(off[(true > 0) & (true < 4)].mean() < 0) is leaning
    said = render(outs[0].publication)
    assert ("the others tend to be too small" in said) is leaning
    assert ("small ones tend to be too large" in said) is not leaning


def test_every_report_says_how_far_off_each_kind_of_number_is() -> None:
    for options in ({}, {"keep": "margin:sex"}, {"measure": "auto"}, {"signed": True}):
        page = render(dc.release(small(), 1, **options).publication)  # type: ignore[arg-type]
        assert "The distribution of the published counts is off by" in page and "right on average" in page
        assert re.search(r"<td>(a row|cells)</td>", page) and re.search(r"<td>total</td>", page)


def test_where_columns_have_shares_each_has_its_error() -> None:
    rows, runs, made = 150, 12, np.random.default_rng(6)
    frame = pa.table({"k": [f"{i:03d}" for i in range(rows)], "a": made.poisson(2, rows), "b": made.poisson(2, rows)})
    secret = dc.table(frame, {"a": "4/5", "b": "1/5"}, keys=["k"])
    of_a = np.array(secret.schema.column("counted")) == "a"
    off, said = [], []
    for seed in range(runs):
        out = dc.release(secret, 1, seed=seed)
        off.append([np.abs(out.counts - secret.counts)[some].mean() for some in (of_a, ~of_a)])
        page = page_of(out.publication, prepared(out.publication))
        said.append(re.fullmatch(r"(\S+) for a, (\S+) for b", page.typical_error or "").groups())  # type: ignore[union-attr]
    assert np.mean(np.array(said, dtype=float), axis=0) == pytest.approx(np.mean(off, axis=0), rel=0.12)
    assert np.mean(off, axis=0)[1] > 1.5 * np.mean(off, axis=0)[0], "so that one for the other would not do"


@pytest.mark.parametrize("top", [None, 12])
@pytest.mark.parametrize("least", [None, 1, 2, 3])
def test_which_counts_bounded_noise_leaves_right_on_average_is_said(least: int | None, top: int | None) -> None:
    """Exactly: the mean of what is published, for every count that it can be."""
    options: dict[str, Any] = {"mechanism": "bounded", "truth": "1/3", "support": 2, "max_count": top}
    out = dc.release(large(), 1, min_count=least, **options)
    form, low, high = out.mechanism.form, least or 0, 30 if top is None else top
    steps = np.arange(-2, 3)
    chances = np.exp(form.noise.log_mass(steps.astype(float)))
    wrong = [k for k in range(low, high + 1) if abs(np.clip(k + steps, 0, top) @ chances - k) > 1e-9]
    page = page_of(out.publication, prepared(out.publication))
    assert page.bias.startswith("bias-none") is not wrong
    said = " ".join(page.steps)
    assert ("come out too large" in said) is any(k < 5 for k in wrong)
    assert ("too small" in said) is any(k > 5 for k in wrong)
    assert ("every count is right on average" in said) is (not wrong)
    assert ("all others are right" in said) is (bool(wrong) and (top is None or min(wrong) > 5))
    if top is not None:
        assert min(k for k in wrong if k > 5) == 11 and "above 10 " in said
    assert ("smallest" in render(out.publication)) is (least is not None)


def test_errors_by_count_are_drawn_for_few_rows_too() -> None:
    page = render(dc.release(small(), 1, mechanism="explicit-fair", max_count=40).publication)
    assert "Expected error by true count" in page and "true counts, treated as is said here" not in page
    assert "true counts, treated as is said here" in render(
        dc.release(large(), 1, max_count=5, top_code=True).publication
    )


PTABLE = "i;j;p\n0;0;1\n1;0;0.4\n1;1;0.3\n1;2;0.2\n1;3;0.1\n"  # right on average, but down more often than up


@pytest.mark.parametrize(
    ("mechanism", "options", "said"),
    [
        ([[1, 0, 0], [0.25, 0.5, 0.25], [0, 0, 1]], {"delta": "0.9"}, "bias-rows-cut"),
        ([[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0, 1]], {"delta": "0.9"}, "bias-zero-cut"),
        ([[0.6, 0.4], [0.4, 0.6]], {}, "bias-own-cut"),
        (PTABLE, {"delta": "0.9"}, "bias-rows"),
        (PTABLE.replace("0;0;1", "0;0;0.5\n0;1;0.5"), {"delta": "0.9"}, "bias-zero"),
        (PTABLE.replace("1;2;0.2", "1;2;0.1").replace("1;0;0.4", "1;0;0.5"), {"delta": "0.9"}, "bias-own"),
        ("bounded", {"truth": "1/2", "support": 2, "small_counts": "unbiased"}, "bias-zero"),
        ("bounded", {"truth": "1/2", "support": 2, "small_counts": "both", "max_count": 9}, "bias-zero-cut"),
        ("bounded", {"truth": "1/2", "support": 3, "small_counts": "both", "min_count": 1}, "bias-rows-cut"),
    ],
)
def test_what_rows_of_their_own_do_on_average_is_said(
    mechanism: Any, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    if str(mechanism).startswith("i;j;p"):
        (tmp_path / "ptable.csv").write_text(mechanism)
        mechanism = dc.read_mechanism(tmp_path / "ptable.csv")
    out = dc.release(small(), 1, mechanism=mechanism, **options)
    page = page_of(out.publication, prepared(out.publication))
    assert page.bias == said
