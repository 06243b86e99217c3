"""manifest.json: what commits a release in parts. A file that it does not name is no part of the release."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.arrays import Integers
from discreet.errors import Damaged
from discreet.io import MANIFEST
from discreet.parts.tasks import MOST_PARTS, NAME
from discreet.public_map import SeenValues, together
from discreet.record.codec import decode_fields, encode
from discreet.record.release import WholeSeen, parse

TABLE, MEASUREMENTS = "table", "measurements"  # the folders of parts


@dataclass(frozen=True, eq=False)
class ManifestPart:
    """A part: its rows, the digests of its files, and the values in them. Nothing of it is secret: noise is in all."""

    rows: int
    table: str
    counts: SeenValues
    measurements: str | None = None
    measured: SeenValues | None = None


@dataclass(frozen=True, eq=False)
class Manifest:
    """All parts, in the order of their keys."""

    parts: tuple[ManifestPart, ...] = field(default=())

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    @cached_property
    def whole(self) -> WholeSeen:
        """What occurs in all parts."""
        measured = [part.measured for part in self.parts if part.measured is not None]
        return WholeSeen(together([part.counts for part in self.parts]), together(measured) if measured else None)

    def before(self) -> Iterator[Integers]:
        """Of each part how many rows with each noisy value are in earlier ones."""
        whole, several = self.whole, [part.measured or part.counts for part in self.parts]
        return earlier((whole.measured or whole.counts).values, several)

    def files(self, number: int) -> dict[str, str]:
        """The files of a part, and their digests."""
        part, name = self.parts[number], NAME.format(number)
        beside = {} if part.measurements is None else {f"{MEASUREMENTS}/{name}": part.measurements}
        return {f"{TABLE}/{name}": part.table, **beside}


def earlier(values: Integers, several: list[SeenValues]) -> Iterator[Integers]:
    """Of each of several tables how many rows with each of these values are in those before it."""
    running = np.zeros(len(values), dtype=np.int64)
    for one in several:
        yield running.copy()
        running[np.searchsorted(values, one.values)] += one.numbers


def write_manifest(manifest: Manifest) -> bytes:
    """A line for every part: a manifest can be long."""
    lines = ",\n".join("  " + json.dumps(encode(part)) for part in manifest.parts)
    return f'{{\n "parts": [\n{lines}\n ]\n}}\n'.encode()


def read_manifest(content: bytes) -> Manifest:
    """The manifest in a file, its types checked; refused if it is written in another way than it is here."""
    manifest: Manifest = decode_fields(Manifest, parse(content, MANIFEST), MANIFEST)
    if not 1 <= len(manifest.parts) <= MOST_PARTS:
        raise Damaged(MANIFEST, f"it has {len(manifest.parts):,} parts")
    for number, part in enumerate(manifest.parts):
        _check(part, f"{MANIFEST}.parts[{number}]")
    if write_manifest(manifest) != content:
        raise Damaged(MANIFEST, "it is written in another way than manifests are")
    return manifest


def _check(part: ManifestPart, where: str) -> None:
    if (part.measurements is None) != (part.measured is None):
        raise Damaged(where, "noisy values come without the digest of their file, or it without them")
    for one in (part.counts, part.measured):
        if one is None:
            continue
        right = len(one.values) == len(one.numbers) > 0 and bool((np.diff(one.values) > 0).all())
        if not right or one.numbers.min() < 1 or one.rows != part.rows:
            raise Damaged(where, "its histogram is none of as many rows")
