"""Whatever stands where a value of a record should be is refused by name, in words that are ours."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.errors import Damaged
from discreet.record.release import parse, read_record, write_record
from tests.shell import shell

GOLDEN = Path(__file__).parents[1] / "golden"
ODD: tuple[Any, ...] = (
    None, True, 10**400, 1.5, "\ud800", "9" * 5000, [1], [[None]], {"a": 1}, {"form": []}, {"margin": "ab"},
)  # fmt: skip
OF_PYTHON = re.compile(
    r"object|attribute|argument|unhashable|NoneType|indices|Python|iterable|supported|codec|literal|^'\w*'$"
)
Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Of every value in a record; of a list only the first."""
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, item in inner:
        yield from places(item, (*place, name))


def changed(record: Any, place: Place, value: Any) -> Any:
    found = copy.deepcopy(record)
    inner = found
    for step in place[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return found


def complaint(record: Any) -> str | None:
    try:
        read_record(record)
    except (Damaged, dc.BadInput) as problem:
        return str(problem)
    return None


def every_place() -> Iterator[tuple[Any, Place]]:
    """Of all golden records, each kind of place once."""
    seen = set()
    for path in sorted(GOLDEN.glob("*/release.json")):
        record = parse(path.read_bytes())
        for place in places(record):
            kind = record["way"] if place[0] == "mechanism" else "", place
            if place not in (("seal",), ("schema_version",)) and kind not in seen:  # the last is called a format
                seen.add(kind)
                yield record, place


def test_every_field_is_refused_by_name() -> None:
    for record, place in every_place():
        for value in (..., *ODD):
            said = complaint(changed(record, place, value))
            if said is None:
                continue  # harmless to read: whether it is true is for `verify` to say
            own = said.partition("release.json")[2].partition(": ")[2] or said
            assert len(said) < 500 and said.isprintable(), (place, value)
            assert not OF_PYTHON.search(own.replace("an object with", "")), (place, value, said)
            assert any(str(step) in said for step in place), (place, value, said)


def test_a_difference_is_found_where_it_is() -> None:
    record = parse((GOLDEN / "measure-kept" / "release.json").read_bytes())
    record["mechanism"]["questions"][1]["share"] = "2/8"
    with pytest.raises(Damaged, match=r"release\.json\.mechanism\.questions\[1\]\.share: is missing, or written"):
        read_record(record)


@pytest.mark.parametrize("name", ["\ud800", "\x1b[2J", "x" * 100_000])
def test_odd_names_of_fields_do_no_harm(name: str) -> None:
    record = parse((GOLDEN / "row-by-row" / "release.json").read_bytes())
    for inner in (record, record["schema"], record["digests"]):
        inner[name] = 1
        said = complaint(record)
        assert said is not None and said.isprintable() and len(said) < 500
        del inner[name]


def test_a_field_that_stands_twice_is_named() -> None:
    with pytest.raises(Damaged, match="the field rho stands twice"):
        parse(b'{"a": {"epsilon": 1, "rho": 2, "rho": 3}}')


def test_what_is_read_is_written_letter_by_letter() -> None:
    for path in GOLDEN.glob("*/release.json"):
        assert write_record(read_record(parse(path.read_bytes()))).encode() == path.read_bytes()


def test_names_of_files_do_nothing_on_a_screen(tmp_path: Path) -> None:
    """A record may name what no file is called, and what a terminal would obey."""
    for name in ("table.csv", "release.json"):
        (tmp_path / name).write_bytes((GOLDEN / "row-by-row" / name).read_bytes())
    record = json.loads((tmp_path / "release.json").read_text())
    record["digests"] |= {"\ud800": "", "\x1b[2J": "", "x\nThe release is valid.": ""}
    (tmp_path / "release.json").write_text(json.dumps(record))
    done = shell("verify", str(tmp_path))
    assert done.returncode == 1 and "\x1b" not in done.stdout and "\nThe release is valid." not in done.stdout
    assert r"The file '\ud800' is missing." in done.stdout


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"form": []}, r"\.form: there is no form \[\]"),
        ({"form": "noise-then-map", "noise": 5, "clamp": None, "map": None}, r"\.noise: A noise law was to be read"),
        ({"form": "noise-then-map", "noise": {"law": "no"}, "clamp": None, "map": None}, r"\.noise: .*no noise law"),
        ({"form": "weights", "weights": 5, "denominator": "1"}, r"\.weights: 5 is not a list"),
        ({"form": "weights", "weights": [[1]], "denominator": "1"}, r"\.weights\[0\]\[0\]: 1 is not text"),
        ({"form": "weights", "weights": [["1"]], "denominator": "x"}, r"\.denominator: 'x' is not a whole number"),
        ({"form": "exponents", "odds": "2", "powers": [1]}, r"\.powers\[0\]: it is not a list of whole numbers"),
        ({"form": "exponents", "odds": "2", "powers": [[2**64]]}, r"\.powers\[0\]: a number in it is too large"),
    ],
)
def test_a_damaged_mechanism_in_a_file_is_told(tmp_path: Path, form: Any, said: str) -> None:
    (tmp_path / "m.json").write_text(json.dumps({"form": form}))
    with pytest.raises(dc.BadInput, match=rf"its form cannot be understood: {said}"):
        dc.read_mechanism(tmp_path / "m.json")
