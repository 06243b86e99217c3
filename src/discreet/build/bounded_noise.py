"""Bounded integer noise: never further than D from the truth, the truth with a given probability, right on average.

Noise that can be bounded cannot be purely private: delta says how much is missing. It is reported exactly, as the
hockey-stick divergence, next to the bounds of the paper the noise comes from (Sadeghi, Asoodeh and Calmon).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from discreet.errors import BadInput
from discreet.laws import Bounded, Gaussian
from discreet.numbers import Epsilon, Number, digits_above, probability, text, whole
from discreet.options import spelt
from discreet.privacy import Loss, loss_of
from discreet.privacy.values import ratio_alone
from discreet.shown import Shown

DIGITS = 15  # of a delta that is printed: about what a float holds
LARGEST_SUPPORT = 500  # exact probabilities of so many errors, each with many digits, take a second or two


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
        return formula_holds(self.odds, self.truth, self._worked_out)

    @cached_property
    def pmf(self) -> tuple[Fraction, ...]:
        made = closed_form if self.closed_form else least_single
        return _both_sides(made(self.odds, self.truth, self._worked_out))

    @cached_property
    def pmf_optimal(self) -> tuple[Fraction, ...]:
        return _both_sides(least_exact(self.odds, self.truth, self._worked_out))

    @cached_property
    def delta_single(self) -> Fraction:
        return single_delta(self.pmf, self.odds)

    @cached_property
    def delta_exact(self) -> Fraction:
        return exact_delta(self.pmf, self.odds)

    @cached_property
    def delta_optimal(self) -> Fraction:
        """Exact; beyond what is worked out, rounded up by less than one part in 10^38."""
        if self.support <= LARGEST_SUPPORT:
            return exact_delta(self.pmf_optimal, self.odds)
        return Bounded(self.odds, self.truth, self.support).delta(self.epsilon)

    @cached_property
    def lower_bound(self) -> Fraction:
        """Proven: no such noise has a smaller exact delta, which falls with the odds, and they are below these."""
        return least_delta(self.epsilon.bounds()[1], self.truth, self._worked_out)

    @property
    def _worked_out(self) -> int:
        if self.support > LARGEST_SUPPORT:
            raise BadInput(
                f"all probabilities of bounded noise with support = {self.support} were asked for",
                f"they are worked out up to a support of {LARGEST_SUPPORT}",
                "Its delta_optimal is known, and releases draw it without them",
            )
        return self.support

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


def single_bounds(odds: Fraction, truth: Fraction, support: int) -> list[Fraction]:
    """The paper's lower bounds delta_1, .., delta_(D+1) on the delta of single outputs; the largest is attained."""
    powers = _powers(odds, support)
    ratio, scale = 2 * truth / (1 - truth), 2 / (1 - truth)
    series, weighted = _series(powers), list(accumulate((j + 1) * power for j, power in enumerate(powers)))
    bounds = [(ratio * series[k] - powers[k]) / (scale * weighted[k - 1]) for k in range(1, support + 1)]
    return [*bounds, 1 / (scale * sum(series[: support + 1]))]


def crossovers(odds: Fraction, support: int) -> list[Fraction]:
    """C_1 > .. > C_D: the k-th bound is the largest where C_k < 2 truth / (1 - truth) <= C_(k-1)."""
    series = _series(_powers(odds, support))
    sums = list(accumulate(series))
    return [series[k + 1] / sums[k] for k in range(1, support + 1)]


def formula_holds(odds: Fraction, truth: Fraction, support: int) -> bool:
    """Whether p(1) <= odds p(0) + delta, which the paper's derivation leaves out."""
    series = _series(_powers(odds, support))
    return 2 * truth / (1 - truth) >= series[support - 1] / sum(series[: support + 1])


