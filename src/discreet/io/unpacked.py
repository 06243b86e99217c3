"""How far a file that is packed may expand: a small one that takes gigabytes is no table that anybody has."""

from __future__ import annotations

from pathlib import Path

from discreet.errors import BadInput

ALWAYS = 64 << 20  # bytes that any file may unpack to
TIMES = 100  # its own size beyond: tables of people shrink to a fifth or a tenth, and zeros alone to a thousandth
UNPACK = "Unpack it first, if it is what you think"


def most_unpacked(packed: int) -> int:
    """Bytes that a file of this size may unpack to."""
    return max(ALWAYS, TIMES * packed)


def expands(path: Path, do: str = UNPACK) -> BadInput:
    found = f"it unpacks to more than {TIMES} times its size, and to more than {ALWAYS >> 20} MiB"
    return BadInput(f"{path} was to be read", found, do)
