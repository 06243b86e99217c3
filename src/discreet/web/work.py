"""Tables that are being released: each has its answers, its plan and, once, its release."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import BadInput, Discloses, DiscreetError
from discreet.sample.bits import unguessable
from discreet.web.answers import Answers, Form
from discreet.web.curves import EPSILONS, Curve, ErrorsAt, Suggestion, in_order, suggestion
from discreet.web.guard import UNKNOWN
from discreet.web.words import plainly

if TYPE_CHECKING:
    from discreet.ledger import Spending
    from discreet.plan import Expected

MOST = 50  # tables at a time: nobody has so many pages open
PRIOR = "prior"  # the shape that somebody gave


@dataclass(frozen=True)
class PlanShown:
    """What the page of the plan shows."""

    answers: Answers
    guarantee: str
    steps: tuple[str, ...]
    columns: tuple[str, ...]
    rows: int
    expected: tuple[Expected, ...]
    spending: Spending  # what the ledger will be asked for


@dataclass(frozen=True)
class Made:
    """A release that was made, by this page."""

    folder: Path
    digest: str
    accept_disclosure: bool = False


@dataclass
class Chore:
    """Something that takes its time, done once in a thread of its own."""

    stage: str = "begin"
    done: bool = False
    problem: str | None = None
    disclosure: str | None = None  # by which a form knows what it accepts, where that is what is wrong


@dataclass(frozen=True)
class Refused:
    """A form that was not taken: what is wrong with it, and what it said."""

    problem: str
    form: Form | None  # none where its answers are kept, or it has none


@dataclass
class Work:
    """One table on its way. Its lock is held whenever it changes."""

    key: str
    name: str  # of the file, as the person knows it
    answers: Answers
    described: bool = False  # what is in it was said, and fits the file
    planned: PlanShown | None = None
    curves: dict[str, Curve] = field(default_factory=dict)  # by shape
    suggested: dict[tuple[str, str], Suggestion] = field(default_factory=dict)  # by shape and error
    made: Made | None = None
    tasks: dict[str, Chore] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)  # by screen, until another form is sent
    lock: threading.RLock = field(default_factory=threading.RLock)

    def change(self, answers: Answers) -> None:
        """New answers; what was planned with others no longer holds. What is released stays as it is."""
        with self.lock:
            if self.begun:
                found = "it was released already, with the answers of that time"
                raise BadInput(f"{self.name} was to be changed", found, "Begin again with the table for a new release")
            if answers != self.answers:
                self.answers, self.planned = answers, None
                self.tasks.clear()
                self.curves.clear()
                self.suggested.clear()

    @property
    def begun(self) -> bool:
        """Whether it is released, or being released."""
        task = self.tasks.get("release")
        return task is not None and task.problem is None

    def told(self, error: DiscreetError) -> str:
        """What is wrong, as the page has it: a line for each problem."""
        told = error.values.get("problems", (error,))
        assert isinstance(told, tuple)
        return "\n".join(plainly(one, self.answers.file, self.name) for one in told)

    def start(self, name: str, do: Callable[[Chore], None]) -> Chore:
        """Begin a task, unless it has begun: a reload, a double click and a second tab find the same one."""
        with self.lock:
            if name in self.tasks and self.tasks[name].problem is None:
                return self.tasks[name]
            task = self.tasks[name] = Chore()
        threading.Thread(target=_do, args=(self, task, do), name=f"discreet-{name}", daemon=True).start()
        return task


def _do(work: Work, task: Chore, do: Callable[[Chore], None]) -> None:
    try:
        do(task)
    except DiscreetError as error:
        told = work.told(error)
        if isinstance(error, Discloses):
            task.disclosure = _known_by(told)
        task.problem = told
    except BaseException:  # whatever it says may quote the data
        task.problem = UNKNOWN
    task.done = True


def _known_by(disclosure: str) -> str:
    """A short name for what a refusal said."""
    return hashlib.sha256(disclosure.encode()).hexdigest()[:32]


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
        from discreet.ledger import Spending
        from discreet.plan import plan
        from discreet.ways import shared_out, way_named

        answers = work.answers
        task.stage = "read the rows of the table"
        schema, rows = answers.table().read_schema()
        spec = answers.spec()
        task.stage = f"simulate epsilon = {answers.epsilon}"
        made = plan(schema, answers.epsilon, spec, given_rows=rows)
        guessed = plan(schema, answers.epsilon, spec, given_rows=rows, prior=answers.prior) if answers.guess else None
        way = shared_out(schema, spec if rows is None else spec.in_order(rows))
        planned = way_named(way.name).plan(schema, made.promise.loss, way)
        spending = Spending(made.promise.loss, made.promise.unit, apart=getattr(planned, "apart", False))
        expected = (*(() if guessed is None else guessed.expected), *made.expected)
        if expected:
            _draw(work, answers, usual_shape(answers), None, task)
        with work.lock:
            if work.answers == answers:
                work.planned = PlanShown(
                    answers, made.guarantee, made.steps, made.published_columns, schema.rows, expected, spending
                )

    return do


def usual_shape(answers: Answers) -> str:
    """That of the picture, where no other is asked for."""
    from discreet.choose import REFERENCE

    return PRIOR if answers.guess else REFERENCE


def find_epsilon(work: Work, shape: str, accepted: str | None) -> Callable[[Chore], None]:
    """The curve for another shape, and the epsilon for an error that can be accepted."""
    return lambda task: _draw(work, work.answers, shape, accepted, task)


def _draw(work: Work, answers: Answers, shape: str, accepted: str | None, task: Chore) -> None:
    from discreet.plan import plan

    schema, rows = answers.table().read_schema()
    likely = answers.prior if shape == PRIOR else shape

    def simulated(epsilon: str) -> ErrorsAt:
        task.stage = f"simulate epsilon = {epsilon}"
        (found,) = plan(schema, epsilon, answers.spec(epsilon), given_rows=rows, prior=likely).expected
        return ErrorsAt(epsilon, found.count_error, found.distribution_error)

    wanted = {*EPSILONS, answers.epsilon} - {one.epsilon for one in work.curves.get(shape, ())}
    curve, found = in_order([*work.curves.get(shape, ()), *map(simulated, wanted)]), None
    if accepted is not None:
        found, curve = suggestion(curve, accepted, simulated)
    with work.lock:
        if work.answers == answers:
            work.curves[shape] = curve
            if found is not None:
                work.suggested[shape, found.accepted] = found


def make_release(work: Work, folder: Path, ledger: Path, accepted: str | None) -> Callable[[Chore], None]:
    """The release itself, from what was planned and confirmed.

    accepted: what kept sums may give away, by its short name. If the ledger refuses more by now, since something else
    was released meanwhile, that was not accepted.
    """

    def do(task: Chore) -> None:
        from discreet.run import run

        answers = work.answers
        task.stage = "read the table"
        target = _free(folder, Path(work.name).stem)

        def at(stage: str) -> None:
            task.stage = stage

        accept = False
        try:
            _, digest = run(answers.release(target, ledger), stages=at)
        except Discloses as refusal:
            accept = accepted == _known_by(work.told(refusal))
            if not accept:
                raise
            _, digest = run(answers.release(target, ledger, accept_disclosure=True), stages=at)
        with work.lock:
            work.made = Made(target, digest, accept)

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
