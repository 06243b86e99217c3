"""What outsiders hand over, fed with anything: each target takes bytes, and may answer with nothing but our errors.

Two drivers use them: hypothesis in the tests, and atheris, which follows coverage, in `make fuzz`.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any
from zlib import crc32

import pyarrow as pa

import discreet as dc
from discreet.errors import DiscreetError

from .folders import GOLDEN, hostile_folder, record_seeds
from .lines import appended_line, line_seeds

SECONDS = 5.0  # of computing for one input of a few kilobytes: somebody waits for the answer
MEGABYTES = 400  # that one such input may add to the memory in use: a solver and a frame library come to less
RELEASED = 16  # one input in so many goes on to a release: it takes a hundred times as long as being read
ROOT = Path(__file__).parents[2]
PASSWORD = "geheim"

# Fragments that have broken readers before; hypothesis splices them in, atheris gets them as its dictionary.
TOKENS = [
    b"1e-40000000", b"1e40000000", b"1e400", b"1/0", b"1/3", b"-1", b"9223372036854775808", b"9" * 40, b"NaN", b"nan",
    b"Infinity", b"null", b"true", b"0x10", b"1_000", b"1,234", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b'"', b"'",
    b"\r", b"\n", b"\t", b";", b"|", b"[" * 60, b"{}", b"[]", b'{"a":', b"=1+1", b"\xe2\x80\x8b", b"\xed\xa0\x80",
    b"Total", b"auto", b"file:", b"?mode=memory", b"sqlite://", b"postgresql://", b"../", b"~x/", b"%00", b"\x1f\x8b",
    b"PK\x03\x04", b"\x93NUMPY", b"1e", b"e1", b"inf", b"\xc2\xa0", b"\xd9\xa3",
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """Something that reads what others wrote."""

    name: str
    feed: Callable[[bytes, Path], None]
    seeds: Callable[[], list[bytes]]


def attack(target: Target, data: bytes) -> None:
    """One input: only our own errors, nothing half-written, in bounded time and memory."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder, began, before = Path(name), process_time(), _peak()
        try:
            target.feed(data, folder)
        except DiscreetError as error:
            assert str(error)
        took, grew = process_time() - began, _peak() - before
        assert took < SECONDS, f"{target.name} took {took:.1f} seconds"
        assert grew < MEGABYTES, f"{target.name} took {grew:.0f} MB"
        left = [path.name for path in folder.rglob("*") if ".part" in path.name]
        assert not left, f"{target.name} left {left}"


def warm(target: Target) -> None:
    """What is imported for the first time is not the fault of an input."""
    for seed in target.seeds()[:2]:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name, _refusals():
            target.feed(seed, Path(name))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _csv(data: bytes, folder: Path) -> None:
    """A table of counts: read, described, and at times released."""
    from discreet.io.layout import read_frame
    from discreet.io.tables import read_schema

    file = folder / "table.csv"
    file.write_bytes(data)
    count = read_frame(file).column_names[-1]
    for keys in (None, "all"):
        with _refusals():
            read_schema(file, count, keys)
        with _refusals():
            dc.read_table(file, count, keys, keep_order=keys == "all")
    if crc32(data) % RELEASED == 0:
        _released(dc.TableSpec(str(file), count, keys="all"), dc.Pure(1), dc.RowByRow("geometric", 9), folder)


def _released(table: dc.TableSpec, loss: Any, way: Any, folder: Path) -> None:
    """Whoever is charged has a release, and whoever has none is not."""
    book, out = folder / "ledger.db", folder / "out"
    shutil.copy(_ledger_file(), book)
    spec = dc.ReleaseSpec(table, loss, way, dc.LedgerSpec("people", str(book)), dc.Output(str(out)))
    try:
        dc.run(spec)
        assert {"release.json", "report.html", "table.csv"} <= {path.name for path in out.iterdir()}
    except DiscreetError:
        assert not out.exists()
        raise
    finally:
        assert len(dc.ledger(book).history("people")) == out.exists()


@cache
def _ledger_file() -> Path:
    """A ledger with one budget, to be copied."""
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="fuzz-ledger-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    dc.ledger(folder / "ledger.db").create("people", epsilon=5000, delta="1/10")
    return folder / "ledger.db"


def _csv_seeds() -> list[bytes]:
    tables = [path.read_bytes() for path in sorted(GOLDEN.glob("*/table.csv"))[:2]]
    small = "k,n\na,1\nb,2\n"
    forms = [
        small.encode(),
        small.replace(",", ";").encode("cp1252"),
        small.encode("utf-16"),
        b'k,n\n"a\nb",3\n"c""",4\n',
    ]
    return [*tables, *forms, b"a,b,n\n01,x,1\n01,y,2.0\n", b"n\n1\n", b"k\tn\r\nx\t1e3\r\n"]


def _universe(data: bytes, folder: Path) -> None:
    """The public set of rows, as JSON or CSV."""
    (folder / "table.csv").write_text("k,j,n\na,1,1\nb,2,0\n")
    file = folder / ("universe.json" if data[:1] in b"{[" else "universe.csv")
    file.write_bytes(data)
    with _refusals():
        dc.read_table(folder / "table.csv", "n", ["k", "j"], file)
    dc.read_table(folder / "table.csv", "n", ["k"], file)


