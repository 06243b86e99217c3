"""Sums of independent numbers: the convolution of two laws.

scipy.signal has the same, and takes a second to load: longer than most estimates that ask for it.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats

TIMES = 4  # the length of a block over that of the kernel: shorter ones repeat more, longer ones lose more digits


def convolved(values: Floats, kernel: Floats) -> Floats:
    """The sums over i + j = k of values[i] kernel[j], along the first axis; in blocks, by fast transforms, so that what
    is small is not lost in the rounding of what is large and far away."""
    size = 1 << (TIMES * len(kernel) - 1).bit_length()
    step, rest = size - len(kernel) + 1, values.shape[1:]
    number, column = -(-len(values) // step), (-1, *[1] * len(rest))
    blocks = np.zeros((number * step, *rest))
    blocks[: len(values)] = values
    waves = np.fft.rfft(blocks.reshape(number, step, *rest), size, axis=1) * np.fft.rfft(kernel, size).reshape(column)
    parts = np.fft.irfft(waves, size, axis=1)
    found = np.zeros((number + 1, step, *rest))
    found[:-1] += parts[:, :step]
    found[1:, : size - step] += parts[:, step:]
    return found.reshape(-1, *rest)[: len(values) + len(kernel) - 1]
