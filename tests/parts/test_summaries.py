"""What engines give back of tasks: summaries that are not those of this release are refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.parts.tasks import Looked, Mapped, Noised
from discreet.public_map import SeenValues
from tests.parts.tables import (
    KEYS,
    Meddling,
    frame,
    in_parts,
    opened,
)


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
