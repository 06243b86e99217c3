"""Engines, and what is taken from them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from discreet.errors import BadInput
from discreet.parts.engine import IN_THIS_PROCESS, Processes, Serial, engine_of
from discreet.parts.tasks import LookTask, Mapped, Summary, accepted, summary_of
from discreet.public_map import SeenValues

KEY = b"key"


def doubled(task: int) -> int:
    return 2 * task


def dies(task: int) -> int:
    import os

    os._exit(1)


def test_a_process_that_dies_is_told_plainly() -> None:
    with pytest.raises(BadInput, match="a process that worked on it died"):
        list(Processes(1).run(dies, range(2)))


class Own:
    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
        return [function(task) for task in reversed(tasks)]


@pytest.mark.parametrize("engine", [Serial(), Processes(2), Own()], ids=lambda one: type(one).__name__)
def test_every_task_is_run_by_any_engine(engine: Any) -> None:
    assert sorted(engine.run(doubled, range(5))) == [0, 2, 4, 6, 8]


def test_an_engine_is_named_or_given() -> None:
    assert engine_of("local", 10) == Serial() and engine_of("local", IN_THIS_PROCESS) == Processes()
    own = Own()
    assert engine_of(own, 10) is own
    with pytest.raises(BadInput, match=r"Did you mean 'local'"):
        engine_of("lokal", 10)
    with pytest.raises(BadInput, match=r"no method run"):
        engine_of(3, 10)
    with pytest.raises(BadInput, match=r"Own is a class.*Own\(\)"):
        engine_of(Own, 10)


def test_one_summary_of_every_part_is_taken() -> None:
    tasks = [LookTask(part, f"given {part}") for part in range(3)]
    seen = SeenValues(np.array([4]), np.array([10]))
    parts = [Mapped(part, f"file {part}", 10, f"digest {part}", seen, f"given {part}") for part in range(3)]
    again = replace(parts[1], file="another copy")

    def taken(some: list[Mapped]) -> list[Any]:
        return accepted([summary_of(one, KEY) for one in some], tasks, KEY)

    assert [one.same for one in taken([parts[2], parts[1], again, parts[0]])] == [one.same for one in parts]
    with pytest.raises(BadInput, match=r"part 2 came back twice, and not as the same"):
        taken([*parts, replace(again, digest="other")])
    with pytest.raises(BadInput, match=r"1 of 3 did not come back, the first is part 2"):
        taken([parts[0], parts[2]])
    with pytest.raises(BadInput, match=r"of part 4 is of another task"):
        taken([*parts, replace(again, part=3)])
    with pytest.raises(BadInput, match=r"of part 1 is of another task"):
        taken([replace(parts[1], part=0), *parts[1:]])
    wrong: Any
    for wrong in (None, [None], [{"part": 0}], tasks, ["part"], parts):
        with pytest.raises(BadInput, match=r"the engine gave back a"):
            accepted(wrong, tasks, KEY)


class Trap:
    """Whoever unpacks it runs what it says."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("it was unpacked",)


def test_a_summary_that_no_task_wrote_is_refused_before_it_is_unpacked() -> None:
    seen = SeenValues(np.array([4]), np.array([10]))
    right = summary_of(Mapped(0, "file", 10, "digest", seen, "given"), KEY)
    tasks = [LookTask(0, "given")]
    assert accepted([right], tasks, KEY)[0].rows == 10
    for place in range(0, len(right.content), 7):
        bent = bytearray(right.content)
        bent[place] ^= 1
        with pytest.raises(BadInput, match=r"not what a task of this release wrote"):
            accepted([replace(right, content=bytes(bent))], tasks, KEY)
    for other in (Summary(pickle.dumps(Trap()), right.proof), replace(right, proof=b""), summary_of(None, b"old")):  # type: ignore[arg-type]
        with pytest.raises(BadInput, match=r"not what a task of this release wrote"):
            accepted([other], tasks, KEY)
