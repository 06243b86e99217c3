"""Releases in parts: what is refused, before the charge and after it, and what is left behind."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.parts import passes
from discreet.parts.engine import Serial
from tests.parts.tables import (
    KEYS,
    Losing,
    Meddling,
    changed,
    frame,
    in_parts,
    nothing_left,
    opened,
    release,
    usual,
    with_column,
)

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
        pytest.raises(dc.BadInput, match=r"ArrowInvalid at test_refused.py:\d+") as told,
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