def closed_form(odds: Fraction, truth: Fraction, support: int) -> list[Fraction]:
    """The paper's optimal probabilities of the errors 0, 1, .., D."""
    bounds = single_bounds(odds, truth, support)
    delta = max(bounds)
    if bounds[-1] == delta:
        falling = [delta]
        for _ in range(support - 1):
            falling.append(odds * falling[-1] + delta)
        return [truth, *reversed(falling)]
    half, last = [truth], bounds.index(delta) + 1
    for j in range(1, support + 1):
        half.append((half[-1] - delta) / odds if j <= last else Fraction(0))
    return half


def single_delta(pmf: Sequence[Fraction], odds: Fraction) -> Fraction:
    """The largest excess of a single output over `odds` times its probability for a neighbouring count."""
    return max(max(excess) for excess in _excesses(pmf, odds))


def exact_delta(pmf: Sequence[Fraction], odds: Fraction) -> Fraction:
    """The hockey-stick divergence: all excesses together, in the worse direction."""
    return max(sum(excess, Fraction(0)) for excess in _excesses(pmf, odds))


def variance(pmf: Sequence[Fraction]) -> Fraction:
    reach = len(pmf) // 2
    return sum(((k - reach) ** 2 * mass for k, mass in enumerate(pmf)), Fraction(0))


def _excesses(pmf: Sequence[Fraction], odds: Fraction) -> list[list[Fraction]]:
    here, there = [*pmf, Fraction(0)], [Fraction(0), *pmf]
    return [[max(Fraction(0), a - odds * b) for a, b in pair] for pair in (zip(here, there), zip(there, here))]


def _powers(odds: Fraction, last: int) -> list[Fraction]:
    return list(accumulate([odds] * last, Fraction.__mul__, initial=Fraction(1)))


def _series(powers: Sequence[Fraction]) -> list[Fraction]:
    """The sums of the first 0, 1, 2, .. powers."""
    return list(accumulate(powers, initial=Fraction(0)))


def _both_sides(half: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return (*reversed(half[1:]), *half)


def least_single(odds: Fraction, truth: Fraction, support: int) -> list[Fraction]:
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
        if (crest == 0 or before[0] <= before[1]) and after[1] <= after[0]:
            rising = [powers[j] * truth + series[j] * delta for j in range(crest + 1)]
            return rising + [series[support + 1 - j] * delta for j in range(crest + 1, support + 1)]
    raise ArithmeticError("every rise has a crest")


def least_exact(odds: Fraction, truth: Fraction, support: int) -> list[Fraction]:
    """The probabilities of the errors 0, 1, .., D of least exact delta: from the far end they rise by the odds, so that
    only their last one is paid for; where the truth is rare they first rise from it, too."""
    powers = _powers(odds, support)
    first, last = _ends(odds, truth, support, powers)
    falling = [last * powers[support - j] for j in range(1, support + 1)]
    if falling[0] <= first:
        return [truth, *falling]
    return [truth, *(min(first * power, fall) for power, fall in zip(powers, falling))]


def least_delta(odds: Fraction, truth: Fraction, support: int) -> Fraction:
    """What that noise costs: its last probability, and what its first one differs by from what the truth allows."""
    first, last = _ends(odds, truth, support, powers := _powers(odds, support))
    first = min(first, last * powers[support - 1])
    return last + max(first - odds * truth, truth - odds * first, Fraction(0))


def _ends(odds: Fraction, truth: Fraction, support: int, powers: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """The most that p(1) may be, and p(D): without a rise; with one that costs nothing; with the one that must be."""
    half, first = (1 - truth) / 2, odds * truth
    last = half * (odds - 1) / (powers[support] - 1)
    if last * powers[support - 1] <= first:
        return first, last
    for rising in range(1, support // 2 + 1):
        last = (half * (odds - 1) - first * (powers[rising] - 1)) / (powers[support - rising] - 1)
        before = first * powers[rising - 1] <= last * powers[support - rising]
        if before and last * powers[support - rising - 1] <= first * powers[rising]:
            return first, last
    middle = support // 2
    tips = powers[middle] if support % 2 == 0 else (powers[middle] + powers[middle + 1]) / 2
    both = half * (odds - 1) / (2 * (tips - 1))
    return both, both
