"""What is too long for a line of the ledger: kept sums on their rows, and the sums themselves. Stored by digest."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput
from discreet.io.coded import texts_of
from discreet.lattice.inequalities import Inequalities
from discreet.lattice.invariants import Kept, Keys, invariant_matrix, kept_json, kept_of
from discreet.ledger.chain import compact

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 2**62  # a sum: what counts may add up to
MOST_LETTERS = 20_000_000  # of a document, before it is packed: a million rows or so; reading more takes too long


@dataclass(frozen=True, eq=False)
class KeptTable:
    """Which sums were kept, and the public rows that they are sums of."""

    count: str
    columns: Mapping[str, list[str]] = field(repr=False)  # by key column, the value of every row
    kept: tuple[Kept, ...]
    rows: int
    limits: Inequalities | None = None  # that the counts of these rows meet
    count_as_key: bool = False  # written with a key more than it has, to be compared; its sums go by their old names

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(self.columns)

    @cached_property
    def matrix(self) -> csr_array:
        """A row for every sum, a column for every row of the table."""
        return invariant_matrix(self.kept, self.columns, self.rows, some=False).matrix

    @property
    def sums(self) -> int:
        return int(self.matrix.shape[0])


def kept_table(
    count: str, keys: Keys, kept: tuple[Kept, ...], rows: int, limits: Inequalities | None = None
) -> KeptTable:
    """A table without keys is known by the places of its rows."""
    columns = {name: texts_of(keys[name]) for name in keys}
    return KeptTable(count, columns or {"row": [str(place + 1) for place in range(rows)]}, kept, rows, limits)


def written_kept(table: KeptTable) -> tuple[str, str] | None:
    """Digest and packed text, or None where it is too long to be stored."""
    return _packed(_plain(table))


def _plain(table: KeptTable) -> dict[str, object]:
    kept = [kept_json(what) for what in table.kept]
    limits = None if table.limits is None else table.limits.as_json()
    return {
        "count": table.count, "columns": dict(table.columns), "kept": kept, "rows": table.rows, "limits": limits,
    }  # fmt: skip


def read_kept(packed: str, digest: str) -> KeptTable:
    value = _unpacked(packed, digest)
    try:
        kept = tuple(kept_of(what) for what in value["kept"])
        limits = None if value["limits"] is None else Inequalities.of_json(value["limits"]).check(value["rows"])
        found = KeptTable(value["count"], value["columns"], kept, value["rows"], limits)
        if compact(_plain(found)) != compact(value) or not _has_rows(found) or not (found.sums or limits):
            raise ValueError("it is written in another way")
    except (KeyError, TypeError, AttributeError, OverflowError, BadInput) as error:
        raise ValueError(f"it holds no kept sums ({error})") from error
    return found


def _has_rows(table: KeptTable) -> bool:
    """Whether every key column is a list of texts, one for each row."""
    columns = table.columns.values()
    return all(isinstance(one, list) and len(one) == table.rows and set(map(type, one)) <= {str} for one in columns)


def written_sums(sums: Integers) -> tuple[str, str] | None:
    return _packed({"sums": sums.tolist()})


def read_sums(packed: str, digest: str, table: KeptTable) -> Integers:
    found = _unpacked(packed, digest).get("sums")
    if not isinstance(found, list) or any(type(one) is not int or abs(one) > MOST for one in found):
        raise ValueError("it holds no sums")
    if len(found) != table.sums:
        raise ValueError(f"it holds {len(found)} sums, and {table.sums} were kept")
    return np.array(found, dtype=np.int64)


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
    try:
        text = zlib.decompressobj().decompress(base64.b64decode(packed), MOST_LETTERS + 1)
        if hashlib.sha256(text).hexdigest() != digest:
            raise ValueError("it does not say what it said when it was written")
        value = json.loads(text)
    except (zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not isinstance(value, dict):
        raise ValueError("it has no fields")
    return value
