"""What the record of a release row by row holds, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.errors import BadInput
from discreet.laws import NoiseLaw
from discreet.mechanism import Continued, Form, Mechanism, NoiseThenMap, Weights
from discreet.numbers import digits_above, text
from discreet.privacy.price import weighted_steps
from discreet.privacy.values import (
    ROWS_ARE_PUBLIC,
    Approximate,
    Concentrated,
    Grade,
    Loss,
    Neighbours,
    Pure,
    Remark,
    one_person,
    top_coded,
)

OWN = "own"
DIGITS = 9  # of what a unit may cost: a billionth of it is lost
SMALLEST_SHARE = Fraction(1, 10**300)  # of delta: below, no float could hold it, and nothing could be proved
MOST_STEPS = 1000  # units of one person: beyond, a delta is worth nothing


@dataclass(frozen=True, eq=False)
class RowMechanism:
    """The mechanism that every row went through."""

    name: str
    parameters: dict[str, str]  # of the noise, by name
    form: Form = field(metadata={"flat": True})

    @property
    def noise(self) -> NoiseLaw | None:
        return self.form.noise if isinstance(self.form, NoiseThenMap) else None

    @property
    def max_count(self) -> int | None:
        return Mechanism(self.name, self.form).max_count


@dataclass(frozen=True, eq=False)
class RowFacts:
    """All of it."""

    mechanism: RowMechanism


def unit_loss(loss: Loss, contributions: int) -> Pure | Approximate:
    """What one unit in one row may cost, of a promise in likelihood ratios.

    So many units one after another, each (e, d), cost d (1 + E + E^2 + ...) of delta, E = e^e: each step is weighted by
    the factor of those before it, in one row or in several.
    """
    assert not isinstance(loss, Concentrated)
    if contributions == 1:
        return loss
    each = loss.epsilon.times(Fraction(1, contributions))
    if isinstance(loss, Pure):
        return Pure(each)
    possible = contributions <= MOST_STEPS
    share = rounded_down(loss.delta / weighted_steps(each, contributions)) if possible else Fraction(0)
    if not share:
        found = f"for {contributions:,} units one after another it leaves nothing for each"
        raise BadInput(f"delta = {text(loss.delta)} was asked for", found, "Give more delta, or less epsilon")
    return Approximate(each, share)


def rounded_down(number: Fraction) -> Fraction:
    """To a few digits, so that it can be read."""
    if number < SMALLEST_SHARE:
        return Fraction(0)
    places = DIGITS - math.floor(math.log10(number))
    return Fraction(math.floor(number * 10**places), 10**places)


def price_of(form: Form) -> Loss | None:
    """What one unit costs by the noise alone; a matrix has none."""
    return form.noise.price() if isinstance(form, NoiseThenMap) else None


def by_ratio(price: Loss | None, loss: Loss, contributions: int) -> bool:
    """Whether the promise is proved by likelihood ratios of one unit; otherwise by the concentration of the noise."""
    return not (isinstance(price, Concentrated) and (isinstance(loss, Concentrated) or contributions > 1))


def neighbours(price: Loss | None, loss: Loss, contributions: int) -> Neighbours:
    """One person more or less; what a unit costs is the noise's own price, or a share of the promise."""
    rate = price if isinstance(price, Concentrated) else unit_loss(loss, contributions)
    return one_person(rate, contributions)


def grade_of(price: Loss | None, loss: Loss) -> Grade:
    return "enclosed" if isinstance(price, Concentrated) and isinstance(loss, Approximate) else "exact"


def remarks(form: Form) -> tuple[Remark, ...]:
    """What the promise does not say by itself."""
    if isinstance(form, NoiseThenMap) and form.clamp is None:
        return ROWS_ARE_PUBLIC, Remark("counts-may-be-negative")
    return ROWS_ARE_PUBLIC, *top_coded(Mechanism("", form).max_count), *_zeros(form)


def _zeros(form: Form) -> tuple[Remark, ...]:
    """Where a count of 0 stays 0, whatever else is published shows for certain that somebody is there."""
    rows = form.judged() if isinstance(form, Continued) else form
    if not isinstance(rows, Weights) or len(rows.rows) < 2 or any(rows.rows[0][1:]):
        return ()
    shown = Fraction(rows.total - rows.rows[1][0], rows.total)
    return (Remark.of("zeros-stay", delta=digits_above(shown, 6)),) if shown else ()


def proved_form(form: Form) -> Form:
    """What the proof is about: of noise the noise alone, since its values are published before they are clamped."""
    return NoiseThenMap(form.noise) if isinstance(form, NoiseThenMap) else form
