"""Sums of independent numbers: the convolution of two laws."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats

TIMES = 4  # the length of a block over that of the kernel: shorter ones repeat more, longer ones lose more digits


def convolved(values: Floats, kernel: Floats) -> Floats:
    """The sums over i + j = k of values[i] kernel[j], along the first axis; in blocks, by fast transforms, so that what
    is small is not lost in the rounding of what is large and far away."""
    whole = len(values) + len(kernel) - 1
    size = 1 << (min(TIMES * len(kernel), whole) - 1).bit_length()
    step, wave = size - len(kernel) + 1, np.fft.rfft(kernel, size).reshape(-1, *[1] * (values.ndim - 1))
    found = np.zeros((whole, *values.shape[1:]))
    for start in range(0, len(values), step):
        part = np.fft.irfft(np.fft.rfft(values[start : start + step], size, axis=0) * wave, size, axis=0)
        found[start : start + size] += part[: whole - start]
    return found
