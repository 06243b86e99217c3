"""A largest count, bought: a private upper quantile over bins that grow geometrically.

Where the user cannot say how large counts may be, a few noisy numbers of rows above 1, 2, 3, 4, 6, 8, 12, ... tell it.
One person moves one row across one of these borders at most, so all of them together cost epsilon once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, called
from discreet.laws import Geometric, draw_noise, law_json
from discreet.numbers import Epsilon, Number, probability, text, whole
from discreet.privacy import Pure, loss_of, pure_only
from discreet.sample.bits import Bits, source

SHARE = Fraction(1, 20)  # a quantile is a coarse question: a larger share would be missed elsewhere
QUANTILE = Fraction(995, 1000)  # one row in two hundred may lie above the largest count, and is treated as that
FEWEST_NOISE_SCALES = 4  # fewer rows than this many times the noise say nothing about a quantile
# two to a doubling, and beyond any number of people
BORDERS = (1, *(step << power for power in range(40) for step in (2, 3)))


@dataclass(frozen=True, eq=False)
class MaxCount:
    """A public largest count and what it cost; `above[k]`: the noisy number of rows with counts above `BORDERS[k]`."""

    max_count: int
    epsilon: Epsilon
    quantile: Fraction
    above: Integers = field(repr=False)
    noise: Geometric

    def as_json(self) -> dict[str, object]:
        return {
            "max_count": self.max_count,
            "epsilon": str(self.epsilon),
            "quantile": text(self.quantile),
            "noise": law_json(self.noise),
            "above": [int(number) for number in self.above],
        }


def share_for_max_count(epsilon: Epsilon) -> tuple[Epsilon, Epsilon]:
    """What `auto` spends on the largest count, and what it leaves: a twentieth and the rest."""
    return epsilon.times(SHARE), epsilon.times(1 - SHARE)


def private_max_count(
    counts: Any,
    epsilon: Number | Epsilon | Pure,
    quantile: Number = QUANTILE,
    *,
    contributions: int = 1,
    seed: int | None = None,
    bits: Bits | None = None,
) -> MaxCount:
    """The smallest border with at most a share 1 - quantile of the rows above it, judged by noisy numbers of rows."""
    loss = pure_only(loss_of(epsilon), "a bought largest count")
    level = probability(quantile, "the quantile", open_ends=True)
    people = whole(contributions, "the contribution bound", least=1)
    values = np.asarray(getattr(counts, "counts", counts), dtype=np.int64)
    if values.ndim != 1 or len(values) == 0:
        raise BadInput("a largest count was to be bought", "there are no rows")
    noise = Geometric.calibrated(loss, people)
    refuse_few_rows(len(values), noise.odds, loss.epsilon)
    exact_above = len(values) - np.searchsorted(np.sort(values), BORDERS, side="right")
    above = exact_above + draw_noise(noise, len(BORDERS), source(seed, bits))
    return MaxCount(border_of(above, len(values), level, noise.odds), loss.epsilon, level, above, noise)


def refuse_few_rows(rows: int, odds: Fraction, budget: Epsilon) -> None:
    """Where the noise would drown the number of rows; it rests on public values, so a plan can ask it too."""
    if rows * float(odds - 1) < FEWEST_NOISE_SCALES:
        raise BadInput(
            f"a largest count was to be bought with epsilon = {budget}",
            f"{rows} rows are too few: the noise in every number of rows is nearly as large",
            f"Give {called('max_count')}, or a larger epsilon",
        )


def border_of(above: Integers, rows: int, quantile: Fraction, odds: Fraction) -> int:
    """The first border whose number of rows, made to fall in order, is within the noise of the share left out."""
    from scipy.optimize import isotonic_regression

    falling = isotonic_regression(above.astype(float), increasing=False).x
    allowed = float((1 - quantile) * rows) + 1 / float(odds - 1)
    within = np.flatnonzero(falling <= allowed)
    return BORDERS[int(within[0]) if len(within) else -1]
