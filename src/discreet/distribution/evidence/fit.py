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
SHRUNK = 0.5  # of what was to be gained, or less, is left by a step that is worth another like it
ROUNDING = 1e-13  # of a sum of logarithms, relative: a step that loses no more than that is no loss
EQUAL = 1e-3  # nats: of two fits that are no further apart the one tried first is taken
ROUGHLY = 1e-2  # nats still to be gained where fits are only compared; those that count are gone over again
WORTHLESS = 12.0  # nats below the best: a weight of one in 160,000, so it matters nowhere that one falls out
BOUNDING = 12  # steps of expectation and maximisation, each far shorter than one of a fit, to see that none can be good
FEW_CELLS = 32  # with a few columns more than cells nothing takes long
LEAST_ROWS = 0.1  # in a cell, so that an empty one says little rather than nothing


class Implied(NamedTuple):
    """Under some log-density: the law of a count, of a noisy value, and the rows of each cell given what was seen."""

    shares: Floats
    noisy: Floats
    rows: Floats


@dataclass(frozen=True, eq=False)
class MeasuredPrefix:
    """Noisy numbers of rows in the first so many cells, and the variance of their noise."""

    cells: Integers
    prefix: Floats
    variance: Floats
    merged: float = 0.0  # log-likelihood of those that were merged into one, given that one
    whiten: Floats = field(default_factory=lambda: np.empty((0, 0)))  # makes residuals independent, while a fit climbs
    log_determinant: float = 0.0  # of the covariance of the residuals
    at: Implied | None = None  # where that covariance is

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

    def covariance(self, at: Implied) -> Floats:
        """Of the numbers of rows in the first cells, one, two, and so on, given what was seen and the law."""
        told, upto = np.cumsum(self._part(at), axis=0), np.cumsum(at.rows)
        return np.asarray(np.minimum(upto[:, None], upto) - told @ told.T, dtype=float)

    def changed(self, at: Implied, basis: Floats) -> Floats:
        """The derivative of the expected rows of the cells in the weights."""
        part = self._part(at)
        return np.asarray(at.rows[:, None] * basis - part @ (part.T @ basis), dtype=float)

    def _part(self, at: Implied) -> Floats:
        return np.asarray(at.shares[:, None] * self.blur * (np.sqrt(self.rows) / at.noisy), dtype=float)

    def held(self, log_density: Floats) -> Seen:
        """With the covariance of what was measured as it is there: it changes little on the way, and costs most."""
        from scipy.linalg.lapack import dtrtri

        if self.measured is None:
            return self
        at = self.expectation(log_density)
        told, upto = self.measured.sums(self._part(at)), self.measured.sums(at.rows)
        spread = np.minimum(upto[:, None], upto) - told @ told.T + np.diag(self.measured.variance)
        floor = LEAST_VARIANCE * (1 + float(np.diag(spread).max()))
        root = np.linalg.cholesky(spread + floor * np.eye(len(spread)))
        whiten: Floats = dtrtri(root, lower=1)[0]
        log_determinant = 2 * float(np.log(np.diag(root)).sum())
        held = replace(self.measured, whiten=whiten, log_determinant=log_determinant, at=at)
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
        at = at or self.measured.at
        assert at is not None
        return np.asarray((self.measured.whiten @ self.measured.sums(self.changed(at, basis))).T, dtype=float)


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
    held: Seen  # with the covariance of what was measured, as it was on the way
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
    return _solve(_factor(np.eye(basis.shape[1]) + basis.T @ weighted), weighted.T @ target)


def narrowed(basis: Floats) -> Floats:
    """No more columns than cells, with the same prior; where that saves something."""
    if len(basis) < FEW_CELLS or basis.shape[1] <= len(basis):
        return basis
    return np.asarray(np.linalg.qr(basis.T).R.T, dtype=float)


def fit(
    seen: Seen, cells: Integers, basis: Floats, weights: Floats, enough: float = ENOUGH_GAIN, goal: float = -math.inf,
    near: Fit | None = None,
) -> Fit:  # fmt: skip
    """From some weights of the basis, until no more is to be gained, or the fit is seen to be worthless to who has
    explained as much as the goal; counts are in those cells. `near`: a fit with that basis, whose precision may do."""
    inside, density, precision = seen.within(cells), basis @ weights, None if near is None else near.precision
    held = near.held if near is not None and len(near.cells) == len(cells) else inside.held(density)
    for left in reversed(range(ROUNDS)):
        known, before = held.measured_root(basis), density
        top = _climbed(held, basis, weights, known, enough, goal - WORTHLESS, precision)
        weights, density, at = top.weights, top.density, top.at
        if top.hopeless or seen.measured is None or not left or inside.apart(before, density) < UNMOVED:
            break
        held = inside.held(density)
    root = np.column_stack([held.root(at, basis), known])
    precision = root @ root.T + np.eye(len(weights))
    explained = top.value - _log_determinant(_factor(precision)) / 2
    return Fit(seen, explained, density, basis, weights, precision, held.gradient(at), root, cells, held)


