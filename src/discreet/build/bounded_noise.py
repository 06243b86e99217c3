"""Bounded integer noise: never further than D from the truth, the truth with a given probability, right on average.

Noise that can be bounded cannot be purely private: delta says how much is missing. It is reported exactly, as the
hockey-stick divergence, next to the bounds of the paper the noise comes from (Sadeghi, Asoodeh and Calmon).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any, TypeAlias

from discreet.laws import Gaussian
from discreet.numbers import Epsilon, Interval, Number, arb_of, digits_above, enclose, probability, text, whole
from discreet.options import spelt
from discreet.privacy import Loss, loss_of
from discreet.privacy.values import ratio_alone
from discreet.shown import Shown

DIGITS = 15  # of a delta that is printed: about what a float holds
LARGEST_EXACT = 500  # support: exact probabilities of so many errors, each with many digits, take a second or two
GUARD_BITS = 256  # of an enclosure, beside those that the odds to the power of the support take
PMF_BITS = 1200  # behind the point of a probability that is no exact one: beyond what a float can hold

# An exact rational, or an enclosure by flint where these would have too many digits. What cannot be told apart there
# counts as equal: comparisons that decide on a formula are made by what is surely not so.
Real: TypeAlias = Any
Law = Callable[[Real, Real, int], list[Real]]  # of odds, truth and support: the probabilities of the errors 0, 1, .., D


@dataclass(frozen=True, repr=False)
class BoundedNoise(Shown):
    """Symmetric noise on -D..D; `pmf[D + k]` is the probability of the error k.

    `pmf` has the least delta for single outputs, `delta_single`, from which the paper concludes `delta_paper`;
    `delta_exact` is what it really has. `pmf_optimal` has the least exact delta, `delta_optimal`. `closed_form` is
    False where the paper's formula does not hold: there the truth is rarer than its neighbours.
    """

    epsilon: Epsilon
    truth: Fraction
    support: int

    @property
    def odds(self) -> Fraction:
        return self.epsilon.odds()

    @cached_property
    def closed_form(self) -> bool:
        if self.exact:
            return formula_holds(self.odds, self.truth, self.support)
        return self._bounds(lambda odds, truth: int(formula_holds(odds, truth, self.support)))[0] == 1

    @property
    def exact(self) -> bool:
        """Whether probabilities are exact; in wider noise they are rounded to 360 places, and every delta upwards."""
        return self.support <= LARGEST_EXACT

    @cached_property
    def pmf(self) -> tuple[Fraction, ...]:
        return self._masses(self._published)

    @cached_property
    def pmf_optimal(self) -> tuple[Fraction, ...]:
        return self._masses(least_exact)

    @cached_property
    def delta_single(self) -> Fraction:
        return self._delta(single_delta, self._published, self.pmf if self.exact else ())

    @cached_property
    def delta_exact(self) -> Fraction:
        return self._delta(exact_delta, self._published, self.pmf if self.exact else ())

    @cached_property
    def delta_optimal(self) -> Fraction:
        return self._delta(exact_delta, least_exact, self.pmf_optimal if self.exact else ())

    @cached_property
    def lower_bound(self) -> Fraction:
        """Proven: no such noise has a smaller exact delta, which falls with the odds, and they are below these."""
        above = self.epsilon.bounds()[1]
        if self.exact:
            exactly: Fraction = least_delta(above, self.truth, self.support)
            return exactly
        return self._bounds(lambda odds, truth: least_delta(odds, truth, self.support), above)[0]

    @property
    def _published(self) -> Law:
        return closed_form if self.closed_form else least_single

    def _masses(self, law: Law) -> tuple[Fraction, ...]:
        if self.exact:
            return _both_sides(law(self.odds, self.truth, self.support))
        found: list[Fraction] = []

        def worked_out(odds: Real, truth: Real) -> Real:
            half = law(odds, truth, self.support)
            found.extend(_middle(mass) for mass in half)
            return sum(half)

        self._bounds(worked_out)
        return _both_sides(found)

    def _delta(self, measure: Callable[..., Real], law: Law, pmf: tuple[Fraction, ...]) -> Fraction:
        if self.exact:
            exactly: Fraction = measure(pmf, self.odds)
            return exactly
        return self._bounds(lambda odds, truth: measure(_both_sides(law(odds, truth, self.support)), odds))[1]

    def _bounds(self, compute: Callable[[Real, Real], Real], odds: Fraction | None = None) -> Interval:
        """Of what follows from the odds and the truth, without exact rationals."""
        given = self.odds if odds is None else odds
        bits = self.support * (given.numerator.bit_length() - given.denominator.bit_length() + 1) + GUARD_BITS
        return enclose(lambda: _ball(compute(arb_of(given), arb_of(self.truth))), bits)

    @property
    def delta_paper(self) -> Fraction:
        return min(Fraction(1), (2 * self.support + 1) * self.delta_single)

    @property
    def variance(self) -> Fraction:
        return variance(self.pmf)

    @cached_property
    def delta_gaussian(self) -> Fraction:
        """The delta, at the same epsilon, of the discrete Gaussian with the variance of `pmf` as its parameter."""
        return Gaussian(self.variance).delta(self.epsilon)

    @property
    def as_options(self) -> dict[str, object]:
        """How a release asks for it: the noise of least exact delta, `pmf_optimal`."""
        return {"mechanism": "bounded", "truth": self.truth, "support": self.support}

    def as_json(self) -> dict[str, object]:
        """The fields the command line prints; every delta is rounded up."""
        deltas = ("delta_single", "delta_paper", "delta_exact", "delta_optimal", "delta_gaussian")
        return {
            "epsilon": str(self.epsilon),
            "truth": text(self.truth),
            "support": self.support,
            **{name: digits_above(getattr(self, name), DIGITS) for name in deltas},
            "closed_form": self.closed_form,
            "pmf": [float(mass) for mass in self.pmf],
            "pmf_optimal": [float(mass) for mass in self.pmf_optimal],
        }


@spelt
def bounded_noise(
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    truth: Number,
    support: int,
    alpha: Number | None = None,
    delta: Number = 0,
    rho: Number | None = None,
) -> BoundedNoise:
    """Integer noise with P(error = 0) = truth and no error beyond `support`, for counts that are at least `support`."""
    allowed = ratio_alone(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "bounded noise").epsilon
    chance = probability(truth, "truth", open_ends=True)
    return BoundedNoise(allowed, chance, whole(support, "support", 1))


def single_bounds(odds: Real, truth: Real, support: int) -> list[Real]:
    """The paper's lower bounds delta_1, .., delta_(D+1) on the delta of single outputs; the largest is attained."""
    powers = _powers(odds, support)
    ratio, scale = 2 * truth / (1 - truth), 2 / (1 - truth)
    series, weighted = _series(powers), list(accumulate((j + 1) * power for j, power in enumerate(powers)))
    bounds = [(ratio * series[k] - powers[k]) / (scale * weighted[k - 1]) for k in range(1, support + 1)]
    return [*bounds, 1 / (scale * sum(series[: support + 1]))]


