"""One fit: the log-density that is most likely given what was seen and one prior, and the evidence for that prior.

A prior is a basis: the log-density of the cells is the basis times independent standard normal weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers

ROUNDS = 2  # where stage one was measured: the covariance of its residuals is worked out again at the top, unless
UNMOVED = 0.02  # of the rows, or less, are elsewhere than where it was worked out
LEAST_VARIANCE = 1e-6  # of what was measured nearly without noise: rounding must not make it negative
MOST_STEPS = 80  # of Fisher scoring; a dozen usually do
LONGEST_STEP = 4.0  # in log-density: a curvature is to be believed no further; or twice as far after a step in which
KEPT = 0.5  # of what the curvature promised was gained
SMALLEST_STEP = 1e-4  # of a whole one: where not even that helps, the top is reached
ENOUGH_GAIN = 1e-9  # nats still to be gained, by the slope: so that fits on two machines agree
MOST_GAINS = 4.0  # times what the slope promises may be left to be gained: no good fit needed more in 1,500 climbs
MOVED = 0.1  # of the rows: then what is known by measurements is worked out again on the way
CERTAIN = 0.5  # of the logarithm of the precision, which changes on the way up, is certain to be there at the top
MIXED = (0.0, 0.1, 0.3)  # shares of Fisher's information in a curvature, the first that makes it one of a hill
NEAR = 1.0  # nats still to be gained: from here on the curvature itself is used
ROUNDING = 1e-13  # of a sum of logarithms, relative: a step that loses no more than that is no loss
EQUAL = 1e-3  # nats: of two fits that are no further apart the one tried first is taken
ROUGHLY = 1e-2  # nats still to be gained where fits are only compared; those that count are gone over again
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
BOUNDING = 12  # steps of expectation and maximisation, each far shorter than one of a fit, to see that none can be good
FEW_CELLS = 32  # with a few columns more than cells nothing takes long
LEAST_ROWS = 0.1  # in a cell, so that an empty one says little rather than nothing


@dataclass(frozen=True, eq=False)
class MeasuredPrefix:
    """Noisy numbers of rows in the first so many cells, and the variance of their noise."""

    cells: Integers
    prefix: Floats
    variance: Floats
    merged: float = 0.0  # log-likelihood of those that were merged into one, given that one
    whiten: Floats = field(default_factory=lambda: np.empty((0, 0)))  # makes residuals independent, while a fit climbs
    log_determinant: float = 0.0  # of the covariance of the residuals
    slopes: Floats = field(default_factory=lambda: np.empty((0, 0)))  # of independent residuals, in the log-density

    def within(self, cells: Integers) -> MeasuredPrefix:
        """If no row were outside these cells: prefixes that hold the same of them are measurements of one number."""
        held, of = np.unique(np.searchsorted(cells, self.cells), return_inverse=True)
        variance = 1 / np.bincount(of, weights=1 / self.variance)
        prefix = variance * np.bincount(of, weights=self.prefix / self.variance)
        apart = float(((self.prefix - prefix[of]) ** 2 / self.variance).sum())
        merged = self.merged - 0.5 * (apart + float(np.log(self.variance).sum() - np.log(variance).sum()))
        return MeasuredPrefix(held, prefix, variance, merged)

    @property
    def most_likely(self) -> float:
        """No numbers of rows make them likelier than that."""
        return self.merged - 0.5 * float(np.log(self.variance).sum())

    def sums(self, values: Floats) -> Floats:
        """Over the cells of each prefix."""
        upto = np.zeros((len(values) + 1, *values.shape[1:]))
        np.cumsum(values, axis=0, out=upto[1:])
        return np.asarray(upto[self.cells], dtype=float)

    def residual(self, expected: Floats) -> Floats:
        """How far what was measured is from what is expected, made independent."""
        return np.asarray(self.whiten @ (self.prefix - self.sums(expected)), dtype=float)

    def spread_over(self, values: Floats, size: int) -> Floats:
        """The sum, for each of so many cells, of what the prefixes that count it have: the other way about."""
        found = np.bincount(self.cells, weights=values, minlength=size + 1)
        return np.asarray(np.cumsum(found[::-1])[::-1][1:], dtype=float)


class Implied(NamedTuple):
    """Under some log-density: the law of a count, of a noisy value, and the rows of each cell given what was seen."""

    shares: Floats
    noisy: Floats
    rows: Floats


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen: rows by noisy cell, how counts of one cell come to be seen in others, and stage one if any."""

    rows: Floats
    blur: Floats
    widths: Floats  # in counts; of cells at round numbers more than that where rows are believed to be rounded
    measured: MeasuredPrefix | None = None

    @property
    def total(self) -> float:
        return float(self.rows.sum())

    def within(self, cells: Integers) -> Seen:
        """If no count were outside these cells."""
        if len(cells) == len(self.widths):
            return self
        measured = self.measured and self.measured.within(cells)
        return replace(self, blur=self.blur[cells], widths=self.widths[cells], measured=measured)

    def heaped(self, factors: Floats) -> Seen:
        """If cells held so many times the rows that their log-density says."""
        return replace(self, widths=self.widths * factors)

    def expectation(self, log_density: Floats) -> Implied:
        shares = self.widths * np.exp(log_density - log_density.max())
        shares = shares / shares.sum()
        noisy = shares @ self.blur
        return Implied(shares, noisy, shares * (self.blur @ (self.rows / noisy)))

    def apart(self, one: Floats, other: Floats) -> float:
        """The share of the rows that two log-densities have in different cells."""
        return float(np.abs(self.expectation(one)[0] - self.expectation(other)[0]).sum()) / 2

    def covariance(self, shares: Floats, noisy: Floats, expected: Floats) -> Floats:
        """Of the numbers of rows in the cells, given what was seen and the law."""
        part = self._part(shares, noisy)
        return np.diag(expected) - part @ part.T

    def _part(self, shares: Floats, noisy: Floats) -> Floats:
        return np.asarray(shares[:, None] * self.blur * (np.sqrt(self.rows) / noisy), dtype=float)

    def stage_one(self, shares: Floats, noisy: Floats, expected: Floats) -> tuple[Floats, Floats, Floats]:
        """The residual of what was measured, its covariance, and the derivative of its mean."""
        assert self.measured is not None
        sums = self.measured.sums
        slopes = sums(self.covariance(shares, noisy, expected))
        spread = sums(slopes.T) + np.diag(self.measured.variance)
        return self.measured.prefix - sums(expected), spread, slopes

    def held(self, log_density: Floats) -> Seen:
        """With the covariance of what was measured as it is there: it changes little on the way, and costs most."""
        from scipy.linalg.lapack import dtrtri

        if self.measured is None:
            return self
        _, spread, slopes = self.stage_one(*self.expectation(log_density))
        floor = LEAST_VARIANCE * (1 + float(np.diag(spread).max()))
        root = np.linalg.cholesky(spread + floor * np.eye(len(spread)))
        whiten: Floats = dtrtri(root, lower=1)[0]
        log_determinant = 2 * float(np.log(np.diag(root)).sum())
        held = replace(self.measured, whiten=whiten, log_determinant=log_determinant, slopes=whiten @ slopes)
        return replace(self, measured=held)

    def log_likelihood(self, log_density: Floats) -> float:
        return self.log_likelihood_at(self.expectation(log_density))

    def log_likelihood_at(self, at: Implied) -> float:
        value = float(self.rows @ np.log(at.noisy))
        if self.measured is not None:
            residual = self.measured.residual(at.rows)
            value += self.measured.merged - 0.5 * (float(residual @ residual) + self.measured.log_determinant)
        return value

    def most_likely(self, log_density: Floats) -> float:
        """No law of counts makes what was seen likelier than that; the nearer one begins to the best, the sharper.

        For laws p and q of counts, and the laws P and Q of noisy values that follow, the mean over rows of log Q/P is
        at most the logarithm of the mean of Q/P, and that is at most the largest gain of any one cell.
        """
        shares, noisy, _ = self.expectation(log_density)
        for _ in range(BOUNDING):
            gains = self.blur @ (self.rows / noisy) / self.total
            shares = shares * gains
            noisy = shares @ self.blur
        gains = self.blur @ (self.rows / noisy) / self.total
        value = float(self.rows @ np.log(noisy)) + self.total * math.log(float(gains.max()))
        return value if self.measured is None else value + self.measured.most_likely

    def gradient(self, at: Implied) -> Floats:
        """Of the log-likelihood in the log-density."""
        shares, noisy, expected = at
        gradient = expected - self.total * shares
        if self.measured is not None:
            pull = self._pull(expected)
            mean = ((shares * pull) @ self.blur) / noisy
            gradient += expected * pull - shares * (self.blur @ (self.rows * mean / noisy))
        return gradient

    def _pull(self, expected: Floats) -> Floats:
        """How much likelier what was measured would be with a row more in each cell."""
        assert self.measured is not None
        return self.measured.spread_over(self.measured.whiten.T @ self.measured.residual(expected), len(expected))

    def root(self, at: Implied, basis: Floats) -> Floats:
        """A root of Fisher's information in the weights, by the rows."""
        centred = (at.shares[:, None] * basis).T @ (self.blur - at.noisy)
        return np.asarray(centred * np.sqrt(self.total / at.noisy), dtype=float)

    def measured_root(self, basis: Floats, at: Implied | None = None) -> Floats:
        """The same by what was measured: where its covariance is held, or elsewhere."""
        if self.measured is None:
            return np.empty((basis.shape[1], 0))
        if at is None:
            return np.asarray((self.measured.slopes @ basis).T, dtype=float)
        part = self._part(at.shares, at.noisy)
        changed = at.rows[:, None] * basis - part @ (part.T @ basis)
        return np.asarray((self.measured.whiten @ self.measured.sums(changed)).T, dtype=float)

    def curvature(self, at: Implied, basis: Floats) -> Floats:
        """The curvature of the log-likelihood in the weights, not always that of a hill, but for what `measured_root`
        has. That of the expected rows is the third cumulant of the cell of a row, given what was seen of it."""
        shares, noisy, expected = at
        told = self.blur * (np.sqrt(self.rows) / noisy)
        part, mean = (shares[:, None] * basis).T @ told, np.sqrt(self.total) * (shares @ basis)
        rest, bent = self.total * shares - expected, part @ part.T - np.outer(mean, mean)
        if self.measured is not None:
            pull = self._pull(expected)
            pulled = shares * pull
            mean = (pulled @ self.blur) / noisy
            rest = rest - pull * expected + shares * (self.blur @ (self.rows * mean / noisy))
            third = (part * mean - (pulled[:, None] * basis).T @ told) @ part.T
            bent -= third + third.T
        return (basis.T * rest) @ basis + bent


