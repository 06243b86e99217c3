"""Very many rows and very little noise: numbers so large that rounding counts, or an exponential is none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from discreet.arrays import Integers
from discreet.distribution.evidence import Posterior, posterior
from discreet.laws import Gaussian, NoiseLaw
from tests.distribution.noisy import geometric

HUNDRED_MILLION = 10**8


def posterior_of(rows: Integers, noise: NoiseLaw, stage_one: NoiseLaw, cut: bool = False) -> Posterior:
    """Of noisy counts as they are on average, and numbers of rows up to every count as they are."""
    masses = noise.masses(min(4000, 1 + int(30 * max(1.0, noise.spread**0.5))))
    shares = np.concatenate([masses[:0:-1], masses])
    noisy = np.zeros(len(rows) + len(shares) - 1)
    for count in np.flatnonzero(rows):
        noisy[count : count + len(shares)] += rows[count] * shares / shares.sum()
    upto = np.round(np.cumsum(noisy)).astype(np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return posterior(
            np.diff(upto, prepend=0), 1 - len(masses), noise, len(rows) - 1, cut=cut,
            prefix=np.cumsum(rows)[:-1], prefix_noise=stage_one,
        )  # fmt: skip


def near(found: Posterior, rows: Integers) -> bool:
    return bool(np.abs(found.mean - np.cumsum(rows)).sum() < 1e-3 * rows.sum())


@pytest.mark.parametrize("cut", [False, True])
def test_all_of_many_rows_are_at_one_count(cut: bool) -> None:
    rows = np.zeros(101, dtype=np.int64)
    rows[33] = HUNDRED_MILLION
    assert near(posterior_of(rows, geometric(0.01), geometric(0.0035), cut), rows)


@pytest.mark.parametrize("size", [12, 1001])
def test_many_rows_are_known_nearly_exactly(size: int) -> None:
    rows = np.zeros(size, dtype=np.int64)
    rows[size // 3 : 2 * size // 3] = HUNDRED_MILLION // (2 * size // 3 - size // 3)
    assert near(posterior_of(rows, Gaussian(1 / 900), Gaussian(4 / 441)), rows)  # type: ignore[arg-type]


def test_two_counts_at_the_ends_of_a_wide_range() -> None:
    rows = np.zeros(100_001, dtype=np.int64)
    rows[[0, -1]] = 100_000
    assert near(posterior_of(rows, geometric(10.0), geometric(0.5)), rows)
