"""Independent noise on every bin of the histogram. One person takes a row out of one bin and puts it into the next."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from discreet.arrays import Floats, Integers

SUMMARY = "independent noise on every bin"
PROJECTION = "simplex"


def answers(histogram: Integers) -> Integers:
    return histogram


def sensitivity(bins: int) -> int:
    return 2


def squared(bins: int) -> int:
    return 2


def estimate(noisy: NDArray[Any], rows: int, bins: int) -> Floats:
    return noisy.astype(float)
