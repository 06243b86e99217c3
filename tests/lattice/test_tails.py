"""Bounds on the length of noise: against enumeration, and against the best there can be."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

import discreet as dc
from discreet.lattice.invariants import Invariants
from discreet.lattice.laws import L1, L2, LatticeGaussian, LatticeLaw
from discreet.lattice.plan import plan_lattice
from discreet.lattice.structure import structure_of
from discreet.lattice.tails import longest
from discreet.sample.bits import seeded
from tests.lattice.enumeration import points
from tests.lattice.fibres import margins

LAWS: list[LatticeLaw] = [
    L1(Fraction(3, 2)), L1(Fraction(4)), L2(Fraction(1, 2)), L2(Fraction(2)),
    LatticeGaussian(Fraction(1, 4)), LatticeGaussian(Fraction(4)),
]  # fmt: skip
LATTICES = {
    "a total of three": np.ones((1, 3), dtype=int),
    "two by three": margins(2, 3),
    "one row": np.zeros((1, 1), dtype=int),
    "a step of two": np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1]]),
}


def lengths(law: LatticeLaw, vectors: np.ndarray) -> np.ndarray:
    return np.abs(vectors).sum(axis=1) if law.odds is not None else np.sqrt((vectors**2).sum(axis=1))


def weights(law: LatticeLaw, length: np.ndarray) -> np.ndarray:
    if law.variance is not None:
        return np.exp(-(length**2) / (2 * float(law.variance)))
    rate = math.log(law.odds) if law.odds is not None else float(law.rate)
    return np.exp(-rate * length)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("name", LATTICES)
@pytest.mark.parametrize("chance", [0.5, 0.05, 1e-4])
def test_longer_noise_is_as_rare_as_is_said(law: LatticeLaw, name: str, chance: float) -> None:
    matrix = LATTICES[name]
    every = (
        np.arange(-40, 41)[:, None]
        if matrix.shape[1] == 1
        else np.array(points(matrix, 20 if matrix.shape[1] < 6 else 14))
    )
    length = lengths(law, every)
    mass = weights(law, length)
    dimensions = structure_of(Invariants(csr_array(matrix), (), (), np.flatnonzero(matrix.any(axis=1)))).dimensions
    assert dimensions == matrix.shape[1] - np.linalg.matrix_rank(matrix)
    bound = longest(law, dimensions, chance)
    assert mass[length > bound].sum() <= chance * mass.sum()
    if chance < 1e-3:  # and it is no empty promise: a third of it is exceeded more often
        assert mass[length > bound / 3].sum() > chance * mass.sum() or bound < 3


def test_in_many_dimensions_it_is_near_the_mean() -> None:
    """By the law of large numbers the sum of m errors is near m times the mean of one: little is lost."""
    odds, rows = Fraction(11, 10), 100_000
    mean = rows * 2 * float(odds) / float(odds**2 - 1)
    assert mean < longest(L1(odds), rows, 0.05) < 1.03 * mean
    assert longest(L1(odds), 0, 0.05) == 0


@pytest.mark.parametrize(
    "options", [{"epsilon": 1}, {"rho": "1/2", "law": "gaussian"}, {"epsilon": 1, "law": "l2"}], ids=str
)
def test_plan_and_report_say_how_much_noise_there_is(options: dict[str, Any], tmp_path: Path) -> None:
    rows = 24
    frame = pa.table(
        {"a": [f"a{k // 4}" for k in range(rows)], "b": [f"b{k % 4}" for k in range(rows)], "n": [5] * rows}
    )
    table, keep = dc.table(frame, "n", keys=["a", "b"]), ["margin:a"]
    (said,) = (step for step in dc.plan(table, keep=keep, **options).steps if "chance" in step)
    most = float(re.search(r"at most ([0-9.]+?)[.,]? ", said + " ").group(1))
    draws = plan_lattice({"a": frame["a"].to_pylist(), "b": frame["b"].to_pylist()}, keep, **options).draws(
        2000, seeded(5)
    )
    mean = np.abs(draws).mean(axis=1) if "row by at most" in said else np.sqrt((draws**2).mean(axis=1))
    assert (mean > most).mean() <= 0.01
    assert most < 3 * mean.mean()
    dc.release(table, keep=keep, seed=1, **options).save(tmp_path / "out")
    assert said in (tmp_path / "out" / "report.html").read_text()
