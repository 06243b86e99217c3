"""Several columns of counts, each with its share: its noise, one price, one entry, the same from everywhere."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.laws import Geometric
from discreet.privacy.values import Pure
from discreet.report.facts import page_of
from discreet.report.prepared import prepared
from discreet.sample.contract import assert_sampler_law
from discreet.table import Table
from tests.shell import shell

SHARES = {"births": "3/4", "deaths": "1/4"}


def frame(rows: int = 40) -> pa.Table:
    made = np.random.default_rng(3)
    columns = {"county": [f"c{i:05d}" for i in range(rows)], "births": made.poisson(30, rows)}
    return pa.table({**columns, "deaths": made.poisson(4, rows)})


def table(rows: int = 40, shares: Any = SHARES, **options: Any) -> Table:
    return dc.table(frame(rows), shares, keys=["county"], **options)


def column(out: Any, name: str) -> np.ndarray:
    return out.counts[np.array(out.schema.column("counted")) == name]


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 1}, {"alpha": "1/2"}, {"rho": "1/2"}, {"epsilon": 1, "signed": True},
        {"epsilon": 1, "mechanism": "geometric", "max_count": 12, "measurements": False},
        {"epsilon": 2, "mechanism": "explicit-fair", "max_count": 40}, {"rho": 1, "mechanism": "discrete-gaussian"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("contributions", [1, 3])
def test_everything_is_proved_again(options: dict[str, Any], contributions: int, tmp_path: Path) -> None:
    out = dc.release(table(contributions=contributions), **options)
    assert out.record.way == "by-share" and out.record.schema.contributions == 2 * contributions
    out.save(tmp_path / "out")
    checked = dc.verify(tmp_path / "out")
    assert checked.valid, checked.problems
    asked = dc.estimate(tmp_path / "out")
    low, high = asked.where(counted="deaths").total().interval
    assert low <= asked.where(counted="deaths").total().estimate <= high
    assert asked.where(counted="births").quantile("1/2").level == 0.95
    with pytest.raises(BadInput, match="noises of their own"):
        asked.quantile("1/2")


def test_each_column_has_the_noise_of_its_share() -> None:
    """Against the law of the share, and against that of the other."""
    rows = 20_000
    made = pa.table({"k": [f"{i:05d}" for i in range(rows)], "a": [5] * rows, "b": [5] * rows})
    out = dc.release(dc.table(made, {"a": "4/5", "b": "1/5"}, keys=["k"]), 2, signed=True)
    laws = {name: Geometric.calibrated(Pure(2).times(Fraction(part)), 1) for name, part in (("a", "4/5"), ("b", "1/5"))}
    masses = {
        name: [float(np.exp(law.log_mass(np.array(float(k))))) for k in range(-40, 41)] for name, law in laws.items()
    }
    for name, other in (("a", "b"), ("b", "a")):
        law, wrong = ([*one, max(0.0, 1 - sum(one))] for one in (masses[name], masses[other]))
        seen = column(out, name) - 5 + 40
        seen = np.where((seen < 0) | (seen > 80), 81, seen)
        assert_sampler_law(lambda _, s=seen: s, law, size=rows, wrong=wrong)


@settings(max_examples=15, deadline=None)
@given(
    parts=st.lists(st.integers(1, 20), min_size=2, max_size=4).filter(lambda parts: len(set(parts)) > 1),
    epsilon=st.fractions("1/10", 3, max_denominator=20),
    contributions=st.integers(1, 3),
)
def test_the_odds_of_all_columns_together_are_those_of_epsilon(
    parts: list[int], epsilon: Fraction, contributions: int
) -> None:
    """The specification: one person changes every column, and the worst odds of all noises multiply."""
    names = [f"n{i}" for i in range(len(parts))]
    made = pa.table({"k": ["a", "b"], **{name: [1, 2] for name in names}})
    shares = {name: Fraction(part, sum(parts)) for name, part in zip(names, parts)}
    out = dc.release(dc.table(made, shares, keys=["k"], contributions=contributions), epsilon, signed=True)
    worst = 1.0
    for one in out.mechanism.shares:
        worst *= float(one.form.noise.worst_odds) ** contributions
    assert exp(epsilon) * (1 - 1e-6) <= worst <= exp(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize(("relation", "charged"), [("added-or-removed", 1), ("moved", 2)])
def test_there_is_one_entry_for_all_columns(relation: Any, charged: int, tmp_path: Path) -> None:
    book = dc.ledger(str(tmp_path / "l.db"))
    book.create("cases", epsilon=3, relation=relation)
    out = dc.release(table(), 1, ledger=str(tmp_path / "l.db"), dataset="cases")
    out.save(tmp_path / "out")
    (entry,) = book.history()
    assert entry.charged.epsilon == charged and entry.state == "released"
    assert entry.spending.spec["table"]["shares"] == {"births": "0.75", "deaths": "0.25"}
    assert dc.verify(tmp_path / "out").valid


def test_intervals_cover() -> None:
    secret, true = table(60), frame(60)
    hits = np.zeros(3)
    for seed in range(60):
        view = dc.estimate(dc.release(secret, 1, seed=seed))
        answers = view.total(), view.where(counted="deaths").total(), view.by("counted")["births"]
        truths = [sum(true[name].to_numpy().sum() for name in SHARES), true["deaths"].to_numpy().sum()]
        truths.append(true["births"].to_numpy().sum())
        hits += [one.interval[0] <= truth <= one.interval[1] for one, truth in zip(answers, truths)]
    assert hits.min() >= 50, "57 are expected of 60; so few has a chance below one in 5,000"


def test_the_promise_says_who_is_protected_and_what_each_costs() -> None:
    said = dc.release(table(), 1).guarantee.sentence
    assert "one row of each of 2 columns of counts" in said and "births 0.75, deaths 0.25" in said
    assert "up to 3 times in each of 2 columns" in dc.release(table(contributions=3), 1).guarantee.sentence
    steps = dc.plan(table(), 1).steps
    assert any("epsilon = 0.75 on the counts 'births'" in step for step in steps)


def test_the_report_tells_the_columns_apart() -> None:
    found = prepared((out := dc.release(table(), 1, seed=1)).publication)
    reach = {name: float(far.removeprefix("± ")) for name, _, far in page_of(out.publication, found).reaches}
    assert "a row" not in reach and reach["a row of deaths"] > 1.5 * reach["a row of births"] > 0


def test_equal_shares_go_the_usual_way() -> None:
    for shares in ({"births": "1/2", "deaths": "1/2"}, ["births", "deaths"], "births,deaths", "births@0.5,deaths"):
        assert dc.release(table(shares=shares), 1).record.way == "keep-distribution"


def test_columns_whose_names_have_commas_and_marks_are_found() -> None:
    made = pa.table({"k": ["a", "b"], "born, alive": [1, 2], "died@1/2": [3, 4]})
    found = dc.table(made, "born, alive@1/3,died@1/2@2/3", keys=["k"]).schema
    assert found.shares == (("born, alive", Fraction(1, 3)), ("died@1/2", Fraction(2, 3)))
    assert dc.table(made, "born, alive,died@1/2", keys=["k"]).schema.shares == ()
    assert dc.table(made, "died@1/2", keys=["k"]).schema.count == "died@1/2"


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        ("births@3/4,deaths@3/4", "do not add up"), ("births@1/4,deaths@1/4", "do not add up"),
        ("births@1,deaths", "nothing for the other"), ("births@0,deaths", "above 0"), ("births@2,deaths", "at most 1"),
        ("births@x,deaths", "share of births"), ("births@1/2", "do not add up"), ("births@3/4,births@1/4", "twice"),
    ],
)  # fmt: skip
def test_shares_that_are_none_are_refused(shares: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        table(shares=shares)


@pytest.mark.parametrize(
    "options",
    [{"keep": "total"}, {"measure": "auto"}, {"favor": "counts"}, {"delta": "1e-6", "mechanism": "discrete-gaussian"}],
)
def test_what_is_about_all_counts_is_refused_and_nothing_is_charged(options: dict[str, Any], tmp_path: Path) -> None:
    book = dc.ledger(str(tmp_path / "l.db"))
    book.create("cases", epsilon=3)
    with pytest.raises(BadInput, match="shares of their own"):
        dc.release(table(), 1, ledger=str(tmp_path / "l.db"), dataset="cases", **options)
    assert not book.history()
    with pytest.raises(BadInput, match="crosstab"):
        dc.table(frame(), SHARES, keys=["county"], wide="what")


def test_the_same_from_the_shell_and_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyarrow import csv

    monkeypatch.chdir(tmp_path)
    csv.write_csv(frame(), "t.csv")
    asked = ["t.csv", "--count", "births@3/4,deaths", "--keys", "county", "--epsilon", "1"]
    for words in (["release", *asked, "--out", "a", "--write-spec", "r.toml"], ["run", "r.toml", "--out", "b"],
                  ["plan", *asked], ["verify", "a"], ["verify", "b"]):  # fmt: skip
        done = shell(*words)
        assert done.returncode == 0, done
    assert {dc.verify(name).valid for name in "ab"} == {True}
    assert 'count = "births@3/4,deaths"' in (tmp_path / "r.toml").read_text()
