"""One fit: the log-density that is most likely given what was seen and one prior, and the evidence for that prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats

MOST_STEPS = 60  # of Fisher scoring; a dozen usually do
LONGEST_STEP = 4.0  # in log-density: a curvature is to be believed no further
SMALLEST_STEP = 1e-6  # of a whole one: where not even that helps, the top is reached
ENOUGH_GAIN = 1e-7  # nats; so that fits on two machines agree


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy numbers of rows in the first k + 1 cells, for k in `cells`, and the variance of their noise."""

    cells: np.ndarray
    prefix: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen: rows by noisy cell, how counts of one cell come to be seen in others, and stage one if any."""

    rows: Floats
    blur: Floats
    widths: Floats
    measured: Measured | None = None

    @property
    def total(self) -> float:
        return float(self.rows.sum())

    def expectation(self, log_density: Floats) -> tuple[Floats, Floats, Floats]:
        """The law of a count, of a noisy value, and the expected rows of each cell given what was seen."""
        shares = self.widths * np.exp(log_density - log_density.max())
        shares = shares / shares.sum()
        noisy = shares @ self.blur
        return shares, noisy, shares * (self.blur @ (self.rows / noisy))

    def covariance(self, shares: Floats, noisy: Floats, expected: Floats) -> Floats:
        """Of the numbers of rows in the cells, given what was seen and the law."""
        part = shares[:, None] * self.blur * (np.sqrt(self.rows) / noisy)
        return np.diag(expected) - part @ part.T

    def stage_one(self, shares: Floats, noisy: Floats, expected: Floats) -> tuple[Floats, Floats, Floats]:
        """The residual of the measured prefixes, its covariance, and the derivative of their mean."""
        assert self.measured is not None
        at = self.measured.cells
        slopes = np.cumsum(self.covariance(shares, noisy, expected), axis=0)[at]
        spread = np.cumsum(slopes, axis=1)[:, at] + self.measured.variance * np.eye(len(at))
        return self.measured.prefix - np.cumsum(expected)[at], spread, slopes

    def log_likelihood(self, log_density: Floats) -> float:
        parts = self.expectation(log_density)
        value = float(self.rows @ np.log(parts[1]))
        if self.measured is not None:
            residual, spread, _ = self.stage_one(*parts)
            value -= 0.5 * float(residual @ np.linalg.solve(spread, residual) + np.linalg.slogdet(spread)[1])
        return value

    def score(self, log_density: Floats) -> tuple[Floats, Floats]:
        """The gradient of the log-likelihood, and Fisher's information."""
        shares, noisy, expected = self.expectation(log_density)
        part = (np.sqrt(self.total) * shares)[:, None] * (self.blur - noisy) / np.sqrt(noisy)
        information, gradient = part @ part.T, expected - self.total * shares
        if self.measured is not None:
            residual, spread, slopes = self.stage_one(shares, noisy, expected)
            solved = np.linalg.solve(spread, np.column_stack([residual, slopes]))
            information, gradient = information + slopes.T @ solved[:, 1:], gradient + slopes.T @ solved[:, 0]
        return gradient, information


@dataclass(frozen=True, eq=False)
class Fit:
    """The mode, and how well the prior that it belongs to explains what was seen."""

    evidence: float
    log_density: Floats
    information: Floats
    covariance: Floats  # of the prior


def fit(seen: Seen, covariance: Floats, start: Floats) -> Fit:
    """Fisher scoring in alpha, the log-density being covariance times alpha; from the log-density `start`."""
    from scipy.linalg import lu_factor, lu_solve

    alpha = np.linalg.solve(covariance, start)
    density = covariance @ alpha
    current = seen.log_likelihood(density) - 0.5 * float(alpha @ density)
    one = np.eye(len(alpha))
    for _ in range(MOST_STEPS):
        gradient, information = seen.score(density)
        factors = lu_factor(one + information @ covariance, check_finite=False)
        move = lu_solve(factors, information @ density + gradient, check_finite=False) - alpha
        length = min(1.0, LONGEST_STEP / max(1e-9, float(np.ptp(covariance @ move))))
        while length >= SMALLEST_STEP:
            tried = alpha + length * move
            density = covariance @ tried
            value = seen.log_likelihood(density) - 0.5 * float(tried @ density)
            if value >= current:
                break
            length /= 2
        else:
            density = covariance @ alpha
            break
        alpha, gain, current = tried, value - current, value
        if gain < ENOUGH_GAIN and length > 0.9:
            break
    log_determinant = float(np.log(np.abs(np.diag(factors[0]))).sum())
    return Fit(current - 0.5 * log_determinant, density, information, covariance)
