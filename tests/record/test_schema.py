"""The JSON Schema takes what the codec takes, and refuses what it refuses, wherever types and ranges tell."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from discreet.errors import BadInput, Damaged
from discreet.record.release import read_record
from discreet.record.schema import release_schema

GOLDEN = Path(__file__).parents[1] / "golden"
KINDS = [
    "by-size-exponents", "keep-distribution-by-rank", "keep-sums", "keep-sums-projected", "measure-levels",
    "row-by-row", "row-by-row-bounded-edge", "row-by-row-own",
]  # fmt: skip
OTHERS = [None, True, 0, -1, 2**70, 1.5, "", "x", "01", "1.50", "-0", "1e3", "-1/2", [], [None], {}, {"x": 1}]
TOLD_ELSEWHERE = (  # what no schema can say: a value depends on others
    "the loss is not stated in the one way there is",
    "written in another way",
    "rows are not of one length",
    "noise was asked for: its ",  # a law has ranges of its own
    "were given: ",  # the entries of a matrix do not fit each other
    "was given: ",  # nor do those of a map
)


@cache
def validator(way: str) -> Draft202012Validator:
    """Of the variant for a way: the others say so themselves."""
    schema = release_schema()
    (one,) = (one for one in schema["oneOf"] if one["properties"]["way"]["const"] == way)
    return Draft202012Validator(one)


@cache
def record(kind: str) -> Any:
    return json.loads((GOLDEN / kind / "release.json").read_text())


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a value stands; of a list only the first and the last entry."""
    entries = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list) and value:
        entries = {0: value[0], len(value) - 1: value[-1]}.items()
    for name, item in entries:
        yield (*path, name)
        yield from places(item, (*path, name))


@cache
def all_places(kind: str) -> list[tuple[Any, ...]]:
    return [path for path in places(record(kind)) if path[0] not in ("seal", "schema_version", "way")]


def refused(document: Any) -> str | None:
    try:
        read_record(document)
    except (Damaged, BadInput) as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_schema_is_as_strict_as_the_codec(kind: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(all_places(kind)))
    document: Any = copy.deepcopy(record(kind))
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    edit = data.draw(st.sampled_from(["leave out", "add", *OTHERS]))
    if edit == "leave out":
        del holder[path[-1]]
    elif edit == "add" and isinstance(holder[path[-1]], dict):
        holder[path[-1]]["more"] = 1.5
    elif edit == "add" and isinstance(holder[path[-1]], list):
        holder[path[-1]].append(1.5)
    else:
        holder[path[-1]] = edit
    why, fits = refused(document), validator(document["way"]).is_valid(document)
    if why is None:
        assert fits, (path, edit)
    elif fits:
        assert any(told in why for told in TOLD_ELSEWHERE), (path, edit, why)


@pytest.mark.parametrize("kind", sorted(str(path.parent.relative_to(GOLDEN)) for path in GOLDEN.rglob("release.json")))
def test_every_golden_record_fits(kind: str) -> None:
    document = record(kind)
    assert not list(validator(document["way"]).iter_errors(document))


EDITS: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "a part that has a default is left out": ("row-by-row", ("schema", "dropped_totals"), "left out"),
    "a field of another form": ("row-by-row", ("mechanism", "denominator"), "7"),
    "a form that is none": ("row-by-row", ("mechanism", "form"), "exponents"),
    "a law without its parameter": ("row-by-row", ("mechanism", "noise"), {"law": "geometric"}),
    "a law that is none": ("row-by-row", ("mechanism", "noise"), {"law": "cauchy", "odds": "2"}),
    "a loss of two kinds": ("row-by-row", ("guarantee", "rho"), "1"),
    "no loss": ("row-by-row", ("guarantee", "epsilon"), None),
    "a delta above one": ("row-by-row", ("guarantee", "delta"), "1.5"),
    "a number with a nought before it": ("row-by-row", ("guarantee", "epsilon"), "01"),
    "a kept sum of no known kind": ("keep-sums", ("invariants", "kept", 0), {"median": "county"}),
    "a sum beyond 64 bits": ("keep-sums", ("invariants", "sums", 0), 2**63),
    "a clamp of one end": ("row-by-row", ("mechanism", "clamp"), [0]),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_the_schema_used_to_pass(name: str) -> None:
    kind, path, value = EDITS[name]
    document = copy.deepcopy(record(kind))
    holder = document
    for step in path[:-1]:
        holder = holder[step]
    if value == "left out":
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    assert refused(document) is not None and not validator(document["way"]).is_valid(document)
