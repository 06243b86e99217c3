"""What the record of a release row by row holds, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.laws import NoiseLaw
from discreet.mechanism import Continued, Form, Mechanism, NoiseThenMap, Weights
from discreet.numbers import digits_above
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
    """What one unit in one row may cost, of a promise in likelihood ratios."""
    assert not isinstance(loss, Concentrated)
    if contributions == 1:
        return loss
    return Pure(loss.epsilon.times(Fraction(1, contributions)))


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
