"""Klein's walks in floats, many at once: noise to learn its law from, for intervals. It is never published.

A thousand exact draws of a wide table take minutes. Here a walk is as near to its law as floats are, which is nearer
than thousands of draws can tell.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp, ndtri

from discreet.arrays import Floats, Integers
from discreet.lattice.klein import KleinGaussian, KleinLaplace, Ladder
from discreet.sample.bits import Bits

ROUNDED = 16.0  # variance from which rounded normal numbers serve: their law differs by less than one in 10,000
REACH = 32  # whole numbers on either side of the centre that a smaller variance is tabulated for: eight deviations
SMOOTH = 1.0  # variance from which all shifts have the same mass, but for one part in 10^8
WORD = 32  # bits of a random number
FEWEST = 32  # trials at once


def rough_draws(law: KleinGaussian | KleinLaplace, draws: int, bits: Bits) -> Integers:
    """By rejection, as the exact walk is."""
    found: list[Integers] = []
    while (missing := draws - sum(map(len, found))) > 0:
        found.append(_trials(law, max(FEWEST, 2 * missing), bits))
    return np.concatenate(found)[:draws]


def _trials(law: KleinGaussian | KleinLaplace, number: int, bits: Bits) -> Integers:
    """The vectors that are accepted of so many."""
    steps = law.steps
    if isinstance(law, KleinGaussian):
        variances = np.full(number, float(law.variance))
    else:
        variances = (_widths(law, number, bits) / float(law.rate)) ** 2
    chosen, chance = _walks(steps, variances, bits)
    vectors: Integers = np.asarray(chosen @ _basis(steps))
    if isinstance(law, KleinLaplace):
        chance += _tangents(float(law.rate), np.sqrt((vectors.astype(float) ** 2).sum(axis=1)))
    return vectors[np.log(_uniform(number, bits)) < chance]


def _uniform(number: int, bits: Bits) -> Floats:
    """Between zero and one, and neither."""
    return (bits.words(number, WORD).astype(float) + 0.5) / 2.0**WORD


def _basis(steps: Ladder) -> csr_array:
    cells = np.concatenate([cells for cells, _ in steps.vectors])
    entries = np.concatenate([entries for _, entries in steps.vectors])
    ends = np.cumsum([0, *(len(cells) for cells, _ in steps.vectors)])
    return csr_array((entries, cells, ends), shape=(len(steps.vectors), steps.cells))


def _walks(steps: Ladder, variances: Floats, bits: Bits) -> tuple[Integers, Floats]:
    """Coefficients of the basis, a walk a row, and the logarithm of the chance that a walk is accepted with."""
    chosen = np.zeros((len(variances), len(steps.norms)), dtype=np.int64)
    chance = np.zeros(len(variances))
    for i in range(len(steps.norms) - 1, -1, -1):
        centre = np.zeros(len(variances))
        for j, factor in steps.below[i]:
            centre -= chosen[:, j] * float(factor)
        variance, whole = variances / float(steps.norms[i]), np.rint(centre)
        chosen[:, i] = whole + _around(variance, centre - whole, _uniform(len(variances), bits))
        chance += _log_mass(variance, centre - whole) - _log_mass(variance, np.zeros(len(centre)))
    return chosen, chance


def _around(variance: Floats, shift: Floats, uniform: Floats) -> Floats:
    """P(k) proportional to exp(-(k - shift)^2 / (2 variance)), by inversion."""
    out = np.rint(shift + np.sqrt(np.maximum(variance, ROUNDED) - 1 / 12) * ndtri(uniform))  # rounding adds 1/12
    small = np.flatnonzero(variance < ROUNDED)
    if len(small):
        numbers = np.arange(-REACH, REACH + 1)
        squares = (numbers - shift[small, None]) ** 2 - shift[small, None] ** 2  # the nearest number has a mass of one
        running = np.exp(-squares / (2 * variance[small, None])).cumsum(axis=1)
        out[small] = (running < uniform[small, None] * running[:, -1:]).sum(axis=1) - REACH
    return out


def _log_mass(variance: Floats, shift: Floats) -> Floats:
    """Of the sum over k of exp(-(k - shift)^2 / (2 variance))."""
    out: Floats = np.log(2 * np.pi * variance) / 2
    small = np.flatnonzero(variance < SMOOTH)
    if len(small):
        numbers = np.arange(-REACH, REACH + 1)
        out[small] = logsumexp(-((numbers - shift[small, None]) ** 2) / (2 * variance[small, None]), axis=1)
    return out


def _widths(law: KleinLaplace, number: int, bits: Bits) -> Integers:
    """P(j) proportional to exp(-j^2/2) times the mass of all steps at the width j."""
    size = len(law.steps.norms)
    widths = np.arange(1, 2 * int(np.sqrt(size)) + 2 * REACH)
    variances = (widths / float(law.rate)) ** 2
    masses = sum(_log_mass(variances / float(norm), np.zeros(len(widths))) for norm in law.steps.norms)
    chances = np.exp(masses - widths**2 / 2 - np.max(masses - widths**2 / 2)).cumsum()
    return np.asarray(widths[np.searchsorted(chances, _uniform(number, bits) * chances[-1])])


def _tangents(rate: float, length: Floats) -> Floats:
    """The logarithm of exp(-rate r) / (sqrt(e) times the sum of the tangent curves at r)."""
    exponent = rate * length
    widths = np.arange(1, int(np.sqrt(exponent.max(initial=0.0))) + REACH)[:, None]
    curves = logsumexp(-(widths**2 + (exponent / widths) ** 2) / 2, axis=0)
    return np.asarray(-exponent - 0.5 - curves)