def _universe_seeds() -> list[bytes]:
    return [b'{"k": ["a", "b", "c"], "j": ["1", "2"]}', b"k,j\na,1\nb,2\nc,1\n", b"k,j\na,1\na,1\n", b'{"k": "ab"}']


def _matrix(data: bytes, folder: Path) -> None:
    """A mechanism of one's own: JSON, CSV (plain, or i, j, p) or an archive. The first byte chooses."""
    from discreet.io.files import read_probabilities

    file = folder / f"matrix.{('json', 'csv', 'npz')[data[0] % 3 if data else 0]}"
    file.write_bytes(data[1:])
    matrix = read_probabilities(file)
    rows, columns = matrix.form.shape if isinstance(matrix, dc.Mechanism) else (len(matrix), len(matrix[0]))
    if rows <= 8 and columns <= 8:
        dc.certify(matrix, 1, delta="1/100", curve=True)


@cache
def _matrix_seeds() -> list[bytes]:
    import io

    import numpy as np

    archive = io.BytesIO()
    np.savez(archive, matrix=np.array([[0.75, 0.25], [0.25, 0.75]]))
    return [
        b"\x00[[0.75, 0.25], [0.25, 0.75]]",
        b'\x00{"matrix": [["3/4", "1/4"], ["1/4", "3/4"]]}',
        b'\x00{"weights": [[3, 1], [1, 3]], "denominator": 4}',
        b"\x010.75,0.25\n0.25,0.75\n",
        b'\x01"i";"j";"p";"v"\n0;0;1;0\n1;0;0,4;-1\n1;1;0,6;0\n',
        b"\x01i,j,p\n0,0,0.75\n0,1,0.25\n1,0,0.25\n1,1,0.75\n",
        b"\x02" + archive.getvalue(),
    ]


def _distribution(data: bytes, folder: Path) -> None:
    """A distribution or prior, as JSON or CSV, and what takes one."""
    from discreet.io.files import read_distribution

    file = folder / ("prior.json" if data[:1] in b"{[" else "prior.csv")
    file.write_bytes(data)
    prior = read_distribution(file)
    if 2 <= len(prior) <= 6:
        with _refusals():
            dc.construct(prior, 1, method="heuristic-max")
        dc.compare(len(prior) - 1, 1, prior=prior)


def _distribution_seeds() -> list[bytes]:
    return [
        b"[0.5, 0.25, 0.25]",
        b'{"distribution": [1, 2, 3]}',
        b"0.5\n0.25\n0.25\n",
        b"1/3\n2/3\n",
        b'{"prior": ["1/2", 0.5]}',
    ]


def _keep(data: bytes, folder: Path) -> None:
    """What is to be kept: a word, or a file with a 0/1 matrix; and the same word as a question to measure."""
    from discreet.lattice.invariants import invariant_matrix, parse_keep
    from discreet.ways import way_named

    columns = {"k": ["a", "a", "b"], "j": ["x", "y", "x"]}
    (folder / "sums.csv").write_bytes(data)
    for word in ("sums.csv", data.decode("utf-8", errors="surrogateescape")):
        with _refusals():
            invariant_matrix([parse_keep(word, folder)], columns, 3)
    with _refusals():
        schema = dc.table(pa.table({**columns, "n": [1, 2, 3]}), "n", keys=["k", "j"]).schema
        way_named("measure").plan(schema, dc.Pure(1), dc.Measure(word.split("\n")))


def _keep_seeds() -> list[bytes]:
    return [
        b"1,1,0\n0,1,1\n",
        b"total",
        b"margin:k,j",
        b"sum:k=a,j=x",
        b"margin:",
        b"sum:k",
        b"margin:k@1/3\ncells\ntotal@1/3",
    ]


def _toml(data: bytes, folder: Path) -> None:
    """A release as a file: read, written, read again, and at times run."""
    file = folder / "release.toml"
    file.write_bytes(data)
    spec = dc.read_spec(file)
    with _refusals():
        spec.write(folder / "again.toml")
        assert dc.read_spec(folder / "again.toml") == spec, "a file that is written and read says something else"
    if _cheap(spec.way):
        (folder / "table.csv").write_text("k,n\na,1\nb,2\nc,0\n")
        table = replace(spec.table, file=str(folder / "table.csv"), count="n", keys=("k",), universe=None)
        _released(table, spec.privacy, spec.way, folder)


def _cheap(way: Any) -> bool:
    """A mechanism that is built may take as long as it likes: somebody asked for it."""
    top = getattr(way, "max_count", None)
    built = way.own if isinstance(way, dc.RowByRow) else getattr(way, "mechanism", "transport") != "transport"
    return not built and (top is None or (isinstance(top, int) and top <= 50))


