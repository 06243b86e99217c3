"""Public randomness: words that anybody can expand again from a published seed. Nothing secret may rest on them."""

from __future__ import annotations

from hashlib import shake_256

import numpy as np
from numpy.typing import NDArray


def public_words(seed: str, purpose: str, size: int, bits: int = 64) -> NDArray[np.uint64]:
    """`size` words below 2^bits, expanded from the seed by SHAKE-256; another purpose gives other words."""
    stream = shake_256(f"{seed} {purpose}".encode()).digest(8 * size)
    return np.frombuffer(stream, dtype="<u8") >> np.uint64(64 - bits)
