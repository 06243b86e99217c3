"""table.csv-metadata.json: what is in the CSV files of a release, in the vocabulary of CSV on the Web (W3C)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from discreet.record.words import pages

if TYPE_CHECKING:
    from discreet.record.release import About, PublishedTable, ReleaseRecord

CONTEXT = ["http://www.w3.org/ns/csvw", {"@language": "en"}]
DIALECT = {
    "encoding": "utf-8", "delimiter": ",", "quoteChar": '"', "doubleQuote": True, "lineTerminators": ["\n"],
    "header": True, "headerRowCount": 1, "skipInitialSpace": False, "trim": False,
}  # fmt: skip
ABOUT = {  # our fields in the terms of Dublin Core and DCAT, which the standard knows by these prefixes
    "title": "dc:title", "source": "dc:source", "contact": "dcat:contactPoint", "licence": "dc:license",
    "note": "dc:description",
}  # fmt: skip
ANSWERS = ("estimate", "sd", "low", "high")
LINK = re.compile(r"https?://[!#-;=?-Z_a-z~%\[\]]+")  # an address, and nothing else


WORDED = ("dc:provenance", "dc:description")  # what is said in sentences, which may change


def is_plain(text: str, record: ReleaseRecord[Any]) -> bool:
    """Whether it is what is written of this record, but for sentences: in other words it may be of another version."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(found, dict) or json.dumps(found, indent=1) + "\n" != text:
        return False
    return bool(_without_sentences(found) == _without_sentences(json.loads(render(record))))


def _without_sentences(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: isinstance(one, str) if name in WORDED else _without_sentences(one) for name, one in value.items()
        }
    return [_without_sentences(one) for one in value] if isinstance(value, list) else value


def render(record: ReleaseRecord[Any]) -> str:
    """The text of the file; every CSV of the release is in it."""
    tables = [one for table in record.tables for one in _files(record, table)]
    value = {
        "@context": CONTEXT, **_about(record.about), "dc:created": record.created, "dc:creator": record.software,
        "dc:provenance": record.guarantee.sentence, "dialect": DIALECT, "tables": tables,
    }  # fmt: skip
    return json.dumps(value, indent=1) + "\n"


def _about(about: About) -> dict[str, object]:
    found: dict[str, object] = {ABOUT[name]: text for name, text in vars(about).items() if text is not None}
    licence = about.licence
    return found | ({"dc:license": {"@id": licence}} if licence and LINK.fullmatch(licence) else {})


def _files(record: ReleaseRecord[Any], table: PublishedTable) -> list[dict[str, object]]:
    keys, count = table.columns[:-1], table.columns[-1]
    long = table.answers is not None
    found = [_table(table.file, keys, {count: "integer"}, "table")]
    for one in table.measurements:
        named = ("question", *keys) if long else keys
        found.append(_table(one.file, named, {count: "integer"}, "measurements"))
    if table.answers is not None:
        numbers = {count: "integer", **dict.fromkeys(ANSWERS, "decimal")}
        found.append(_table(table.answers, ("question", *keys), numbers, "answers"))
    return found


def _table(file: str, keys: tuple[str, ...], numbers: dict[str, str], what: str) -> dict[str, object]:
    names = column_names((*keys, *numbers))
    columns: list[dict[str, object]] = [
        {"name": name, "titles": title, "datatype": "string"} for name, title in zip(names, keys)
    ]
    for name, (title, kind) in zip(names[len(keys) :], numbers.items()):
        columns.append({"name": name, "titles": title, "datatype": kind, "required": True})
    schema: dict[str, object] = {"columns": columns, **({"primaryKey": names[: len(keys)]} if keys else {})}
    return {"url": file, "dc:description": pages.FILES[what], "tableSchema": schema}


def column_names(titles: tuple[str, ...]) -> list[str]:
    """Names as the standard allows them: letters, digits and the underscore, not first; all else in hexadecimal."""
    found = [_name(title) or f"column_{place}" for place, title in enumerate(titles, 1)]
    return [f"{name}.{place}" if found.index(name) != place else name for place, name in enumerate(found)]


def _name(title: str) -> str:
    encoded = "".join(
        chr(b) if chr(b).isalnum() and b < 128 else "_" if b == 95 else f"%{b:02X}" for b in title.encode()
    )
    return f"%5F{encoded[1:]}" if encoded.startswith("_") else encoded
