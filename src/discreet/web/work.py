"""Tables that are being released: each has its answers, its plan and, once, its release."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import BadInput, DiscreetError
from discreet.sample.bits import unguessable
from discreet.web.answers import Answers
from discreet.web.guard import UNKNOWN

if TYPE_CHECKING:
    from discreet.ledger import Spending
    from discreet.plan import Expected

MOST = 50  # tables at a time: nobody has so many pages open
EPSILONS = ("0.1", "0.3", "1", "3")  # of the picture; the one that is asked for comes to these
REFERENCE = "mostly-zero"  # the shape of the picture


@dataclass(frozen=True)
class ErrorsAt:
    """The errors to expect at one epsilon."""

    epsilon: str
    count_error: float
    distribution_error: float


@dataclass(frozen=True)
class PlanShown:
    """What the page of the plan shows."""

    answers: Answers
    guarantee: str
    steps: tuple[str, ...]
    columns: tuple[str, ...]
    rows: int
    expected: tuple[Expected, ...]
    curve: tuple[ErrorsAt, ...]
    spending: Spending  # what the ledger will be asked for


@dataclass(frozen=True)
class Made:
    """A release that was made, by this page."""

    folder: Path
    digest: str


@dataclass
class Chore:
    """Something that takes its time, done once in a thread of its own."""

    stage: str = "begin"
    done: bool = False
    problem: str | None = None


@dataclass
class Work:
    """One table on its way. Its lock is held whenever it changes."""

    key: str
    name: str  # of the file, as the person knows it
    answers: Answers
    described: bool = False  # what is in it was said, and fits the file
    planned: PlanShown | None = None
    made: Made | None = None
    tasks: dict[str, Chore] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def change(self, answers: Answers) -> None:
        """New answers; what was planned with others no longer holds. What is released stays as it is."""
        with self.lock:
            if "release" in self.tasks and self.tasks["release"].problem is None:
                found = "it was released already, with the answers of that time"
                raise BadInput(f"{self.name} was to be changed", found, "Begin again with the table for a new release")
            if answers != self.answers:
                self.answers, self.planned = answers, None
                self.tasks.clear()

    def start(self, name: str, do: Callable[[Chore], None]) -> Chore:
        """Begin a task, unless it has begun: a reload, a double click and a second tab find the same one."""
        with self.lock:
            if name in self.tasks and self.tasks[name].problem is None:
                return self.tasks[name]
            task = self.tasks[name] = Chore()
        threading.Thread(target=_do, args=(task, do), name=f"discreet-{name}", daemon=True).start()
        return task


def _do(task: Chore, do: Callable[[Chore], None]) -> None:
    try:
        do(task)
    except DiscreetError as error:
        task.problem = str(error)
    except BaseException:  # whatever it says may quote the data
        task.problem = UNKNOWN
    task.done = True


class Works:
    """All of them, by a name that cannot be guessed."""

    def __init__(self) -> None:
        self._all: dict[str, Work] = {}

    def add(self, name: str, answers: Answers) -> Work:
        while len(self._all) >= MOST:
            self._all.pop(next(iter(self._all)))
        work = Work(unguessable(), name, answers)
        self._all[work.key] = work
        return work

    def find(self, key: str) -> Work | None:
        return self._all.get(key)


def make_plan(work: Work) -> Callable[[Chore], None]:
    """Errors to expect, simulated on made-up tables: no count is read."""

    def do(task: Chore) -> None:
        from discreet.choose import MAX_COUNT
        from discreet.evaluate.shapes import SHAPES
        from discreet.ledger import Spending
        from discreet.plan import plan
        from discreet.ways import shared_out, way_named

        answers = work.answers
        task.stage = "read the rows of the table"
        schema, rows = answers.table().read_schema()
        spec = answers.spec()
        task.stage = f"simulate epsilon = {answers.epsilon}"
        made = plan(schema, answers.epsilon, spec, given_rows=rows)
        way = shared_out(schema, spec if rows is None else spec.in_order(rows))
        planned = way_named(way.name).plan(schema, made.promise.loss, way)
        spending = Spending(made.promise.loss, made.promise.unit, apart=getattr(planned, "apart", False))
        curve = []
        likely = SHAPES[REFERENCE](answers.max_count or MAX_COUNT)
        for epsilon in sorted({*EPSILONS, answers.epsilon}, key=_size):
            task.stage = f"simulate epsilon = {epsilon}"
            at = answers.spec(epsilon) if answers.designs else spec
            found = plan(schema, epsilon, at, given_rows=rows, prior=likely).expected if made.expected else ()
            curve += [ErrorsAt(epsilon, one.count_error, one.distribution_error) for one in found]
        with work.lock:
            if work.answers == answers:
                work.planned = PlanShown(
                    answers, made.guarantee, made.steps, made.published_columns, schema.rows, made.expected,
                    tuple(curve), spending,
                )  # fmt: skip

    return do


def _size(epsilon: str) -> float:
    from discreet.numbers import epsilon_of

    return float(epsilon_of(epsilon))


def epsilon_for(curve: tuple[ErrorsAt, ...], error: float) -> str | None:
    """The least epsilon at which a count is off by no more, read off the curve (its logarithms), and rounded up."""
    from math import ceil, exp, log10

    points = [(_size(one.epsilon), one.count_error) for one in curve if one.count_error > 0]
    if not points or error <= 0:
        return None
    import numpy as np

    sizes, errors = np.log(np.array(points)).T
    steady = np.minimum.accumulate(errors)
    if np.log(error) < steady[-1]:
        return None
    found = exp(float(np.interp(-np.log(error), -steady, sizes)))
    unit = 10 ** (ceil(log10(found)) - 2)
    return f"{ceil(found / unit - 1e-9) * unit:.6g}"


def make_release(work: Work, folder: Path, ledger: Path) -> Callable[[Chore], None]:
    """The release itself, from what was planned and confirmed."""

    def do(task: Chore) -> None:
        from discreet.run import run

        answers = work.answers
        task.stage = "read the table"
        target = _free(folder, Path(work.name).stem)

        def at(stage: str) -> None:
            task.stage = stage

        _, digest = run(answers.release(target, ledger), stages=at)
        with work.lock:
            work.made = Made(target, digest)

    return do


def _free(folder: Path, stem: str) -> Path:
    """A folder that is not there yet, named after the table."""
    plain = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in stem)[:60] or "table"
    names = (f"{plain}-release" if number == 1 else f"{plain}-release-{number}" for number in range(1, 10_000))
    return next(folder / name for name in names if not (folder / name).exists())


def again(work: Work, works: Works) -> Work:
    """The same table and answers, to be released anew."""
    fresh = works.add(work.name, replace(work.answers))
    fresh.described = work.described
    return fresh