@dataclass(frozen=True, eq=False)
class Fit:
    """The mode, and how well the prior that it belongs to explains what was seen; of some cells."""

    seen: Seen
    explained: float
    log_density: Floats
    basis: Floats
    weights: Floats
    precision: Floats  # of the weights, given what was seen
    gradient: Floats  # of the log-likelihood there
    root: Floats  # root @ root.T + 1 is that precision
    cells: Integers
    price: float = 0.0  # of having chosen this prior among others

    @property
    def inside(self) -> Seen:
        return self.seen.within(self.cells)

    @property
    def evidence(self) -> float:
        return self.explained - self.price


def likeliest(fits: list[Fit]) -> Fit:
    """The first of the best."""
    best = fits[0]
    for one in fits[1:]:
        if one.evidence > best.evidence + EQUAL:
            best = one
    return best


def regressed(basis: Floats, target: Floats, weights: Floats) -> Floats:
    """The weights of the basis that bring it near a log-density, in cells that hold so many rows."""
    weighted = (weights + LEAST_ROWS)[:, None] * basis
    return _solve(np.eye(basis.shape[1]) + basis.T @ weighted, weighted.T @ target)[0]


def narrowed(basis: Floats) -> Floats:
    """No more columns than cells, with the same prior; where that saves something."""
    if len(basis) < FEW_CELLS or basis.shape[1] <= len(basis):
        return basis
    return np.asarray(np.linalg.qr(basis.T).R.T, dtype=float)


