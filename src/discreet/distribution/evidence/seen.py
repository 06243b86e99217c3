"""What was seen of the counts, and how likely that is under any law of them, with slopes and curvatures."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.factor import Factor, Times, factor_of

LEAST_VARIANCE = 1e-6  # of what was measured nearly without noise: rounding must not make it negative
BOUNDING = 12  # steps of expectation and maximisation, each far shorter than one of a fit, to see that none can be good


class Implied(NamedTuple):
    """Under some log-density: the law of a count, of a noisy value, and the rows of each cell given what was seen."""

    shares: Floats
    noisy: Floats
    rows: Floats


def apart(one: Implied, other: Implied) -> float:
    """The share of the rows that two laws have in different cells."""
    return float(np.abs(one.shares - other.shares).sum()) / 2


class HeldSpread(NamedTuple):
    """Of what was measured, under some law: the factor of the covariance of its residuals, and a root of what noisy
    values tell of the rows, in cells and in prefixes."""

    spread: Factor
    at: Implied
    part: Floats
    told: Floats


@dataclass(frozen=True, eq=False)
class MeasuredPrefix:
    """Noisy numbers of rows in the first so many cells, and the variance of their noise."""

    cells: Integers
    prefix: Floats
    variance: Floats
    merged: float = 0.0  # log-likelihood of those that were merged into one, given that one
    held: HeldSpread | None = None  # while a fit climbs

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
        return self.spread.forward(self.prefix - self.sums(expected))

    @property
    def spread(self) -> Factor:
        assert self.held is not None
        return self.held.spread

    def spread_over(self, values: Floats, size: int) -> Floats:
        """The sum, for each of so many cells, of what the prefixes that count it have: the other way about."""
        found = np.bincount(self.cells, weights=values, minlength=size + 1)
        return np.asarray(np.cumsum(found[::-1])[::-1][1:], dtype=float)


class Pull(NamedTuple):
    """By what was measured, on a row of each cell, over the largest, so that nothing overflows; its mean over the cells
    in which a noisy value may have its count, the slope in the log-density, and the largest."""

    each: Floats
    mean: Floats
    slope: Floats
    most: float


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen: rows by noisy cell, how counts of one cell come to be seen in others, and stage one if any."""

    rows: Floats
    blur: Floats
    widths: Floats  # in counts; of cells at round numbers more than that where rows are believed to be rounded
    measured: MeasuredPrefix | None = None

    @cached_property
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

    def covariance(self, at: Implied) -> Floats:
        """Of the numbers of rows in the first cells, one, two, and so on, given what was seen and the law."""
        return _covariance(np.cumsum(at.rows), np.cumsum(self._part(at), axis=0))

    def changed(self, at: Implied, basis: Floats) -> Floats:
        """The derivative of the expected rows of the cells in the weights."""
        part = self._part(at)
        return np.asarray(at.rows[:, None] * basis - part @ (part.T @ basis), dtype=float)

    def _part(self, at: Implied) -> Floats:
        return np.asarray(at.shares[:, None] * self.blur * (np.sqrt(self.rows) / at.noisy), dtype=float)

    def held(self, at: Implied) -> Seen:
        """With the covariance of what was measured as it is there: it changes little on the way, and costs most."""
        if self.measured is None:
            return self
        part = self._part(at)
        told = self.measured.sums(part)
        spread = _covariance(self.measured.sums(at.rows), told)
        np.fill_diagonal(spread, spread.diagonal() + self.measured.variance)
        np.fill_diagonal(spread, spread.diagonal() + LEAST_VARIANCE * (1 + float(spread.diagonal().max())))
        return replace(self, measured=replace(self.measured, held=HeldSpread(factor_of(spread), at, part, told)))

    def log_likelihood(self, log_density: Floats) -> float:
        return self.log_likelihood_at(self.expectation(log_density))

    def log_likelihood_at(self, at: Implied) -> float:
        value = float(self.rows @ np.log(at.noisy))
        if self.measured is not None:
            residual = self.measured.residual(at.rows)
            value += self.measured.merged - 0.5 * (float(residual @ residual) + self.measured.spread.log_determinant)
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
        shares, _, expected = at
        gradient = expected - self.total * shares
        if self.measured is not None:
            pull = self._pull(at)
            gradient += pull.most * pull.slope
        return gradient

    def _pull(self, at: Implied) -> Pull:
        """How much likelier what was measured would be with a row more in each cell."""
        assert self.measured is not None
        shares, noisy, expected = at
        residual = self.measured.spread.backward(self.measured.residual(expected))
        pull = self.measured.spread_over(residual, len(expected))
        most = max(1.0, float(np.abs(pull).max()))
        each = pull / most
        mean = ((shares * each) @ self.blur) / noisy
        return Pull(each, mean, expected * each - shares * (self.blur @ (self.rows / noisy * mean)), most)

    def root(self, at: Implied, basis: Floats) -> Floats:
        """A root of Fisher's information in the weights, by the rows."""
        centred = (at.shares[:, None] * basis).T @ (self.blur - at.noisy)
        return np.asarray(centred * np.sqrt(self.total / at.noisy), dtype=float)

    def measured_root(self, at: Implied, basis: Floats) -> Floats:
        """The same by what was measured."""
        if self.measured is None:
            return np.empty((basis.shape[1], 0))
        measured, held = self.measured, self.measured.held
        assert held is not None
        if held.at is at:
            changed = measured.sums(at.rows[:, None] * basis) - held.told @ (held.part.T @ basis)
        else:
            changed = measured.sums(self.changed(at, basis))
        return measured.spread.forward(changed).T

    def informed(self, at: Implied) -> Times:
        """Fisher's information by the rows, in the log-density, times a direction: no matrix is made of it."""
        shares, noisy, _ = at
        each = self.total / noisy

        def times(moved: Floats) -> Floats:
            pushed = shares * moved
            seen = (pushed @ self.blur - pushed.sum() * noisy) * each
            return np.asarray(shares * (self.blur @ seen - noisy @ seen), dtype=float)

        return times

    def known(self, at: Implied) -> Times:
        """The same by what was measured."""
        if self.measured is None:
            return np.zeros_like
        shares, noisy, expected = at
        measured, each = self.measured, self.rows / noisy

        def changed(moved: Floats) -> Floats:
            return np.asarray(expected * moved - shares * (self.blur @ (each * ((shares * moved) @ self.blur / noisy))))

        def times(moved: Floats) -> Floats:
            return changed(measured.spread_over(measured.spread.solve(measured.sums(changed(moved))), len(shares)))

        return times

    def bent(self, at: Implied) -> Times:
        """The curvature of the log-likelihood, but for what `known` has, times a direction; not always that of a hill.

        That of the expected rows is the third cumulant of the cell of a row, given what was seen of it."""
        shares, noisy, expected = at
        rest, each = self.total * shares - expected, self.rows / noisy
        pull = None if self.measured is None else self._pull(at)

        def curved(moved: Floats) -> Floats:
            straight = (shares * moved) @ self.blur / noisy
            back = self.blur @ (each * straight)
            times: Floats = rest * moved + shares * (back - self.total * (shares @ moved))
            if pull is None:
                return times
            drawn = (shares * pull.each * moved) @ self.blur / noisy - 2 * pull.mean * straight
            third = shares * (pull.each * back + self.blur @ (each * drawn)) - moved * pull.slope
            return times + pull.most * third

        return curved


def _covariance(upto: Floats, told: Floats) -> Floats:
    """Of numbers of rows in cells that hold each other, of which so many are expected, less what noisy values tell."""
    return np.asarray(np.minimum(upto[:, None], upto) - told @ told.T, dtype=float)
