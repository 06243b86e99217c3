from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.choose import MAX_COUNT, choose, highest_belief, meaning
from discreet.errors import BadInput
from discreet.numbers import epsilon_of
from tests.shell import Done, shell

FEW = ("0.1", "1", "3")


def test_more_epsilon_less_error() -> None:
    choices = choose(500, max_count=20, epsilons=FEW)
    assert [choice.epsilon for choice in choices] == list(FEW)
    for name in ("count_error", "distribution_error"):
        errors = [getattr(choice, name) for choice in choices]
        assert errors == sorted(errors, reverse=True), name


def test_a_prior_is_used() -> None:
    nearly_all_zero = [0.99, *([0.01 / 20] * 20)]
    flat = [1 / 21] * 21
    easy, hard = (choose(500, prior, epsilons=["0.3"])[0].count_error for prior in (nearly_all_zero, flat))
    assert easy < hard / 3


@given(
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=8, max_denominator=100),
    prior=st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000),
    chances=st.tuples(st.floats(0.001, 1), st.floats(0.001, 1)),
)
def test_no_posterior_exceeds_the_bound(epsilon: Fraction, prior: Fraction, chances: tuple[float, float]) -> None:
    """Bayes' rule with any two likelihoods that differ by e^epsilon at most; theorem 1.3 of Gong and Meng's paper."""
    factor = math.exp(float(epsilon))
    if_in, if_out = chances
    if_in = min(max(if_in, if_out / factor), if_out * factor)
    before = float(prior)
    after = before * if_in / (before * if_in + (1 - before) * if_out)
    bound = float(highest_belief(epsilon_of(epsilon), prior))
    assert after <= bound + 1e-12
    assert before / factor - 1e-12 <= after <= before * factor + 1e-12
    extreme = before * factor / (before * factor + 1 - before)
    assert bound == pytest.approx(extreme)


def test_meaning_in_words() -> None:
    # e = 2.718..., an even chance becomes e/(1+e) = 73.1%, one in a hundred e/(99+e) = 2.67%
    said = (
        "a factor of e^1 at most, which is about 2.72: an even chance becomes at most 73.2%, one in a hundred at most "
    )
    assert f"{said}2.7%" in meaning(epsilon_of(1))
    assert "nearly 100%" in meaning(epsilon_of(20))


def test_bad_input() -> None:
    with pytest.raises(BadInput, match="no epsilon was given"):
        choose(10, epsilons=[])
    with pytest.raises(BadInput, match="sums to"):
        choose(10, [0.5, 0.1], epsilons=["1"])
    with pytest.raises(BadInput, match="at least 1"):
        choose(0, epsilons=["1"])


def run(*words: str) -> Done:
    return shell("choose", *words)


def test_from_the_shell(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text(json.dumps({"rows": 20, "max_count": 8}))
    (tmp_path / "prior.json").write_text(json.dumps(np.full(5, 0.2).tolist()))
    done = run("--schema", str(tmp_path / "schema.json"), "--plot", str(tmp_path / "p.svg"), "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert [set(row) for row in rows] == [{"epsilon", "count_error", "distribution_error", "meaning"}] * len(rows)
    assert "<svg" in (tmp_path / "p.svg").read_text()
    (tmp_path / "table.csv").write_text("county,people\n" + "".join(f"c{k},{k}\n" for k in range(20)))
    told = run("--schema", str(tmp_path / "table.csv"), "--prior", str(tmp_path / "prior.json"))
    assert told.returncode == 0, told.stderr
    assert told.stdout.count("Whatever a reader believes") == 1 and "73.2%" in told.stdout
    assert f"counts up to {MAX_COUNT}, unless a largest count or a prior" in " ".join(told.stdout.split())
    wrong = run("--schema", str(tmp_path / "prior.json"))
    assert wrong.returncode == 2
    assert "does not say how many rows" in wrong.stderr


def test_no_epsilon_is_without_error_for_few_rows() -> None:
    errors = [choice.count_error for choice in choose(5)]
    assert all(error > 0 for error in errors) and errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("one", ["0.5", 0.5, Fraction(1, 2), ["0.5"]])
def test_one_epsilon_may_stand_without_a_list(one: Any) -> None:
    assert [choice.epsilon for choice in choose(20, epsilons=one)] == ["0.5"]
