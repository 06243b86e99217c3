"""Stage one where nobody knows the range: every border is asked about once, whatever the answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.distribution.borders import Adaptive, ask, fits, range_of
from discreet.distribution.max_count import BORDERS
from discreet.laws import Geometric, NoiseLaw
from discreet.public_map import seen_of
from discreet.sample.bits import seeded
from tests.releases import example

MOST = 1000


@dataclass
class Scripted:
    """Answers what a transcript says, whatever the truth is, and remembers what that was."""

    answers: list[np.ndarray]
    spread: float = 2.0
    exact: list[np.ndarray] = field(default_factory=list)

    def add(self, counts: Any, bits: Any) -> Any:
        self.exact.append(np.array(counts))
        return self.answers[len(self.exact) - 1][: len(counts)]


def transcript(rows: int, wanted: int, seed: int) -> list[np.ndarray]:
    """First answers that choose a range of about `wanted`, and then any others."""
    rng = np.random.default_rng(seed)
    coarse = np.where(np.array(BORDERS) < wanted, 0, rows) + rng.integers(-2, 3, len(BORDERS))
    return [coarse, rng.integers(-5, rows + 5, MOST)]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 80), st.integers(0, 99), st.data())
def test_on_any_transcript_one_person_changes_one_answer_by_one(
    counts: list[int], wanted: int, seed: int, data: Any
) -> None:
    """So the likelihoods of any transcript differ by one factor of the noise at most, adaptive as it is."""
    row = data.draw(st.integers(0, len(counts) - 1))
    neighbour = list(counts)
    neighbour[row] += 1
    script = transcript(len(counts), wanted, seed)
    one, other = Scripted(script), Scripted(script)
    first = ask(seen_of(np.array(counts)), one, MOST, seeded(1))  # type: ignore[arg-type]
    second = ask(seen_of(np.array(neighbour)), other, MOST, seeded(1))  # type: ignore[arg-type]
    assert first.prefix.tolist() == second.prefix.tolist()  # the same questions, since the answers were the same
    moved = [np.abs(a - b).sum() for a, b in zip(one.exact, other.exact, strict=True)]
    assert sum(moved) <= 1
    asked = len(one.exact[0]) + len(one.exact[1])
    assert asked == len(set(BORDERS) | set(range(len(first.prefix))))  # no border twice


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(1, 200))
def test_answers_are_about_at_most_each_border(seed: int, largest: int) -> None:
    counts = np.random.default_rng(seed).integers(0, largest + 1, 4000)
    noise: NoiseLaw = Geometric(Fraction(3))
    found = ask(seen_of(counts), noise, MOST, seeded(seed))
    top = len(found.prefix)
    assert top in (*BORDERS, MOST) and (counts > top).mean() <= 0.02
    exact = np.array([(counts <= b).sum() for b in range(top)])
    assert np.abs(found.prefix - exact).max() < 40
    assert fits(found, len(counts), noise, MOST)
    changed = found.coarse.copy()
    changed[0] += 1
    assert top == 1 or not fits(Adaptive(changed, found.prefix), len(counts), noise, MOST)
    assert not fits(Adaptive(found.coarse, found.prefix[:-1]), len(counts), noise, MOST)


def test_the_range_has_an_end() -> None:
    noise = Geometric(Fraction(3))
    nobody = np.zeros(len(BORDERS), dtype=np.int64)
    assert range_of(nobody, 100, noise, MOST) == MOST


@pytest.mark.parametrize("privacy", [{"epsilon": 1}, {"rho": "1/2"}])
def test_a_release_without_a_range_measures_its_distribution(privacy: dict[str, Any]) -> None:
    release = dc.release(example(), favor="distribution", split="0.2", seed=1, **privacy)
    measured = release.distribution
    assert measured.borders is not None and measured.method == "cumulative" and release.max_count is None
    assert len(measured.measurements) >= 4
    exact = np.array([(example().counts <= b).sum() for b in range(len(measured.measurements))])
    scale = np.sqrt(measured.noise.spread)
    assert 0 < np.abs(measured.measurements - exact).mean() < 4 * scale


@pytest.mark.parametrize(("rows", "measured"), [(399, False), (400, True)])
def test_small_tables_of_unknown_range_spend_all_on_their_rows(rows: int, measured: bool) -> None:
    found = dc.release(example(rows=rows), "0.5", favor="distribution")
    assert (found.distribution.measurements is not None) == measured
