"""A small sample of the study: what it must show, on a few tables, with fixed seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from discreet.laws import Geometric
from discreet.public_map import seen_of
from discreet.sample.bits import seeded
from discreet.ways.keep_distribution.draw import draw
from discreet.ways.keep_distribution.follow import Noisy, least_error
from discreet_lab.frontier.methods import FITTED, OTHERS, StudySetting
from discreet_lab.frontier.runs import cells_of, jobs_of, run_job
from discreet_lab.frontier.tables import StudyTable, study_tables
from discreet_lab.frontier.verdicts import BOTH, NEAR_ORACLE, PROMISE, Judged, judged, near_oracle, not_above

TABLES = {table.name: table for table in study_tables()}
SAMPLED, EPSILONS, REPEATS = ("example", "binomial", "zero-inflated", "sids"), ("0.25", "1"), 4
# one or two counts only: hardly any error is left, and from noisy counts nobody can know that
OF_ONE_PIECE = ("two-point", "all-zero", "all-equal")
LARGE = [name for name, table in TABLES.items() if table.rows >= 100]
ROUGHLY = 1.03  # a few repeats tell a difference of errors to about a hundredth: one allowed, and two of chance
WRONG_SCALE = 1.3  # a noise law handed to the fit that is this much too wide or too narrow is to be noticed


@pytest.fixture(scope="module")
def sample() -> list[Judged]:
    some = [TABLES[name] for name in SAMPLED]
    runs = [run for job in jobs_of(cells_of(some, EPSILONS), REPEATS, [], [FITTED, OTHERS]) for run in run_job(job)]
    return judged(runs, some)


def test_neither_error_of_the_default_is_above_that_of_plain_noise(sample: list[Judged]) -> None:
    assert len(sample) == 2 * len(SAMPLED) * len(EPSILONS)
    assert not_above(sample, "", "balance", "plain", BOTH, ROUGHLY).findings == ()
    # and the judge is awake: what follows the oracle's medians is worse for the distribution somewhere
    assert not_above(sample, "", "counts", "balance", BOTH).failing


def test_it_is_near_the_oracle(sample: list[Judged]) -> None:
    for method, oracle in (("counts", "oracle"), ("balance", "oracle by rank")):
        verdict = near_oracle(sample, method, oracle)  # type: ignore[arg-type]
        assert verdict.cells == 12 and verdict.failing == (), verdict
    assert not_above(sample, "", "plain", "oracle", BOTH[:1], NEAR_ORACLE).failing


@dataclass(frozen=True)
class Promise:
    """What records say of the error of a count, in parts of the measured one; and what chance may add to it."""

    ratio: float
    chance: float

    @property
    def kept(self) -> bool:
        return abs(self.ratio - 1) <= PROMISE + self.chance


def promise_of(table: StudyTable, epsilon: str, repeats: int, scale: float = 1.0) -> Promise:
    """Of the default; `scale`: the fit is told that the noise is so many times as wide as it is."""
    setting, errors, promised = StudySetting(table.name, table.counts, None, epsilon), [], []
    made = setting.plan()
    assert made.noise is not None
    told = made.noise if scale == 1 else Geometric(math.exp(float(epsilon) / scale))
    for repeat in range(repeats):
        rows = draw(made, table.counts, seeded(setting.seed(repeat))).rows
        found = least_error(Noisy(seen_of(rows), told, None), None, None)
        places = np.empty(table.rows, dtype=np.int64)
        places[np.argsort(rows, kind="stable")] = np.arange(table.rows)
        counts = np.searchsorted(found.followed.upto, places, side="right")
        counts = np.where(counts >= len(found.histogram) - 1, np.maximum(rows, counts), counts)
        errors.append(np.abs(counts - table.counts))
        promised.append(found.followed.count_error)
    measured = np.concatenate(errors)
    error = 3 * measured.std() / math.sqrt(len(measured)) / measured.mean() if measured.any() else 0.0
    return Promise(float(np.mean(promised) / max(measured.mean(), 1e-12)), float(error))


@pytest.mark.parametrize("name", [name for name in LARGE if name not in OF_ONE_PIECE])
def test_the_record_says_how_large_the_error_is(name: str) -> None:
    promise = promise_of(TABLES[name], "0.5", 2)
    assert promise.kept, promise


@pytest.mark.parametrize("name", OF_ONE_PIECE)
def test_where_next_to_no_error_is_left_the_record_does_not_say_less(name: str) -> None:
    assert promise_of(TABLES[name], "0.5", 2).ratio > 1


@pytest.mark.parametrize("epsilon", ["0.25", "1"])
def test_the_record_of_the_example_is_right_and_with_a_wrong_scale_it_would_not_be(epsilon: str) -> None:
    table = TABLES["example"]
    assert promise_of(table, epsilon, 4).kept
    for scale in (WRONG_SCALE, 1 / WRONG_SCALE):
        assert not promise_of(table, epsilon, 2, scale).kept
