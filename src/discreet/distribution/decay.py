"""Sums weighted by powers of one ratio, a^|i-l|, in linear time and with every term positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Floats


def running(values: Floats, ratio: float) -> Floats:
    """out[i] = sum over k <= i of ratio^(i-k) values[k], along the first axis, by doubling."""
    out = np.array(values, dtype=float)
    step, power = 1, ratio
    while step < len(out) and power > 0:
        out[step:] += power * out[:-step]
        step, power = 2 * step, power * power
    return out


def two_sided(values: Floats, ratio: float) -> Floats:
    """out[l] = sum over i of ratio^|i-l| values[i], along the first axis."""
    left, right = running(values, ratio), running(values[::-1], ratio)[::-1]
    left[:-1] += ratio * right[1:]
    return left


def undo_two_sided(values: Floats, ratio: float) -> Floats:
    """The inverse of `two_sided` on vectors: a matrix with three diagonals."""
    out = (1 + ratio * ratio) * values
    out[0], out[-1] = values[0], values[-1]
    out[1:] -= ratio * values[:-1]
    out[:-1] -= ratio * values[1:]
    return out / (1 - ratio * ratio)


def moments(values: Floats, ratio: float) -> tuple[Floats, Floats, Floats]:
    """out_m[j] = sum over i <= j of ratio^(j-i) (j-i)^m values[i], m = 0, 1, 2."""
    zeroth = running(values, ratio)
    first = running(_shifted(ratio * zeroth), ratio)
    second = running(_shifted(ratio * (zeroth + 2 * first)), ratio)
    return zeroth, first, second


def _shifted(values: Floats) -> Any:
    return np.concatenate([[0.0], values[:-1]])


def running_maximum(values: Floats, ratio: float) -> Floats:
    """out[i] = max over k <= i of ratio^(i-k) values[k], along the first axis; the values must not be negative."""
    out = np.array(values, dtype=float)
    step, power = 1, ratio
    while step < len(out) and power > 0:
        np.maximum(out[step:], power * out[:-step], out=out[step:])
        step, power = 2 * step, power * power
    return out
