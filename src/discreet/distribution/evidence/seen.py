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


class Away(NamedTuple):
    """How far what was measured is from what is expected; and the same over its covariance."""

    residual: Floats
    pull: Floats

    @property
    def length(self) -> float:
        return float(self.residual @ self.pull)


class HeldSpread(NamedTuple):
    """Of what was measured, under some law: the factor of the covariance of its residuals, and how the numbers that it
    measures change with the log-density."""

    spread: Factor
    at: Implied
    changes: Floats


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

    def away(self, expected: Floats) -> Away:
        residual = self.prefix - self.sums(expected)
        return Away(residual, self.spread.solve(residual))

    @property
    def spread(self) -> Factor:
        assert self.held is not None
        return self.held.spread

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
        upto = np.cumsum(at.rows)
        told = np.cumsum(at.shares[:, None] * self.blur * (np.sqrt(self.rows) / at.noisy), axis=0)
        return np.asarray(np.minimum(upto[:, None], upto) - told @ told.T, dtype=float)

    def held(self, at: Implied) -> Seen:
        """With the covariance of what was measured as it is there: it changes little on the way, and costs most."""
        if self.measured is None:
            return self
        first, covariance = self.measured.cells, np.pad(self.covariance(at), (1, 0))
        spread = covariance[np.ix_(first, first)]
        np.fill_diagonal(spread, spread.diagonal() + self.measured.variance)
        np.fill_diagonal(spread, spread.diagonal() + LEAST_VARIANCE * (1 + float(spread.diagonal().max())))
        held = HeldSpread(factor_of(spread), at, np.diff(covariance[first]))
        return replace(self, measured=replace(self.measured, held=held))

    def log_likelihood(self, log_density: Floats) -> float:
        at = self.expectation(log_density)
        return self.log_likelihood_at(at, self.away(at))

    def away(self, at: Implied) -> Away | None:
        return None if self.measured is None else self.measured.away(at.rows)

    def log_likelihood_at(self, at: Implied, away: Away | None) -> float:
        value = float(self.rows @ np.log(at.noisy))
        if self.measured is not None and away is not None:
            value += self.measured.merged - 0.5 * (away.length + self.measured.spread.log_determinant)
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

    def gradient(self, at: Implied, away: Away | None) -> Floats:
        """Of the log-likelihood in the log-density."""
        shares, noisy, expected = at
        gradient = expected - self.total * shares
        if self.measured is not None and away is not None:
            pull = self.measured.spread_over(away.pull, len(expected))
            most = max(1.0, float(np.abs(pull).max()))  # so that nothing overflows
            each = pull / most
            mean = ((shares * each) @ self.blur) / noisy
            gradient += most * (expected * each - shares * (self.blur @ (self.rows / noisy * mean)))
        return gradient

    def root(self, at: Implied, basis: Floats) -> Floats:
        """A root of Fisher's information in the weights, by the rows."""
        pushed = at.shares[:, None] * basis
        centred = pushed.T @ self.blur - np.outer(pushed.sum(axis=0), at.noisy)
        return np.asarray(centred * np.sqrt(self.total / at.noisy), dtype=float)

    def measured_root(self, at: Implied, basis: Floats) -> Floats:
        """The same by what was measured."""
        if self.measured is None:
            return np.empty((basis.shape[1], 0))
        held = self.measured.held
        assert held is not None
        first, here = self.measured.cells, held.at is at
        changes = held.changes if here else np.diff(np.pad(self.covariance(at), (1, 0))[first])
        return held.spread.forward(changes @ basis).T

    def informed(self, at: Implied) -> Times:
        """Fisher's information by the rows, in the log-density, times a direction: no matrix is made of it."""
        shares, noisy, _ = at
        each = self.total / noisy

        def times(moved: Floats) -> Floats:
            pushed = shares * moved
            seen = (pushed @ self.blur - pushed.sum() * noisy) * each
            return np.asarray(shares * (self.blur @ seen - noisy @ seen), dtype=float)

        return times

    def bent(self, at: Implied) -> Times:
        """The curvature of the log-likelihood of the rows, times a direction; not always that of a hill."""
        shares, noisy, expected = at
        rest, each = self.total * shares - expected, self.rows / noisy

        def curved(moved: Floats) -> Floats:
            straight = (shares * moved) @ self.blur / noisy
            back = self.blur @ (each * straight)
            return np.asarray(rest * moved + shares * (back - self.total * (shares @ moved)), dtype=float)

        return curved
