"""Bounded integer noise: never further than D from the truth, the truth with a given probability, right on average.

Noise that can be bounded cannot be purely private: delta says how much is missing. It is reported exactly, as the
hockey-stick divergence, next to the bounds of the paper the noise comes from (Sadeghi, Asoodeh and Calmon).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.build.duals import proven_bound
from discreet.build.formulation import Exact, Formulation, LinearRow
from discreet.errors import BadInput, SolverFailed
from discreet.laws import Gaussian
from discreet.numbers import Epsilon, Number, decimal_above, probability, text, whole
from discreet.privacy import Loss, loss_of
from discreet.privacy.values import ratio_alone

BITS = 60  # of a probability: far finer than the solver's tolerance
DIGITS = 15  # decimals of a delta that is printed: about what a float holds
LARGEST_SUPPORT = 200  # takes a second or two to solve


@dataclass(frozen=True)
class BoundedNoise:
    """Symmetric noise on -D..D; `pmf[D + k]` is the probability of the error k.

    `pmf` has the least delta for single outputs, `delta_single`, from which the paper concludes `delta_paper`;
    `delta_exact` is what it really has. `pmf_optimal` has the least exact delta, `delta_optimal`. `closed_form` is
    False where the paper's formula does not hold and a program took its place.
    """

    epsilon: Epsilon
    truth: Fraction
    support: int
    pmf: tuple[Fraction, ...]
    pmf_optimal: tuple[Fraction, ...]
    delta_single: Fraction
    delta_exact: Fraction
    delta_optimal: Fraction
    lower_bound: Fraction  # proven: no such noise has a smaller exact delta
    closed_form: bool

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

    def as_json(self) -> dict[str, object]:
        """The fields the command line prints; every delta is rounded up."""
        deltas = ("delta_single", "delta_paper", "delta_exact", "delta_optimal", "delta_gaussian")
        return {
            "epsilon": str(self.epsilon),
            "truth": text(self.truth),
            "support": self.support,
            **{name: decimal_above(getattr(self, name), DIGITS) for name in deltas},
            "closed_form": self.closed_form,
            "pmf": [float(mass) for mass in self.pmf],
            "pmf_optimal": [float(mass) for mass in self.pmf_optimal],
        }


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
    reach = whole(support, "support", 1)
    if reach > LARGEST_SUPPORT:
        raise BadInput(f"support = {reach} was asked for", f"the largest that is solved for is {LARGEST_SUPPORT}")
    odds = allowed.odds()
    closed = formula_holds(odds, chance, reach)
    half = closed_form(odds, chance, reach) if closed else _least_single(odds, chance, reach)
    best, bound = _least_exact(odds, allowed.bounds(160)[1], chance, reach)
    pmf, optimal = _both_sides(half), _both_sides(best)
    return BoundedNoise(
        epsilon=allowed,
        truth=chance,
        support=reach,
        pmf=pmf,
        pmf_optimal=optimal,
        delta_single=single_delta(pmf, odds),
        delta_exact=exact_delta(pmf, odds),
        delta_optimal=exact_delta(optimal, odds),
        lower_bound=max(Fraction(0), bound),
        closed_form=closed,
    )


def single_bounds(odds: Fraction, truth: Fraction, support: int) -> list[Fraction]:
    """The paper's lower bounds delta_1, .., delta_(D+1) on the delta of single outputs; the largest is attained."""
    powers = [odds**j for j in range(support + 1)]
    ratio, scale = 2 * truth / (1 - truth), 2 / (1 - truth)
    bounds = []
    for k in range(1, support + 1):
        top = ratio * sum(powers[:k]) - powers[k]
        bounds.append(top / (scale * sum((j + 1) * powers[j] for j in range(k))))
    bounds.append(1 / (scale * sum((support - j) * powers[j] for j in range(support))))
    return bounds


def crossovers(odds: Fraction, support: int) -> list[Fraction]:
    """C_1 > .. > C_D: the k-th bound is the largest where C_k < 2 truth / (1 - truth) <= C_(k-1)."""
    powers = [odds**j for j in range(support + 1)]
    return [
        sum(powers[: k + 1]) / sum(((k - j) * powers[j] for j in range(k)), Fraction(0)) for k in range(1, support + 1)
    ]


def formula_holds(odds: Fraction, truth: Fraction, support: int) -> bool:
    """Whether p(1) <= odds p(0) + delta, which the paper's derivation leaves out."""
    powers = [odds**j for j in range(support)]
    needed = Fraction(sum(powers[: support - 1])) / sum((support - j) * powers[j] for j in range(support))
    return 2 * truth / (1 - truth) >= needed


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


def _both_sides(half: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return (*reversed(half[1:]), *half)


def _least_single(odds: Fraction, truth: Fraction, support: int) -> list[Fraction]:
    """The least delta for single outputs, by a program: delta bounds each excess."""
    return _solve(_noise_program(odds, truth, support, single=True), truth, support)[0]


def _least_exact(odds: Fraction, true_odds: Fraction, truth: Fraction, support: int) -> tuple[list[Fraction], Fraction]:
    """The least sum of excesses, by a program, and a proven lower bound at the true e^epsilon."""
    half, duals = _solve(_noise_program(odds, truth, support, single=False), truth, support)
    return half, proven_bound(_noise_program(true_odds, truth, support, single=False), duals)


def _noise_program(odds: Fraction, truth: Fraction, support: int, single: bool) -> Formulation:
    """Variables: the probabilities of the errors 1..D, then the excesses, or the one delta that bounds them all."""
    rows = [LinearRow(tuple(range(support)), (2,) * support, True, 1 - truth)]
    excesses = 0
    for error in range(-support, support + 2):
        here, there = abs(error), abs(error - 1)
        if here > support:
            continue
        column = support if single else support + excesses
        excesses += 1
        terms: dict[int, Exact] = {column: -1}
        bound: Exact = 0
        for distance, coefficient in ((here, Fraction(1)), (there, -odds)):
            if distance == 0:
                bound -= coefficient * truth
            elif distance <= support:
                terms[distance - 1] = terms.get(distance - 1, 0) + coefficient
        rows.append(LinearRow(tuple(terms), tuple(terms.values()), False, bound))
    extra = 1 if single else excesses
    return Formulation(
        variable=np.empty((0, 0), dtype=np.int64),
        fixed={},
        costs=[0] * support + [1] * extra,
        constant=0,
        upper=[1] * (support + extra),
        lower=[0] * (support + extra),
        rows=rows,
    )


def _solve(formulation: Formulation, truth: Fraction, support: int) -> tuple[list[Fraction], np.ndarray]:
    """The probabilities as exact numbers that sum to one, and the multipliers."""
    from discreet.program import solve

    answer = solve(formulation.program(scale=1000.0))
    if not answer.optimal:
        raise SolverFailed(
            "bounded noise was to be optimised", f"HiGHS says '{answer.status}', though such noise exists"
        )
    raw = [Fraction(max(0, round(value / 1000 * 2**BITS)), 2**BITS) for value in answer.values[:support].tolist()]
    share = (1 - truth) / (2 * sum(raw, Fraction(0)))
    return [truth, *(mass * share for mass in raw)], answer.duals