def _toml_seeds() -> list[bytes]:
    head = '[table]\nfile = "t.csv"\ncount = "n"\nkeys = ["k"]\n[privacy]\n'
    ways = [
        'epsilon = "1/2"\n[row-by-row]\nmechanism = "geometric"\nmax_count = 9\n[output]\nfolder = "out"\n',
        'rho = 0.1\n[keep-sums]\nkeep = ["total", "margin:k"]\nlaw = "gaussian"\n',
        'epsilon = 1\ndelta = 1e-6\n[keep-distribution]\nmax_count = 9\nbase = "gaussian"\nsplit = 0.3\n',
        'alpha = 0.5\n[ledger]\nurl = "budget.db"\ndataset = "d"\n[about]\ntitle = "x"\n',
        'epsilon = 1\n[measure]\nmeasure = ["total@1/4", "margin:k", "cells"]\nkeep = ["total"]\n',
        'rho = 1\n[measure]\nmeasure = "auto"\nlevels = ["k"]\n',
        'epsilon = 1\n[ledger]\nvariable = "NOT_SET"\ndataset = "d"\n[output]\nmeasurements = false\n',
    ]
    return [(head + way).encode() for way in ways]


def _address(data: bytes, folder: Path) -> None:
    """Where a ledger is: no password in any message, no file out of nowhere, no server asked."""
    from discreet.ledger.address import address_of, mask

    words = data.decode("utf-8", errors="surrogateescape").replace("PASSWORD", PASSWORD)
    with _inside(folder), _nothing_appears(folder):
        try:
            mask(words)
            address = address_of(words)
            assert not address.secrets or PASSWORD not in address.shown
            if address.file is not None:
                dc.ledger(words, wait=0.01).status()
        except DiscreetError as error:
            meant = re.match(rf"([a-z+]+://?)?[a-z]*:{PASSWORD}@[^@:]*$", words)  # a URL, though perhaps not a good one
            assert not meant or PASSWORD not in str(error), "a password is shown"
            raise


def _address_seeds() -> list[bytes]:
    return [
        b"ledger.db", b"sqlite:///ledger.db", b"sqlite:////tmp/none.db", b"sqlite://", b"sqlite:///file:x?mode=memory&uri=true",
        b"postgresql://me:PASSWORD@host:5432/db?sslmode=require", b"postgresql+psycopg://me:PASSWORD@/db?host=/tmp",
        b"mysql://me:PASSWORD@host/db", b"postgresql://me:PASSWORD@host:port/db", b"~/ledger.db", b"", b"x/" * 2000,
    ]  # fmt: skip


def _ledger_bytes(data: bytes, folder: Path) -> None:
    """A ledger that somebody has been at with an editor: places and bytes, over a real one."""
    content = bytearray(_ledger_file().read_bytes())
    for start in range(0, len(data) - 3, 3):
        content[int.from_bytes(data[start : start + 2], "little") % len(content)] = data[start + 2]
    file = folder / "ledger.db"
    file.write_bytes(bytes(content[: len(content) - (data[-1] if data else 0)]))
    book = dc.ledger(file, wait=0.01)
    with _refusals():
        book.status()
    with _refusals():
        book.history()
    book.export()


def _ledger_seeds() -> list[bytes]:
    return [b"", b"\x00\x00X", b"\x10\x00\x00\x12\x00\xff", bytes(range(60))]


def _number(data: bytes, folder: Path) -> None:
    """Privacy parameters as people write them."""
    from discreet.privacy.parse import loss_of

    words = data.decode("utf-8", errors="surrogateescape").split("\n")[:3] + ["0", "0"]
    for name in ("epsilon", "alpha", "rho"):
        with _refusals():
            str(loss_of(words[0] if name == "epsilon" else None, **{name: words[0]} if name != "epsilon" else {}))
    with _refusals():
        str(loss_of(words[0], delta=words[1]))


def _number_seeds() -> list[bytes]:
    return [b"1", b"1/2", b"0.1\n1e-6", b"1e-9", b"1e3\n1/3", b" 1 ", b"1_0", b"-0", b"0.9999999999999999999999"]


@contextmanager
def _refusals() -> Iterator[None]:
    """Being refused here is an answer; what comes after is asked all the same."""
    try:
        yield
    except DiscreetError as error:
        assert str(error)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    here = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)


@contextmanager
def _nothing_appears(folder: Path) -> Iterator[None]:
    before = sorted(folder.rglob("*"))
    try:
        yield
    finally:
        assert sorted(folder.rglob("*")) == before, "a file appeared that nobody asked for"


TARGETS = {
    target.name: target
    for target in (
        Target("csv", _csv, _csv_seeds),
        Target("universe", _universe, _universe_seeds),
        Target("matrix", _matrix, _matrix_seeds),
        Target("distribution", _distribution, _distribution_seeds),
        Target("keep", _keep, _keep_seeds),
        Target("toml", _toml, _toml_seeds),
        Target("ledger-address", _address, _address_seeds),
        Target("ledger-file", _ledger_bytes, _ledger_seeds),
        Target("ledger-line", appended_line, line_seeds),
        Target("number", _number, _number_seeds),
        Target("record", hostile_folder, record_seeds),
    )
}
