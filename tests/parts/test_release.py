"""Releases in parts: the same for any engine, of the same law for any parts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import Damaged
from discreet.parts.engine import Processes, Serial
from discreet.parts.manifest import read_manifest
from discreet.sample.contract import assert_sampler_law
from tests.parts.tables import (
    KEYS,
    Killed,
    Littering,
    Shuffled,
    Speculative,
    content,
    frame,
    in_parts,
    published,
    release,
    usual,
    with_column,
)

WAYS: dict[str, dict[str, Any]] = {
    "default": {"epsilon": 1},
    "measured": {"epsilon": 1, "favor": "distribution", "max_count": 20},
    "signed": {"epsilon": 1, "signed": True},
    "gaussian": {"rho": 1, "base": "gaussian"},
    "geometric": {"epsilon": 1, "mechanism": "geometric"},
    "matrix": {"epsilon": 1, "mechanism": "exponential", "max_count": 20},
    "unpublished": {"epsilon": 1, "measurements": False, "consistent": True},
    "system": {"epsilon": 1, "os_randomness": True},
}


@pytest.mark.parametrize("name", WAYS)
def test_a_release_in_parts_verifies_whole_and_part_by_part(name: str, tmp_path: Path) -> None:
    options = dict(WAYS[name])
    made = dc.release_parts(usual(tmp_path / "in"), "n", KEYS, out=tmp_path / "out", **options)
    keyed = name != "system"
    assert made.private and made.guarantee.grade == ("computational" if keyed else "exact")
    assert ("SHAKE-256" in made.guarantee.sentence) == keyed
    found = dc.verify(tmp_path / "out")
    assert found.valid and found.private, found.problems
    alone = dc.verify(made.parts[1])
    assert alone.valid, alone.problems
    table = published(tmp_path / "out")
    assert table.select(KEYS).equals(frame().select(KEYS))
    assert (table.column("n").to_numpy() != frame().column("n").to_numpy()).mean() > 0.15  # 0.39 at the least
    expected = {"manifest.json", "release.json", "report.html", "explore.html", "analysis.R", "table"}
    noisy = {"measurements"} if name not in ("signed", "matrix", "unpublished") else set()
    assert {path.name for path in (tmp_path / "out").iterdir()} == expected | noisy
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]  # no secrets are left


@pytest.mark.parametrize(
    "engine",
    [Shuffled(), Killed(), Speculative(), Littering(), Processes(2)],
    ids=lambda one: f"{type(one).__name__}{getattr(one, 'workers', '')}",
)
def test_any_engine_makes_the_same_release(engine: Any, tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    options = {"seed": 7, "favor": "distribution", "max_count": 20}
    release(given, tmp_path / "one", engine=Serial(), **options)
    release(given, tmp_path / "other", engine=engine, **options)
    assert content(tmp_path / "one") == content(tmp_path / "other")
    assert dc.verify(tmp_path / "other", allow_seeded=True).valid


def test_a_seeded_release_is_marked_and_another_seed_makes_another(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    made = release(given, tmp_path / "out", seed=1)
    assert not made.private and "NOT PRIVATE" in made.guarantee.sentence
    assert not dc.verify(tmp_path / "out").valid
    release(given, tmp_path / "other", seed=2)
    assert not published(tmp_path / "out", "measurements").equals(published(tmp_path / "other", "measurements"))


def test_without_a_seed_no_two_releases_are_the_same(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    for name in ("one", "other"):
        release(given, tmp_path / name)
    assert not published(tmp_path / "one", "measurements").equals(published(tmp_path / "other", "measurements"))


@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(1, 119), max_size=4, unique=True), seed=st.integers(0, 10**6))
def test_noise_has_its_law_however_the_rows_are_cut(cuts: list[int], seed: int) -> None:
    """Many copies of one part after another: the same law, and bits that no two parts share."""
    from fractions import Fraction

    from discreet.laws import Geometric
    from discreet.parts.keyed import PartAddress, drawn

    ends = [0, *sorted(cuts), 120]
    noise, source = Geometric(Fraction(2)), drawn(seed)
    drawn_parts = [
        noise.add(np.zeros(500 * (end - start), dtype=np.int64), source.bits(PartAddress(b"d", b"p", "1", part)))
        for part, (start, end) in enumerate(pairwise(ends))
    ]
    together = np.concatenate(drawn_parts)
    right, wrong = (Geometric(Fraction(odds)).masses(60) for odds in ("2", "2.15"))
    masses, near = (np.concatenate([one[:0:-1], one]) for one in (right, wrong))
    assert_sampler_law(lambda _: together, masses, size=len(together), first=-60, wrong=near)


def test_the_map_is_that_of_one_machine(tmp_path: Path) -> None:
    """The noisy values of all parts, taken as one table, become the counts that the parts have."""
    from discreet.public_map import rank_rows

    for number, sizes in enumerate(([240], [80, 70, 90], [1, 238, 1])):
        made = release(in_parts(tmp_path / f"in{number}", frame(), sizes), tmp_path / f"{number}", consistent=True)
        noisy = published(tmp_path / f"{number}", "measurements").column("n").to_numpy()
        facts = made.record.facts
        counts = rank_rows(noisy, facts.distribution.histogram, facts.mechanism.map_seed)
        assert np.array_equal(counts, published(tmp_path / f"{number}").column("n").to_numpy())


def test_the_manifest_has_what_is_in_the_parts(tmp_path: Path) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out")
    manifest = read_manifest((tmp_path / "out" / "manifest.json").read_bytes())
    assert [part.rows for part in manifest.parts] == [80, 70, 90] and manifest.rows == made.record.schema.rows == 240
    for number, part in enumerate(manifest.parts):
        counts = pq.read_table(made.parts[number]).column("n").to_numpy()
        values, numbers = np.unique(counts, return_counts=True)
        assert np.array_equal(part.counts.values, values) and np.array_equal(part.counts.numbers, numbers)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[1]", b'{"parts": 1, "parts": 2}', b"[" * 10_000])
def test_a_manifest_that_cannot_be_read_is_named(content: bytes) -> None:
    with pytest.raises(Damaged, match=r"^manifest\.json: it (cannot be read|is not a JSON object)"):
        read_manifest(content)


def test_estimates_come_from_the_manifest_alone(tmp_path: Path) -> None:
    release(usual(tmp_path / "in"), tmp_path / "out", seed=1)
    measured = published(tmp_path / "out", "measurements").column("n").to_numpy()
    shutil.rmtree(tmp_path / "out" / "table")
    shutil.rmtree(tmp_path / "out" / "measurements")
    told = dc.estimate(tmp_path / "out")
    assert told.total().interval[0] <= frame().column("n").to_numpy().sum() <= told.total().interval[1]
    assert told.mean().estimate == pytest.approx(measured.mean(), abs=1)
    assert 0 <= told.share_above(3).estimate <= 1 and told.quantile("1/2").estimate >= 0
    with pytest.raises(dc.BadInput, match="was to be read"):
        told.by("area")


ESTIMATED: dict[str, dict[str, Any]] = {name: WAYS[name] for name in ("default", "measured", "matrix", "unpublished")}


@pytest.mark.parametrize("name", ESTIMATED)
def test_estimates_are_those_of_one_table_with_the_same_rows(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out", **ESTIMATED[name])
    from discreet.record.release import Publication
    from discreet.ways import way_named

    counts = published(tmp_path / "out").column("n").to_numpy()
    apart = (tmp_path / "out" / "measurements").exists()
    noisy = published(tmp_path / "out", "measurements").column("n").to_numpy() if apart else None
    one = Publication(made.record, frame().select(KEYS), counts, noisy)
    plain, told = way_named(made.record.way).evidence(one, 0.95), dc.estimate(tmp_path / "out")
    for ask in ("mean", "total"):
        there, here = getattr(told, ask)(), getattr(plain, ask)()
        assert (there.estimate, *there.interval) == pytest.approx((here.estimate, *here.interval), rel=1e-9)
    assert told.by("area", "age").as_json() == plain.by("area", "age").as_json()
    if name != "default":
        return
    assert told.share_zero() == plain.share_zero()
    assert told.share_above(2) == plain.share_above(2) and told.quantile("0.9") == plain.quantile("0.9")
    weights = np.arange(240) % 2
    assert told.rows().as_json() == plain.rows().as_json() and told.region(weights) == plain.region(weights)
    assert told.where(age=[1, 2]).share_above(2) == plain.where(age=[1, 2]).share_above(2)
    assert told.where(age=1).minus(told.where(age=2)) == plain.where(age=1).minus(plain.where(age=2))
    monkeypatch.setattr("discreet.parts.verify.MOST_READ", 239)
    with pytest.raises(dc.BadInput, match="239 at most are read into memory"):
        dc.estimate(tmp_path / "out").rows()


# kept sums


KEPT: dict[str, list[str]] = {"total": [], "margin:area": ["area"], "margin:age": ["age"]}


@pytest.mark.parametrize("what", KEPT)
def test_kept_sums_are_kept_across_parts_and_promised_as_for_one_table(what: str, tmp_path: Path) -> None:
    given = in_parts(tmp_path / "in", frame(), [83, 68, 89])  # areas of eight rows lie in two parts
    made = release(given, tmp_path / "out", keep=what)
    one = dc.release(dc.table(frame(), "n", KEYS), epsilon=1, keep=what)
    assert replace(made.guarantee, grade="exact") == one.guarantee
    facts, expected = made.record.facts, one.record.facts
    assert facts.mechanism.parameters == expected.mechanism.parameters
    for name in ("kept", "labels", "dimensions"):
        assert getattr(facts.invariants, name) == getattr(expected.invariants, name)
    for name in ("sums", "determined", "fixed"):
        assert np.array_equal(getattr(facts.invariants, name), getattr(expected.invariants, name))
    by = KEPT[what]
    before, after = (sums_of(table, by) for table in (frame(), published(tmp_path / "out")))
    assert before == after and not published(tmp_path / "out").equals(frame())
    found = dc.verify(tmp_path / "out")
    assert found.valid and dc.verify(made.parts[2]).valid, found.problems
    total = dc.estimate(tmp_path / "out").total()
    assert total.exact and total.estimate == frame().column("n").to_numpy().sum()
    by_area = dc.estimate(release(given, tmp_path / "seeded", keep=what, seed=1)).by("area")  # from the rows
    exactly = sums_of(frame(), ["area"])
    inside = [answer.interval[0] <= exactly[area] <= answer.interval[1] for area, answer in by_area.items()]
    assert np.mean(inside) > 0.7 and by_area.exact.all() == (what == "margin:area")
    with pytest.raises(dc.BadInput, match="only their total is told"):
        dc.estimate(tmp_path / "out").share_above(3)


def sums_of(table: Any, by: list[str]) -> Any:
    counted = table.to_pandas()
    return counted["n"].sum() if not by else counted.groupby(by)["n"].sum().to_dict()


@pytest.mark.parametrize("keep", [["total", "margin:age"], ["margin:age", "margin:age", "total"]], ids=str)
def test_of_nested_sums_the_finest_keeps_all(keep: list[str], tmp_path: Path) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out", keep=keep)
    after = published(tmp_path / "out")
    assert [str(one) for one in made.record.facts.invariants.kept] == ["margin:age"]
    assert all(sums_of(frame(), by) == sums_of(after, by) for by in ([], ["age"]))
    assert dc.verify(tmp_path / "out").valid


def test_rows_in_a_sum_of_zero_are_named(tmp_path: Path) -> None:
    counts = frame().column("n").to_numpy().copy()
    counts[80:88] = 0
    table = with_column(frame(), "n", counts)
    made = release(in_parts(tmp_path / "in", table, [83, 157]), tmp_path / "out", keep="margin:area")
    one = dc.release(dc.table(table, "n", KEYS), epsilon=1, keep="margin:area")
    assert made.record.facts.invariants.fixed.tolist() == one.record.facts.invariants.fixed.tolist()
    assert set(range(81, 89)) <= set(made.record.facts.invariants.fixed.tolist())
    assert dc.verify(tmp_path / "out").valid


def test_a_sum_that_is_not_kept_is_found(tmp_path: Path) -> None:
    """Two rows of different areas exchanged, with all digests and histograms made anew."""
    import hashlib

    from discreet.io.written_csv import written
    from discreet.io.written_parquet import write_parquet
    from discreet.parts.manifest import Manifest, write_manifest
    from discreet.record.release import mark_of, read_record, write_record

    made = release(usual(tmp_path / "in"), tmp_path / "out", keep="margin:area", seed=1)
    part = pq.read_table(made.parts[0])
    counts = part["n"].to_numpy().copy()
    other = next(place for place in range(8, 80) if counts[place] != counts[0])
    counts[0], counts[other] = counts[other], counts[0]
    digest = written(made.parts[0], write_parquet, with_column(part, "n", counts))
    parts = (replace(made.manifest.parts[0], table=digest), *made.manifest.parts[1:])
    content = write_manifest(Manifest(parts))
    (tmp_path / "out" / "manifest.json").write_bytes(content)
    record = read_record(json.loads((tmp_path / "out" / "release.json").read_text()))
    named = {**record.digests, "manifest.json": hashlib.sha256(content).hexdigest()}
    forged = replace(record, digests=named, mark=mark_of(False, named["manifest.json"]))
    (tmp_path / "out" / "release.json").write_text(write_record(forged))
    problems = dc.verify(tmp_path / "out", allow_seeded=True).problems
    assert len(problems) == 1 and "does not have the kept sum" in problems[0]


# parts that are not in order


def test_parts_that_are_neither_sorted_nor_apart_are_sorted(tmp_path: Path) -> None:
    table = frame()
    mixed = table.take(np.random.default_rng(3).permutation(table.num_rows))
    given = in_parts(tmp_path / "in", mixed, [100, 140])
    made = release(given, tmp_path / "out", part_rows=60)
    assert len(made.parts) == 4 and published(tmp_path / "out").select(KEYS).equals(table.select(KEYS))
    assert dc.verify(tmp_path / "out").valid
    release(usual(tmp_path / "usual"), tmp_path / "same", seed=5)
    release(in_parts(tmp_path / "turned", table.slice(80), [70, 90]), tmp_path / "less", seed=5)


def test_parts_in_another_order_of_names_are_taken_as_they_are(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    (given / "p0.parquet").rename(given / "z.parquet")
    made = release(given, tmp_path / "out")
    assert [part.rows for part in made.manifest.parts] == [80, 70, 90]
    assert published(tmp_path / "out").select(KEYS).equals(frame().select(KEYS))


def test_a_universe_is_joined(tmp_path: Path) -> None:
    table = frame()
    given = in_parts(tmp_path / "in", table.take(np.arange(0, 240, 2)), [70, 50])
    pq.write_table(table.select(KEYS), tmp_path / "universe.parquet")
    for number, universe in enumerate((tmp_path / "universe.parquet", table.select(KEYS))):
        release(given, tmp_path / f"{number}", universe=universe, seed=1, part_rows=100)
        assert published(tmp_path / f"{number}").select(KEYS).equals(table.select(KEYS))
    assert content(tmp_path / "0") == content(tmp_path / "1")
    with pytest.raises(dc.BadInput, match=r"rows are not in it: area = 'a0\d\d', age = "):
        release(given, tmp_path / "refused", universe=table.select(KEYS).slice(0, 200))


def test_people_are_counted_over_a_universe(tmp_path: Path) -> None:
    table = frame()
    counts = table.column("n").to_numpy()
    people = table.select(KEYS).take(np.random.default_rng(0).permutation(np.repeat(np.arange(240), counts)))
    given = in_parts(tmp_path / "in", people, [300, people.num_rows - 300])
    options = {"epsilon": 40, "mechanism": "geometric", "seed": 1}  # so little noise that counts stay as they are
    dc.release_parts(given, "*", KEYS, out=tmp_path / "out", universe=table.select(KEYS), **options)
    assert np.array_equal(published(tmp_path / "out").column("count").to_numpy(), counts)
    with pytest.raises(dc.BadInput, match="those that occur would give people away"):
        dc.release_parts(given, "*", KEYS, out=tmp_path / "refused", **options)
