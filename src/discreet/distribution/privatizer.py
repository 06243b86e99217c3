"""What a privatizer is. Each is a module in `methods`; putting a file there registers it under the file's name."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Protocol, cast, runtime_checkable

from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.errors import choose
from discreet.numbers import Epsilon
from discreet.sample.bits import Bits


class Privatizer(Protocol):
    """Integer answers about the histogram of counts, which get integer noise; then an estimate of the histogram."""

    SUMMARY: str
    PROJECTION: str  # how the estimate becomes a distribution, unless the user says otherwise

    def answers(self, histogram: Integers) -> Integers:
        """What is measured, without noise."""

    def sensitivity(self, bins: int) -> int:
        """The largest total change of the answers when one row's count changes by one: exact, not a bound."""

    def estimate(self, noisy: NDArray[Any], rows: int, bins: int) -> Floats:
        """The histogram that the noisy answers speak for; entries may be negative."""


@runtime_checkable
class Idealised(Protocol):
    """A privatizer of continuous noise: its proof is for real numbers, not for the floats of a computer."""

    def noise(self, size: int, epsilon: Epsilon, delta: Fraction, bits: Bits) -> Floats:
        """Noise for the answers."""


@lru_cache(maxsize=1)
def privatizers() -> dict[str, Privatizer]:
    """Every privatizer by name."""
    from discreet.distribution import methods

    names = sorted(module.name for module in iter_modules(methods.__path__))
    return {name.replace("_", "-"): cast(Privatizer, import_module(f"{methods.__name__}.{name}")) for name in names}


def privatizer(name: str) -> Privatizer:
    return privatizers()[choose(name, privatizers(), "privatizer")]
