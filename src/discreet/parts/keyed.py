"""Bits that are the same whenever a part is worked on again, and others for other data, another plan, another version.

A task that is run twice must not draw twice: two noisy versions of one count would be two releases. So the bits of a
part are a function of a key, which lives in memory only, and of everything that its noise depends on: SHAKE-256 over
the length-prefixed domain, key, digest of the data, digest of the plan, version, part, purpose and counter. Or, where
no second assumption is wanted, words of the operating system are written down once before they are used.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field, replace
from hashlib import sha256, shake_256
from pathlib import Path
from typing import Any, Literal

import numpy as np

from discreet.errors import Damaged
from discreet.sample.bits import Bits, unguessable

DOMAIN = b"discreet: bits of a part"
KEY_BYTES = 32  # no search through 2^256 keys ends
KEYED_CHUNK = 1 << 16  # bytes of SHAKE-256 at a time: those of some thirty thousand rows
COMMITTED_CHUNK = 1 << 20  # bytes that are written down at a time

Octets = bytes  # inside a class with a method of that name
Kind = Literal["keyed", "os"]


@dataclass(frozen=True)
class PartAddress:
    """Whose bits: all that noise depends on, so that no other data, plan or version ever meets them."""

    data: bytes  # digest of what the noise is added to; it goes into the hash and nowhere else
    plan: bytes  # digest of what was asked for
    version: str  # of the software
    part: int
    purpose: str = "rows"


def absorbed(key: bytes, address: PartAddress, use: str, counter: int) -> Any:
    """SHAKE-256 after every field, each with its length before it: no two addresses are written alike."""
    fields = (
        DOMAIN, key, address.data, address.plan, address.version.encode(), address.part.to_bytes(8, "big"),
        address.purpose.encode(), use.encode(), counter.to_bytes(8, "big"),
    )  # fmt: skip
    state = shake_256()
    for item in fields:
        state.update(len(item).to_bytes(8, "big"))
        state.update(item)
    return state


@dataclass(frozen=True)
class Stream(Bits):
    """Bits in chunks that are numbered: what is read does not depend on how much is asked for at a time."""

    key: Octets = field(default=b"", repr=False, compare=False)
    address: PartAddress | None = field(default=None, repr=False)
    _state: dict[str, Any] = field(default_factory=lambda: {"counter": 0, "left": b""}, repr=False, compare=False)

    def bytes(self, size: int) -> Octets:
        found: list[Octets] = []
        left: Octets = self._state["left"]
        missing = size
        while len(left) < missing:
            found.append(left)
            missing -= len(left)
            left = self.chunk(self._state["counter"])
            self._state["counter"] += 1
        found.append(left[:missing])
        self._state["left"] = left[missing:]
        return b"".join(found)

    def chunk(self, number: int) -> Octets:
        """The chunk of that number, always the same."""
        raise NotImplementedError


@dataclass(frozen=True)
class Keyed(Stream):
    """As good as SHAKE-256 is as a keyed function."""

    def chunk(self, number: int) -> Octets:
        assert self.address is not None
        found: Octets = absorbed(self.key, self.address, "bits", number).digest(KEYED_CHUNK)
        return found


@dataclass(frozen=True)
class Committed(Stream):
    """Words of the operating system, written once before use: whoever comes second reads what is there.

    On the disk they stand under a pad of the key, and under a name that only the key tells: uniform words under any
    pad are uniform words, so nothing is assumed of the pad but that what is left on the disk tells nothing.
    """

    folder: str = ""

    def chunk(self, number: int) -> Octets:
        assert self.address is not None
        place = Path(self.folder) / absorbed(self.key, self.address, "name", number).digest(16).hex()
        if not place.exists():
            _write_once(place, Bits().bytes(COMMITTED_CHUNK))
        stored = place.read_bytes()
        if len(stored) != COMMITTED_CHUNK:
            raise Damaged("the words of a part", "a file of them is not as long as it was")
        return xor(stored, absorbed(self.key, self.address, "pad", number).digest(COMMITTED_CHUNK))


def _write_once(place: Path, words: bytes) -> None:
    """Whole, on the disk, and never over what is there: a link fails where the name is taken."""
    draft = place.with_name(f"{place.name}.{unguessable()}")
    with draft.open("xb") as file:
        file.write(words)
        file.flush()
        os.fsync(file.fileno())
    with contextlib.suppress(FileExistsError):
        os.link(draft, place)
    draft.unlink()
    folder = os.open(place.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the name too: after a crash of the machine nobody may draw again
    finally:
        os.close(folder)


def xor(one: bytes, other: bytes) -> bytes:
    return (np.frombuffer(one, dtype=np.uint8) ^ np.frombuffer(other, dtype=np.uint8)).tobytes()


@dataclass(frozen=True)
class Randomness:
    """Where the bits of a release in parts come from. It holds the key: it is never written, shown or logged."""

    key: bytes = field(repr=False)
    seed: int | None = None  # of a test: nothing drawn from it is private
    folder: str | None = None  # where words of the operating system are written down; None: a keyed generator

    @property
    def kind(self) -> Kind:
        return "keyed" if self.folder is None else "os"

    def bits(self, address: PartAddress) -> Bits:
        if self.folder is None:
            return Keyed(self.seed, key=self.key, address=address)
        return Committed(self.seed, key=self.key, address=address, folder=self.folder)

    def sealed(self, secret: bytes, address: PartAddress) -> bytes:
        """Under a pad that only the key tells, to travel between a task and who gave it; the same opens it.

        One address seals one text: it has the digest of the data, and a purpose of its own."""
        return xor(secret, absorbed(self.key, address, "seal", 0).digest(len(secret)))


def drawn(seed: int | None = None, folder: str | None = None) -> Randomness:
    """A new key, from the operating system; of a seed always the same one, which is none."""
    if seed is not None:
        return Randomness(sha256(f"seed {seed}".encode()).digest(), seed)
    return Randomness(Bits().bytes(KEY_BYTES), None, folder)


def destroyed(randomness: Randomness) -> Randomness:
    """Without its key, and without what was written down: what the disk may still hold is noise to everybody.

    The folder loses its name first: a late copy of a task, which finds no words, must not be able to write others."""
    if randomness.folder is not None:
        from discreet.io.place import removed

        removed(Path(randomness.folder))
    return replace(randomness, key=b"")
