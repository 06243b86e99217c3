"""Every group its own size: no count is published above it, and the mechanism of every size is in the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.errors import BadInput, NotProven
from discreet.sample.contract import assert_sampler_law
from discreet.table import Table
from tests.clock import within
from tests.shell import shell

SIZED = ("geometric", "explicit-fair", "uniform", "randomized-response", "exponential", "staircase")


def table(sizes: Any, counts: Any, contributions: int = 1) -> Table:
    frame = pa.table({"k": [f"r{i:07d}" for i in range(len(sizes))], "size": sizes, "n": counts})
    return dc.table(frame, count="n", keys=["k", "size"], contributions=contributions)


def some(rows: int = 300, largest: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, largest + 1, rows)
    return sizes, rng.binomial(sizes, 0.4)


@pytest.mark.parametrize("mechanism", [*SIZED, "discrete-gaussian"])
@pytest.mark.parametrize("measurements", [True, False])
def test_no_count_is_above_its_size_and_everything_is_proved(
    mechanism: str, measurements: bool, tmp_path: Path
) -> None:
    sizes, counts = some()
    loss = {"rho": 1} if mechanism == "discrete-gaussian" else {"epsilon": 1}
    asked = {"mechanism": mechanism, "max_count": "size", "measurements": measurements, **loss}
    out = dc.release(table(sizes, counts), **asked)
    assert (out.counts >= 0).all() and (out.counts <= sizes).all()
    assert out.record.way == "by-size" and out.max_count == 7
    assert [one.max_count for one in out.mechanism.sizes] == [1, 2, 3, 4, 5, 6, 7]
    assert "in the column 'size'; counts above it are treated as it" in out.guarantee.sentence
    out.save(tmp_path / "out")
    verification = dc.verify(tmp_path / "out")
    assert verification.valid, verification.problems
    estimate = dc.estimate(tmp_path / "out")
    low, high = estimate.total().interval
    assert low <= estimate.total().estimate <= high <= sizes.sum()
    rows = estimate.rows().table()
    assert (rows["high"].to_numpy() <= sizes).all() and (rows["low"].to_numpy() >= 0).all()


def test_every_size_is_drawn_by_its_own_mechanism() -> None:
    """Against the matrix of each size, and against that of the next one."""
    sizes = np.repeat([2, 4], 45_000)
    drawn = dc.release(table(sizes, np.ones(90_000, dtype=int)), 1, mechanism="explicit-fair", max_count="size").counts
    for size, other in ((2, 3), (4, 5)):
        law, wrong = (dc.explicit("explicit-fair", m, 1).matrix()[1].tolist() for m in (size, other))
        assert_sampler_law(lambda _, s=size: drawn[sizes == s], law, size=45_000, wrong=wrong)


def test_designs_of_ones_own_for_every_size(tmp_path: Path) -> None:
    sizes, counts = some(60, 4)
    made = {m: dc.design(m, "0.9", objective="absolute", require=["fair"]) for m in (1, 2, 3, 4)}
    out = dc.release(table(sizes, counts), "0.9", mechanism=made, max_count="size")
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid and (out.counts <= sizes).all()
    with pytest.raises(BadInput, match="none for groups of 4"):
        dc.release(table(sizes, counts), "0.9", mechanism={m: made[m] for m in (1, 2, 3)}, max_count="size")
    with pytest.raises(BadInput, match="for counts up to 2"):
        dc.release(table(sizes, counts), "0.9", mechanism={**made, 3: made[2]}, max_count="size")
    with pytest.raises(NotProven):
        dc.release(table(sizes, counts), "0.5", mechanism=made, max_count="size")


@pytest.mark.parametrize("mechanism", ["geometric", "explicit-fair"])
def test_intervals_cover(mechanism: str) -> None:
    sizes, counts = some(150, 5)
    secret, hits, shares, regions = table(sizes, counts), 0, 0, 0
    for seed in range(60):
        view = dc.estimate(dc.release(secret, 1, mechanism=mechanism, max_count="size", seed=seed))
        answers = (
            view.total(),
            view.share_above(1),
            view.by("size")[4],
        )
        truths = counts.sum(), (counts > 1).mean(), counts[sizes == 4].sum()
        found = [answer.interval[0] <= truth <= answer.interval[1] for answer, truth in zip(answers, truths)]
        hits, shares, regions = hits + found[0], shares + found[1], regions + found[2]
    assert min(hits, shares, regions) >= 50, "57 are expected of 60; so few has a chance below one in 5,000"


def test_what_groups_of_one_size_tell() -> None:
    sizes, counts = some(200, 3)
    view = dc.estimate(dc.release(table(sizes, counts), 2, mechanism="geometric", max_count="size"))
    assert view.where(size=3).total().estimate <= 3 * (sizes == 3).sum()
    assert view.share_above(3).estimate == 0 and view.share_zero().level == 0.95
    with pytest.raises(BadInput, match="size"):
        view.where(size=9)
    with pytest.raises(BadInput, match="differ in size"):
        view.quantile("1/2")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([3, 0, 2], "in the column 'size' it is '0' where k is 'b'"),
        ([3, -1, 2], "in the column 'size' it is '-1' where k is 'b'"),
        ([3, None, 2], "row 2, column 'size' is missing"),
        ([3.0, 1.5, 2.0], "in the column 'size' it is '1.5' where k is 'b'"),
        (["3", "few", "2"], "in the column 'size' it is 'few' where k is 'b'"),
        (["3", "", "2"], "where k is 'b'|row 2"),
    ],
)
def test_sizes_that_are_none_are_refused_and_nothing_is_charged(sizes: Any, message: str, tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "book.db")
    book.create("people", epsilon=5)
    with pytest.raises(BadInput, match=message):
        frame = pa.table({"k": ["a", "b", "c"], "size": sizes, "n": [1, 1, 1]})
        secret = dc.table(frame, "n", keys=["k", "size"], rows_are_disjoint=True)
        dc.release(secret, 1, mechanism="geometric", max_count="size", ledger=book, dataset="people")
    assert not book.history("people")


def test_sizes_that_are_the_counts_are_refused_and_nothing_is_charged(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "book.db")
    book.create("people", epsilon=5)

    def released(counts: list[int]) -> Any:
        frame = pa.table({"k": ["a", "b", "c"], "size": [3, 7, 5], "n": counts})
        secret = dc.table(frame, "n", keys=["k", "size"], rows_are_disjoint=True)
        return dc.release(secret, 1, mechanism="geometric", max_count="size", ledger=book, dataset="people")

    with pytest.raises(BadInput, match="in every row it is the count itself"):
        released([3, 7, 5])
    assert not book.history("people")
    assert released([3, 7, 4]).guarantee.epsilon.value == 1


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"max_count": "phone"}, "the public key columns are: k, size.*among the keys, if they are public"),
        ({"max_count": "n"}, "the public key columns are: k, size"),
        ({"max_count": "size", "mechanism": "transport"}, "mechanism for groups of their own sizes"),
        ({"max_count": "size", "mechanism": "bounded", "truth": "1/2", "support": 2}, "groups of their own sizes"),
        ({"max_count": "size", "mechanism": [[0.5, 0.5], [0.5, 0.5]]}, "Give a mapping"),
        ({"max_count": "size", "split": "1/2"}, "gives every group its own size"),
    ],
)
def test_what_does_not_go_with_sizes_is_refused(asked: dict[str, Any], message: str) -> None:
    frame = pa.table({"k": ["a", "b"], "size": [2, 3], "phone": [11, 12], "n": [1, 1]})
    with pytest.raises(BadInput, match=message):
        dc.release(dc.table(frame, "n", keys=["k", "size"]), 1, **asked)


def test_from_the_shell_and_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_text("k,size,n\na,4,3\nb,2,2\nc,4,0\n")
    monkeypatch.chdir(tmp_path)
    words = "release t.csv --count n --keys k,size --epsilon 1 --mechanism explicit-fair --max-count size"
    done = shell(*words.split(), "--out", "out", "--write-spec", "r.toml", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["way"] == "by-size"
    assert dc.verify("out").valid
    spec = dc.read_spec("r.toml")
    assert spec.way == dc.BySize("size", "explicit-fair")
    assert dc.verify("again", dc.run(spec, "again")[1]).valid
    asked = shell("estimate", "out", "--total", "--by", "size", "--json")
    assert asked.returncode == 0 and set(json.loads(asked.stdout)) >= {"total", "by"}
    plan = dc.plan(table([4, 2], [1, 1]), 1, max_count="size", mechanism="geometric")
    assert any("above the size of their group" in step for step in plan.steps)


def test_a_person_counted_several_times_is_paid_for(tmp_path: Path) -> None:
    sizes, counts = some(40, 3)
    out = dc.release(table(sizes, counts, 2), 1, mechanism="geometric", max_count="size")
    assert out.guarantee.unit.contributions == 2
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid


def test_a_hundred_thousand_groups_in_fifty_sizes() -> None:
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 51, 100_000)
    secret = table(sizes, rng.binomial(sizes, 0.3))
    with within(10):
        out = dc.release(secret, 1, mechanism="explicit-fair", max_count="size")
    assert (out.counts <= sizes).all()


def test_a_delta_that_one_size_needs_is_for_all(tmp_path: Path) -> None:
    """And one that none needs is not spent."""
    small, large = [[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]]
    counts = dc.table(pa.table({"k": ["a", "b"], "size": [1, 2], "n": [1, 2]}), count="n", keys=["k", "size"])
    out = dc.release(counts, 1, delta="4/5", mechanism={1: small, 2: large}, max_count="size")
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
    alike = dc.table(pa.table({"k": ["a", "b"], "size": [1, 1], "n": [1, 0]}), count="n", keys=["k", "size"])
    with pytest.raises(dc.BadInput, match="a delta would be spent for nothing"):
        dc.release(alike, 1, delta="4/5", mechanism={1: small}, max_count="size")


def test_sizes_written_as_floats_are_read(tmp_path: Path) -> None:
    out = dc.release(table([1.0, 2.0, 9.0], [1, 1, 4]), 1, max_count="size")
    assert (out.counts <= [1, 2, 9]).all()
    out.save(tmp_path / "out")
    assert dc.verify(tmp_path / "out").valid
