"""What the record of a release row by row holds, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.certify.profile import least_delta
from discreet.certify.prove import smallest_odds
from discreet.errors import BadInput, called
from discreet.laws import NoiseLaw
from discreet.mechanism import Continued, EdgeThenNoise, Form, Mechanism, NoiseThenMap, Weights, form_parameters
from discreet.numbers import Epsilon, digits_above, quoted, text
from discreet.privacy.price import group_delta, weighted_steps
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
from discreet.shown.terse import Terse

OWN = "own"
DELTA_DIGITS = 6  # of a delta that is worked out: rounded up, it is too large by a part in 100,000 at most
LEAST_STATED = Fraction(1, 10**100)  # of a delta: smaller ones are stated as this, since their digits would fill pages
DIGITS = 9  # of what a unit may cost: a billionth of it is lost
SMALLEST_SHARE = Fraction(1, 10**300)  # of delta: below, no float could hold it, and nothing could be proved
MOST_STEPS = 1000  # units of one person: beyond, a delta is worth nothing


@dataclass(frozen=True, eq=False, repr=False)
class RowMechanism(Terse):
    """The mechanism that every row went through."""

    name: str
    parameters: dict[str, str]  # of the noise, by name
    form: Form = field(metadata={"flat": True})
    min_count: int | None = None  # smaller counts are treated as it

    @property
    def noise(self) -> NoiseLaw | None:
        return self.form.noise if isinstance(self.form, (NoiseThenMap, EdgeThenNoise)) else None

    @property
    def max_count(self) -> int | None:
        return Mechanism(self.name, self.form).max_count


def described(mechanism: Mechanism, min_count: int | None = None) -> RowMechanism:
    """As a record has it."""
    return RowMechanism(mechanism.name, form_parameters(mechanism.form), mechanism.form, min_count)


@dataclass(frozen=True, eq=False, repr=False)
class RowFacts(Terse):
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
        raise BadInput(
            f"{called('delta', quoted(text(loss.delta)))} was asked for", found, "Give more delta, or less epsilon"
        )
    return Approximate(each, share)


def rounded_down(number: Fraction) -> Fraction:
    """To a few digits, so that it can be read."""
    if number < SMALLEST_SHARE:
        return Fraction(0)
    places = DIGITS - math.floor(math.log10(number))
    return Fraction(math.floor(number * 10**places), 10**places)


def has_own_delta(form: Form) -> bool:
    """Whether the delta of the mechanism is worked out from it, and not asked for."""
    return isinstance(form, (NoiseThenMap, EdgeThenNoise)) and not getattr(form.noise, "calibrates", True)


def near_zero(form: Form, min_count: int | None) -> tuple[Remark, ...]:
    """What becomes of counts that bounded noise would lead below 0: as the mechanism itself has it."""
    assert isinstance(form, (NoiseThenMap, EdgeThenNoise)), "it is noise"
    reach = form.noise.centre[1]
    if isinstance(form, EdgeThenNoise):
        return (Remark.of("near-zero-both" if _is_true(form, form.first) else "near-zero-unbiased", support=reach),)
    below, above = ends_reached(form, min_count)
    if not above:
        return (Remark.of("near-zero-clamped" if below else "near-zero-never", support=reach),)
    assert form.clamp is not None and form.clamp[1] is not None, "there is a top to be led above"
    top = form.clamp[1]
    return (Remark.of("near-ends-clamped" if below else "near-top-clamped", support=reach, top=top, high=top - reach),)


def ends_reached(form: NoiseThenMap, min_count: int | None) -> tuple[bool, bool]:
    """Whether noise with a largest error leads some count out of the published range: below it, above it."""
    low, high = form.clamp or (None, None)
    return low is not None and (min_count or 0) < form.noise.centre[1], high is not None


def keeps_its_promises(form: EdgeThenNoise) -> bool:
    """Whether no row leads further than the noise does, all from 1 on are right on average, and the truth has its
    chance from the largest error of the noise on."""
    reach = form.noise.centre[1]
    for count, row in enumerate(form.edge.rows, form.first):
        if any(weight and abs(output - count) > reach for output, weight in enumerate(row)):
            return False
        if count and sum(output * weight for output, weight in enumerate(row)) != count * form.edge.total:
            return False
    return _is_true(form, max(reach, form.first))


def _is_true(form: EdgeThenNoise, least: int) -> bool:
    """Whether every count from `least` on is published as it is with the chance that the noise has."""
    chance = form.noise.chance_below(0) - form.noise.chance_below(-1)
    rows = form.edge.rows[least - form.first :]
    return all(Fraction(row[count], form.edge.total) == chance for count, row in enumerate(rows, least))


def worked_out(form: Form, epsilon: Epsilon, contributions: int) -> tuple[Approximate, Approximate]:
    """What one unit costs at its share of epsilon, and what a person does: the least delta there is, rounded up.

    Units of one person are steps one after another, in whatever rows they are.
    """
    each = epsilon if contributions == 1 else epsilon.times(Fraction(1, contributions))
    delta = Fraction(digits_above(max(least_delta(proved_form(form), each), LEAST_STATED), DELTA_DIGITS))
    whole = group_delta(delta, each, contributions)
    if whole >= 1:
        person = "" if contributions == 1 else f"for a person counted up to {contributions} times "
        found = f"{person}what can be promised is a delta of 1 or more: nothing"
        raise BadInput("bounded noise was asked for", found, "Give more support, less truth or more epsilon")
    unit = Approximate(each, delta)
    return unit, unit if contributions == 1 else Approximate(epsilon, whole)


def least_loss(forms: Iterable[Form], loss: Loss, contributions: int) -> Loss:
    """What is promised of mechanisms of the user's own: the delta that was asked for is the most it may be, and the
    least that does for all of them is stated, rounded up by hardly more than a part in 100,000."""
    if not isinstance(loss, Approximate):
        return loss
    each = loss.epsilon.times(Fraction(1, contributions))
    most = max((least_delta(form, each) for form in forms), default=Fraction(0))
    delta = max(most, LEAST_STATED) * (1 + Fraction(1, 10 ** (DIGITS - 1)) * (contributions > 1))  # shared out again
    stated = Fraction(digits_above(group_delta(delta, each, contributions), DELTA_DIGITS))
    return Approximate(loss.epsilon, min(loss.delta, stated))


def need_no_delta(forms: Iterable[Form], loss: Loss, contributions: int) -> bool:
    """Whether a delta would be spent for nothing: neighbouring rows of all these matrices are near enough without."""
    if not isinstance(loss, Approximate):
        return False
    allowed = loss.epsilon.times(Fraction(1, contributions))
    return all(_within(form, allowed) for form in forms)


def _within(form: Form, allowed: Epsilon) -> bool:
    odds = None if isinstance(form, NoiseThenMap) else smallest_odds(Mechanism("", form))
    return odds is not None and allowed.allows(odds)


def price_of(form: Form) -> Loss | None:
    """What one unit costs by the noise alone; a matrix has none."""
    return form.noise.price() if isinstance(form, NoiseThenMap) else None


def by_ratio(price: Loss | None, loss: Loss, contributions: int) -> bool:
    """Whether the promise is proved by likelihood ratios of one unit; otherwise by the concentration of the noise."""
    return not (isinstance(price, Concentrated) and (isinstance(loss, Concentrated) or contributions > 1))


def neighbours(price: Loss | None, loss: Loss, contributions: int) -> Neighbours:
    """One person more or less; what a unit costs is the noise's own price, or a share of the promise."""
    rate: Loss = price if isinstance(price, Concentrated) else unit_loss(loss, contributions)
    return one_person(rate, contributions)


def grade_of(price: Loss | None, loss: Loss) -> Grade:
    return "enclosed" if isinstance(price, Concentrated) and isinstance(loss, Approximate) else "exact"


def remarks(form: Form, min_count: int | None = None) -> tuple[Remark, ...]:
    """What the promise does not say by itself."""
    if isinstance(form, NoiseThenMap) and form.clamp is None:
        return ROWS_ARE_PUBLIC, Remark("counts-may-be-negative")
    bottom = () if min_count is None else (Remark.of("bottom-coded", min_count=min_count),)
    return ROWS_ARE_PUBLIC, *top_coded(Mechanism("", form).max_count), *bottom, *_zeros(form)


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
