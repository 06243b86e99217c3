from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.build.design import design
from discreet.certify import certify
from discreet.errors import BadInput
from discreet.io.files import read_distribution, read_matrix, read_mechanism, write_json


def test_a_matrix_is_read_exactly(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text('[[0.1, 0.9], ["1/3", "2/3"]]')
    assert read_matrix(tmp_path / "m.json") == [[Fraction(1, 10), Fraction(9, 10)], [Fraction(1, 3), Fraction(2, 3)]]
    (tmp_path / "m.csv").write_text("\ufeff0.1,0.9\n\n1/3, 2/3\n")
    assert read_matrix(tmp_path / "m.csv") == [[Fraction(1, 10), Fraction(9, 10)], [Fraction(1, 3), Fraction(2, 3)]]
    np.savez(tmp_path / "m.npz", matrix=np.array([[0.1, 0.9]]))
    assert read_matrix(tmp_path / "m.npz") == [[Fraction(0.1), Fraction(0.9)]]
    (tmp_path / "w.json").write_text(json.dumps({"weights": [["1", 2]], "denominator": "3", "matrix": [[9]]}))
    assert read_matrix(tmp_path / "w.json") == [[Fraction(1, 3), Fraction(2, 3)]]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("m.json", b"{}", "neither 'matrix' nor 'weights'"),
        ("m.json", b"[1, 2]", "not a list of rows"),
        ("m.json", b"[[1], [1, 2]]", "different lengths"),
        ("m.json", b"[[1, null]]", r"row 1, column 2"),
        ("m.json", b"[[1, NaN]]", "not a finite number"),
        ("m.json", b"[[1, ", "cannot be understood"),
        ("m.json", b'{"weights": [[1]], "denominator": 0}', "denominator is not above zero"),
        ("m.csv", b"a,b\n", "not a finite number"),
        ("m.csv", b"", "not a list of rows"),
        ("m.csv", b"\xff\xfe\xfa", "cannot be understood"),
        ("m.npz", b"PK\x03\x04junk", "cannot be understood"),
        ("m.npz", b"junk", "cannot be understood"),
        ("m.npz", b"", "cannot be understood"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=said):
        read_matrix(tmp_path / name)


def test_an_archive_without_a_matrix(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", other=np.eye(2))
    with pytest.raises(BadInput, match="no array named 'matrix'"):
        read_matrix(tmp_path / "m.npz")


def test_a_distribution_is_a_list_or_a_column(tmp_path: Path) -> None:
    (tmp_path / "z.json").write_text("[0.25, 0.75]")
    (tmp_path / "z.csv").write_text("0.25\n3/4\n")
    (tmp_path / "d.json").write_text('{"distribution": [0.25, 0.75], "method": "cumulative"}')
    for name in ("z.json", "z.csv", "d.json"):
        assert read_distribution(tmp_path / name) == [0.25, 0.75]
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(BadInput, match="not a list of numbers"):
        read_distribution(tmp_path / "bad.json")


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"x": 1})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1}
    with pytest.raises(BadInput, match="was to be written"):
        write_json(tmp_path / "no" / "a.json", {})
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("max_count", [10, 250])
def test_a_design_without_weights_is_read_by_its_form(tmp_path: Path, max_count: int) -> None:
    made = design(max_count, 1, mechanism="explicit-fair")
    write_json(tmp_path / "m.json", made.as_json())
    assert (made.as_json()["weights"] is None) == (max_count == 250)
    found = read_mechanism(tmp_path / "m.json")
    assert found.matrix() == pytest.approx(made.mechanism.matrix(), abs=1e-12)
    assert certify(found, 1).holds and not certify(found, "0.999").holds


@pytest.mark.parametrize("form", [{}, {"form": "exponents"}, {"form": "exponents", "odds": "2", "powers": [[0.5]]}])
def test_a_form_that_is_none_is_refused(tmp_path: Path, form: dict[str, object]) -> None:
    write_json(tmp_path / "m.json", {"weights": None, "form": {"name": "x", **form}})
    with pytest.raises(BadInput, match="form cannot be understood"):
        read_mechanism(tmp_path / "m.json")
