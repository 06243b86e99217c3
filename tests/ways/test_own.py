"""Releasing with a mechanism of one's own: a design, a mechanism, a matrix, a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput, NotProven
from discreet.mechanism import Weights
from discreet.sample.contract import assert_shares
from discreet.table import Table
from tests.shell import shell

MATRIX = [[0.5, 0.3, 0.2], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]]


def table(counts: list[int]) -> Table:
    return dc.table(pa.table({"k": [f"r{i:05d}" for i in range(len(counts))], "n": counts}), count="n")


def test_a_designed_mechanism_is_released_and_verified(tmp_path: Path) -> None:
    design = dc.design(max_count=6, epsilon=1, objective="absolute", require=["fair"])
    out = dc.release(table([0, 3, 6, 9]), epsilon=1, mechanism=design)
    assert out.max_count == 6 and out.counts.max() <= 6
    digest = out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out", digest).valid


@pytest.mark.parametrize("objective", ["absolute", "squared", "wrong"])
def test_closed_forms_with_a_map_too(objective: str, tmp_path: Path) -> None:
    design = dc.design(max_count=5, epsilon="1/2", objective=objective)
    dc.release(table([1, 2, 5]), epsilon="1/2", mechanism=design.mechanism).save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


def test_a_matrix_is_drawn_from_as_it_is() -> None:
    rows = 60_000
    out = dc.release(table([1] * rows), epsilon="0.7", mechanism=MATRIX).counts
    seen = np.bincount(out, minlength=3)
    assert_shares(seen, MATRIX[1], [0.28, 0.47, 0.25])


def test_what_cannot_be_certified_is_not_released() -> None:
    with pytest.raises(NotProven, match="does not meet it"):
        dc.release(table([1]), epsilon="0.5", mechanism=MATRIX)
    with pytest.raises(BadInput, match="3 inputs and 2 outputs"):
        dc.release(table([1]), epsilon=1, mechanism=[[0.5, 0.5]] * 3)
    with pytest.raises(BadInput, match="up to 2"):
        dc.release(table([1]), epsilon=1, max_count=5, mechanism=MATRIX)
    with pytest.raises(BadInput, match="Gaussian"):
        dc.release(table([1]), epsilon=1, mechanism=dc.explicit("discrete-gaussian", 4, rho=1))


def test_a_matrix_that_no_record_could_hold_is_refused_before_anything_is_drawn() -> None:
    """Floats are taken exactly, and the sums of their rows have no small common multiple."""
    counts = np.arange(200)
    floats = np.exp(-0.3 * abs(counts[:, None] - counts))
    with pytest.raises(BadInput, match="written exactly, its 200 rows take more than 32 MiB"):
        dc.release(table([1]), epsilon=1, mechanism=floats / floats.sum(1, keepdims=True))
    long = 10**4299  # few weights, but no text that Python would read
    with pytest.raises(BadInput, match="4,300 digits"):
        dc.release(
            table([1]), epsilon=1, mechanism=dc.Mechanism("own", Weights(((long * 5, long * 5),) * 2, long * 10))
        )


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("k,n\na,1\nb,2\n")
    (tmp_path / "m.json").write_text(json.dumps({"matrix": MATRIX}))
    words = ["release", "t.csv", "--count", "n", "--epsilon", "1", "--mechanism", "m.json", "--out", "out"]
    assert shell(*words, cwd=tmp_path).returncode == 0 and dc.verify(tmp_path / "out").valid


@pytest.mark.parametrize("people", [1, 2])
def test_a_delta_that_is_not_needed_is_not_spent(people: int, tmp_path: Path) -> None:
    pure = dc.design(3, epsilon=1)
    counts = dc.table(pa.table({"k": ["a", "b"], "n": [1, 2]}), count="n", keys=["k"], contributions=people)
    book = dc.ledger(tmp_path / "book.db")
    book.create("d", epsilon=9, delta="1/2")
    for given in (pure, pure.mechanism):
        with pytest.raises(dc.BadInput, match="a delta would be spent for nothing"):
            dc.release(counts, people, delta="1/100", mechanism=given, ledger=book, dataset="d")
    assert book.status("d").releases == 0
