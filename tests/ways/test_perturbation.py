"""Perturbation tables: certified, released for counts of any size, verified, estimated."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import BadInput, NotProven
from discreet.estimate import steady
from discreet.mechanism import Continued, Mechanism, can_come_out, of_weights
from discreet.numbers import Epsilon
from discreet.public_map import seen_of
from discreet.report.errors import averaged_continued
from discreet.sample.contract import assert_shares
from tests.certify.hockey_stick import hockey_stick

STAYS = [[20, 0, 0, 0, 0], [8, 6, 4, 2, 0], [1, 6, 6, 6, 1]]  # zeros stay; mean 0 and variance 1 above
MOVES = [[14, 4, 1, 1, 0, 0], [6, 9, 3, 1, 1, 0], [2, 5, 7, 3, 2, 1], [1, 2, 4, 8, 4, 1]]


def mechanism(rows: list[list[int]]) -> Mechanism:
    return Mechanism("own", Continued(of_weights("", rows).weights))


def table(counts: list[int], **options: Any) -> dc.Table:
    return dc.table(pa.table({"k": [f"r{i:05d}" for i in range(len(counts))], "n": counts}), count="n", **options)


@st.composite
def continued(draw: st.DrawFn) -> Mechanism:
    size, width = draw(st.integers(1, 4)), draw(st.integers(2, 6))
    rows = [[draw(st.integers(0, 5)) for _ in range(width)] for _ in range(size)]
    total = max(sum(row) for row in rows) + 1
    for row in rows:
        row[draw(st.integers(0, width - 1))] += total - sum(row)
    return mechanism(rows)


def unrolled(form: Continued, top: int) -> list[list[Fraction]]:
    """The specification: each row written out, the last one moved along."""
    width = len(form.start.rows[0]) + top
    rows = []
    for count in range(top + 1):
        source, shift = form.start.rows[min(count, form.last)], max(0, count - form.last)
        padded = [0] * shift + list(source) + [0] * width
        rows.append([Fraction(weight, form.start.total) for weight in padded[:width]])
    return rows


@given(continued(), st.fractions(Fraction(1), 9, max_denominator=20), st.integers(0, 4))
def test_it_is_as_private_as_its_rows_written_out(made: Mechanism, odds: Fraction, more: int) -> None:
    form = made.form
    assert isinstance(form, Continued)
    rows = unrolled(form, form.last + 1 + more)
    needed = hockey_stick(rows, odds)
    if odds > 1:
        assert made.delta(Epsilon(ratio=odds)) == needed
        assert dc.certify(made, Epsilon(ratio=odds)).holds == (needed == 0)
    assert [list(row) for row in form.upto(len(rows) - 1).rows] == [
        [int(p * form.start.total) for p in row[: len(form.start.rows[0]) + len(rows) - 1 - form.last]] for row in rows
    ]


@given(continued(), st.integers(0, 12))
def test_what_can_come_out_is_what_some_row_has(made: Mechanism, largest: int) -> None:
    form = made.form
    assert isinstance(form, Continued)
    rows = unrolled(form, largest + form.last + 8)
    possible = {j for row in rows for j, p in enumerate(row) if p and j <= largest}
    assert {j for j in range(largest + 1) if can_come_out(form, np.array([j]))} == possible


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_every_count_has_the_noise_of_its_row(count: int) -> None:
    rows = 20_000
    out = dc.release(table([count] * rows), dc.Approximate(1, "1/2"), mechanism=mechanism(MOVES)).counts
    shift = max(0, count - 3)
    law = np.array(MOVES[min(count, 3)]) / 20
    seen = np.bincount(out - shift, minlength=6)
    wrong = law + 0.05 * np.eye(6)[law.argmax()] - 0.05 * np.eye(6)[np.argsort(law)[-2]]
    assert_shares(seen, law, wrong)


def test_single_draws_stay_in_reach() -> None:
    for count in (0, 1, 2, 5, 10**9):
        out = dc.release(table([count]), dc.Approximate(1, "0.6"), mechanism=mechanism(STAYS)).counts[0]
        assert abs(int(out) - count) <= 2 and (count > 0 or out == 0)


def test_a_file_is_released_verified_and_estimated(tmp_path: Path) -> None:
    lines = [f"{i};{j};{p / 20}" for i, row in enumerate(STAYS) for j, p in enumerate(row) if p]
    (tmp_path / "ptable.csv").write_text("\n".join(["i;j;p", *lines]))
    true = [0] * 300 + [1] * 200 + [2] * 100 + list(range(3, 203))
    out = dc.release(table(true), epsilon=1, delta="0.6", mechanism=str(tmp_path / "ptable.csv"))
    digest = out.save(tmp_path / "out")
    verdict = dc.verify(tmp_path / "out", digest)
    assert verdict.valid, verdict.problems
    assert out.max_count is None and out.measurements is None
    assert "No epsilon covers that" in out.guarantee.sentence and "0.6" in out.guarantee.sentence
    assert isinstance(dc.estimate(str(tmp_path / "out"), level=0.999), dc.Estimate)
    asked = {"epsilon": 1, "delta": "0.6", "mechanism": str(tmp_path / "ptable.csv")}
    found = dc.estimate(dc.release(table(true), seed=1, **asked), level=0.999)
    low, high = found.total().interval
    assert low <= sum(true) <= high
    low, high = found.share_zero().interval
    assert low <= 300 / 800 <= high
    assert abs(found.rows().estimate[799] - 202) < 5


def test_an_unbiased_table_is_summed_as_it_stands() -> None:
    true = [3, 9, 0, 1, 5, 2]
    frame = pa.table({"k": list("aabbcc"), "l": list("xyxyxy"), "n": true})
    out = dc.release(dc.table(frame, "n", keys=["k", "l"]), epsilon=1, delta="0.6", mechanism=mechanism(STAYS))
    by = dc.estimate(out).by("k")
    assert [answer.estimate for answer in by.values()] == pytest.approx(out.counts.reshape(3, 2).sum(axis=1))


def test_the_report_tells_the_error_of_the_counts_there_are() -> None:
    """Half of the rows are zeros, which stay; the others have a noise whose mean absolute value is 0.7."""
    published = np.array([0] * 500 + [1000 + k for k in range(500)])
    form = mechanism([*STAYS]).form
    assert isinstance(form, Continued)
    found = averaged_continued(form, seen_of(published))
    assert found.absolute == pytest.approx([0, 0.8, 0.8]) and found.typical == pytest.approx(0.4, abs=0.05)


def test_counts_of_any_size_are_verified_and_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steady, "MARGIN", 25)
    true = np.array([0] * 30 + [2] * 30 + [5000] * 30 + [10**12] * 30)
    out = dc.release(table(true.tolist()), epsilon=1, delta="0.6", mechanism=mechanism(STAYS), seed=3)
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out", allow_seeded=True).valid
    found = dc.estimate(str(tmp_path / "out"), level=0.999)
    assert isinstance(found, dc.Estimate)
    assert found.total().interval[0] <= true.sum() <= found.total().interval[1]
    for threshold, above in ((1, 0.75), (4990, 0.5), (4999, 0.5), (10**6, 0.25), (10**12 + 3, 0)):
        low, high = found.share_above(threshold).interval
        assert low <= above <= high
    for share, count in ((0.1, 0), (0.6, 5000), (0.9, 10**12)):
        low, high = found.quantile(share).interval
        assert low <= count <= high and high - low <= 4
    rows = found.rows()
    assert np.mean((rows.low <= true) & (true <= rows.high)) > 0.95


@pytest.mark.parametrize("people", [1, 2])
def test_the_least_delta_is_promised_and_the_one_asked_for_is_the_most(people: int, tmp_path: Path) -> None:
    """Of several units, each (1, d), it is d (1 + e + ..)."""
    form = mechanism(MOVES).form
    assert isinstance(form, Continued)
    rows = unrolled(form, form.last + 1)
    exact = hockey_stick(rows, Epsilon(value=Fraction(1)).bounds(200)[0])
    steps = sum((Epsilon(value=Fraction(1)).bounds(200)[1] ** k for k in range(people)), Fraction(0))
    book = dc.ledger(tmp_path / "book.db")
    book.create("d", epsilon=30, delta="99/100")
    made = dc.release(
        table([1, 2, 3], contributions=people), people, delta="98/100", mechanism=mechanism(MOVES),
        ledger=book, dataset="d",
    )  # fmt: skip
    found = made.guarantee.delta
    assert exact * steps <= found <= exact * steps * Fraction(100003, 100000)
    assert book.status("d").spent.delta == found
    made.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
    again = dc.release(table([1], contributions=people), people, delta=found, mechanism=mechanism(MOVES))
    assert again.guarantee.delta == found
    with pytest.raises(NotProven):
        dc.release(table([1], contributions=people), people, delta=found * Fraction(9, 10), mechanism=mechanism(MOVES))


def test_what_it_does_not_promise_is_refused_with_the_delta_it_needs() -> None:
    with pytest.raises(NotProven, match=r"would need a delta of 0\.6"):
        dc.release(table([1]), epsilon=1, mechanism=mechanism(STAYS))
    with pytest.raises(NotProven, match=r"would need epsilon 0\.91629073\d+ or a delta of 0\.27896\d+"):
        # ln(5/2), and 1/2 - e^0.1/5
        dc.release(table([1]), epsilon="0.1", mechanism=[[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.1, 0.3, 0.6]])
    with pytest.raises(BadInput, match="for counts of any size"):
        dc.release(table([1]), epsilon=1, delta="0.6", max_count=4, mechanism=mechanism(STAYS))
    with pytest.raises(BadInput, match="any size"):
        _ = mechanism(STAYS).weights


def test_gaps_are_known() -> None:
    form = mechanism([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]).form
    assert [j for j in range(7) if can_come_out(form, np.array([j]))] == [0, 1, 3, 4, 5, 6]


def test_the_mechanism_stands_in_the_record_as_it_is(tmp_path: Path) -> None:
    dc.release(table([4, 5]), epsilon=1, delta="0.6", mechanism=mechanism(STAYS)).save(tmp_path / "out")
    record = json.loads((tmp_path / "out" / "release.json").read_text())
    assert record["mechanism"]["form"] == "continued" and record["mechanism"]["denominator"] == "20"
    assert record["guarantee"]["remarks"][-1] == {"code": "zeros-stay", "delta": "0.6"}
