"""The one source of randomness: OpenSSL's generator, seeded by the operating system. A seeded one serves tests only."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import BadInput, short
from discreet.numbers import whole

Words = NDArray[Any]


@dataclass(frozen=True)
class Bits:
    """Random words. `private` is False as soon as a seed is involved, and everything made from it says so."""

    seed: int | None = None
    _generator: np.random.Generator | None = field(default=None, repr=False, compare=False)

    @cached_property
    def private(self) -> bool:
        return self.seed is None

    def bytes(self, size: int) -> bytes:
        if self._generator is not None:
            return self._generator.bytes(size)
        from ssl import RAND_bytes

        return RAND_bytes(size)

    def words(self, size: int, bits: int = 64) -> Words:
        """`size` independent uniform words of 8, 16, 32 or 64 bits."""
        return np.frombuffer(self.bytes(size * bits // 8), dtype=f"<u{bits // 8}")

    def integer(self, bits: int) -> int:
        """A uniform integer below 2^bits."""
        size = (bits + 7) // 8
        return int.from_bytes(self.bytes(size), "little") >> (8 * size - bits)

    def below(self, bound: int) -> int:
        """A uniform integer below `bound`, by rejection."""
        bits = bound.bit_length()
        while (number := self.integer(bits)) >= bound:
            pass
        return number


def secure() -> Bits:
    """Fit for a release."""
    return Bits()


def seeded(seed: int) -> Bits:
    """Repeatable, for tests and simulations: nothing drawn from it is private."""
    return Bits(seed, np.random.default_rng(seed))


def simulated(rng: np.random.Generator) -> Bits:
    """Words from a simulation's own generator: nothing drawn from it is private."""
    return Bits(0, rng)


def source(seed: int | None = None, given: Bits | None = None) -> Bits:
    """The bits that were given, or else those of a seed, or else such as are fit for a release."""
    if given is None:
        return secure() if seed is None else seeded(whole(seed, "the seed", 0))
    if not isinstance(given, Bits):
        found = "that is no source of random bits"
        raise BadInput(f"bits were given as {short(given)}", found, "Leave them out, or give a seed")
    return given


def unguessable() -> str:
    """A word that nobody can guess, to know something again by. No noise is made of it."""
    from ssl import RAND_bytes

    return RAND_bytes(16).hex()
