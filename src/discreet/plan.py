"""Before spending: what a release will do, what each step costs, and how large its errors will be. No count is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.choose import MAX_COUNT
from discreet.costs import prior_of
from discreet.errors import choose as named
from discreet.numbers import MOST_CONTRIBUTIONS, Epsilon, Number, whole
from discreet.options import keywords_of, spelt
from discreet.privacy.values import Guarantee, Loss, Remark
from discreet.shown import Shown
from discreet.table import Schema, Table
from discreet.ways import Way, WaySpec, shared_out, way_named

if TYPE_CHECKING:
    from discreet.choose import Choices
    from discreet.ways.measure.plan import PlannedAnswer

LARGEST_RANGE = 2000  # of made-up tables: beyond it the shapes look alike
MOST_ROWS = 300_000  # more rows only make the distribution better: its error is then an upper bound
WORK = 100_000  # rows simulated for each shape, at most: a plan should take seconds
FEWEST, MOST = 3, 8  # releases simulated for each shape
SMALL = 2000  # rows: tables so small are simulated until there are as many in all, where their counts are as drawn
MOST_WORKED = 16  # releases, where counts are to be worked out
RARELY = 30  # units off in all that was simulated so far: where there were no more, more is simulated
SURE_ENOUGH = np.array([0.05, 0.15])  # of each error: its standard error, where simulating more would tell little
SEED = 2021  # public: errors are simulated on made-up tables


@dataclass(frozen=True)
class Expected:
    """The errors to expect for one shape of the data: of a count, and of the distribution (Wasserstein-1)."""

    shape: str
    max_count: int
    count_error: float
    distribution_error: float


@dataclass(frozen=True, repr=False)
class Plan(Shown):
    """What will be done, what it costs, and the errors to expect for a few shapes of the data."""

    done: tuple[Remark, ...]
    promise: Guarantee
    expected: tuple[Expected, ...]
    published_columns: tuple[str, ...]
    questions: tuple[PlannedAnswer, ...] = ()  # where margins are measured

    @property
    def steps(self) -> tuple[str, ...]:
        """Each step in a sentence, with its price."""
        from discreet.record.words.steps import sentences

        return tuple(sentences(self.done))

    @property
    def epsilon(self) -> str | None:
        return None if self.promise.epsilon is None else str(self.promise.epsilon)

    @property
    def guarantee(self) -> str:
        return self.promise.sentence

    @property
    def about(self) -> str:
        """For which tables the errors are expected."""
        return f"on made-up tables with counts up to {self.expected[0].max_count:,}: larger counts can err more"

    def as_json(self) -> dict[str, object]:
        return {
            "steps": list(self.steps),
            "epsilon": self.epsilon,
            "published_columns": list(self.published_columns),
            "expected": [dict(vars(row)) for row in self.expected],
            "guarantee": self.guarantee,
            **({"questions": [dict(vars(one)) for one in self.questions]} if self.questions else {}),
        }


@overload
def plan(
    schema_or_rows: Any, epsilon: None = None, way: None = None, *, prior: Any = None, **options: Any
) -> Plan | Choices: ...


@overload
def plan(
    schema_or_rows: Any, epsilon: Number | Epsilon | Loss, way: WaySpec | None = None, *, delta: Number = 0,
    prior: Any = None, contributions: int | None = None, given_rows: Integers | None = None, **options: Any,
) -> Plan: ...  # fmt: skip


@spelt
def plan(
    schema_or_rows: Any,
    epsilon: Number | Epsilon | Loss | None = None,
    way: WaySpec | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    prior: Any = None,
    contributions: int | None = None,
    given_rows: Integers | None = None,
    **options: Any,
) -> Plan | Choices:
    """What `release`, with the same options, would do with a table of these rows, and how well it would do it.

    Takes a table (its counts are not read), its schema, or a number of rows. Errors are expected errors of one count
    and of the distribution of counts (Wasserstein-1), for reference shapes or, if it is given, for a public `prior`: a
    distribution over 0..max_count, or the name of one of the shapes. `given_rows` says of each row where it stood, for
    sums given as a matrix.

    Without epsilon, alpha and rho: the same for several epsilons, as `choose` has it.
    """
    from discreet.release import asked

    no_loss = epsilon is None and alpha is None and rho is None and isinstance(delta, int) and delta == 0
    if no_loss and way is None and options.keys() <= {"max_count"}:
        from discreet.choose import choose

        return choose(_schema(schema_or_rows, contributions), prior, **options)
    from discreet.record.release import about_rows

    loss, spec = asked(epsilon, way, options, keywords_of(plan), alpha=alpha, rho=rho, delta=delta)
    schema = _schema(schema_or_rows, contributions)
    if isinstance(schema_or_rows, Table):
        given_rows = schema_or_rows.given_rows
    spec = shared_out(schema, spec)
    chosen, placed = way_named(spec.name), spec if given_rows is None else spec.in_order(given_rows)
    planned = chosen.plan(schema, loss, placed)
    columns = (*schema.keys, schema.count)
    promise = replace(planned.guarantee, remarks=(*planned.guarantee.remarks, *about_rows(schema)))
    expected = tuple(_expected(chosen, schema, loss, placed, prior))
    return Plan(planned.steps, promise, expected, columns, tuple(getattr(planned, "questions", ())))


def _schema(given: Any, contributions: int | None) -> Schema:
    """The schema, or one of that many rows whose keys do not matter."""
    if isinstance(given, Table):
        given = given.schema
    if isinstance(given, Schema):
        schema = given
    else:
        rows = whole(getattr(given, "rows", given), "the number of rows", 1, MOST_CONTRIBUTIONS)
        schema = Schema((), "count", rows, None, contributions=getattr(given, "contributions", 1))
    if contributions is None:
        return schema
    people = whole(contributions, "the contribution bound", 1, MOST_CONTRIBUTIONS)
    return replace(schema, contributions=max(people, schema.contributions))


def _expected(
    way: Way[Any, Any, Any, Any], schema: Schema, loss: Loss, spec: WaySpec, prior: Any
) -> Iterator[Expected]:
    """The release itself, simulated on made-up tables."""
    from discreet.evaluate.pool import outcomes
    from discreet.evaluate.shapes import SHAPES, rows_of

    if getattr(spec, "inequalities", ()):
        return  # made-up tables do not meet them
    given = getattr(spec, "max_count", None)
    top = given if isinstance(given, int) else MAX_COUNT
    if isinstance(prior, str):
        top = min(top, LARGEST_RANGE)
        shapes = {prior: SHAPES[named(prior, SHAPES, "shape")](top)}
    elif prior is not None:
        top = top if isinstance(given, int) else len(prior) - 1
        shapes = {"prior": prior_of(prior, top + 1)}
    else:
        top = min(top, LARGEST_RANGE)
        shapes = {name: shape(top) for name, shape in SHAPES.items()}
    rows = min(schema.rows, MOST_ROWS) if way.rows_alike else schema.rows
    planned = way.plan(replace(schema, rows=rows), loss, spec)
    simulated = outcomes(
        lambda shape: _simulated(way, planned, rows_of(shapes[shape], rows)), list(shapes), "planning", 1
    )
    for name, errors in simulated:
        yield Expected(name, top, *(float(f"{error:.2g}") for error in errors))


def _simulated(way: Way[Any, Any, Any, Any], planned: Any, counts: Integers) -> Floats:
    """Mean error of a count, and Wasserstein-1 between the distributions: the mean error of the sorted counts."""
    from discreet.sample.bits import seeded

    true, errors = np.sort(counts), np.empty((0, 2))
    shuffled = np.random.default_rng(SEED).permutation(counts)
    limits = getattr(planned, "limits", None)
    if limits is not None:  # no group counts more than its size
        shuffled = np.minimum(shuffled, limits)
        true = np.sort(shuffled)
    most = FEWEST
    while len(errors) < FEWEST or (len(errors) < most and not _sure(errors)):
        drawn = way.draw(planned, shuffled, seeded(SEED + len(errors)))
        ready = None if way.as_drawn is None else way.as_drawn(planned, drawn)
        released = way.publish(planned, drawn).counts if ready is None else ready
        both = np.abs(released - shuffled).mean(), np.abs(np.sort(released) - true).mean()
        errors = np.vstack([errors, both])
        most = _most(len(counts), errors, ready is not None)
    unseen = 1 / (len(errors) * len(counts))  # an error of one, once: where there was none, no more can be said
    return np.asarray(np.maximum(errors.mean(axis=0), unseen), dtype=float)


def _most(rows: int, errors: Floats, ready: bool) -> int:
    """How many releases are simulated, at most."""
    small = -(-SMALL // rows)
    if not ready:
        small = min(small, MOST_WORKED) if rows * errors[:, 0].sum() < RARELY else 0
    return max(int(np.clip(WORK // rows, FEWEST, MOST)), small)


def _sure(errors: Floats) -> bool:
    """Both errors are known well enough; not while none was seen."""
    mean, spread = errors.mean(axis=0), errors.std(axis=0, ddof=1)
    return bool((mean > 0).all() and (spread <= SURE_ENOUGH * np.sqrt(len(errors)) * mean).all())