class Foothold(NamedTuple):
    """On the way up."""

    weights: Floats
    density: Floats
    at: Implied
    value: float  # of the penalised likelihood
    slope: Floats
    hopeless: bool = False  # whether the climb was given up here, since the top explains too little


def _foothold(seen: Seen, basis: Floats, weights: Floats, density: Floats, least: float = -math.inf) -> Foothold | None:
    """None where it is lower than the least."""
    at = seen.expectation(density)
    value = seen.log_likelihood_at(at) - 0.5 * float(weights @ weights)
    if value < least - ROUNDING * abs(least):
        return None
    return Foothold(weights, density, at, value, basis.T @ seen.gradient(at) - weights)


def _climbed(
    seen: Seen, basis: Floats, weights: Floats, known: Floats, enough: float, least: float, precision: Floats | None
) -> Foothold:
    """The top; or where the climb was given up, since that explains less than the least.

    A whole step takes Fisher's information, which is the cube of the number of weights; the first takes the precision,
    if there is one.
    """
    found, one = _foothold(seen, basis, weights, basis @ weights), np.eye(len(weights))
    assert found is not None
    here, longest = found, LONGEST_STEP
    sure, since = known @ known.T + one, here.at.shares
    for _ in range(MOST_STEPS):
        if precision is None:
            if seen.measured is not None and float(np.abs(here.at.shares - since).sum()) / 2 > MOVED:
                known = seen.measured_root(basis, here.at)
                sure, since = known @ known.T + one, here.at.shares
            root = seen.root(here.at, basis)
            precision = root @ root.T + sure
        factor, precision = _factor(precision), None
        move = _solve(factor, here.slope)
        promised = float(here.slope @ move)
        if promised < enough:
            break
        if here.value + MOST_GAINS * promised - CERTAIN * 0.5 * _log_determinant(factor) < least:
            return here._replace(hopeless=True)
        before = here
        here, longest, done = _onward(seen, basis, here, factor, move, enough, longest)
        if done or here is before:
            break
    return here


def _onward(
    seen: Seen, basis: Floats, here: Foothold, factor: Floats, move: Floats, enough: float, longest: float
) -> tuple[Foothold, float, bool]:
    """Steps by the same information, mended by how the slope changes, as long as each leaves much less to be gained;
    where they end, how long the next may be, and whether that is the top."""
    changes: tuple[SlopeChange, ...] = ()
    promised = float(here.slope @ move)
    while True:
        there, length, longest = _stepped(seen, basis, here, move, promised, longest)
        if there is None:
            return here, longest, False
        changes = (*changes, SlopeChange(there.weights - here.weights, here.slope - there.slope))
        here, move = there, _mended(factor, changes, there.slope)
        left = float(here.slope @ move)
        if left < enough:
            return here, longest, True
        if length < 1 or not left <= SHRUNK * promised:
            return here, longest, False
        promised = left


def _stepped(
    seen: Seen, basis: Floats, here: Foothold, move: Floats, promised: float, longest: float
) -> tuple[Foothold | None, float, float]:
    """As far along a move as is no loss; which part of it that is, and how long the next may be."""
    moved = basis @ move
    length = longest / max(longest, float(np.ptp(moved)))
    while length >= SMALLEST_STEP:
        there = _foothold(seen, basis, here.weights + length * move, here.density + length * moved, here.value)
        if there is not None:
            kept = there.value - here.value > KEPT * length * (1 - length / 2) * promised
            return there, length, 2 * longest if kept else longest
        length, longest = length / 2, LONGEST_STEP
    return None, length, longest


class SlopeChange(NamedTuple):
    """Of the weights in one step, and by how much the slope fell."""

    weights: Floats
    slope: Floats


def _mended(factor: Floats, changes: tuple[SlopeChange, ...], slope: Floats) -> Floats:
    """The next move, by the precision as those changes would have it: limited-memory BFGS (Nocedal 1980)."""
    told = [(one, bend) for one in changes if (bend := float(one.weights @ one.slope)) > 0]
    parts = []
    for one, bend in reversed(told):
        parts.append(float(one.weights @ slope) / bend)
        slope = slope - parts[-1] * one.slope
    move = _solve(factor, slope)
    for (one, bend), part in zip(told, reversed(parts)):
        move = move + (part - float(one.slope @ move) / bend) * one.weights
    return move


def _factor(matrix: Floats) -> Floats:
    """Cholesky's, of a positive definite matrix."""
    from scipy.linalg.lapack import dpotrf

    root, failed = dpotrf(matrix)
    if failed:
        raise np.linalg.LinAlgError
    return np.asarray(root, dtype=float)


def _solve(factor: Floats, right: Floats) -> Floats:
    from scipy.linalg.lapack import dpotrs

    return np.asarray(dpotrs(factor, right)[0], dtype=float)


def _log_determinant(factor: Floats) -> float:
    return 2 * float(np.log(np.diag(factor)).sum())
