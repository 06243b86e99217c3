"""Laws on 0, 1, ... that are known by the ratios of successive weights, which only fall: summed outwards from the mode,
by enclosures, so that they can be inverted exactly."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from discreet.lattice.chances import integer_bounds

if TYPE_CHECKING:
    from flint import arb


class Unimodal(Protocol):
    """Frozen and hashable."""

    @property
    def mode(self) -> int:
        """Where it is largest: the ratio crosses one there."""

    @property
    def last(self) -> int | None:
        """The largest value that has a weight; None where there is no largest."""

    def ratio(self, k: int) -> tuple[int, int]:
        """P(k + 1) / P(k), as a fraction; it only falls with k."""

    def __hash__(self) -> int: ...


def below(law: Unimodal, k: int, bits: int) -> tuple[int, int]:
    """floor and ceiling, or wider, of 2^bits P(X <= k)."""
    if k < 0:
        return 0, 0
    if law.last is not None and k >= law.last:
        return 1 << bits, 1 << bits
    first, bounds = running(law, bits)
    if k < first:
        return 0, bounds[0][1]
    return bounds[k - first] if k - first < len(bounds) else (bounds[-1][0], 1 << bits)


@lru_cache(maxsize=8192)
def running(law: Unimodal, bits: int) -> tuple[int, list[tuple[int, int]]]:
    """The smallest value worth a number, and bounds on 2^bits P(X <= k) from there on."""
    from flint import arb, ctx

    with ctx.workprec(bits + 64):
        down, rest_below = steps(law, False, bits + 24)
        up, rest_above = steps(law, True, bits + 24)
        sum_so_far, sums = rest_below.union(arb(0)), []
        for weight in [*reversed(down), arb(1), *up]:
            sum_so_far = sum_so_far + weight
            sums.append(sum_so_far)
        scale = arb(2) ** bits / (sum_so_far + rest_above.union(arb(0)))
        return law.mode - len(down), [integer_bounds(part * scale, bits) for part in sums]


def steps(law: Unimodal, upwards: bool, precision: int) -> tuple[list[arb], arb]:
    """Weights relative to the mode's, going away from it until they are negligible; and a bound on all the others."""
    from flint import arb

    k, weight, weights = law.mode, arb(1), []
    smallest = arb(2) ** -precision
    while k != law.last if upwards else k > 0:
        top, bottom = law.ratio(k if upwards else k - 1)
        ratio = arb(top) / bottom if upwards else arb(bottom) / top
        weight = weight * ratio
        k += 1 if upwards else -1
        weights.append(weight)
        if weight < smallest and ratio < 1:
            # ratios only fall on the way out, so the rest is less than a geometric series
            return weights, weight * ratio / (1 - ratio)
    return weights, arb(0)
