"""The contribution bound travels with the table that `count` wrote, whatever is done to the file."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput
from discreet.io.counted import digest_of, saying, write_counted
from discreet.io.layout import read_frame
from discreet.io.tables import read_schema

PEOPLE = {"place": [f"p{i % 7}" for i in range(60)], "id": [f"who {i % 20}" for i in range(60)]}


def counted(bound: int = 3) -> dc.Table:
    return dc.count(pa.table(PEOPLE), "place", {"place": [f"p{i}" for i in range(8)]}, "id", bound)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    assert write_counted(counted(), tmp_path / "counts.csv") is None
    return tmp_path / "counts.csv"


def bound(path: Path, **options: Any) -> int:
    count = "count" if "count" in read_frame(path).column_names else "Count of 2026"
    schema = dc.read_table(path, count, "place", **options).schema
    assert read_schema(path, count, "place", **options)[0].contributions == schema.contributions
    return schema.contributions


def copied(file: Path) -> Path:
    return Path(shutil.copy(file, file.with_name("copy.csv")))


def compressed(file: Path) -> Path:
    out = file.with_name("counts.csv.gz")
    out.write_bytes(gzip.compress(file.read_bytes()))
    return out


def with_windows_lines(file: Path) -> Path:
    out = file.with_name("windows.csv")
    out.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    return out


def with_semicolons(file: Path) -> Path:
    out = file.with_name("semicolons.csv")
    out.write_text(file.read_text().replace(",", ";"))
    return out


def with_other_names(file: Path) -> Path:
    out = file.with_name("names.csv")
    out.write_text(file.read_text().replace("place,count", "place,Count of 2026"))
    return out


def with_points(file: Path) -> Path:
    """As a spreadsheet, or a frame with missing values, writes whole numbers."""
    out = file.with_name("points.csv")
    header, *rows = file.read_text().splitlines()
    out.write_text("\n".join([header, *(f"{row}.0" for row in rows)]) + "\n")
    return out


def with_an_index(file: Path) -> Path:
    """As pandas writes it, unless it is told not to: with a column more."""
    out = file.with_name("index.csv")
    header, *rows = file.read_text().splitlines()
    out.write_text("\n".join([f",{header}", *(f"{number},{row}" for number, row in enumerate(rows))]) + "\n")
    return out


def without_first_zeros(file: Path) -> Path:
    """As a spreadsheet writes codes back."""
    out = file.with_name("zeros.csv")
    out.write_text(file.read_text().replace("\n0", "\n"))
    assert out.read_text() != file.read_text()
    return out


def as_parquet(file: Path) -> Path:
    out, frame = file.with_name("other.parquet"), read_frame(file)
    pq.write_table(frame.set_column(1, "count", frame.column("count").cast(pa.int64())), out)
    return out


WAYS = [
    copied,
    compressed,
    with_windows_lines,
    with_semicolons,
    with_other_names,
    with_points,
    with_an_index,
    as_parquet,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_table_that_lost_its_note_is_recognised_and_refused(way: Any, file: Path) -> None:
    assert bound(file) == 3
    lost = way(file)
    with pytest.raises(BadInput, match=r"up to 3 rows of one person.*is gone.*--contributions 3"):
        bound(lost)
    assert bound(lost, contributions=3) == 3 and bound(lost, contributions=5) == 5
    with pytest.raises(BadInput, match="one person may be counted 3 times"):
        bound(lost, contributions=2)


def test_codes_that_lost_their_zeros_are_recognised(tmp_path: Path) -> None:
    frame = pa.table({"place": [f"0{i % 7}" for i in range(60)], "id": [f"who {i % 20}" for i in range(60)]})
    table = dc.count(frame, "place", {"place": [f"0{i}" for i in range(8)]}, "id", 3)
    assert write_counted(table, tmp_path / "codes.csv") is None
    with pytest.raises(BadInput, match="up to 3 rows of one person"):
        bound(without_first_zeros(tmp_path / "codes.csv"))


MANY = pa.table({"place": ["p0", "p1", "p2"], "sex": ["f", "m", "f"], "count": [12_000_000, 1_234, 2**52]})
WHOLE = pa.table({"place": ["p0", "p0", "p1", "p1"], "sex": ["f", "m", "f", "m"], "count": [1_200, 7, 31, 0]})


def listed(frame: Any, folder: Path) -> None:
    assert write_counted(dc.table(frame, "count", ["place", "sex"], contributions=3), folder / "own.csv") is None


@pytest.mark.parametrize("kind", [pa.float64(), pa.float32(), pa.decimal128(38, 0), pa.string()])
def test_large_counts_are_recognised_however_a_frame_holds_them(kind: Any, tmp_path: Path) -> None:
    listed(MANY, tmp_path)
    held = MANY.set_column(2, "count", MANY.column("count").cast(kind, safe=False))
    with pytest.raises(BadInput, match="up to 3 rows of one person"):
        dc.table(held, "count", ["place", "sex"])
    pq.write_table(held, tmp_path / "held.parquet")
    with pytest.raises(BadInput, match="up to 3 rows of one person"):
        dc.read_table(tmp_path / "held.parquet", "count", ["place", "sex"])


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["place,f,m", "p0,1200,7", "p1,31,0"], {"keys": "place", "wide": "sex"}),
        (["place,f,m", "p0,'1,200',7", "p1,31,0"], {"keys": "place", "wide": "sex", "thousands": ","}),
        (["place,f,m,Total", "p0,1200,7,1207", "p1,31,0,31"], {"keys": "place", "wide": "sex", "drop_totals": True}),
        (["place,sex,count", "p0,f,1200", "p0,m,7", "p1,f,31", "p1,m,0", "Total,,1238"], {"drop_totals": True}),
        (["place,sex,n,count", "p0,f,1,1 200", "p0,m,2,7", "p1,f,3,31", "p1,m,4,0"], {"thousands": " "}),
    ],
    ids=["crosstab", "crosstab-thousands", "crosstab-totals", "totals", "thousands"],
)
def test_a_counted_table_that_a_spreadsheet_laid_out_is_recognised(
    lines: list[str], options: dict[str, Any], tmp_path: Path
) -> None:
    listed(WHOLE, tmp_path)
    (tmp_path / "laid.csv").write_text("\n".join(lines).replace("'", '"') + "\n")
    given = {"keys": ["place", "sex"], **options}
    with pytest.raises(BadInput, match="up to 3 rows of one person"):
        dc.read_table(tmp_path / "laid.csv", "count", **given)
    with pytest.raises(BadInput, match="up to 3 rows of one person"):
        read_schema(tmp_path / "laid.csv", "count", **given)
    assert dc.read_table(tmp_path / "laid.csv", "count", contributions=3, **given).schema.contributions == 3


def test_totals_added_to_a_counted_parquet_table_and_left_out_again(tmp_path: Path) -> None:
    listed(WHOLE, tmp_path)
    write_counted(dc.read_table(tmp_path / "own.csv", "count", ["place", "sex"]), tmp_path / "own.parquet")
    own = pq.read_table(tmp_path / "own.parquet")
    more = pa.concat_tables([own, pa.table({"place": ["Total"], "sex": ["f"], "count": [1_238]})])
    assert b"discreet.digest" in more.schema.metadata
    assert dc.table(more, "count", ["place", "sex"], drop_totals=True).schema.contributions == 3


def test_a_note_about_other_counts_is_not_believed(file: Path, tmp_path: Path) -> None:
    write_counted(counted(1), tmp_path / "one.csv")
    assert bound(tmp_path / "one.csv") == 1
    shutil.copy(file, tmp_path / "one.csv")  # the note beside it still says 1
    with pytest.raises(BadInput, match=r"the note one\.csv\.contributions\.json beside it is about other counts"):
        bound(tmp_path / "one.csv")
    with pytest.raises(BadInput, match="3 times"):
        bound(tmp_path / "one.csv", contributions=1)
    assert bound(tmp_path / "one.csv", contributions=3) == 3


def test_parquet_says_it_itself(tmp_path: Path, state: Path) -> None:
    write_counted(counted(), tmp_path / "counts.parquet")
    shutil.rmtree(state)
    moved = shutil.copy(tmp_path / "counts.parquet", tmp_path / "elsewhere.parquet")
    assert bound(Path(moved)) == 3
    with pytest.raises(BadInput, match="3 times"):
        bound(Path(moved), contributions=1)
    out = dc.release(dc.read_table(moved, "count", "place"), 1, max_count=9)
    out.save(tmp_path / "out")
    assert b"discreet" not in (pq.read_schema(tmp_path / "out" / "table.parquet").metadata or {})
    broken = read_frame(moved).replace_schema_metadata({b"discreet.contributions": b"many"})
    pq.write_table(broken, tmp_path / "broken.parquet")
    with pytest.raises(BadInput, match="no number of contributions"):
        bound(tmp_path / "broken.parquet")


def test_other_tables_are_nobodys(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(file.read_text().replace("p0", "q0"))
    assert bound(other) == 1


@pytest.mark.parametrize("old_umask", [0o000, 0o022])
def test_secret_files_are_for_their_owner_alone(
    old_umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as they exist, under any name: watched at every opening and renaming."""
    modes: set[int] = set()
    replace = Path.replace

    def watched(self: Path, target: Any) -> Path:
        modes.add(stat.S_IMODE(self.stat().st_mode))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    before = os.umask(old_umask)
    try:
        for name in ("counts.csv", "counts.parquet"):
            (tmp_path / f"{name}.part").write_text("left behind")
            write_counted(counted(), tmp_path / name)
    finally:
        os.umask(before)
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(found) == 5  # two tables, two notes, the list
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == modes == {0o600}


