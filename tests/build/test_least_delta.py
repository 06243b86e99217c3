"""Least delta as an objective of design: proven, and never above the closed forms of bounded noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import discreet as dc
from discreet.errors import BadInput, Infeasible


def least(size: int, odds: float, truth: float, support: int) -> float:
    """The plain program: the entries, an excess for every output and pair of neighbours, and delta."""
    entries, pairs = size * size, [pair for i in range(size - 1) for pair in ((i, i + 1), (i + 1, i))]
    columns = entries + len(pairs) * size + 1
    rows, equal, values = [], [], []
    for k, (one, other) in enumerate(pairs):
        for j in range(size):
            row = np.zeros(columns)
            row[one * size + j], row[other * size + j], row[entries + k * size + j] = 1, -odds, -1
            rows.append(row)
        row = np.zeros(columns)
        row[entries + k * size : entries + (k + 1) * size], row[-1] = 1, -1
        rows.append(row)
    for i in range(size):
        row = np.zeros(columns)
        row[i * size : (i + 1) * size] = 1
        fixed = np.zeros(columns)
        fixed[i * size + i] = 1
        equal, values = [*equal, row, fixed], [*values, 1.0, truth]
    far = [(0, 0) if abs(i - j) > support else (0, None) for i in range(size) for j in range(size)]
    bounds = far + [(0, None)] * (columns - entries)
    cost = np.zeros(columns)
    cost[-1] = 1
    return float(linprog(cost, rows, np.zeros(len(rows)), equal, values, bounds=bounds).fun)


@settings(max_examples=12, deadline=None)
@given(
    max_count=st.integers(1, 7),
    epsilon=st.sampled_from(["0.4", "1.1", "2"]),
    truth=st.sampled_from(["1/10", "1/2", "4/5"]),
    support=st.integers(1, 4),
)
def test_the_least_delta_is_that_of_the_plain_program(max_count: int, epsilon: str, truth: str, support: int) -> None:
    made = dc.design(max_count, epsilon, objective="delta", require=[f"truth={truth}", f"support={support}"])
    assert made.lower_bound is not None and made.lower_bound <= made.value <= made.lower_bound + 1e-8
    plain = least(max_count + 1, float(made.epsilon.bounds()[0]), float(Fraction(truth)), support)
    assert made.value == pytest.approx(plain, abs=1e-6)
    assert made.certificate.holds and all(witness is None for witness in made.requirements.values())
    assert made.delta == 0 or not dc.certify(made.mechanism, epsilon, made.delta * Fraction(999, 1000)).holds


@pytest.mark.parametrize(
    ("epsilon", "truth", "support"), [("1.1", "0.5", 3), ("1.1", "0.05", 4), ("1.1", "0.5", 8), ("2", "0.6", 2)]
)
def test_it_comes_to_the_closed_form_as_counts_grow(epsilon: str, truth: str, support: int) -> None:
    """The noise, with rows at both ends that cost nothing, is one such mechanism; far from the ends none is better."""
    noise = float(dc.bounded_noise(epsilon, truth=truth, support=support).delta_optimal)
    values = [
        dc.design(m, epsilon, objective="delta", require=[f"truth={truth}", f"support={support}"]).value
        for m in (support, 2 * support, 3 * support)
    ]
    assert all(a <= b + 1e-9 for a, b in pairwise(values)) and values[-1] <= noise + 1e-9
    assert values[-1] == pytest.approx(noise, rel=1e-4)


def test_without_requirements_there_is_nothing_to_pay() -> None:
    made = dc.design(5, 1, objective="delta")
    assert made.value == made.lower_bound == 0 and made.delta == 0


def test_other_requirements_go_with_it() -> None:
    asked = ["truth=1/2", "support=2", "symmetric", "column-monotone"]
    made = dc.design(6, 1, objective="delta", require=asked)
    assert made.properties["symmetric"] and made.properties["column-monotone"]
    free = dc.design(6, 1, objective="delta", require=asked[:2])
    assert made.value >= free.lower_bound


def test_what_cannot_be_is_refused_by_name() -> None:
    with pytest.raises(Infeasible, match=r"unbiased and truth=0.5 cannot hold together at epsilon = 1, whatever delta"):
        dc.design(6, 1, objective="delta", require=["unbiased", "truth=1/2"])
    for wrong in ({"delta": "1/10"}, {"minimax": True}, {"mechanism": "geometric"}):
        with pytest.raises(BadInput, match=f"together with {next(iter(wrong))}"):
            dc.design(6, 1, objective="delta", **wrong)


def test_it_can_be_released(tmp_path) -> None:
    import pyarrow as pa

    made = dc.design(6, 1, objective="delta", require=["truth=1/2", "support=2"])
    secret = dc.table(pa.table({"k": ["a", "b"], "n": [3, 9]}), "n")
    dc.release(secret, 1, delta=made.delta, mechanism=made).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