def fit(
    seen: Seen, cells: Integers, basis: Floats, weights: Floats, enough: float = ENOUGH_GAIN, goal: float = -math.inf
) -> Fit:
    """Fisher scoring from some weights of the basis, until no more is to be gained, or the fit is seen to be worthless
    to who has explained as much as the goal; counts are in those cells."""
    inside, one = seen.within(cells), np.eye(basis.shape[1])
    density = basis @ weights
    for _ in range(ROUNDS):
        held, before = inside.held(density), density
        weights, hopeless = _climbed(held, basis, weights, enough, goal - WORTHLESS)
        density = basis @ weights
        if hopeless or seen.measured is None or inside.apart(before, density) < UNMOVED:
            break
    at = held.expectation(density)
    root = np.column_stack([held.root(at, basis), held.measured_root(basis)])
    precision = root @ root.T + one
    explained = held.log_likelihood_at(at) - 0.5 * float(weights @ weights + np.linalg.slogdet(precision)[1])
    return Fit(seen, explained, density, basis, weights, precision, held.gradient(at), root, cells)


def _climbed(seen: Seen, basis: Floats, weights: Floats, enough: float, least: float) -> tuple[Floats, bool]:
    """The weights at the top; and whether the climb was given up, since that explains less than the least."""
    density, one, known = basis @ weights, np.eye(basis.shape[1]), seen.measured_root(basis)
    at = seen.expectation(density)
    sure, since = known @ known.T + one, at.shares
    current, longest = seen.log_likelihood_at(at) - 0.5 * float(weights @ weights), LONGEST_STEP
    for _ in range(MOST_STEPS):
        slope = basis.T @ seen.gradient(at) - weights
        root = seen.root(at, basis)
        information = root @ root.T + sure
        move, log_determinant = _solve(information, slope)
        promised = float(slope @ move)
        if promised < enough:
            break
        if current + MOST_GAINS * promised - CERTAIN * 0.5 * log_determinant < least:
            return weights, True
        if promised < NEAR:
            move = _newton(seen.curvature(at, basis) + sure, information, slope, move)
        moved = basis @ move
        length = longest / max(longest, float(np.ptp(moved)))
        while length >= SMALLEST_STEP:
            tried, there = weights + length * move, density + length * moved
            at = seen.expectation(there)
            value = seen.log_likelihood_at(at) - 0.5 * float(tried @ tried)
            if value >= current - ROUNDING * abs(current):
                break
            length, longest = length / 2, LONGEST_STEP
        else:
            break
        if value - current > KEPT * length * (1 - length / 2) * promised:
            longest *= 2
        weights, density, current = tried, there, value
        if seen.measured is not None and float(np.abs(at.shares - since).sum()) / 2 > MOVED:
            known = seen.measured_root(basis, at)
            sure, since = known @ known.T + one, at.shares
    return weights, False


def _newton(curvature: Floats, information: Floats, slope: Floats, otherwise: Floats) -> Floats:
    """The step by the curvature itself, which soon ends at the top; where there is no hill, by one mixed with Fisher's
    information, or another."""
    for part in MIXED:
        try:
            return _solve((1 - part) * curvature + part * information, slope)[0]
        except np.linalg.LinAlgError:
            continue
    return otherwise


def _solve(matrix: Floats, right: Floats) -> tuple[Floats, float]:
    """For a positive definite matrix, any other is refused; and the logarithm of its determinant."""
    from scipy.linalg.lapack import dposv

    root, solved, failed = dposv(matrix, right)
    if failed:
        raise np.linalg.LinAlgError
    return np.asarray(solved, dtype=float), 2 * float(np.log(np.diag(root)).sum())
