"""Releases in parts: the same for any engine, of the same law for any parts, verified, refused."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.errors import Damaged
from discreet.parts import passes
from discreet.parts.engine import Processes, Serial
from discreet.parts.manifest import read_manifest
from discreet.parts.tasks import Looked, Mapped, Noised
from discreet.public_map import SeenValues
from discreet.sample.contract import assert_sampler_law
from tests.parts.tables import (
    KEYS,
    Killed,
    Littering,
    Losing,
    Meddling,
    Shuffled,
    Speculative,
    content,
    frame,
    in_parts,
    nothing_left,
    opened,
    published,
    usual,
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


def release(given: Path, out: Path, **options: Any) -> Any:
    return dc.release_parts(given, "n", KEYS, out=out, **{"epsilon": 1, **options})


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


# what is refused


def changed(folder: Path, name: str, table: Any) -> Path:
    pq.write_table(table, folder / name)
    return folder


def with_column(table: Any, name: str, values: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


BAD: dict[str, tuple[Any, str]] = {
    "another column": (lambda part: part.rename_columns(["area", "years", "n"]), "age"),
    "another type": (lambda part: with_column(part, "age", [str(age) for age in part["age"].to_pylist()]), "string"),
    "no row": (lambda part: part.slice(0, 0), r"Part 2 \(p1.parquet\).*it has no rows"),
    "a negative count": (lambda part: with_column(part, "n", [-1] * part.num_rows), "Part 2"),
    "half a count": (lambda part: with_column(part, "n", [0.5] * part.num_rows), "Part 2"),
    "keys of another part": (
        lambda part: pa.concat_tables([part, frame().slice(3, 1)]),
        r"two rows have the same: area = 'a000', age = 3, in p0.parquet and p1.parquet",
    ),
    "a total": (lambda part: with_column(part, "area", ["Total"] * part.num_rows), "total"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_part_is_refused_before_anything_is_spent(what: str, tmp_path: Path) -> None:
    change, match = BAD[what]
    given = usual(tmp_path / "in")
    changed(given, "p1.parquet", change(pq.read_table(given / "p1.parquet")))
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=2)
    with nothing_left(tmp_path), pytest.raises(dc.BadInput, match=match) as refused:
        release(given, tmp_path / "out", ledger=book, dataset="d")
    said = str(refused.value).replace(str(tmp_path), "")
    assert "-1" not in said and "0.5" not in said  # counts are secret
    assert list(book.history()) == []


def test_all_bad_parts_are_told_at_once(tmp_path: Path) -> None:
    given = usual(tmp_path / "in")
    for name in ("p0.parquet", "p2.parquet"):
        changed(given, name, frame().slice(0, 0))
    with pytest.raises(dc.BadInput, match=r"part 1 \(p0.parquet\).*part 3 \(p2.parquet\)"):
        release(given, tmp_path / "out")


def paid(tmp_path: Path) -> tuple[Path, Any]:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=5)
    return usual(tmp_path / "in"), book


def refused_after_the_charge(given: Path, book: Any, engine: Any, match: str) -> None:
    with nothing_left(given.parent), pytest.raises(dc.BadInput, match=match):
        release(given, given.parent / "out", engine=engine, ledger=book, dataset="d")
    assert [entry.state for entry in book.history()] == ["charged, not released"]


def to_others(place: Path, other: Path) -> None:
    place.unlink()
    place.symlink_to(other)


def to_a_folder(place: Path, other: Path) -> None:
    place.unlink()
    place.mkdir()


def rewritten(place: Path, how: Callable[[Any], Any], **options: Any) -> None:
    pq.write_table(how(pq.read_table(place)), place, **options)


CHANGED = "it was changed since it was looked at"
CHANGES: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "other counts": (lambda place, _: rewritten(place, lambda part: with_column(part, "n", [1] * 70)), CHANGED),
    "the same, packed otherwise": (lambda place, _: rewritten(place, lambda part: part, compression="gzip"), CHANGED),
    "half of it": (lambda place, _: place.write_bytes(place.read_bytes()[:300]), CHANGED),
    "no rows": (lambda place, _: rewritten(place, lambda part: part.slice(0, 0)), CHANGED),
    "another type": (lambda place, _: rewritten(place, lambda part: with_column(part, "age", ["1"] * 70)), CHANGED),
    "keys of another part": (lambda place, other: shutil.copy(other, place), CHANGED),
    "a link to another part": (to_others, CHANGED),
    "a link to nothing": (lambda place, other: to_others(place, other.with_name("none")), "No such file"),
    "gone": (lambda place, _: place.unlink(), "No such file"),
    "a folder": (to_a_folder, "Is a directory"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_part_that_changes_between_the_passes_is_refused_and_the_charge_stays(how: str, tmp_path: Path) -> None:
    given, book = paid(tmp_path)
    change, said = CHANGES[how]

    def meddle(name: str, tasks: Any) -> None:
        if name == "AddNoise":
            change(given / "p1.parquet", given / "p0.parquet")

    refused_after_the_charge(given, book, Meddling(before=meddle), rf"Part 2 \(p1.parquet\).*{said}")


def test_noisy_values_that_change_between_the_passes_are_refused(tmp_path: Path) -> None:
    given, book = paid(tmp_path)

    def change(name: str, tasks: Any) -> None:
        if name == "ToCounts":
            changed(Path(tasks[1].file).parent, Path(tasks[1].file).name, frame().slice(80, 70))

    refused_after_the_charge(given, book, Meddling(before=change), "its noisy values were changed since")


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_bytes(b"PAR1"),
        lambda file: file.unlink(),
        lambda file: file.symlink_to(file.rename(file.with_suffix(".old"))),
    ],
)
def test_a_file_that_is_not_what_was_written_is_refused(change: Callable[[Path], object], tmp_path: Path) -> None:
    given, book = paid(tmp_path)

    def meddle(name: str, found: list[Any]) -> None:
        if name == "ToCounts":
            change(Path(opened(found[2]).file))

    refused_after_the_charge(given, book, Meddling(after=meddle), "part 3 is not the one that was written")


def test_a_part_that_does_not_come_back_is_refused(tmp_path: Path) -> None:
    given, book = paid(tmp_path)
    refused_after_the_charge(given, book, Losing(), "1 of 3 did not come back")


def test_a_release_that_is_paid_for_is_told_and_known_again(tmp_path: Path) -> None:
    given, book = paid(tmp_path)
    made = release(given, tmp_path / "out", ledger=book, dataset="d")
    (entry,) = book.history()
    assert entry.state == "released" and entry.digests == (made.digest,)
    from discreet.ledger.checking import paid_release

    assert paid_release(book, tmp_path / "out").problems == ()


def test_a_dead_driver_means_a_new_charge(tmp_path: Path) -> None:
    given, book = paid(tmp_path)

    def die(name: str, tasks: Any) -> None:
        if name == "ToCounts":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(given, tmp_path / "out", engine=Meddling(before=die), ledger=book, dataset="d")
    release(given, tmp_path / "out", ledger=book, dataset="d")
    assert [entry.state for entry in book.history()] == ["charged, not released", "released"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "measure": ({"measure": ["margin:area"]}, "needs all rows at once.*In parts go"),
    "by size": ({"max_count": "age"}, "needs all rows at once"),
    "constructed": ({"mechanism": "heuristic-best", "max_count": 9}, "Use transport"),
    "margins": ({"keep": ["margin:area", "margin:age"]}, "Keep total, or one margin, or nested ones"),
    "law": (
        {"keep": "total", "law": "gaussian", "epsilon": None, "rho": 1},
        "Keep total, or one margin, or nested ones",
    ),
    "nonnegative": ({"keep": "total", "nonnegative": True}, "Allow negative counts"),
    "single rows": ({"keep": "margin:area,age"}, "determine every single cell"),
    "engine": ({"engine": "lokal"}, "Did you mean 'local'"),
    "option": ({"favour": "counts"}, "Did you mean 'favor'"),
    "keys": ({"keys": None}, "candidates|key columns|Name"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_go_in_parts_is_refused_by_name(what: str, tmp_path: Path) -> None:
    options, match = REFUSED[what]
    given = usual(tmp_path / "in")
    with nothing_left(tmp_path), pytest.raises(dc.DiscreetError, match=match):
        dc.release_parts(given, "n", **{"keys": KEYS, "epsilon": 1, "out": tmp_path / "out", **options})


def test_a_block_of_a_single_row_is_refused_with_kept_sums(tmp_path: Path) -> None:
    table = frame().slice(0, 81)
    given = in_parts(tmp_path / "in", table, [40, 41])
    with nothing_left(tmp_path), pytest.raises(dc.BadInput, match=r"sums of a single row \(area=a010\)"):
        release(given, tmp_path / "out", keep="margin:area")


def test_a_ledger_knows_kept_sums_in_parts_as_those_of_one_table(tmp_path: Path, monkeypatch: Any) -> None:
    """Kept once over all rows, then over all but one of an area, whose count the two sums would give away."""
    from discreet.ledger.checking import paid_release

    given, book = paid(tmp_path)
    whole = dc.release(dc.table(frame(), "n", KEYS), epsilon=1, keep="margin:area", ledger=book, dataset="d")
    whole.save(tmp_path / "whole")
    release(given, tmp_path / "parts", keep="margin:area", ledger=book, dataset="d")
    one, other = book.history()
    assert one.spending.table == other.spending.table and other.state == "released"
    assert paid_release(book, tmp_path / "parts").problems == ()
    less = in_parts(tmp_path / "less", frame().slice(1), [100, 139])
    with (
        nothing_left(tmp_path),
        pytest.raises(dc.DiscreetError, match=r"give away 1 row: age = 0, area = a000 \(exactly\)"),
    ):
        release(less, tmp_path / "more", keep="margin:area", ledger=book, dataset="d")
    assert len(list(book.history())) == 2
    monkeypatch.setattr(sys.modules["discreet.ledger.disclosure"], "MOST_ROWS", 239)
    with nothing_left(tmp_path), pytest.raises(dc.BadInput, match="compares the kept sums of 239 at most"):
        release(given, tmp_path / "more", keep="margin:area", ledger=book, dataset="d")


def test_no_parts_are_no_table(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for parts in (tmp_path / "in", tmp_path / "in" / "*.parquet", [tmp_path / "x.parquet"]):
        with pytest.raises(dc.BadInput, match="there is no"):
            release(parts, tmp_path / "out")  # type: ignore[arg-type]


# what must not get out


def test_neither_key_nor_data_nor_their_digest_are_in_the_folder_or_in_a_task(tmp_path: Path, monkeypatch: Any) -> None:
    import hashlib
    import pickle

    from discreet.parts.keyed import drawn

    given, keys, tasks = usual(tmp_path / "in"), [], []
    sources: list[Any] = []
    monkeypatch.setattr("discreet.parts.release.drawn", lambda *a: sources.append(drawn(*a)) or sources[-1])

    def keep(name: str, some: Any) -> None:
        tasks.append(pickle.dumps(list(some)))

    summaries: list[bytes] = []
    engine = Meddling(before=keep, after=lambda name, found: summaries.append(pickle.dumps(found)))
    release(given, tmp_path / "out", engine=engine, favor="distribution", max_count=20)
    keys = [one.key for one in sources if one.key]
    digests = [hashlib.sha256(path.read_bytes()).digest() for path in given.iterdir()]
    counts = passes.histogram(pq.read_table(given / "p0.parquet").column("n").to_numpy(), 20)
    secret = [*keys, *(key.hex().encode() for key in keys), *digests, *(one.hex().encode() for one in digests), counts]
    open_files = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(keys) == 2 and engine.passes == ["Look", "AddNoise", "ToCounts"]
    assert not any(word in text for word in secret for text in [*open_files, *tasks, *summaries])


def test_an_error_of_the_software_tells_no_value(tmp_path: Path, monkeypatch: Any) -> None:
    """An engine would log it: what numpy and Arrow say of a value that they cannot take names the value."""

    def stumble(*arguments: Any) -> Any:
        raise pa.ArrowInvalid("Integer value 1234567 not in range")

    monkeypatch.setattr("discreet.parts.passes.write_part", stumble)
    with (
        nothing_left(tmp_path / ".."),
        pytest.raises(dc.BadInput, match=r"ArrowInvalid at test_release.py:\d+") as told,
    ):
        release(usual(tmp_path / "in"), tmp_path / "out")
    assert "1234567" not in str(told.value) and "1234567" not in repr(told.value.__context__)


def test_a_worker_of_another_version_draws_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("discreet.parts.work._version", lambda: "0.0.1")
    with pytest.raises(dc.BadInput, match=r"a worker has discreet .* made by 0.0.1"):
        release(usual(tmp_path / "in"), tmp_path / "out")


def test_a_worker_of_another_version_maps_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    given, book = paid(tmp_path)

    def older(name: str, tasks: Any) -> None:
        if name == "ToCounts":
            monkeypatch.setattr(dc, "__version__", "0.0.1")

    refused_after_the_charge(given, book, Meddling(before=older), r"were to be mapped.*a worker has discreet 0.0.1")


def test_late_copies_of_tasks_leave_nothing_in_the_release(tmp_path: Path) -> None:
    """They write when all is committed: their noise, drawn of words that are destroyed, would be another one."""
    late: list[Any] = []

    class Late(Serial):
        def run(self, function: Any, tasks: Any) -> Any:
            late.extend((function, task) for task in tasks if hasattr(function, "randomness"))
            if type(function).__name__ == "ToCounts":  # the noise is drawn, and the words are destroyed
                for one, task in late:
                    with pytest.raises(OSError):
                        one(task)
            return super().run(function, tasks)

    release(usual(tmp_path / "in"), tmp_path / "out", engine=Late(), os_randomness=True, measurements=False)
    assert len(late) == 3 and dc.verify(tmp_path / "out").valid
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_tampered_part_is_found_and_the_others_still_verify(tmp_path: Path) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out")
    part = pq.read_table(made.parts[1])
    changed(made.parts[1].parent, made.parts[1].name, with_column(part, "n", part["n"].to_numpy() + 1))
    whole = dc.verify(tmp_path / "out")
    assert not whole.valid and "part-00001.parquet: it was changed" in whole.problems[0]
    assert not dc.verify(made.parts[1]).valid and dc.verify(made.parts[0]).valid and dc.verify(made.parts[2]).valid


@pytest.mark.parametrize("name", ["default", "margin"])
def test_parts_verified_several_at_a_time_are_found_the_same(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    golden = Path(__file__).parents[1] / "golden" / "in-parts" / name
    shutil.copytree(golden, tmp_path / "out")
    before = dc.verify(tmp_path / "out")
    monkeypatch.setattr("discreet.parts.verify._workers", lambda rows: 2)
    assert dc.verify(tmp_path / "out") == before and before.valid
    for number in (1, 2):
        (tmp_path / "out" / "table" / f"part-0000{number}.parquet").write_bytes(b"PAR1")
    problems = dc.verify(tmp_path / "out").problems
    assert ["part-00001" in problems[0], "part-00002" in problems[1]] == [True, True]


def test_a_stray_or_missing_file_is_found(tmp_path: Path) -> None:
    made = release(usual(tmp_path / "in"), tmp_path / "out")
    (tmp_path / "out" / "table" / "part-00003.parquet").write_bytes(b"")
    assert dc.verify(tmp_path / "out").problems == ("The file table/part-00003.parquet is not part of the release.",)
    (tmp_path / "out" / "table" / "part-00003.parquet").unlink()
    made.parts[2].unlink()
    assert "The file table/part-00002.parquet is missing." in dc.verify(tmp_path / "out").problems


@pytest.mark.parametrize("what", ["swapped", "histogram", "grade", "randomness"])
def test_edits_of_the_head_are_found(what: str, tmp_path: Path) -> None:
    """Also where every digest and the seal are made anew."""
    import hashlib

    from discreet.record.release import indented, mark_of, seal_of

    release(usual(tmp_path / "in"), tmp_path / "out")
    out = tmp_path / "out"
    manifest, record = (json.loads((out / name).read_text()) for name in ("manifest.json", "release.json"))
    if what == "swapped":
        manifest["parts"][0], manifest["parts"][1] = manifest["parts"][1], manifest["parts"][0]
    elif what == "histogram":
        numbers = manifest["parts"][0]["measured"]["numbers"]
        most = int(np.argmax(numbers))
        numbers[0], numbers[most] = numbers[most], numbers[0]
        assert most
    elif what == "grade":
        record["guarantee"]["grade"] = "exact"
    else:
        record["parts"]["randomness"] = "os"
    lines = ",\n".join("  " + json.dumps(part) for part in manifest["parts"])
    written = f'{{\n "parts": [\n{lines}\n ]\n}}\n'.encode()
    (out / "manifest.json").write_bytes(written)
    record["digests"]["manifest.json"] = hashlib.sha256(written).hexdigest()
    record["mark"] = mark_of(True, record["digests"]["manifest.json"])
    record["seal"] = seal_of(record)
    (out / "release.json").write_text(indented(record) + "\n")
    assert not dc.verify(out).valid


@pytest.mark.parametrize("options", [{}, {"keep": "total"}])
def test_counts_of_all_parts_that_leave_a_machine_word_are_refused_before_the_charge(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=10)
    whole = pa.table({"place": ["a", "b", "c", "d"], "n": [2**61, 2**61 - 1] * 2})
    with pytest.raises(dc.BadInput, match="add up to more than 2\\^62"):
        dc.release_parts(
            in_parts(tmp_path / "in", whole, [2, 2]), "n", "place", 1,
            out=tmp_path / "out", ledger=book, dataset="d", **options,
        )  # fmt: skip
    assert not book.history("d") and not (tmp_path / "out").exists()


def test_noise_too_wide_to_be_dealt_out_is_refused_before_the_charge(tmp_path: Path) -> None:
    book = dc.ledger(tmp_path / "ledger.db")
    book.create("d", epsilon=10)
    with pytest.raises(dc.BadInput, match="cannot be dealt out"):
        release(usual(tmp_path / "in"), tmp_path / "out", epsilon="1e-9", keep="total", ledger=book, dataset="d")
    assert not book.history("d") and not (tmp_path / "out").exists()


@dataclass
class Lying:
    """What comes back of one kind is something else."""

    kind: type
    change: Callable[[list[Any]], list[Any]]

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        found = [function(task) for task in tasks]
        return self.change(found) if isinstance(opened(found[0]), self.kind) else found


def other_values(one: Any) -> Any:
    """As many rows, and each value one more."""
    return replace(one, seen=SeenValues(one.seen.values + 1, one.seen.numbers))


CHANGES_OF_SUMMARIES: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "rows": ((Looked, Noised, Mapped), lambda one: replace(one, rows=3)),
    "values": ((Noised, Mapped), other_values),
    "bound": ((Looked,), lambda one: replace(one, contributions=2)),
    "digest": ((Noised, Mapped), lambda one: replace(one, digest="0" * 64)),
    "sums": ((Noised,), lambda one: replace(one, sums=one.sums + 1)),
}


def bent(how: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    """The first summary with something changed in it, under the proof that it had."""
    import pickle

    def change(found: list[Any]) -> list[Any]:
        return [replace(found[0], content=pickle.dumps(how(opened(found[0])))), *found[1:]]

    return change


def under_other_names(found: list[Any]) -> list[Any]:
    return bent(lambda one: replace(one, part=1))(found) + bent(lambda one: replace(one, part=0))(found[1:])


WROTE = "not what a task of this release wrote"


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        *((kind, bent(how)) for kinds, how in CHANGES_OF_SUMMARIES.values() for kind in kinds),
        *((kind, under_other_names) for kind in (Looked, Noised, Mapped)),
    ],
)
def test_summaries_that_an_engine_changed_are_refused(kind: type, change: Any, tmp_path: Path) -> None:
    keep = {"keep": "total"} if kind is Noised else {}
    refused_with(Lying(kind, change), WROTE, kind is not Looked, tmp_path, **keep)


@pytest.mark.parametrize("kind", [Looked, Noised, Mapped])
def test_summaries_of_another_release_are_refused(kind: type, tmp_path: Path) -> None:
    """Also if it was of the same data: they were written under another key."""
    given, kept = in_parts(tmp_path / "in", frame(), [80, 80, 80]), []
    dc.release_parts(
        given, "n", KEYS, 1, out=tmp_path / "first", engine=Meddling(after=lambda _, found: kept.append(found))
    )
    shutil.rmtree(tmp_path / "first")
    old = next(found for found in kept if isinstance(opened(found[0]), kind))
    refused_with(Lying(kind, lambda found: old), WROTE, kind is not Looked, tmp_path)


def test_summaries_of_another_pass_are_refused(tmp_path: Path) -> None:
    """Noised parts in place of mapped ones: files that are there, with the proofs that they had."""
    kept: list[Any] = []

    def change(found: list[Any]) -> list[Any]:
        kept.append(found)
        return kept[0]

    refused_with(Lying((Noised, Mapped), change), "is of another task", True, tmp_path)  # type: ignore[arg-type]


def refused_with(engine: Any, said: str, paid: bool, folder: Path, **options: Any) -> None:
    """Nothing is left, and the charge stands if there was one."""
    given = folder / "in" if (folder / "in").exists() else in_parts(folder / "in", frame(), [80, 80, 80])
    book = dc.ledger(str(folder / "ledger.db"))
    book.create("people", epsilon=9)
    with pytest.raises(dc.BadInput, match=said):
        dc.release_parts(
            given, "n", KEYS, 1, out=folder / "out", engine=engine, ledger=book, dataset="people", **options
        )
    assert [one.state for one in book.history("people")] == ["charged, not released"] * paid
    assert {path.name for path in folder.iterdir()} == {"in", "ledger.db"}
