"""Before spending: what a release will do, what each step costs, and how large its errors will be. No count is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.costs import prior_of
from discreet.numbers import Epsilon, Number, text, whole
from discreet.table import Schema

if TYPE_CHECKING:
    from discreet.routes import Request, Route
    from discreet.routes.budget import Part
    from discreet.routes.two_stage import TwoStageRoute

EXAMPLE_MAX_COUNT = 50  # for the errors, where max_count is not known beforehand
LARGEST_RANGE = 2000
MOST_ROWS = 300_000  # more rows only make the distribution better: its error is then an upper bound
WORK = 100_000
SEED = 2021  # public: errors are simulated on made-up tables


@dataclass(frozen=True)
class Plan:
    """What will be done, in sentences, the total it costs, and the errors to expect for a few shapes of the data."""

    steps: tuple[str, ...]
    epsilon: str | None
    expected: tuple[dict[str, Any], ...]
    guarantee: str = ""

    def as_json(self) -> dict[str, Any]:
        expected = [dict(row) for row in self.expected]
        return {"steps": list(self.steps), "epsilon": self.epsilon, "expected": expected, "guarantee": self.guarantee}


def plan(
    schema_or_rows: Any,
    epsilon: Number | Epsilon | None = None,
    *,
    prior: Any = None,
    contributions: int | None = None,
    **options: Any,
) -> Plan:
    """What `release`, with the same options, would do with a table of these rows, and how well it would do it.

    Errors are expected errors of one count and of the distribution of counts (Wasserstein-1), for reference shapes or,
    if it is given, for a public `prior`: a distribution over 0..max_count.
    """
    from discreet.release import plan_route, request_of

    request = request_of(epsilon, **options)
    schema = _schema(schema_or_rows, contributions)
    route = plan_route(schema, request)
    promise = route.guarantee
    return Plan(
        tuple(_steps(route, request, schema)),
        None if promise.epsilon is None else str(promise.epsilon),
        tuple(_expected(schema, request, prior)),
        promise.sentence,
    )


def _schema(given: Any, contributions: int | None) -> Schema:
    """The schema, or one of that many rows whose keys do not matter."""
    if isinstance(given, Schema):
        schema = given
    else:
        rows = whole(getattr(given, "rows", given), "the number of rows", least=1)
        schema = Schema((), "count", rows, None, contributions=getattr(given, "contributions", 1))
    if contributions is None:
        return schema
    people = whole(contributions, "the contribution bound", least=1)
    return replace(schema, contributions=max(people, schema.contributions))


def _steps(route: Route, request: Request, schema: Schema) -> Iterator[str]:
    """One sentence a step, with its price."""
    from discreet.routes.two_stage import TwoStageRoute

    if request.keep:
        yield f"Keep exactly: {', '.join(route.discloses)}. These sums are published and not protected."
        yield f"Spend {_total(request)} on {request.law} noise that cannot change them, and repair nothing."
        return
    limit = "that largest count" if request.max_count == "auto" else str(request.max_count)
    if isinstance(route, TwoStageRoute) and route.budget.max_count is not None:
        price = _price(route.budget.max_count)
        yield f"Spend {price} on a largest count that nearly all of the {schema.rows} rows stay below."
    if request.max_count is None:
        yield "Leave counts without an upper limit."
    else:
        yield f"Treat counts above {limit} as {limit}."
    if isinstance(route, TwoStageRoute):
        yield from _two_stage_steps(route)
    else:
        yield f"Spend {_total(request)} on the counts: mechanism {request.mechanism}, row by row."
    if schema.contributions > 1:
        yield f"All noise is widened for people who are counted up to {schema.contributions} times."


def _two_stage_steps(route: TwoStageRoute) -> Iterator[str]:
    measured, rows, name = route.budget.distribution, route.budget.rows, route.request.mechanism
    if measured is not None:
        price = _price(measured)
        yield f"Spend {price} on the distribution: noisy numbers of rows with a count of at most 0, 1, 2, ..."
    if name != "transport":
        yield f"Construct the mechanism {name} for that distribution: free, it looks at nothing secret."
        yield f"Spend {_price(rows)} on the counts: that mechanism, row by row."
        return
    yield f"Spend {_price(rows)} on noise for each of the {route.schema.rows} counts."
    if route.refined:
        yield "Estimate the distribution again from the noisy counts: free, it looks at nothing secret."
    how = "by rank, so that both agree exactly" if route.consistent else "row by row"
    yield f"Map the noisy counts onto that distribution, {how}: free, for the same reason."


def _price(part: Part) -> str:
    if part.epsilon is None:
        assert part.rho is not None
        return f"rho = {text(part.rho)}"
    return f"epsilon = {part.epsilon}"


def _total(request: Request) -> str:
    return f"epsilon = {request.epsilon}" if request.rho is None else f"rho = {text(request.rho)}"


def _expected(schema: Schema, request: Request, prior: Any) -> Iterator[dict[str, Any]]:
    """The release itself, simulated on made-up tables."""
    from discreet.evaluate.shapes import SHAPES, rows_of
    from discreet.release import plan_route

    top = request.max_count if isinstance(request.max_count, int) else EXAMPLE_MAX_COUNT
    if prior is not None:
        top = top if isinstance(request.max_count, int) else len(prior) - 1
        shapes = {"prior": prior_of(prior, top + 1)}
    else:
        top = min(top, LARGEST_RANGE)
        shapes = {name: shape(top) for name, shape in SHAPES.items()}
    rows = schema.rows if request.keep else min(schema.rows, MOST_ROWS)
    route = plan_route(replace(schema, rows=rows), request)
    repeats = int(np.clip(WORK // rows, 2, 20))
    for name, shape in shapes.items():
        count_error, distribution_error = _simulated(route, rows_of(shape, rows), repeats)
        yield {
            "shape": name,
            "max_count": top,
            "count_error": float(f"{count_error:.3g}"),
            "distribution_error": float(f"{distribution_error:.3g}"),
        }


def _simulated(route: Route, counts: NDArray[np.int64], repeats: int) -> tuple[float, float]:
    """Mean error of a count, and Wasserstein-1 between the distributions: the mean error of the sorted counts."""
    from discreet.sample.bits import seeded

    true, errors = np.sort(counts), []
    shuffled = np.random.default_rng(SEED).permutation(counts)
    for repeat in range(repeats):
        released = route.publish(route.draw(shuffled, seeded(SEED + repeat))).counts
        errors.append((np.abs(released - shuffled).mean(), np.abs(np.sort(released) - true).mean()))
    count_error, distribution_error = np.mean(errors, axis=0)
    return float(count_error), float(distribution_error)