def test_without_a_home_it_is_said_and_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").write_text("a file where a folder should be")
    why = write_counted(counted(), tmp_path / "counts.csv")
    assert why is not None and "state" in why
    assert bound(tmp_path / "counts.csv") == 3
    assert bound(copied(tmp_path / "counts.csv")) == 1  # the limit that docs/microdata.md tells of
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError("no home"))))
    assert write_counted(counted(), tmp_path / "counts.csv") == "there is no home folder"


def test_a_list_that_was_tampered_with_does_no_harm(file: Path, state: Path) -> None:
    digest = json.loads(file.with_name(file.name + ".contributions.json").read_text())["digest"]
    for content in (
        b"\xff\xfe nonsense\n\n x",
        f"{digest}\n{digest} many 8\n{digest} 4 8\n{digest} 9 7\n{digest} 2 8\n".encode(),
    ):
        (state / "discreet" / "counted").write_bytes(content)
        lost = copied(file)
        if b" 4 8" not in content:
            assert bound(lost) == 1
        else:
            with pytest.raises(BadInput, match="up to 4 rows"):
                bound(lost)


texts = st.lists(st.text("abcäß", max_size=4), max_size=6)


@given(texts, texts, st.integers(0, 6))
def test_the_digest_is_of_the_values_and_not_of_how_they_are_held(one: list[str], other: list[str], cut: int) -> None:
    def digest(values: list[str]) -> str:
        return digest_of(pa.table({"k": pa.array(values, pa.string())}))

    chunks = pa.chunked_array([one[:cut], one[cut:]], pa.string())
    sliced = pa.table({"k": pa.array(["x", *one, "y"], pa.string())}).slice(1, len(one))
    encoded = pa.table({"k": pa.array(one, pa.string()).dictionary_encode()})
    assert digest(one) == digest_of(pa.table({"k": chunks})) == digest_of(sliced) == digest_of(encoded)
    assert (digest(one) == digest(other)) == (sorted(one) == sorted(other))
    assert digest_of(pa.table({"j": pa.array(one, pa.string())})) == digest(one), "names do not matter"


