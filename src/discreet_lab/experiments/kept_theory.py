"""What papers 002 and 003 prove: tails of noise on lattices (theorems 12 and 15), from prior to posterior (theorems 1.3
and 2.1), and values of gamma (section 5). Small lattices are listed; the rest is exact."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.lattice.laws import L2, LatticeGaussian
from discreet.lattice.tails import longest
from discreet_lab.baselines.two_bin import whole_laws
from discreet_lab.experiment import Claim, Control, Experiment, Result, RunSetting, stated

BASES = {  # what kept sums leave free, in two dimensions
    "a total over three cells": ((1, -1, 0), (0, 1, -1)),
    "both margins of a 2 x 3 table": ((1, -1, 0, -1, 1, 0), (0, 1, -1, 0, -1, 1)),
}
RATE, VARIANCE, REACH = 0.25, 16.0, 320
HALF = Fraction(1, 2)


def norms_of(basis: tuple[tuple[int, ...], ...]) -> Floats:
    """The l2 norms of the points of the lattice with coordinates up to REACH, the smallest first."""
    steps = np.arange(-REACH, REACH + 1)
    points = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) @ np.array(basis)
    found: Floats = np.sqrt(np.sort((points**2).sum(axis=1).astype(float)))
    return found


def tails_of(norms: Floats, weights: Floats, lengths: Floats) -> Floats:
    """P(|z| >= t) for every length t."""
    beyond = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]]) / weights.sum()
    found: Floats = beyond[np.searchsorted(norms, lengths, side="left")]
    return found


def largest_k(basis: tuple[tuple[int, ...], ...]) -> float:
    """K of theorem 12 for two dimensions."""
    rows = np.array(basis, dtype=float)
    return 4 * 2**2 * math.pi / math.sqrt(float(np.linalg.det(rows @ rows.T)))


def _from_on(tail: Floats, bound: Floats, lengths: Floats) -> float | None:
    """The length from which on the bound holds, as far as we look."""
    above = np.flatnonzero(tail > bound)
    if len(above) == 0:
        return float(lengths[0])
    return None if above[-1] == len(lengths) - 1 else float(lengths[above[-1] + 1])


def tails(gaussian: bool) -> Any:
    """Theorem 12 (l2 norm in the exponent) or 15 (Gaussian)."""

    def exponent(length: Floats) -> Floats:
        return length**2 / (2 * VARIANCE) if gaussian else RATE * length

    def run(setting: RunSetting) -> Result:
        lengths = np.arange(1.0, 60.0 if gaussian else 250.0)
        drawn: dict[str, dict[str, Floats]] = {}

        def claims(faster: float) -> tuple[Claim, ...]:
            found = []
            for name, basis in BASES.items():
                norms = norms_of(basis)
                tail = tails_of(norms, np.exp(-exponent(norms)), lengths)
                bound = largest_k(basis) * lengths**2 * np.exp(-faster * exponent(lengths))
                start = _from_on(tail, bound, lengths)
                drawn.setdefault(name, {"theorem": bound, "truth": tail})
                said = "nowhere" if start is None else f"from t = {start:g} on"
                found.append(stated(f"the bound holds for {name}", "for large t", said, start is not None))
            return tuple(found)

        made = claims(1.0)
        law = LatticeGaussian(Fraction(VARIANCE)) if gaussian else L2(Fraction(RATE))
        return Result(
            made,
            (Control("an exponent 1.2 times as large", claims(1.2)),),
            "Ours holds for every t, without a constant: in two dimensions, whatever is kept, the noise is longer than "
            f"{longest(law, 2, 0.01):.1f} with a chance of 1% at most.",
            note="The truth is a sum over the points of the lattice; there are no draws in it.",
            draw=lambda: _tails_figure(lengths, drawn),
        )

    return run


def _tails_figure(lengths: Floats, drawn: dict[str, dict[str, Floats]]) -> Any:
    from discreet import plot

    drawing, axes = plot.figure(1, len(drawn), width=3.6, height=2.8)
    for ax, (name, series) in zip(axes[0], drawn.items()):
        shown = {key: np.where(values > 0, values, np.nan) for key, values in series.items()}
        plot.lines(lengths, shown, ax, name, ("length t", "P(longer than t)"), "y")
    return drawing


def noisy(count: int, ratio: Fraction, kept: range | tuple[int, ...] | None) -> dict[int, Fraction]:
    """The law of a count with double geometric noise, conditioned on the answers that are kept. Without any it is
    listed as far as it looks any different for the counts 0 to 6."""
    if kept is None:
        return {y: (1 - ratio) / (1 + ratio) * ratio ** abs(y - count) for y in range(-1, 8)}
    weights = {y: ratio ** abs(y - count) for y in kept}
    total = sum(weights.values())
    return {y: weight / total for y, weight in weights.items()}


def posterior_factors(people: int, prior: Fraction, ratio: Fraction, kept: range | None) -> list[Fraction]:
    """How a release changes the chance that the first of several people says yes: posterior over prior, for every
    answer and both values, where the number of people who say yes is released."""
    laws = [noisy(count, ratio, kept) for count in range(people + 1)]
    others = [math.comb(people - 1, k) * prior**k * (1 - prior) ** (people - 1 - k) for k in range(people)]
    factors = []
    for y in laws[0]:
        no, yes = (sum((share * laws[k + one][y] for k, share in enumerate(others)), Fraction(0)) for one in (0, 1))
        either = prior * yes + (1 - prior) * no
        factors += [yes / either, no / either]
    return factors


def prior_to_posterior(setting: RunSetting) -> Result:
    priors = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))

    def claims(ratio: Fraction) -> tuple[Claim, ...]:
        """Epsilon is ln 2: noise of ratio 1/2."""
        plain, kept = (
            [factor for prior in priors for factor in posterior_factors(6, prior, ratio, answers)]
            for answers in (None, range(7))
        )
        return (
            _within("theorem 1.3: how much any release changes a chance", "e^epsilon, here 2", plain, Fraction(2)),
            _within("theorem 2.1: conditioned on 0 to 6", "e^(2 epsilon), here 4", kept, Fraction(4)),
        )

    worst = max(max(f, 1 / f) for p in priors for f in posterior_factors(6, p, HALF, range(7)))
    return Result(
        claims(HALF),
        (Control("noise of a third of the width", claims(HALF**3)),),
        f"Conditioned on the bounds of its cell, noise of ratio 1/2 changes a chance by {float(worst):.3f} at most: "
        "our guarantee states the bound of the case (one person more or less: 1/a + 1 - a = 2.5), not that of all.",
    )


def _within(what: str, said: str, factors: list[Fraction], bound: Fraction) -> Claim:
    worst = max(max(factor, 1 / factor) for factor in factors)
    return stated(what, f"at most {said}", f"{float(worst):.4f} times", worst <= bound)


def gammas(setting: RunSetting) -> Result:
    """Section 5: the exponent is k (1 + gamma) epsilon; here epsilon is 2 ln 2 for noise of ratio 1/2 in each bin."""

    def claims(free: range | None, kept: tuple[int, ...], law: int) -> tuple[Claim, ...]:
        trivial, secret = largest_odds(free), largest_odds(kept)
        fixed = whole_laws(HALF)[law].attained_odds
        return (
            stated("example 5.1: no invariant, gamma", "0", _gamma(trivial, HALF, 1), trivial == 2),
            stated("example 5.2: the query itself is kept, gamma", "-1", _gamma(secret, HALF, 1), secret == 1),
            stated("example 4.1: a kept total, gamma", "-1/2", _gamma(fixed, HALF**2, 2), fixed == 4),
        )

    return Result(
        claims(None, (5,), 0),
        (Control("answers from 0 to 6; two answers; l1 projection", claims(range(7), (4, 5), 2)),),
        "What is kept is named with its own bound in every guarantee; gamma is nowhere set to 1 by default.",
        note="gamma = -1/2 rests on a sensitivity of 1 for neighbours that change two bins (see the errata).",
    )


def largest_odds(kept: range | tuple[int, ...] | None) -> Fraction:
    """Of noise of ratio 1/2 on neighbouring counts from 0 to 6, conditioned on the answers that are kept."""
    laws = [noisy(count, HALF, kept) for count in range(7)]
    return max(max(p[y] / q[y], q[y] / p[y]) for p, q in pairwise(laws) for y in p)


def _gamma(odds: Fraction, ratio: Fraction, steps: int) -> str:
    """log(odds) / (steps epsilon) - 1, epsilon being the loss of the noise itself."""
    return f"{math.log(odds) / (steps * -math.log(ratio)) - 1:.3g}"


EXPERIMENTS = (
    Experiment("002-theorem-12", "the tail of l2 noise on a lattice", tails(gaussian=False)),
    Experiment("002-theorem-15", "the tail of Gaussian noise on a lattice", tails(gaussian=True)),
    Experiment("003-theorem-1", "from prior to posterior, with and without invariants", prior_to_posterior),
    Experiment("003-section-5", "better values of gamma", gammas),
)
