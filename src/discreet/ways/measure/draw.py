"""The only step that touches the secret counts, and the only one with secret randomness."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.lattice.projection import require_counts
from discreet.levels.design import Question
from discreet.sample.bits import Bits
from discreet.ways.measure.plan import MeasurePlan

LARGEST_TOTAL = 1 << 36  # so that estimates with four decimals are exact as floats: nine times all people


@dataclass(frozen=True, eq=False)
class Drawn:
    """Noisy answers, one question after the other; and what is kept, exactly."""

    noisy: Integers
    kept: dict[Question, Integers]
    sums: Integers | None  # the kept sums, in the order of their names


def check(plan: MeasurePlan, counts: Integers) -> None:
    """Refuse a table that no table without negative counts could stand for, or whose sums are no numbers of people."""
    if int(counts.sum()) > LARGEST_TOTAL:
        found = f"they add up to more than {LARGEST_TOTAL:,}"
        raise BadInput("margins of counts were to be measured", found, "Count in larger units")
    require_counts(np.zeros(0, dtype=np.int64) if plan.invariants is None else plan.invariants.sums(counts), counts)


def draw(plan: MeasurePlan, counts: Integers, bits: Bits) -> Drawn:
    design = plan.layout.design
    cells = design.in_cells(counts)
    noisy = [law.add(design.answer(cells, question).ravel(), bits) for question, law in plan.noise.items()]
    kept = {question: design.answer(cells, question) for question in plan.kept}
    return Drawn(np.concatenate(noisy), kept, None if plan.invariants is None else plan.invariants.sums(counts))