def test_a_note_without_a_digest_is_not_believed(file: Path) -> None:
    """Not against the list, nor where the list knows nothing."""
    copy = file.with_name("copy.csv")
    for content, bound in ((file.read_text(), 3), ("place,count\nx,1\n", 1)):
        copy.write_text(content)
        copy.with_name("copy.csv.contributions.json").write_text('{"contributions": 1}')
        with pytest.raises(BadInput, match=f"no digest of them.*--contributions {bound}"):
            dc.read_table(copy, "count")


def test_rows_and_columns_in_another_order_are_the_same_table(file: Path) -> None:
    header, *rows = file.read_text().splitlines()
    swapped = [",".join(line.split(",")[::-1]) for line in (header, *rows)]
    for lines in ([header, *rows[::-1]], [line.replace(",", " , ") for line in (header, *rows)], swapped):
        copy = file.with_name("copy.csv")
        copy.write_text("\n".join(lines) + "\n")
        with pytest.raises(BadInput, match="up to 3 rows of one person"):
            dc.read_table(copy, "count")


def test_frames_are_recognised_as_files_are(file: Path) -> None:
    """Whoever reads the file by other means, and hands over the frame."""
    import pandas as pd

    frame = pd.read_csv(file)
    for held in (frame, pa.Table.from_pandas(frame), frame.rename(columns={"place": "where"}).assign(more=1)):
        keys = "where" if "where" in list(getattr(held, "columns", [])) else "place"
        with pytest.raises(BadInput, match=r"up to 3 rows of one person\. Say .*--contributions 3"):
            dc.table(held, "count", [keys])
        assert dc.table(held, "count", [keys], contributions=3).schema.contributions == 3
        with pytest.raises(BadInput, match="3 times in the frame"):
            dc.table(held, "count", [keys], contributions=2)


def test_a_frame_says_it_itself_where_parquet_did(tmp_path: Path, state: Path) -> None:
    write_counted(counted(), tmp_path / "counts.parquet")
    shutil.rmtree(state)
    frame = pq.read_table(tmp_path / "counts.parquet")
    assert dc.table(frame, "count", ["place"]).schema.contributions == 3
    with pytest.raises(BadInput, match="no number of contributions"):
        dc.table(frame.replace_schema_metadata({b"discreet.contributions": b"many"}), "count", ["place"])


