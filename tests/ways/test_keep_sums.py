"""A release that keeps sums, edited: what is kept decides the neighbours, the words and how much noise is needed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.io.folder import read_contents
from discreet.lattice import plan as lattice_plan
from discreet.lattice import structure as lattice_structure
from discreet.lattice.invariants import Invariants, kept_json, kept_of
from discreet.lattice.structure import Structure, structure_of
from discreet.record.release import seal_of
from discreet.ways.keep_sums import facts
from tests.tampering.edits import pattern
from tests.tampering.folders import Honest
from tests.tampering.forge import reports_uncompared
from tests.tampering.test_records import chosen, refused
from tests.tampering.unchecked import on_trust
from tests.test_verify import write

COUNTS = np.random.default_rng(3).poisson(4, 24)


def table(contributions: int = 1) -> dc.Table:
    keys = {
        "town": [f"{letter}, {letter}shire" for letter in "ABCDEF" for _ in range(4)],
        "age": ["0=9", "10 ", "20+", "old"] * 6,
    }
    return dc.table(pa.table({**keys, "n": COUNTS}), "n", "all", contributions=contributions)


KINDS: dict[str, dict[str, Any]] = {
    "total": {"epsilon": 1, "keep": [dc.total()]},
    "per unit": {"epsilon": 1, "keep": [dc.total()], "per_unit": True},
    "two margins": {"epsilon": 2, "keep": [dc.margin("town"), dc.margin("age")]},
    "l2": {"epsilon": 1, "keep": [dc.sum_where(age="10 ")], "law": "l2"},
    "gaussian": {"rho": "1/2", "keep": [dc.margin("town")], "law": "gaussian"},
    "gaussian, delta": {"epsilon": 1, "delta": "1e-6", "keep": [dc.margin("town")], "law": "gaussian"},
    "not negative": {"epsilon": 1, "keep": [dc.margin("town")], "nonnegative": "condition"},
    "projected": {"epsilon": 1, "keep": [dc.margin("town")], "nonnegative": True},
    "matrix": {"epsilon": 1, "keep": [dc.sums(np.eye(24, dtype=int)[:2])]},
}


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    dc.release(table(), **KINDS[request.param]).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").problems == ()
    return tmp_path / "out"


def resealed(document: dict[str, Any]) -> dict[str, Any]:
    """What a forger would do: a new seal."""
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
def test_an_edit_is_found_even_if_the_seal_is_made_anew(folder: Path) -> None:
    honest = Honest("keep-sums", read_contents(folder), False)
    with reports_uncompared():
        passed = [edit for edit in chosen("sums", dict(honest.contents.document)) if not refused(honest, edit)]
    assert [str(edit) for edit in passed if not on_trust(pattern(edit.place))] == []


@pytest.mark.parametrize("folder", ["two margins"], indirect=True)
def test_other_neighbours_are_found(folder: Path) -> None:
    unit = {"code": "one-person", "distance": 1, "square": 1, "more": 1, "fewer": 0, "rows": 1}
    honest = json.loads((folder / "release.json").read_text())["guarantee"]["unit"]
    said = edited(folder, "guarantee", "unit", to={**honest, **unit})
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
    assert any("odds must be above 1" in p for p in edited(folder, "mechanism", "parameters", "odds", to="0.5"))


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


def test_specs_that_ask_for_the_same_inequalities_are_equal() -> None:
    def spec(matrix: Any, least: Any) -> dc.KeepSums:
        return dc.KeepSums(keep="total", inequalities=(matrix, least))  # type: ignore[arg-type]

    one, same = spec([[1, 0, 2]], [0]), spec(np.array([[1.0, 0.0, 2.0]]), np.array([0]))
    assert one == same and hash(one) == hash(same)
    assert one != spec([[1, 0, 3]], [0]) and one != spec([[1, 0, 2]], [1]) and one != spec([[1, 0, 2, 0]], [0])
    assert one != dc.KeepSums(keep="total")  # type: ignore[arg-type]


def test_kept_sums_are_worked_out_once_for_a_release_and_once_to_verify_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a million rows they take longer than the noise."""
    asked: list[int] = []

    def counted(invariants: Invariants) -> Structure:
        asked.append(invariants.cells)
        return structure_of(invariants)

    for module in (lattice_structure, lattice_plan):
        monkeypatch.setattr(module, "structure_of", counted)
    frame = pa.table({"area": np.arange(60) // 3, "kind": np.arange(60) % 3, "people": np.arange(60) % 7})
    made = dc.release(dc.table(frame, "people", ["area", "kind"]), 1, keep=["margin:area"])
    made.save(tmp_path / "out")
    assert dc.estimate(made).total().exact
    assert len(asked) == 1
    assert dc.verify(tmp_path / "out")
    assert len(asked) == 2


def test_what_is_worked_out_is_of_these_key_columns() -> None:
    frame = pa.table({"area": ["a", "a", "b", "b"], "kind": ["x", "y", "x", "y"], "people": [1, 2, 3, 4]})
    publication = dc.release(dc.table(frame, "people", ["area", "kind"]), 1, keep=["margin:area"]).publication
    other = pa.table({"area": ["a", "b", "a", "b"], "kind": ["x", "x", "y", "y"]})
    found = [facts.kept_of(one)[0] for one in (publication, replace(publication, categories=other), publication)]
    assert [one.sums(np.arange(4)).tolist() for one in found] == [[1, 5], [2, 4], [1, 5]]


def test_no_proof_takes_the_structure_that_a_release_was_built_with() -> None:
    made = dc.release(dc.table(pa.table({"a": list("xxyy"), "b": list("mfmf"), "n": [1, 2, 3, 4]}), "n", ["a", "b"]), 1,
                      keep=["margin:a"], seed=1).publication  # fmt: skip
    built, proved = facts.built_with(made), facts.kept_of(made)
    assert proved is not built and proved is facts.kept_of(made) and built is facts.built_with(made)
    assert (proved[0].matrix != built[0].matrix).nnz == 0
