"""The contract of every privatizer: exact sensitivities, and the histogram comes back where there is no noise."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Integers
from discreet.distribution.privatizer import Privatizer
from discreet.distribution.projections import PROJECTIONS

SIZES = (2, 3, 5, 8, 16, 17, 21, 40)  # some that trees and wavelets need not pad, some beside them, some others
HISTOGRAMS = 12  # random ones of each size, besides the full and the lonely ones
SEED = 1  # any: the same histograms in every run


def neighbours(histogram: Integers) -> list[Integers]:
    """One row's count one higher or lower: a row leaves bin f for bin f + 1 or f - 1."""
    out = []
    for f in np.flatnonzero(histogram):
        for g in (f - 1, f + 1):
            if 0 <= g < len(histogram):
                moved = histogram.copy()
                moved[f] -= 1
                moved[g] += 1
                out.append(moved)
    return out


def assert_privatizer(method: Privatizer, sizes: tuple[int, ...] = SIZES) -> None:
    """Run the whole contract, over all neighbours of full, lonely and random histograms of these sizes."""
    assert method.SUMMARY, "a privatizer says in its SUMMARY what it measures"
    assert method.PROJECTION in PROJECTIONS, f"there is no projection {method.PROJECTION!r}"
    rng = np.random.default_rng(SEED)
    for bins in sizes:
        histograms = [np.ones(bins, dtype=np.int64), *(rng.integers(0, 5, bins) for _ in range(HISTOGRAMS))]
        histograms = [histogram for histogram in (*histograms, *np.eye(bins, dtype=np.int64)) if histogram.sum()]
        _sensitivities_are_exact(method, histograms, bins)
        for histogram in histograms:
            _comes_back(method, histogram)


def _sensitivities_are_exact(method: Privatizer, histograms: list[Integers], bins: int) -> None:
    changes = []
    for histogram in histograms:
        own = method.answers(histogram)
        assert own.ndim == 1 and own.dtype.kind == "i", "answers are whole numbers, in a row"
        for other in neighbours(histogram):
            answers = method.answers(other)
            assert len(answers) == len(own), "the number of answers depends on the counts, which are secret"
            changes.append(answers - own)
    total = max(int(np.abs(change).sum()) for change in changes)
    square = max(int((change**2).sum()) for change in changes)
    said = (method.sensitivity(bins), method.squared(bins))
    assert said[0] == total, f"sensitivity({bins}) is {said[0]}, but one person changes the answers by {total}"
    assert said[1] == square, f"squared({bins}) is {said[1]}, but one person changes the answers by {square}, squared"


def _comes_back(method: Privatizer, histogram: Integers) -> None:
    rows, bins = int(histogram.sum()), len(histogram)
    back = method.estimate(method.answers(histogram), rows, bins)
    assert back.shape == (bins,), "an estimate has a number for every bin"
    assert np.allclose(back, histogram, atol=1e-9), "without noise the histogram does not come back"
