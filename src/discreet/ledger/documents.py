"""What is too long for a line of the ledger: kept sums on their rows, and the sums themselves. Stored by digest."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.arrays import Integers
from discreet.lattice.invariants import Kept, Keys, kept_json, kept_of
from discreet.ledger.chain import compact

MOST_LETTERS = 20_000_000  # of a document, before it is packed: a million rows or so; reading more takes too long


@dataclass(frozen=True, eq=False)
class KeptTable:
    """Which sums were kept, and the public rows that they are sums of."""

    count: str
    columns: Mapping[str, list[str]] = field(repr=False)  # by key column, the value of every row
    kept: tuple[Kept, ...]
    rows: int

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.columns)


def kept_table(count: str, keys: Keys, kept: tuple[Kept, ...], rows: int) -> KeptTable:
    """A table without keys is known by the places of its rows."""
    columns = {name: [str(value) for value in keys[name]] for name in keys}
    return KeptTable(count, columns or {"row": [str(place + 1) for place in range(rows)]}, kept, rows)


def written_kept(table: KeptTable) -> tuple[str, str] | None:
    """Digest and packed text, or None where it is too long to be stored."""
    kept = [kept_json(what) for what in table.kept]
    return _packed({"count": table.count, "columns": dict(table.columns), "kept": kept, "rows": table.rows})


def read_kept(packed: str, digest: str) -> KeptTable:
    value = _unpacked(packed, digest)
    kept = tuple(kept_of(what) for what in value["kept"])
    return KeptTable(value["count"], value["columns"], kept, value["rows"])


def written_sums(sums: Integers) -> tuple[str, str] | None:
    return _packed({"sums": sums.tolist()})


def read_sums(packed: str, digest: str) -> list[int]:
    values: list[int] = _unpacked(packed, digest)["sums"]
    return values


def digest_of(value: object) -> str:
    """sha256 of something public, in a form that does not depend on the order of names."""
    return hashlib.sha256(compact(value).encode()).hexdigest()


def _packed(value: Mapping[str, object]) -> tuple[str, str] | None:
    text = compact(value)
    if len(text) > MOST_LETTERS:
        return None
    packed = base64.b64encode(zlib.compress(text.encode(), 6)).decode()
    return hashlib.sha256(text.encode()).hexdigest(), packed


def _unpacked(packed: str, digest: str) -> dict[str, Any]:
    """What was packed, if it is still the same; a document that would unpack into far too much is none of ours."""
    unpacker = zlib.decompressobj()
    text = unpacker.decompress(base64.b64decode(packed), MOST_LETTERS + 1)
    if hashlib.sha256(text).hexdigest() != digest:
        raise ValueError("it does not say what it said when it was written")
    value: dict[str, Any] = json.loads(text)
    return value
