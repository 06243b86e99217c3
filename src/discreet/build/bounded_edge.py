"""Rows for the smallest counts, before bounded noise: right on average, never below 0, of about the least delta.

Noise that is cut off at 0 costs nothing, but makes small counts too large on average. What must be right on average
from 1 on needs rows of its own; from a few counts beyond the support on, the noise is the same for every count.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.build.bounded_inputs import excess_row, law_rows
from discreet.build.edge_rows import rows_by_formula
from discreet.build.formulation import Formulation, LinearRow
from discreet.build.least_rows import Rows, least_rows, rows_in_floats
from discreet.build.refined import SURE
from discreet.certify.profile import least_delta
from discreet.errors import BadInput, called
from discreet.laws import Bounded
from discreet.mechanism import EdgeThenNoise, Weights
from discreet.numbers import Epsilon
from discreet.requirements import Cell

MORE = 4  # rows beyond the support: more save nothing, or up to 5% where the truth always has its chance
LARGEST_PROGRAM = {False: 60, True: 40}  # support, by whether the truth always has its chance: a minute or two
LARGEST_FORMULA = {False: 120, True: 60}  # where it holds there is no program to solve: a few seconds


@dataclass(frozen=True, eq=False)
class Edge:
    """A mechanism, its delta at the odds of its noise, and what no other has less than that keeps the same promises and
    has the noise from as early on. Where the truth always has its chance, and a formula holds, that was tried only."""

    form: EdgeThenNoise
    delta: Fraction
    lower_bound: Fraction


def edge_of(noise: Bounded, first: int, *, always_true: bool, top: int | None = None) -> Edge:
    """Right on average from 1 on; the truth has its chance from the support on, or for every count."""
    formula = _by_formula(noise, first, always_true, top)
    if formula is not None and formula.delta <= SURE * formula.lower_bound:
        return formula
    try:
        solved = _by_program(noise, first, always_true, top)
    except BadInput:
        if formula is None or formula.delta > 2 * formula.lower_bound:
            raise
        return formula
    return solved if formula is None or solved.delta < formula.delta else formula


def _by_formula(noise: Bounded, first: int, always_true: bool, top: int | None) -> Edge | None:
    """Nothing where it does not hold, where counts up to `top` are too few for its rows, or a record for them."""
    if noise.support > LARGEST_FORMULA[always_true]:
        return None
    found = rows_by_formula(noise, always_true=always_true)
    if found is None or (top is not None and top < len(found.rows)):
        return None
    least = max(found.delta, _alone(noise)) if first < 2 else _alone(noise)  # it is about the counts 1, 2, ..
    made = _measured(noise, first, top, found.rows[first:], found.total, least)
    return made if made.form.edge.can_be_written else None


def _by_program(noise: Bounded, first: int, always_true: bool, top: int | None) -> Edge:
    if noise.support > (largest := LARGEST_PROGRAM[always_true]):
        known = f"at this epsilon and truth such rows for small counts are worked out up to support {largest}"
        raise BadInput(
            f"{called('support', noise.support)} was asked for", known, f"Use {called('small_counts', 'clamped')}"
        )
    beyond = max(first, noise.support) + MORE
    if top is not None and top < beyond:
        needed = f"below {beyond} all counts need rows of their own"
        raise BadInput(f"{called('max_count', top)} was asked for", needed, f"Give {beyond} or more, or drop it")
    program = _program(noise, first, beyond, always_true)

    def measure(rows: Rows, total: int) -> Fraction:
        return _measured(noise, first, top, rows, total, Fraction(0)).delta

    least = _alone(noise)
    found = rows_in_floats(program, measure) if always_true else None  # these cost much, but where the odds are large
    found = found or least_rows(program, noise.odds, first, least, measure)
    return _measured(noise, first, top, found.rows, found.total, max(found.bound, least))


def _measured(noise: Bounded, first: int, top: int | None, rows: Rows, total: int, least: Fraction) -> Edge:
    form = EdgeThenNoise(first, Weights(tuple(map(tuple, rows)), total), noise, top)
    return Edge(form, least_delta(form, Epsilon(ratio=noise.odds)), least)


def _alone(noise: Bounded) -> Fraction:
    """What the noise costs where no count is small."""
    return noise.delta(Epsilon(ratio=noise.odds))


def _program(noise: Bounded, first: int, beyond: int, always_true: bool) -> Formulation:
    """Minimise delta, the last variable; before it come the entries, then their excesses over a neighbour's."""
    reach, counts = noise.support, range(first, beyond)
    error = np.arange(beyond + reach)[None, :] - np.array(counts)[:, None]
    sure = (error == 0) & (always_true | (np.array(counts) >= reach))[:, None]
    free = (np.abs(error) <= reach) & ~sure
    variable = np.where(free, np.cumsum(free.ravel()).reshape(free.shape) - 1, -1)
    fixed = {(int(i), int(j)): noise.truth if sure[i, j] else Fraction(0) for i, j in np.argwhere(~free)}
    known = {**fixed, **_noise_row(noise, len(counts), beyond)}
    entries, outputs = int(variable.max()) + 1, beyond + reach + 1
    pairs = [pair for i in range(len(counts)) for pair in ((i, i + 1), (i + 1, i))]
    delta = entries + len(pairs) * outputs
    wide = np.pad(variable, ((0, 1), (0, 1)), constant_values=-1)
    known |= {(i, outputs - 1): Fraction(0) for i in range(len(counts))}
    rows, column = law_rows(variable, fixed, first), entries
    for one, other in pairs:
        together = tuple(range(column, column + outputs))
        rows += [excess_row(wide, known, (one, j), (other, j), noise.odds, column + j) for j in range(outputs)]
        rows.append(LinearRow((*together, delta), (*(1,) * outputs, -1), False, 0))
        column += outputs
    return Formulation(variable, fixed, [0] * delta + [1], 0, [1] * (delta + 1), [0] * (delta + 1), rows)


def _noise_row(noise: Bounded, place: int, count: int) -> dict[Cell, Fraction]:
    """The row of the first count that gets the noise."""
    errors = range(-count, noise.support + 1)
    return {(place, count + k): noise.chance_below(k) - noise.chance_below(k - 1) for k in errors}
