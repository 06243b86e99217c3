"""A table that has all rows of its design, or one that lacks some: whichever it is, the same is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.arrays import Integers
from discreet.levels.combine import Combined, Spread, combine
from discreet.levels.design import LevelDesign, Question
from discreet.levels.ragged import RaggedDesign
from discreet.levels.ragged_table import RaggedTold, whole_rows
from discreet.levels.table import whole_table

if TYPE_CHECKING:
    from discreet.levels.regress import RaggedCombined, RaggedSpread

Design = LevelDesign | RaggedDesign


def spread_of(design: Design, variances: Mapping[Question, float]) -> Spread | RaggedSpread:
    """The variances of all answers, which are known beforehand."""
    if isinstance(design, LevelDesign):
        return Spread(design, variances)
    from discreet.levels.regress import ragged_spread

    return ragged_spread(design, variances)


def combined_of(
    design: Design, measured: Mapping[Question, Any], variances: Mapping[Question, float]
) -> Combined | RaggedCombined:
    """Generalised least squares of all that was measured, with what is kept (variance zero) held exactly."""
    if isinstance(design, LevelDesign):
        return combine(design, measured, variances)
    from discreet.levels.regress import combine_ragged

    return combine_ragged(design, measured, variances)


def table_of(
    design: Design,
    estimates: Mapping[Question, Integers],
    deviations: Mapping[Question, Integers],
    kept: Mapping[Question, Integers],
    seed: str,
    targets: Integers | None,
) -> Integers:
    """The cells: non-negative, with every kept sum, near to the estimates at every level."""
    if isinstance(design, LevelDesign):
        return whole_table(design, estimates, deviations, kept, seed, targets)
    return whole_rows(RaggedTold(design, estimates, deviations, kept, seed))