def test_counting_again_with_another_bound_is_not_held_against_it(file: Path) -> None:
    assert counted(20).schema.contributions == 20 and counted(1).schema.contributions == 1
    assert counted().schema.contributions == 3


def test_tables_that_were_put_together_do_not_say_it_for_all(tmp_path: Path, state: Path) -> None:
    """One person may be in both. Of some rows nobody can tell whether they are of one table."""
    write_counted(counted(), tmp_path / "one.parquet")
    shutil.rmtree(state)
    one = pq.read_table(tmp_path / "one.parquet")
    other = one.set_column(0, "place", pa.array([f"q{i}" for i in range(8)]))
    pq.write_table(pa.concat_tables([one, other]), tmp_path / "both.parquet")
    with pytest.raises(BadInput, match=r"more rows than were counted at once.*Say in how many rows .*contributions"):
        bound(tmp_path / "both.parquet")
    assert bound(tmp_path / "both.parquet", contributions=6) == 6
    halves = pa.concat_tables([one.slice(0, 4), other.slice(4)])
    assert halves.num_rows == one.num_rows and halves.schema.metadata == one.schema.metadata
    for some in (halves, one.slice(0, 5), pa.concat_tables([one.slice(0, 2), other.slice(0, 3)])):
        pq.write_table(some, tmp_path / "some.parquet")
        told = r"not the table that was counted.*3 or more, with .*contributions"
        with pytest.raises(BadInput, match=told):
            bound(tmp_path / "some.parquet")
        with pytest.raises(BadInput, match=told):
            dc.table(some, "count", ["place"])
        assert bound(tmp_path / "some.parquet", contributions=6) == 6
    wider = one.append_column("note", pa.array(["x"] * 8))
    renamed = one.rename_columns(["area", "n"]).replace_schema_metadata(one.schema.metadata)
    for same, count, key in (
        (one.take(list(range(7, -1, -1))), "count", "place"), (wider, "count", "place"), (renamed, "n", "area"),
        (one.select(["count", "place"]), "count", "place"),
    ):  # fmt: skip
        assert dc.table(same, count, [key]).schema.contributions == 3


def test_a_piece_of_a_counted_table_is_in_doubt_in_parts_too(tmp_path: Path) -> None:
    write_counted(counted(), tmp_path / "one.parquet")
    one = pq.read_table(tmp_path / "one.parquet")
    other = one.set_column(0, "place", pa.array([f"q{i}" for i in range(8)]))
    (tmp_path / "parts").mkdir()
    pq.write_table(one.slice(0, 4), tmp_path / "parts" / "a.parquet")
    pq.write_table(other.slice(4), tmp_path / "parts" / "b.parquet")
    asked: dict[str, Any] = {"out": tmp_path / "out", "mechanism": "signed-geometric"}
    with pytest.raises(BadInput, match="not the table that was counted"):
        dc.release_parts(tmp_path / "parts", "count", ["place"], 1, **asked)
    assert not (tmp_path / "out").exists()
    dc.release_parts(tmp_path / "parts", "count", ["place"], 1, contributions=6, **asked)
    assert dc.verify(tmp_path / "out").problems == ()


@pytest.mark.parametrize("said", [b"99999999999999999999", b"9" * 4000, b"0", b"3.0"])
def test_metadata_with_an_absurd_bound(said: bytes, tmp_path: Path) -> None:
    frame = pa.table({"place": ["a", "b"], "count": [1, 2]}).replace_schema_metadata({b"discreet.contributions": said})
    with pytest.raises(BadInput, match="contributions"):
        dc.table(frame, "count", ["place"])


def test_parts_that_were_counted_one_by_one_do_not_say_it_for_all(tmp_path: Path) -> None:
    from discreet.parts.plan import parts_schema
    from discreet.spec.values import TableSpec

    (tmp_path / "parts").mkdir()
    write_counted(counted(), tmp_path / "one.parquet")
    one = pq.read_table(tmp_path / "one.parquet")
    for name in "ab":
        frame = saying(one.set_column(0, "place", pa.array([f"{name}{i}" for i in range(8)])), 3)
        pq.write_table(frame, tmp_path / "parts" / f"{name}.parquet")
    asked: dict[str, Any] = {"out": tmp_path / "out", "mechanism": "signed-geometric"}
    with pytest.raises(BadInput, match="more rows than were counted at once"):
        dc.release_parts(tmp_path / "parts", "count", ["place"], 1, **asked)
    with pytest.raises(BadInput, match="more rows than were counted at once"):
        parts_schema(TableSpec(str(tmp_path / "parts"), "count", ("place",)), False)
    dc.release_parts(tmp_path / "parts", "count", ["place"], 1, contributions=6, **asked)
    assert dc.verify(tmp_path / "out").problems == ()
