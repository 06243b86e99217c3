"""A source of bits that says what it is told: the way to test every branch of an exact sampler."""

from __future__ import annotations

from typing import Any

import numpy as np


class Told:
    """Words are handed out in the order given; asking for more than there are is an error."""

    private = False

    def __init__(self, heads: Any = (), tails: Any = (), integers: Any = ()) -> None:
        self.heads, self.tails = np.asarray(heads, dtype=np.uint16), np.asarray(tails, dtype=np.uint64)
        self.integers = list(integers)

    def words(self, size: int, bits: int = 64) -> Any:
        if bits == 16:
            out, self.heads = self.heads[:size], self.heads[size:]
        else:
            out, self.tails = self.tails[:size], self.tails[size:]
        assert len(out) == size, "the sampler asked for more words than were foreseen"
        return out

    def integer(self, bits: int) -> int:
        assert bits == 64 and self.integers, "the sampler asked for more bits than were foreseen"
        return int(self.integers.pop(0))