def crossovers(odds: Real, support: int) -> list[Real]:
    """C_1 > .. > C_D: the k-th bound is the largest where C_k < 2 truth / (1 - truth) <= C_(k-1)."""
    series = _series(_powers(odds, support))
    sums = list(accumulate(series))
    return [series[k + 1] / sums[k] for k in range(1, support + 1)]


def formula_holds(odds: Real, truth: Real, support: int) -> bool:
    """Whether p(1) <= odds p(0) + delta, which the paper's derivation leaves out."""
    series = _series(_powers(odds, support))
    return not 2 * truth / (1 - truth) < series[support - 1] / sum(series[: support + 1])


def closed_form(odds: Real, truth: Real, support: int) -> list[Real]:
    """The paper's optimal probabilities of the errors 0, 1, .., D."""
    bounds = single_bounds(odds, truth, support)
    last = max(range(support, -1, -1), key=bounds.__getitem__) + 1
    delta = bounds[last - 1]
    if last > support:
        falling = [delta]
        for _ in range(support - 1):
            falling.append(odds * falling[-1] + delta)
        return [truth, *reversed(falling)]
    half = [truth]
    for j in range(1, support + 1):
        half.append((half[-1] - delta) / odds if j <= last else 0 * odds)
    return half


def single_delta(pmf: Sequence[Real], odds: Real) -> Real:
    """The largest excess of a single output over `odds` times its probability for a neighbouring count."""
    return reduce(_larger, (one for excess in _excesses(pmf, odds) for one in excess))


def exact_delta(pmf: Sequence[Real], odds: Real) -> Real:
    """The hockey-stick divergence: all excesses together, in the worse direction."""
    return reduce(_larger, (sum(excess, 0 * odds) for excess in _excesses(pmf, odds)))


def variance(pmf: Sequence[Fraction]) -> Fraction:
    reach = len(pmf) // 2
    return sum(((k - reach) ** 2 * mass for k, mass in enumerate(pmf)), Fraction(0))


