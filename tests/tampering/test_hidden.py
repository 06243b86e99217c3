"""Parquet files and files of answers have no room for what does not follow from their tables."""

from __future__ import annotations

import base64
import io
import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.io.folder import folder_of
from discreet.verify import PACKED, verify_contents
from tests.tampering.folders import honest, made
from tests.tampering.forge import with_files
from tests.tampering.test_files import others, valid


def test_nothing_is_hidden_in_a_parquet_file() -> None:
    folder, files = honest("parquet"), others(honest("parquet"))
    frame = pq.read_table(pa.BufferReader(files["table.parquet"]))
    key, field = frame.column_names[0], frame.schema.field(0)
    hidden = {b"truth": b"3,1,2,5"}
    for forged in (
        frame.replace_schema_metadata(hidden),
        frame.cast(frame.schema.set(0, field.with_metadata(hidden))),
        frame.set_column(0, key, frame.column(0).cast(pa.binary())),
    ):
        out = io.BytesIO()
        pq.write_table(forged, out)
        assert not valid(folder, with_files(folder.contents, {**files, "table.parquet": out.getvalue()}))
    dictionary = frame.column(0).combine_chunks().dictionary_encode()
    more = pa.concat_arrays([dictionary.dictionary, pa.array(["3,1,2,5"])])  # a value that no row has
    listed = frame.set_column(0, key, pa.DictionaryArray.from_arrays(dictionary.indices, more))
    narrow = frame.set_column(2, "n", frame.column(2).cast(pa.int32()))
    for forged, options in (
        (listed, {}), (listed, {"store_schema": False}), (narrow, {}), (frame, {"use_dictionary": False}),
        (frame, {"write_statistics": False}), (frame, {"data_page_version": "2.0"}), (frame, {"compression": "none"}),
        (frame, {"row_group_size": 7}), (frame, {"write_page_index": True}), (frame, {"compression": "zstd"}),
    ):  # fmt: skip
        out = io.BytesIO()
        pq.write_table(forged, out, **options)
        assert not valid(folder, with_files(folder.contents, {**files, "table.parquet": out.getvalue()})), options
    out = io.BytesIO()
    pq.write_table(frame, out)
    plain = out.getvalue()
    assert valid(folder, with_files(folder.contents, {**files, "table.parquet": plain}))
    foot = pq.ParquetFile(pa.BufferReader(plain)).metadata.serialized_size + 8
    padded = {
        "before the footer": plain[:-foot] + b"3,1,2,5" + plain[-foot:], "at the end": plain + b"3,1,2,5",
        "another writer": plain.replace(b"parquet-cpp-arrow version", b"the true counts are 3 1 2"),
    }  # fmt: skip
    for where, forged_bytes in padded.items():
        assert forged_bytes != plain
        assert not valid(folder, with_files(folder.contents, {**files, "table.parquet": forged_bytes})), where


