"""The rows of a mechanism that is a matrix, as laws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate


@dataclass(frozen=True)
class WeightRow:
    """A row of integer weights, given by their running sums; the last is the total."""

    running: tuple[int, ...]

    @property
    def centre(self) -> tuple[int, int]:
        return 0, len(self.running) - 1

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        part, total = self.running[min(k, len(self.running) - 1)] << bits, self.running[-1]
        return part // total, -(-part // total)


@dataclass(frozen=True)
class PowerRow:
    """A row whose j-th mass is proportional to odds^-powers[j]."""

    odds: Fraction
    powers: tuple[int, ...]

    @property
    def centre(self) -> tuple[int, int]:
        return 0, len(self.powers) - 1

    def below(self, k: int, bits: int) -> tuple[int, int]:
        if k < 0:
            return 0, 0
        if k >= len(self.powers) - 1:
            return 1 << bits, 1 << bits
        low, high = _power_sums(self.odds, self.powers, bits + 64)
        return (low[k] << bits) // high[-1], min(1 << bits, -(-(high[k] << bits) // low[-1]))


@lru_cache(maxsize=256)
def _power_sums(odds: Fraction, powers: tuple[int, ...], bits: int) -> tuple[list[int], list[int]]:
    """Running sums of 2^bits odds^-power, rounded down and up."""
    low, high = [1 << bits], [1 << bits]
    for _ in range(max(powers)):
        low.append(low[-1] * odds.denominator // odds.numerator)
        high.append(-(-high[-1] * odds.denominator // odds.numerator))
    return list(accumulate(low[k] for k in powers)), list(accumulate(high[k] for k in powers))