def _excesses(pmf: Sequence[Real], odds: Real) -> list[list[Real]]:
    nothing = 0 * odds
    here, there = [*pmf, nothing], [nothing, *pmf]
    return [[_larger(nothing, a - odds * b) for a, b in pair] for pair in (zip(here, there), zip(there, here))]


def _larger(one: Real, other: Real) -> Real:
    """The larger of two exact numbers, or an enclosure of it, though they cannot be told apart."""
    return max(one, other) if isinstance(one, Fraction) else one.max(other)


def _middle(ball: Real) -> Fraction:
    """Of an enclosure, to PMF_BITS behind the point."""
    mantissa, exponent = (int(part) for part in ball.mid().man_exp())
    places = exponent + PMF_BITS
    return Fraction(mantissa << places if places >= 0 else mantissa >> -places, 1 << PMF_BITS)


def _ball(number: Real) -> Real:
    from flint import arb

    return arb(number)


def _powers(odds: Real, last: int) -> list[Real]:
    return list(accumulate([odds] * last, operator.mul, initial=1 + 0 * odds))


def _series(powers: Sequence[Real]) -> list[Real]:
    """The sums of the first 0, 1, 2, .. powers."""
    return list(accumulate(powers, initial=0 * powers[0]))


def _both_sides(half: Sequence[Real]) -> tuple[Real, ...]:
    return (*reversed(half[1:]), *half)


def least_single(odds: Real, truth: Real, support: int) -> list[Real]:
    """The probabilities of the errors 0, 1, .., D of least delta for single outputs, where the truth is rare.

    From the truth up p may rise to odds p + delta a step, and from zero beyond D down likewise. Below a crest it is the
    one, above it the other; delta is what makes them sum up to what the truth leaves.
    """
    powers = _powers(odds, support)
    series = _series(powers)
    sums = list(accumulate(series))
    for crest in range(support + 1):
        # rising: p(j) = odds^j truth + series[j] delta; falling: p(j) = series[D+1-j] delta
        delta = ((1 - truth) / 2 - truth * odds * series[crest]) / (sums[crest] + sums[support - crest])
        before = powers[crest] * truth + series[crest] * delta, series[support + 1 - crest] * delta
        after = powers[crest] * odds * truth + series[crest + 1] * delta, series[support - crest] * delta
        if (crest == 0 or not before[0] > before[1]) and not after[1] > after[0]:
            rising = [powers[j] * truth + series[j] * delta for j in range(crest + 1)]
            return rising + [series[support + 1 - j] * delta for j in range(crest + 1, support + 1)]
    raise ArithmeticError("every rise has a crest")


def least_exact(odds: Real, truth: Real, support: int) -> list[Real]:
    """The probabilities of the errors 0, 1, .., D of least exact delta: from the far end they rise by the odds, so that
    only their last one is paid for; where the truth is rare they first rise from it, too."""
    powers = _powers(odds, support)
    first, last = _ends(odds, truth, support, powers)
    falling = [last * powers[support - j] for j in range(1, support + 1)]
    if falling[0] <= first:
        return [truth, *falling]
    return [truth, *(min(first * power, fall) for power, fall in zip(powers, falling))]


def least_delta(odds: Real, truth: Real, support: int) -> Real:
    """What that noise costs: its last probability, and what its first one differs by from what the truth allows."""
    first, last = _ends(odds, truth, support, powers := _powers(odds, support))
    first = -_larger(-first, -last * powers[support - 1])
    return last + reduce(_larger, (first - odds * truth, truth - odds * first, 0 * odds))


def _ends(odds: Real, truth: Real, support: int, powers: Sequence[Real]) -> tuple[Real, Real]:
    """The most that p(1) may be, and p(D): without a rise; with one that costs nothing; with the one that must be."""
    half, first = (1 - truth) / 2, odds * truth
    last = half * (odds - 1) / (powers[support] - 1)
    if not last * powers[support - 1] > first:
        return first, last
    for rising in range(1, support // 2 + 1):
        last = (half * (odds - 1) - first * (powers[rising] - 1)) / (powers[support - rising] - 1)
        early = first * powers[rising - 1] > last * powers[support - rising]
        if not early and not last * powers[support - rising - 1] > first * powers[rising]:
            return first, last
    middle = support // 2
    tips = powers[middle] if support % 2 == 0 else (powers[middle] + powers[middle + 1]) / 2
    both = half * (odds - 1) / (2 * (tips - 1))
    return both, both
