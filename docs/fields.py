"""The field guide to release.json, made from the types of the record: every field, its type, meaning, who checks it.

A meaning is the comment beside the field in the source; what has none there is said here. A test fails where a field
has no meaning at all.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from dataclasses import Field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from discreet.arrays import Floats, Integers
from discreet.certify.prove import Proof
from discreet.privacy.values import Change, Guarantee, Neighbours
from discreet.record.codec import hints_of
from discreet.record.release import About, LedgerEntry, Measurements, PublishedTable, ReleaseRecord, SchemaFacts
from discreet.ways import PACKAGES, way_named

HEAD = """# release.json, field by field

Every release folder holds a `release.json`: all facts about the release as numbers and codes, no sentence. This page is
made from the types that read and write it. The same as a JSON Schema ships with the package (`release.schema.json`).
Numbers that privacy depends on are strings that hold exact rationals or decimals (`"1/2"`, `"0.1"`).

The last column says what `discreet verify` does with a field: *proved again* from the mechanism; *replayed* from the
measurements; *compared* with the files and with other fields; or *on trust*: nothing in the folder contradicts every
other value, [and why](guarantee.md#what-verify-takes-on-trust). An edit of any field breaks the seal. An edit with a
new seal is found by all but the last, and by the digest in any case ([for the auditor](auditor.md)). The tests edit
every field of releases of every kind, and hold this column to what is found.
"""
MEANINGS = {
    "schema_version": "version of this format", "software": "what made it", "created": "when, in UTC",
    "private": "whether the noise came from the operating system; false: from a seed, and nothing is protected",
    "way": "which way the release went; the fields below the last heading are those of that way",
    "schema": "the table, as everybody may know it", "tables": "the published files",
    "guarantee": "what is promised", "certificate": "the proof for one unit in one row, where there is one",
    "about": "who publishes what", "ledger": "the entry of the ledger that it was paid from",
    "seal": "sha256 of the compact JSON, sorted by key, of all other fields",
    "SchemaFacts.keys": "the key columns", "SchemaFacts.count": "the column of counts",
    "SchemaFacts.rows": "how many rows there are", "SchemaFacts.order": "whether rows are sorted by their keys",
    "SchemaFacts.max_count": "the largest count that was provided for; null: none",
    "SchemaFacts.contributions": "in how many rows one person may be counted",
    "PublishedTable.file": "its name", "PublishedTable.columns": "its columns, in order",
    "PublishedTable.measurements": "the files of noisy values that it was made from", "Measurements.file": "its name",
    "Guarantee.loss": "epsilon (or alpha), delta and rho, in fields of their own",
    "Guarantee.unit": "who the neighbours are", "Guarantee.grade": "how firmly it is known",
    "Guarantee.remarks": "what the promise does not say by itself: codes and numbers",
    "Neighbours.change": "the smallest change that survives what is kept, in fields of its own",
    "Neighbours.rate": "what one unit of distance costs",
    "Neighbours.contributions": "in how many rows one person may be counted",
    "Neighbours.norm": "how distance is measured", "Change.code": "the kind of change",
    "Proof.epsilon": "the epsilon that was proved", "Proof.delta": "the delta that was proved",
    "Proof.smallest_epsilon": "the least epsilon that holds, rounded up", "Proof.grade": "how firmly it is known",
    "Proof.holds": "always true: nothing else is published",
    "LedgerEntry.dataset": "the data set", "LedgerEntry.number": "the number of the entry",
    "LedgerEntry.hash": "the hash of the entry", "LedgerEntry.token": "proves that this release was the one charged",
    "mechanism": "how the counts were made", "distribution": "the published distribution of counts",
    "invariants": "the sums that were kept exactly", "name": "its name", "form": "the mechanism itself, exactly",
    "sizes": "the mechanism of every size", "column": "the key column that holds the sizes",
    "SharedMechanism.column": "the key column that says which column of counts a row is of",
    "shares": "of the budget, with the mechanism of each column", "counted": "the column of counts",
    "Neighbours.columns": "of counts with shares of their own: one person is counted in each; absent: there are none",
    "what": "what was measured", "loss": "what it cost", "refined": "whether the distribution was estimated again",
    "parts": "what was measured, and what each part cost", "measurements": "the noisy answers",
    "noise": "the law of the noise", "gap": "how far the projection is from the nearest table, at most",
    "multipliers": "of the kept sums: they prove that no table is nearer", "law": "the law of the noise",
    "parameters": "the exact numbers of the law", "sampler": "how it was drawn",
    "nonnegative": "whether negative counts were ruled out", "nonnegative_by": "how",
    "inequalities": "what else the noise was held to", "kept": "what was asked to be kept",
    "labels": "a name for each sum",
    "sums": "the true sums", "Sums.rows": "a list of ones and zeros for each sum, by row of the table",
    "determined": "rows that the kept sums fix", "fixed": "rows that have only one value left",
    "dimensions": "how many directions the noise is free in", "question": "what was asked", "share": "of the budget",
    "QuestionFacts.noise": "the law of its noise", "max_count": "the largest count", "DistributionFacts.distribution":
    "the share of rows of every count 0, 1, ...",
}  # fmt: skip
PLACES = {  # in release.json; the facts of a way stand at its top
    "ReleaseRecord": "", "SchemaFacts": "schema", "PublishedTable": "tables[]", "Guarantee": "guarantee",
    "Measurements": "tables[].measurements[]", "Neighbours": "guarantee.unit", "Change": "guarantee.unit",
    "Proof": "certificate", "About": "about", "LedgerEntry": "ledger", "DistributionFacts": "distribution",
    "InvariantFacts": "invariants", "Sums": "invariants.kept[]", "LatticeFacts": "mechanism",
    "MeasuredMargins": "mechanism", "QuestionFacts": "mechanism.questions[]", "AimFacts": "mechanism.aim",
    "ProjectionFacts": "mechanism.projection", "PartFacts": "mechanism.parts[]", "Sized": "mechanism.sizes[]",
    "Shared": "mechanism.shares[]",
}  # fmt: skip
PROVED = ("guarantee", "certificate", "mechanism.sizes", "mechanism.shares", "mechanism.column")
BY_NAME = ("name", "form", "law", "parameters", "mechanism", "noise", "loss", "share")  # of a mechanism: proved again
COMPARED = ("schema", "tables", "digests", "mark", "private", "seal", "software", "schema_version", "way", "parts")
WAYS = tuple(PACKAGES)
GUARANTEE = Path(__file__).resolve().parent / "guarantee.md"
PARTS = (SchemaFacts, PublishedTable, Measurements, Guarantee, Neighbours, Change, Proof, About, LedgerEntry)


def page() -> str:
    parts = [HEAD, "## The record\n", ReleaseRecord.__doc__ or "", "", _table(ReleaseRecord, leave_out=("facts",))]
    for kind in PARTS:
        parts.append(f"## {_title(kind)}\n\n{inspect.cleandoc(kind.__doc__ or '')}\n\n{_table(kind)}")
    for name in WAYS:
        facts = way_named(name).facts
        parts.append(f"## The way `{name}`\n")
        for kind in _inside(facts):
            parts.append(f"### {_title(kind)}\n\n{inspect.cleandoc(kind.__doc__ or '')}\n\n{_table(kind)}")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts))


def _title(kind: type) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).capitalize()


def _table(kind: type, leave_out: tuple[str, ...] = ()) -> str:
    lines = ["| field | type | meaning | `verify` |", "|---|---|---|---|"]
    for name, shown, meaning in described(kind):
        if name not in leave_out:
            lines.append(f"| `{name}` | {shown} | {meaning} | {_checked(kind, name)} |")
    return "\n".join(lines) + "\n"


def described(kind: type) -> Iterator[tuple[str, str, str]]:
    """Every field of a type: its name, its type in words, and its meaning (empty where nobody says one)."""
    comments, types_of = _comments(kind), {name: hint for name, (hint, _) in hints_of(kind).items()}
    written: tuple[Field[Any], ...] = fields(kind)
    for one in written:
        if one.metadata.get("elsewhere"):
            continue
        own = MEANINGS.get(f"{kind.__name__}.{one.name}") or comments.get(one.name)
        option = one.metadata.get("option")
        meaning = own or (option.help if option else None) or MEANINGS.get(one.name, "")
        yield one.name, in_words(types_of.get(one.name, one.type)), meaning.replace("|", "\\|")
    if kind is ReleaseRecord:
        yield "seal", "text", MEANINGS["seal"]


def _comments(kind: type) -> dict[str, str]:
    """The comments beside the fields, from the source."""
    found = re.findall(r"^    (\w+): [^\n#]*#\s*(?!fmt:|noqa|type:)([^\n]+)$", inspect.getsource(kind), re.MULTILINE)
    return {name: comment.strip() for name, comment in found}


def in_words(kind: Any) -> str:
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false", type(None): "null"}
    plain |= {Fraction: "exact number", Any: "anything"}
    if kind in (Integers, Floats):
        return "list of whole numbers" if kind == Integers else "list of numbers"
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(in_words(one) for one in inner))
    if origin is Literal:
        return " or ".join(f"`{one}`".lower() if isinstance(one, bool) else f"`{one}`" for one in inner)
    if origin is tuple:
        return f"list of {in_words(inner[0])}"
    if origin is dict:
        return f"object of {in_words(inner[1])}"
    if isinstance(kind, type) and kind not in plain:
        return f"object: {_title(kind).lower()}"
    return plain.get(kind, "object")


def place(kind: type, name: str) -> str:
    """Where a field stands in release.json."""
    before = PLACES.get(kind.__name__, "mechanism" if kind.__name__.endswith("Mechanism") else "")
    return f"{before}.{name}" if before else name


@cache
def on_trust() -> tuple[str, ...]:
    """The fields that the page on the guarantee lists, which the tests of tampering hold it to."""
    listed = GUARANTEE.read_text(encoding="utf-8").partition("## What verify takes on trust")[2]
    return tuple(re.findall(r"(?m)^\| `([^`]+)` \|", listed))


def _checked(kind: type, name: str) -> str:
    at = place(kind, name)
    if any(at == one or at.startswith((f"{one}.", f"{one}[")) for one in on_trust()):
        return "on trust"
    if at.startswith(PROVED) or (name in BY_NAME and not at.startswith(COMPARED)):
        return "proved again"
    return "compared" if at.startswith(COMPARED) else "replayed"


def _inside(kind: Any, seen: tuple[type, ...] = PARTS) -> list[type]:
    """The facts of a way and what is in them, each once."""
    found: list[type] = []
    todo = [kind]
    while todo:
        one = todo.pop(0)
        if is_dataclass(one) and one not in seen and one not in found and one.__name__.endswith(ENDINGS):
            found.append(one)  # type: ignore[arg-type]
            todo += [part for hint, _ in hints_of(one).values() for part in _parts(hint)]
    return found


ENDINGS = ("Facts", "Mechanism", "Margins", "Sums", "Distribution", "Sized", "Shared")


def _parts(hint: Any) -> list[Any]:
    return [hint, *(part for inner in get_args(hint) for part in _parts(inner))]


def undescribed() -> list[str]:
    """Fields that nobody says the meaning of."""
    kinds = [ReleaseRecord, *PARTS, *(kind for name in WAYS for kind in _inside(way_named(name).facts))]
    found = ((kind, name, meaning) for kind in kinds for name, _, meaning in described(kind))
    return [f"{kind.__name__}.{name}" for kind, name, meaning in found if not meaning and name != "facts"]
