"""Perturbation tables as offices have them, well written and badly."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import BadInput
from discreet.io.files import read_mechanism, read_probabilities
from discreet.mechanism import Continued, Mechanism

ROWS = [
    (0, 0, "1"), (1, 0, "0.4"), (1, 1, "0.3"), (1, 2, "0.2"), (1, 3, "0.1"),
    (2, 0, "0.05"), (2, 1, "0.3"), (2, 2, "0.3"), (2, 3, "0.3"), (2, 4, "0.05"),
]  # fmt: skip
WEIGHTS = ((20, 0, 0, 0, 0), (8, 6, 4, 2, 0), (1, 6, 6, 6, 1))  # of 20


def written(separator: str = ";", quote: str = "", comma: bool = False) -> str:
    """As R's write.table does it; and write.csv2, with commas for points."""
    head = separator.join(f"{quote}{name}{quote}" for name in ("i", "j", "p", "v", "p_int_ub"))
    lines = [separator.join([str(i), str(j), p, str(j - i), "1"]) for i, j, p in ROWS]
    return "\n".join([head, *(line.replace(".", ",") if comma else line for line in lines)]) + "\n"


def read(tmp_path: Path, text: str, name: str = "ptable.csv") -> Mechanism:
    (tmp_path / name).write_text(text)
    found = read_probabilities(tmp_path / name)
    assert isinstance(found, Mechanism)
    return found


NAMED_ROWS = "i;j;p;v;p_int_ub\n" + "\n".join(
    f"{k};{line}" for k, line in enumerate(written().splitlines()[1:], 1)
)  # R writes names of rows, and no name for their column
MIXED = "\ufeffType;P;J;I;kum\n" + "\n".join(f"all;{p};{j};{i};x" for i, j, p in reversed(ROWS)) + "\n\n"


@pytest.mark.parametrize(
    "text",
    [written(), written(",", '"'), written("\t"), written(" ", '"'), written(";", comma=True), NAMED_ROWS, MIXED],
    ids=["semicolons", "commas", "tabs", "blanks", "csv2", "row names", "any order"],
)
@pytest.mark.parametrize("name", ["ptable.csv", "ptable.TXT"])
def test_every_form_in_which_r_writes_is_read(tmp_path: Path, text: str, name: str) -> None:
    form = read(tmp_path, text, name).form
    assert isinstance(form, Continued)
    scale = form.start.total // 20
    assert form.start.rows == tuple(tuple(scale * weight for weight in row) for row in WEIGHTS)


def test_rounded_probabilities_are_divided_by_their_sum(tmp_path: Path) -> None:
    third = "0.33333333"
    form = read(tmp_path, f"i,j,p\n0,0,{third}\n0,1,{third}\n0,2,{third}\n").form
    assert isinstance(form, Continued)
    assert [Fraction(weight, form.start.total) for weight in form.start.rows[0]] == [Fraction(1, 3)] * 3


def test_a_plain_matrix_is_a_mechanism_too(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("0.75,0.25\n0.25,0.75\n")
    assert read_mechanism(tmp_path / "m.csv").weights.rows == ((3, 1), (1, 3))
    (tmp_path / "p.csv").write_text(written())
    assert isinstance(read_mechanism(tmp_path / "p.csv").form, Continued)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["0;0;1", "1;0;0.5", "1;1;0.4"], "i = 1 sum to 0.9, not to 1"),
        (["0;0;0.8", "1;1;0.9", "2;2;1"], "of i = 0 sum to 0.8, of i = 1 sum to 0.9, not to 1"),
        ([f"{i};{i};0.5" for i in range(8)], "i = 4 sum to 0.5, not to 1 within 1e-6, nor do those of 3 others"),
        (["0;0;1", "1;0;0.5", "1;1;0.500002"], "i = 1 sum to 1.000002, not to 1"),
        (["0;0;1", "2;0;0.5", "2;1;0.5"], "no line for i = 1"),
        (["1;0;0.5", "1;1;0.5"], "no line for i = 0"),
        (["0;0;1", "1;0;1.5", "1;1;-0.5"], "line 3: p is 1.5"),
        (["0;0;1", "1;0;0.5", "1;1;-0.5", "1;2;1"], "line 4: p is -0.5"),
        (["0;0;1", "1;0;0.5", "1;1;0.25", "1;0;0.25"], "line 5: the pair i = 1, j = 0 stood in line 3 already"),
        (["0;0;one"], "line 2: p is 'one', which is not a number"),
        (["0;0;"], "line 2: p is '', which is not a number"),
        (["0;0;NA"], "line 2: p is 'NA'"),
        (["0;0;nan"], "line 2: p is 'nan'"),
        (["0;0;1e-99999999"], "line 2: p is '1e-99999999'"),
        (["0;0.5;1"], "line 2: j is 0.5, which is not a count"),
        (["-1;0;1"], "line 2: i is -1, which is not a count"),
        (["x;0;1"], "line 2: i is 'x', which is not a number"),
        (["0;99999;1"], "line 2: j is 99999, and tables are read up to 2,000"),
        (["0;0;1;7;8"], "line 2 has 5 entries, and the header 3"),
        (["0;0"], "line 2 has 2 entries, and the header 3"),
        ([f"0;0;{'1' * 20_000}"], "line 2 is too long"),
        ([], "it has no lines"),
    ],
)
def test_a_wrong_table_is_refused_by_line(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(BadInput) as found:
        read(tmp_path, "\n".join(["i;j;p", *lines]))
    assert said in str(found.value) and "ptable.csv" in str(found.value)


def test_a_shift_that_is_not_j_minus_i_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="line 3: v is 1, and j - i is 0"):
        read(tmp_path, "i,j,p,v\n0,0,0.5,0\n0,0,0.5,1\n")
    with pytest.raises(BadInput, match="column 'p' is there twice"):
        read(tmp_path, "i,j,p,p\n0,0,1,1\n")
