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
LONGEST_STEP = 4.0  # in log-density: a curvature is to be believed no further
SMALLEST_STEP = 1e-4  # of a whole one: where not even that helps, the top is reached
ENOUGH_GAIN = 1e-9  # nats still to be gained, by the slope: so that fits on two machines agree
NEAR = 1.0  # nats still to be gained: from here on the curvature itself is used
ROUNDING = 1e-13  # of a sum of logarithms, relative: a step that loses no more than that is no loss
EQUAL = 1e-3  # nats: of two fits that are no further apart the one tried first is taken
ROUGHLY = 1e-2  # nats still to be gained where fits are only compared; those that count are gone over again
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
BOUNDING = 12  # steps of expectation and maximisation, each far shorter than one of a fit, to see that none can be good
LEAST_ROWS = 0.1  # in a cell, so that an empty one says little rather than nothing


@dataclass(frozen=True, eq=False)
class MeasuredPrefix:
    """Noisy numbers of rows in the first so many cells, and the variance of their noise."""

    cells: Integers
    prefix: Floats
    variance: float
    whiten: Floats = field(default_factory=lambda: np.empty((0, 0)))  # makes residuals independent, while a fit climbs
    log_determinant: float = 0.0  # of the covariance of the residuals

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
        measured = self.measured and replace(self.measured, cells=np.searchsorted(cells, self.measured.cells))
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

    def _changed(self, shares: Floats, noisy: Floats, expected: Floats, columns: Floats) -> Floats:
        """The covariance times some columns."""
        if columns.shape[1] > len(shares):
            return self.covariance(shares, noisy, expected) @ columns
        part = self._part(shares, noisy)
        return expected[:, None] * columns - part @ (part.T @ columns)

    def stage_one(self, shares: Floats, noisy: Floats, expected: Floats) -> tuple[Floats, Floats, Floats]:
        """The residual of what was measured, its covariance, and the derivative of its mean."""
        assert self.measured is not None
        sums = self.measured.sums
        slopes = sums(self.covariance(shares, noisy, expected))
        spread = sums(slopes.T) + self.measured.variance * np.eye(len(slopes))
        return self.measured.prefix - sums(expected), spread, slopes

    def held(self, log_density: Floats) -> Seen:
        """With the covariance of what was measured as it is there: it changes little on the way, and costs most."""
        from scipy.linalg.lapack import dtrtri

        if self.measured is None:
            return self
        spread = self.stage_one(*self.expectation(log_density))[1]
        floor = LEAST_VARIANCE * (1 + float(np.diag(spread).max()))
        root = np.linalg.cholesky(spread + floor * np.eye(len(spread)))
        whiten: Floats = dtrtri(root, lower=1)[0]
        log_determinant = 2 * float(np.log(np.diag(root)).sum())
        return replace(self, measured=replace(self.measured, whiten=whiten, log_determinant=log_determinant))

    def log_likelihood(self, log_density: Floats) -> float:
        return self.log_likelihood_at(self.expectation(log_density))

    def log_likelihood_at(self, at: Implied) -> float:
        value = float(self.rows @ np.log(at.noisy))
        if self.measured is not None:
            residual = self.measured.residual(at.rows)
            value -= 0.5 * (float(residual @ residual) + self.measured.log_determinant)
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
        measured = self.measured
        return value if measured is None else value - 0.5 * len(measured.prefix) * math.log(measured.variance)

    def score(self, at: Implied, basis: Floats) -> tuple[Floats, Floats]:
        """The gradient of the log-likelihood in the log-density; a root of Fisher's information in the weights."""
        shares, noisy, expected = at
        root, gradient = self._root(shares, noisy, basis), expected - self.total * shares
        if self.measured is not None:
            residual = self.measured.residual(expected)
            pull = self.measured.spread_over(self.measured.whiten.T @ residual, len(shares))
            changed = self._changed(shares, noisy, expected, np.column_stack([basis, pull]))
            root = np.column_stack([root, (self.measured.whiten @ self.measured.sums(changed[:, :-1])).T])
            gradient = gradient + changed[:, -1]
        return gradient, root

    def curvature(self, at: Implied, basis: Floats) -> Floats:
        """The curvature of the log-likelihood of the rows in the weights; not always that of a hill."""
        shares, noisy, expected = at
        part = (shares[:, None] * basis).T @ (self.blur * (np.sqrt(self.rows) / noisy))
        mean = np.sqrt(self.total) * (shares @ basis)
        return (basis.T * (self.total * shares - expected)) @ basis + part @ part.T - np.outer(mean, mean)

    def _root(self, shares: Floats, noisy: Floats, basis: Floats) -> Floats:
        centred = (shares[:, None] * basis).T @ (self.blur - noisy)
        root: Floats = centred * np.sqrt(self.total / noisy)
        return root


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
    return _solve(np.eye(basis.shape[1]) + basis.T @ weighted, weighted.T @ target)


def fit(seen: Seen, cells: Integers, basis: Floats, weights: Floats, enough: float = ENOUGH_GAIN) -> Fit:
    """Fisher scoring from some weights of the basis, until no more is to be gained; counts are in those cells."""
    inside, one = seen.within(cells), np.eye(basis.shape[1])
    density = basis @ weights
    for _ in range(ROUNDS):
        held, before = inside.held(density), density
        weights = _climbed(held, basis, weights, enough)
        density = basis @ weights
        if seen.measured is None or inside.apart(before, density) < UNMOVED:
            break
    at = held.expectation(density)
    gradient, root = held.score(at, basis)
    precision = root @ root.T + one
    explained = held.log_likelihood_at(at) - 0.5 * float(weights @ weights + np.linalg.slogdet(precision)[1])
    return Fit(seen, explained, density, basis, weights, precision, gradient, root, cells)


def _climbed(seen: Seen, basis: Floats, weights: Floats, enough: float) -> Floats:
    density, one = basis @ weights, np.eye(basis.shape[1])
    at = seen.expectation(density)
    current = seen.log_likelihood_at(at) - 0.5 * float(weights @ weights)
    for _ in range(MOST_STEPS):
        gradient, root = seen.score(at, basis)
        slope = basis.T @ gradient - weights
        move = _solve(root @ root.T + one, slope)
        promised = float(slope @ move)
        if promised < enough:
            break
        if promised < NEAR:
            move = _newton(seen, at, basis, slope, move)
        moved = basis @ move
        length = LONGEST_STEP / max(LONGEST_STEP, float(np.ptp(moved)))
        while length >= SMALLEST_STEP:
            tried, there = weights + length * move, density + length * moved
            at = seen.expectation(there)
            value = seen.log_likelihood_at(at) - 0.5 * float(tried @ tried)
            if value >= current - ROUNDING * abs(current):
                break
            length /= 2
        else:
            break
        weights, density, current = tried, there, value
    return weights


def _newton(seen: Seen, at: Implied, basis: Floats, slope: Floats, otherwise: Floats) -> Floats:
    """The step by the curvature itself, which soon ends at the top; where there is no hill, another."""
    if seen.measured is not None:
        return otherwise
    curvature = seen.curvature(at, basis) + np.eye(len(slope))
    try:
        np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        return otherwise
    return _solve(curvature, slope)


def _solve(matrix: Floats, right: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrix, right), dtype=float)
