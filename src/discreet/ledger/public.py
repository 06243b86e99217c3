"""The public side of a release, as its entry holds it: the table, and what was asked for."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from discreet.io.coded import texts_of
from discreet.ledger.chain import compact
from discreet.ledger.documents import digest_of
from discreet.ledger.spending import PublicTable
from discreet.numbers import text
from discreet.privacy.values import Loss
from discreet.table import Schema

LONGEST_OPTION = 2000  # letters: a matrix of one's own is named by its digest, or a line could not be read by anybody


def public_table(schema: Schema) -> PublicTable:
    rows = {name: texts_of(column) for name, column in schema.key_columns.items()}
    return PublicTable(schema.keys, schema.count, schema.rows, digest_of({"columns": rows, "rows": schema.rows}))


def asked_for(schema: Schema, loss: Loss, way: Any) -> dict[str, Any]:
    """The release in sections, as its TOML file would have them; no address, and nothing secret."""
    from discreet.record.codec import loss_json

    table = {"keys": list(schema.keys), "count": schema.count, "contributions": schema.contributions}
    shares = {"shares": {name: text(share) for name, share in schema.shares}} if schema.shares else {}
    privacy = {name: value for name, value in loss_json(loss).items() if value not in (None, "0")}
    given = {item.name: getattr(way, item.name) for item in fields(way)}
    options = {item.name: _short(given[item.name]) for item in fields(way) if _said(given[item.name], item.default)}
    return {"table": {**table, **shares}, "privacy": privacy, way.name: options}


def _said(value: Any, default: Any) -> bool:
    if isinstance(value, (str, int, bool, tuple, type(None))):
        return bool(value != default)
    return True


def _short(value: Any) -> Any:
    from discreet.record.codec import encode

    try:
        written = encode(getattr(value, "mechanism", value))
        text = compact(written)
    except (TypeError, ValueError, AttributeError):
        return f"a {type(value).__name__}"
    return written if len(text) <= LONGEST_OPTION else {"sha256": digest_of(written)}
