"""A release that keeps sums, edited: what is kept decides the neighbours, the words and how much noise is needed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from discreet.document import seal_of
from discreet.guarantee import Guarantee

import discreet as dc
from discreet.lattice.invariants import kept_json, kept_of

from .test_verify import leaves, others, write

COUNTS = np.random.default_rng(3).poisson(4, 24)


def table(contributions: int = 1) -> dc.Table:
    keys = {
        "town": [f"{letter}, {letter}shire" for letter in "ABCDEF" for _ in range(4)],
        "age": ["0=9", "10 ", "20+", "all"] * 6,
    }
    return dc.table(pa.table({**keys, "n": COUNTS}), "n", contributions=contributions)


KINDS: dict[str, dict[str, Any]] = {
    "total": {"epsilon": 1, "keep": [dc.total()]},
    "per unit": {"epsilon": 1, "keep": [dc.total()], "per_unit": True},
    "two margins": {"epsilon": 2, "keep": [dc.margin("town"), dc.margin("age")]},
    "l2": {"epsilon": 1, "keep": [dc.sum_where(age="10 ")], "law": "l2"},
    "gaussian": {"rho": "1/2", "keep": [dc.margin("town")], "law": "gaussian"},
    "gaussian, delta": {"epsilon": 1, "delta": "1e-6", "keep": [dc.margin("town")], "law": "gaussian"},
    "not negative": {"epsilon": 1, "keep": [dc.margin("town")], "nonnegative": True},
    "matrix": {"epsilon": 1, "keep": [dc.sums(np.eye(24, dtype=int)[:2])]},
}
# what the seal alone protects: prose, and the parameter of noise wider than needed
ONLY_SEALED = {"created", "software", "seal", "steps", "sampler"}


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    dc.release(table(), **KINDS[request.param]).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").problems == ()
    return tmp_path / "out"


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """What a forger would do: a sentence that says what the numbers say, and a new seal."""
    promise = document["guarantee"]
    promise["sentence"] = Guarantee.of_json(promise, document["private"]).sentence
    return {**document, "seal": seal_of(document)}


def edited(folder: Path, *path: str | int, to: Any) -> tuple[str, ...]:
    document = json.loads((folder / "release.json").read_text())
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    write(folder, resealed(document))
    return dc.verify(folder).problems


@pytest.mark.parametrize("folder", KINDS, indirect=True)
def test_an_edit_is_found_even_if_sentence_and_seal_are_made_anew(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    for path, value in leaves(document):
        if ONLY_SEALED & set(path) or path[:1] == ("digests",) or path[-1] in ("sentence", "name"):
            continue
        for other in others(value):
            if _weaker(path, value, other):
                continue
            try:
                problems = edited(folder, *path, to=other)
            except (ValueError, KeyError, TypeError, dc.DiscreetError):
                continue  # not even a sentence could be made of it
            write(folder, document)
            assert problems, (path, value, other)


def _weaker(path: Any, value: Any, other: Any) -> bool:
    """A larger epsilon, or wider noise, than there is: a weaker claim, and a true one."""
    if path[-1] in ("epsilon", "rho", "delta", "variance") and path[0] in ("guarantee", "mechanism"):
        return value is not None and Fraction(other) > Fraction(value)
    return path[-1] in ("odds", "rate") and Fraction(other) < Fraction(value)


@pytest.mark.parametrize("folder", ["two margins"], indirect=True)
def test_other_neighbours_are_found(folder: Path) -> None:
    said = edited(folder, "guarantee", "unit", to="one person more or less in one row")
    assert any("other neighbours than what is kept leaves" in problem for problem in said)


@pytest.mark.parametrize("folder", ["total"], indirect=True)
def test_a_diagnosed_grade_excuses_nothing(folder: Path) -> None:
    document = json.loads((folder / "release.json").read_text())
    document["guarantee"] |= {"grade": "diagnosed", "epsilon": "0.01"}
    write(folder, resealed(document))
    problems = dc.verify(folder).problems
    assert any("smaller than what is claimed needs" in problem for problem in problems)
    assert any("not the one of its sampler" in problem for problem in problems)


@pytest.mark.parametrize("folder", ["total"], indirect=True)
def test_a_law_that_is_none_is_found(folder: Path) -> None:
    assert any("law of the noise is none" in p for p in edited(folder, "mechanism", "parameters", "odds", to="1/2"))


@pytest.mark.parametrize("folder", ["total"], indirect=True)
def test_nothing_is_read_from_a_file_that_a_release_names(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(",".join(["1"] * 24) + "\n")
    problems = edited(folder, "invariants", "kept", 0, to=str(tmp_path / "matrix.csv"))
    assert any("nor a file" in problem for problem in problems)


@pytest.mark.parametrize(
    "what",
    [
        dc.total(),
        dc.margin("a"),
        dc.margin("a,b", "c"),
        dc.sum_where(a="x"),
        dc.sum_where(a="x, y", b="p=q"),
        dc.sum_where(a=" x"),
        dc.sums([[1, 0]]),
    ],
)
def test_what_is_kept_can_be_written_and_read_back(what: Any) -> None:
    written = kept_json(what)
    assert kept_of(json.loads(json.dumps(written))) == what
    assert isinstance(written, str) == (what in (dc.total(), dc.margin("a"), dc.sum_where(a="x")))


def test_values_with_commas_are_kept_and_verified(tmp_path: Path) -> None:
    released = dc.release(table(), epsilon=1, keep=[dc.sum_where(town="A, Ashire")])
    released.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").problems == ()
    assert dc.estimate(tmp_path / "out").by("town")["A, Ashire"].estimate == COUNTS[:4].sum()


def test_a_file_of_sums_is_named_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(",".join(["1"] * 24) + "\n")
    released = dc.release(table(), epsilon=1, keep=[str(tmp_path / "mine.csv")])
    released.save(tmp_path / "out")
    assert str(tmp_path) not in (tmp_path / "out" / "release.json").read_text()
    assert dc.verify(tmp_path / "out").problems == ()