def by_another_arrow(frame: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(frame, out, **options)
    return out.getvalue().replace(
        f"arrow version {pa.cpp_version}".encode(),
        b"arrow version 1.2.3".ljust(len(f"arrow version {pa.cpp_version}"), b"0"),
    )


def test_what_another_version_of_arrow_wrote_is_not_compared_but_bounded() -> None:
    folder, files = honest("parquet"), others(honest("parquet"))
    assert PACKED in verify_contents(folder.contents).checked
    frame = pq.read_table(pa.BufferReader(files["table.parquet"]))
    contents = with_files(folder.contents, {**files, "table.parquet": by_another_arrow(frame)})
    found = verify_contents(contents)
    assert found.valid and PACKED not in found.checked
    assert any(one.startswith(PACKED) and "table.parquet" in one for one in found.not_applicable)
    codes = frame.column(0).combine_chunks().dictionary_encode()
    secret = base64.b64encode(random.Random(1).randbytes(1000)).decode()
    more = pa.DictionaryArray.from_arrays(codes.indices, pa.concat_arrays([codes.dictionary, pa.array([secret])]))
    full = by_another_arrow(frame.set_column(0, frame.column_names[0], more))
    problems = verify_contents(with_files(folder.contents, {**files, "table.parquet": full})).problems
    assert any("larger than its rows need" in problem for problem in problems)


def test_whoever_says_that_another_arrow_wrote_it_hides_nothing_in_lists_statistics_or_packing() -> None:
    folder, files = honest("parquet"), others(honest("parquet"))
    frame = pq.read_table(pa.BufferReader(files["table.parquet"]))
    key = frame.column_names[0]

    def problems(content: bytes) -> tuple[str, ...]:
        return verify_contents(with_files(folder.contents, {**files, "table.parquet": content})).problems

    codes = frame.column(0).combine_chunks().dictionary_encode()
    backwards = codes.dictionary.take(pa.array(range(len(codes.dictionary) - 1, -1, -1)))
    one_more = pa.concat_arrays([codes.dictionary, pa.array(["truth"])])
    listed = {
        "a value of no row": pa.DictionaryArray.from_arrays(codes.indices, one_more),
        "another order": pa.DictionaryArray.from_arrays(
            pa.array([len(backwards) - 1 - code for code in codes.indices.to_pylist()]), backwards
        ),
    }
    assert not problems(by_another_arrow(frame))
    for how, column in listed.items():
        found = problems(by_another_arrow(frame.set_column(0, key, column)))
        assert any("statistics" in problem or "lists values" in problem for problem in found), (how, found)
    packed = {
        "not at all": {"compression": "none"},
        "in an order": {"sorting_columns": [pq.SortingColumn(0)]},
        "plainly": {"use_dictionary": False},
    }
    for how, options in packed.items():
        assert problems(by_another_arrow(frame, **options)), how
    plain = by_another_arrow(frame)
    top = max(frame.column(2).to_pylist()).to_bytes(8, "little")
    at = plain.rindex(top)  # in the statistics, which stand in the footer
    assert any("statistics" in problem for problem in problems(plain[:at] + b"\x77" + plain[at + 1 :]))


def test_where_there_is_no_parquet_file_none_is_said_to_be_compared() -> None:
    found = verify_contents(honest("row-by-row").contents)
    assert PACKED not in found.checked and f"{PACKED}: there are none" in found.not_applicable


def changed(frame: Any, name: str, values: Any) -> Any:
    return frame.set_column(frame.column_names.index(name), name, values)


def test_nothing_is_hidden_in_how_answers_are_written() -> None:
    """More digits than four, a minus before nothing, a missing key for an empty one; whoever wrote the file."""
    contents = made("measure", epsilon=1, measure="auto", format="parquet").contents
    files = {name: content for name, content in contents.files.items() if name != "release.json"}
    assert verify_contents(contents).valid
    frame = pq.read_table(pa.BufferReader(files["answers.parquet"]))
    estimates = frame.column("estimate").to_pylist()
    empty = pa.array([value or "" for value in frame.column("sex").to_pylist()])
    hidden = {
        "digits": changed(frame, "estimate", pa.array([estimates[0] + 3e-7, *estimates[1:]])),
        "single precision": changed(frame, "sd", frame.column("sd").cast(pa.float32())),
        "empty for missing": changed(frame, "sex", empty),
        "whole numbers as floats": changed(frame, "n", frame.column("n").cast(pa.float64())),
    }
    assert not empty.equals(frame.column("sex").combine_chunks())
    for how, forged in hidden.items():
        forged_files = {**files, "answers.parquet": by_another_arrow(forged)}
        assert not verify_contents(with_files(contents, forged_files)).valid, how
    same = with_files(contents, {**files, "answers.parquet": by_another_arrow(frame)})
    assert verify_contents(same).valid


@pytest.mark.parametrize("kind", ["measure", "measure-kept"])
def test_nothing_is_hidden_in_the_sign_of_nothing(kind: str) -> None:
    contents, files = honest(kind).contents, others(honest(kind))
    head, *rows = files["answers.csv"].decode().splitlines()
    at = head.split(",").index("sd")
    for word in ("-0.0000", "00.0000", "0.00000", "0", "+0.0000", "0.0000 ", "1e0", "nan", "inf", ""):
        cells = rows[0].split(",")
        cells[at] = word
        forged = "\n".join([head, ",".join(cells), *rows[1:], ""]).encode()
        problems = verify_contents(with_files(contents, {**files, "answers.csv": forged})).problems
        assert any("answers.csv: a value of sd" in problem for problem in problems), (word, problems)


def test_a_folder_says_which_parquet_files_were_not_compared() -> None:
    contents = honest("parquet").contents
    assert folder_of(contents).elsewhere == ()
    assert folder_of(honest("row-by-row").contents).elsewhere is None
    files = {**contents.files, "measurements.parquet": contents.files["measurements.parquet"]}
    assert folder_of(replace(contents, files=files)).elsewhere == ()
