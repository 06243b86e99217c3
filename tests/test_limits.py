"""Numbers beyond what can be computed are refused at once, and before anything is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gamma

import discreet as dc
from discreet.errors import BadInput
from discreet.io.files import read_distribution, read_floats, read_matrix
from discreet.ledger import ledger
from discreet.numbers import Epsilon, exact
from discreet.record.release import seal_of
from discreet.sample.contract import RARE
from discreet.table import LARGEST_TOTAL
from tests.cli.test_commands import Done, run  # noqa: F401
from tests.clock import within

SOON = 5.0  # seconds: writing out 1e-40000000 takes far longer, or all memory
ABSURD = ("1e-40000000", "1E+40000000", "1e-4_0000000", "-1e40000000", "0e99999999", " 1e-40000000 ")


def table(counts: Any, contributions: int = 1) -> dc.Table:
    keys = {"k": [f"r{i:03d}" for i in range(len(counts))], "g": ["ab"[i % 2] for i in range(len(counts))]}
    frame = pa.table({**keys, "h": ["xyz"[i % 3] for i in range(len(counts))], "n": pa.array(counts, pa.int64())})
    return dc.table(frame, "n", "all", contributions=contributions)


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=8))
def test_a_table_is_taken_if_and_only_if_its_total_fits(counts: list[int]) -> None:
    if sum(counts) <= LARGEST_TOTAL:
        assert sum(table(counts).counts.tolist()) == sum(counts)
    else:
        with pytest.raises(BadInput, match="add up to more than 2"):
            table(counts)


@pytest.mark.parametrize("counts", [[2**62] * 3, [2**62, 1], [2**61] * 3, [2**53] * 1000])
def test_kept_totals_that_would_overflow_spend_nothing(counts: list[int], tmp_path: Path) -> None:
    book = ledger(str(tmp_path / "ledger.db"))
    book.create("d", epsilon=5)
    with pytest.raises(BadInput, match="add up to more than 2"):
        dc.release(table(counts), 1, keep="total", ledger=book, dataset="d")
    assert book.history("d") == ()


def test_the_largest_table_keeps_its_total_exactly() -> None:
    counts = [2**62 - 3, 1, 2, 0]
    out = dc.release(table(counts), "1e-6", keep="total")
    assert sum(out.counts.tolist()) == sum(counts)
    assert dc.release(table(counts), "1e-6", mechanism="signed-geometric").counts.max() > 2**61


TINY: dict[str, dict[str, Any]] = {
    "geometric": {"mechanism": "geometric", "max_count": 9},
    "signed-geometric": {"mechanism": "signed-geometric"},
    "staircase": {"mechanism": "staircase", "max_count": 9},
    "gaussian": {"mechanism": "discrete-gaussian", "max_count": 9, "rho": "1e-18"},
    "matrix": {"mechanism": "explicit-fair", "max_count": 4},
    "transport": {"max_count": 9},
    "transport, unbounded": {},
    "transport, gaussian": {"max_count": 9, "rho": "1e-18"},
    "transport, staircase": {"max_count": 9, "base": "staircase"},
    "transport, hierarchical": {"max_count": 9, "privatizer": "hierarchical"},
    "auto": {"max_count": "auto"},
    "constructed": {"mechanism": "heuristic-best", "max_count": 4},
    "total": {"keep": "total"},
    "total, nonnegative": {"keep": "total", "nonnegative": True},
    "total, l2": {"keep": "total", "law": "l2"},
    "total, gaussian": {"keep": "total", "law": "gaussian", "rho": "1e-18"},
    "two margins": {"keep": ["margin:g", "margin:h"]},
    "two margins, gaussian": {"keep": ["margin:g", "margin:h"], "law": "gaussian", "rho": "1e-18"},
}


@pytest.mark.parametrize("people", [1, 1000, 10**6, 10**9])
@pytest.mark.parametrize("name", TINY)
def test_a_tiny_epsilon_works_or_is_refused_before_the_ledger(name: str, people: int, tmp_path: Path) -> None:
    book = ledger(str(tmp_path / "ledger.db"))
    options = dict(TINY[name])
    rho = options.pop("rho", None)
    book.create("d", epsilon=None if rho else 1, rho=1 if rho else None)
    stages: list[str] = []
    asked: dict[str, Any] = {"rho": rho} if rho else {"epsilon": "1e-9"}
    try:
        dc.release(table([5] * 12, people), **asked, ledger=book, dataset="d", stages=stages.append, **options)
    except BadInput:
        assert stages == [] and book.history("d") == ()
    else:
        assert stages[-1] == "seal" and len(book.history("d")) == 1


@pytest.mark.parametrize("name", [name for name in TINY if name != "matrix"])
def test_the_guard_against_wide_noise_can_be_tripped(name: str) -> None:
    options = dict(TINY[name])
    options.setdefault("epsilon", None if "rho" in options else "1e-9")
    with pytest.raises(BadInput, match=r"beyond the|too few"):
        dc.release(table([5] * 12, 10**9), options.pop("epsilon"), **options)


def test_wide_noise_has_the_width_that_was_asked_for() -> None:
    """A ratio within 1e-12 of 1 must not be rounded: the noise would be too narrow, or have no end."""
    rows = 1000
    noisy = dc.release(table([0] * rows, 1000), "1e-9", mechanism="signed-geometric").counts
    total = np.abs(noisy.astype(float)).sum() / 1e12  # so wide, sizes are exponential, and their sum has a gamma law
    least, most = gamma.ppf(RARE, rows), gamma.isf(RARE, rows)
    assert least < total < most
    assert gamma.sf(least, rows, scale=0.5) < RARE and gamma.cdf(most, rows, scale=2) < RARE, "half or twice the width"
    assert float(Epsilon(ratio=1 + exact("1e-15"))) == pytest.approx(1e-15, rel=1e-9)
    assert float(Epsilon(ratio=exact(20))) == pytest.approx(2.995732273554, rel=1e-9)


def soon(call: Any, *arguments: Any) -> None:
    with within(SOON), pytest.raises(BadInput):
        call(*arguments)


@pytest.mark.parametrize("number", ABSURD)
def test_absurd_exponents_are_refused_at_once_in_files(number: str, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(f'0.5,0.5\n0.5,"{number}"\n')
    written = json.dumps(number)
    (tmp_path / "m.json").write_text(f"[[0.5, {written}], [1, 0]]")
    (tmp_path / "w.json").write_text(f'{{"weights": [[1, 1], [1, 1]], "denominator": {written}}}')
    (tmp_path / "d.json").write_text(f"[0.5, {written}]")
    (tmp_path / "d.csv").write_text(f"0.5\n{number}\n")
    if number[0] not in " " and "_" not in number and "+" not in number:
        (tmp_path / "bare.json").write_text(f"[[0.5, {number}], [1, 0]]")
        soon(read_matrix, tmp_path / "bare.json")
    for name in ("m.csv", "m.json", "w.json"):
        soon(read_matrix, tmp_path / name)
    for name in ("d.json", "d.csv"):
        soon(read_distribution, tmp_path / name)
    soon(dc.certify, [[0.5, number], [1, 0]], 1)


def test_numbers_beyond_a_float_are_refused_where_floats_are_meant(tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('[1, "1e3999"]')
    (tmp_path / "m.json").write_text('[[1, "1e3999"], [1, 2]]')
    soon(read_distribution, tmp_path / "d.json")
    soon(read_floats, tmp_path / "m.json")
    np.savez(tmp_path / "m.npz", matrix=np.array([[np.inf, 0.0], [0.0, 1.0]]))
    soon(read_matrix, tmp_path / "m.npz")


@pytest.mark.parametrize("number", ABSURD[:3])
@pytest.mark.parametrize(
    "words",
    [
        ("release", "table.csv", "--count", "n", "--out", "out", "--epsilon", "{}"),
        ("release", "table.csv", "--count", "n", "--out", "out", "--alpha", "{}"),
        ("release", "table.csv", "--count", "n", "--out", "out", "--rho", "{}"),
        ("release", "table.csv", "--count", "n", "--out", "out", "--epsilon", "1", "--delta", "{}"),
        ("release", "table.csv", "--count", "n", "--out", "out", "--epsilon", "1", "--max-count", "9", "--split", "{}"),
        ("plan", "table.csv", "--count", "n", "--epsilon", "{}"),
        ("noise", "--epsilon", "1", "--support", "3", "--truth", "{}"),
        ("design", "--max-count", "3", "--epsilon", "1", "--require", "truth={}"),
        ("design", "--max-count", "3", "--epsilon", "1", "--require", "at-least=0,0,{}"),
        ("design", "--max-count", "3", "--epsilon", "1", "--objective", "lopsided:1,{}"),
        ("distribution", "table.csv", "--count", "n", "--epsilon", "{}"),
        ("ledger", "create", "ledger.db", "--dataset", "d", "--epsilon", "{}"),
        ("run", "spec.toml"),
    ],
)
def test_absurd_exponents_are_refused_at_once_in_the_shell(
    run: Any,  # noqa: F811
    words: tuple[str, ...],
    number: str,
    tmp_path: Path,
) -> None:
    (tmp_path / "spec.toml").write_text(
        f'[table]\nfile = "table.csv"\ncount = "n"\n[privacy]\nepsilon = "{number}"\n[output]\nfolder = "out"\n'
    )
    with within(SOON):
        done: Done = run(*(word.format(number) for word in words))
    assert done.status == 2 and done.out == "" and "Traceback" not in done.err
    assert not (tmp_path / "out").exists() and not (tmp_path / "ledger.db").exists()


@pytest.mark.parametrize("number", ABSURD[:3])
@pytest.mark.parametrize("bare", [True, False])
def test_absurd_exponents_in_toml_and_in_counts(number: str, bare: bool, tmp_path: Path) -> None:
    value = number if bare else f'"{number}"'
    (tmp_path / "spec.toml").write_text(f'[table]\nfile = "t.csv"\ncount = "n"\n[privacy]\nepsilon = {value}\n')
    soon(dc.read_spec, tmp_path / "spec.toml")
    (tmp_path / "t.csv").write_text(f"place,n\na,{number}\n")
    soon(dc.read_table, tmp_path / "t.csv", "n")
    soon(dc.table, pa.table({"place": ["a"], "n": [f"{number}"]}), "n")


@pytest.mark.parametrize("number", ABSURD[:3])
def test_absurd_exponents_under_verification(number: str, tmp_path: Path) -> None:
    dc.release(table([1, 2, 3]), 1, max_count=4, mechanism="geometric").save(tmp_path / "out")
    original = json.loads((tmp_path / "out" / "release.json").read_text())

    def places(value: Any, path: tuple[Any, ...] = ()) -> Any:
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, item in items:
            yield from places(item, (*path, name))
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield path

    for path in places({name: original[name] for name in ("guarantee", "mechanism", "certificate", "schema")}):
        document = json.loads(json.dumps(original))
        inside = document
        for step in path[:-1]:
            inside = inside[step]
        inside[path[-1]] = number
        document["seal"] = seal_of(document)
        (tmp_path / "out" / "release.json").write_text(json.dumps(document, indent=1) + "\n")
        with within(SOON):
            assert not dc.verify(tmp_path / "out").valid, path
