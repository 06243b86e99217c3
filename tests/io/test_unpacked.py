"""Small files that would take gigabytes are refused before they do."""

from __future__ import annotations

import gzip
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.io import unpacked, workbooks
from discreet.io.unpacked import most_unpacked


def read(path: Path) -> dc.Table:
    return dc.read_table(path, count="n", keys=["county"])


def workbook(path: Path, rows: str) -> Path:
    """One of openpyxl's, with other rows in its sheet."""
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.append(["county", "n"])
    made.save(path.with_suffix(".made"))
    with zipfile.ZipFile(path.with_suffix(".made")) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            text = old.read(name).decode()
            if name == "xl/worksheets/sheet1.xml":
                text = text.replace("</sheetData>", rows + "</sheetData>")
            new.writestr(name, text)
    return path


def test_a_cell_far_to_the_right_of_many_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_BLANK", 1_000_000)
    rows = "".join(
        f'<row r="{r}"><c r="A{r}"><v>{r}</v></c><c r="B{r}"><v>1</v></c><c r="XFD{r}"><v>1</v></c></row>'
        for r in range(2, 2000)
    )
    path = workbook(tmp_path / "t.xlsx", rows)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(dc.BadInput, match="up to the column XFD, and nearly all of it is empty"):
        read(path)
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


def test_one_row_far_below(tmp_path: Path) -> None:
    row = '<row r="{0}"><c r="A{0}"><v>{0}</v></c><c r="B{0}"><v>1</v></c></row>'
    path = workbook(tmp_path / "t.xlsx", row.format(2) + row.format(999_999_999))
    with pytest.raises(dc.BadInput, match="beyond row 1,048,576"):
        read(path)
    assert read(workbook(tmp_path / "u.xlsx", row.format(2) + row.format(1_048_576))).schema.rows == 2


def test_a_workbook_that_expands(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", "<row><c><v>1</v></c><c><v>1</v></c></row>" * (most_unpacked(0) // 41 + 1))
    assert path.stat().st_size < most_unpacked(0) // 100
    with pytest.raises(dc.BadInput, match="unpacks to more than 100 times its size"):
        read(path)


def test_a_packed_file_that_expands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"county,n\n" + b"a,0\n" * 1_000_000, 9))
    with pytest.raises(dc.BadInput, match="have the same keys"):  # it is read
        read(path)
    monkeypatch.setattr(unpacked, "ALWAYS", 1 << 20)
    with pytest.raises(dc.BadInput, match="unpacks to more than 100 times its size, and to more than 1 MiB"):
        read(path)
    path.write_bytes(gzip.compress(b"county,n\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(200_000))))
    assert read(path).schema.rows == 200_000, "what people have is far from it"


def parquet(path: Path, county: Any, **more: Any) -> Path:
    options = {name: more.pop(name) for name in ("compression", "use_dictionary", "column_encoding") if name in more}
    columns = {"county": county, "n": np.arange(len(county)), **more}
    pq.write_table(pa.table(columns), path, **options)
    return path


def repeated(word: str, times: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, dtype=np.int32)), pa.array([word]))


ALIKE = ["x" * 10_000 + str(i) for i in range(300)]
ZEROS = pa.ListArray.from_arrays(pa.array([0, 1_000_000]), pa.array(np.zeros(1_000_000, dtype=np.int64)))
BOMBS: dict[str, dict[str, Any]] = {
    "one word many times": {"county": repeated("x" * 10_000, 300)},
    "very many rows": {"county": np.zeros(200_000, dtype=np.int64)},
    "long texts, packed": {"county": ALIKE, "compression": "zstd", "use_dictionary": False},
    "texts that begin alike": {
        "county": ALIKE, "use_dictionary": False, "column_encoding": {"county": "DELTA_BYTE_ARRAY", "n": "PLAIN"},
    },
    "a list of zeros": {"county": ["a"], "other": ZEROS},
    "a word in a list": {"county": ["a"], "other": pa.ListArray.from_arrays([0, 300], repeated("x" * 10_000, 300))},
}  # fmt: skip


@pytest.mark.parametrize("kind", BOMBS)
def test_a_parquet_file_that_expands(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "t.parquet", **BOMBS[kind])
    monkeypatch.setattr(unpacked, "ALWAYS_PARQUET", 1 << 20)
    monkeypatch.setattr(unpacked, "TIMES", 1)
    before = pa.total_allocated_bytes()
    with pytest.raises(dc.BadInput, match="and to more than 1 MiB"):
        read(path)
    assert pa.total_allocated_bytes() - before < 1 << 20


def test_a_long_table_of_few_keys_is_no_parquet_file_that_expands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "ALWAYS_PARQUET", 2 << 20)
    monkeypatch.setattr(unpacked, "TIMES", 1)
    long = ["x" * 5_000, *(f"county {i}" for i in range(20_000))]  # as long as the first they would be too much
    assert read(parquet(tmp_path / "t.parquet", long)).schema.rows == 20_001


def test_a_header_of_very_many_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("county,n," + ",".join(f"c{i}" for i in range(20_000)) + "\n")
    with pytest.raises(dc.BadInput, match="20,002 names; 16,384 columns are the most"):
        read(path)


def test_a_header_longer_than_what_is_looked_at_first_is_whole(tmp_path: Path) -> None:
    path, names = tmp_path / "t.csv", [f"a column with a long name {i}" for i in range(5_000)]
    path.write_text("county,n," + ",".join(names) + "\nAsh,3" + ",x" * 5_000 + "\n")
    assert read(path).schema.rows == 1


def test_a_date_that_is_none_is_quoted_nowhere(tmp_path: Path) -> None:
    made = openpyxl.Workbook()
    assert made.active is not None
    for row in (["county", "n"], ["Ash", 3], ["Elm", 918_273_645_000]):
        made.active.append(row)
    made.active["B3"].number_format = "yyyy-mm-dd"
    made.save(tmp_path / "t.xlsx")
    with warnings.catch_warnings(record=True) as said, pytest.raises(dc.BadInput) as error:
        read(tmp_path / "t.xlsx")
    assert "918273" not in str(error.value) and not [one for one in said if "918273" in str(one.message)]
