"""Release a table of counts: choose the route, record what it costs, draw, publish, seal."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import BadInput, choose
from discreet.guarantee import Guarantee
from discreet.numbers import SMALLEST_EPSILON, Epsilon, Number, epsilon_of, exact, positive, probability, whole
from discreet.routes import Measured, Published, Request, Route
from discreet.sample.bits import source
from discreet.table import ROWS_ARE_PUBLIC, Schema, Table

if TYPE_CHECKING:
    from discreet.ledger import Spending

Stages = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Release:
    """A finished release. Everything in it is public."""

    schema: Schema
    published: Published
    measured: Measured | None = field(repr=False)
    guarantee: Guarantee
    certificate: dict[str, Any] | None
    max_count: int | None
    created: str

    @property
    def table(self) -> Any:
        """The public key columns and the private counts, as a frame of the kind that came in."""
        from discreet.io.tables import to_frame

        return to_frame(self.schema, self.published.counts)

    @property
    def measurements(self) -> Any:
        """The noisy signed values before any mapping, or None where there are none."""
        from discreet.io.tables import to_frame

        return None if self.measured is None else to_frame(self.schema, self.measured.rows)

    @property
    def private(self) -> bool:
        return self.guarantee.private

    @property
    def mechanism(self) -> dict[str, Any]:
        return self.published.mechanism

    @property
    def distribution(self) -> dict[str, Any] | None:
        return self.published.distribution

    def save(self, folder: str | Path, format: str | None = None, stages: Stages | None = None) -> str:
        """Write the release folder, whole or not at all; returns the digest of its release.json."""
        from discreet.io.folder import save

        (stages or _ignore)("save")
        return save(self, folder, format)

    def __repr__(self) -> str:
        return f"<Release of {self.schema.rows} rows, {self.mechanism['name']}: {self.guarantee.sentence}>"


def release(
    table: Table,
    epsilon: Number | Epsilon | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    max_count: int | str | None = None,
    mechanism: Any = None,
    consistent: bool | None = None,
    split: Number | None = None,
    refine: bool | None = None,
    base: str = "geometric",
    keep: Sequence[Any] = (),
    law: str = "l1",
    nonnegative: bool = False,
    inequalities: tuple[Any, Any] | None = None,
    per_unit: bool = False,
    allow_diagnosed: bool = False,
    measurements: bool = True,
    ledger: Any = None,
    dataset: str | None = None,
    seed: int | None = None,
    stages: Stages | None = None,
) -> Release:
    """Publish private counts in place of the table's. Randomness comes from the operating system.

    With `keep` the named sums stay exact; otherwise the distribution of counts is kept as well as the budget allows.
    `mechanism` is a name, or a design, mechanism or matrix of your own, applied to every row if it can be certified.
    A `seed` is for tests: it makes the result repeatable and NOT private.
    """
    at = stages or _ignore
    if not isinstance(table, Table):
        raise BadInput("a table was to be released", f"a {type(table).__name__} was given", "Use read_table or table")
    request = request_of(
        epsilon, alpha, rho, delta, max_count=max_count, mechanism=mechanism, consistent=consistent,
        split=split, refine=refine, base=base, keep=keep, law=law, nonnegative=nonnegative, per_unit=per_unit,
        inequalities=inequalities, allow_diagnosed=allow_diagnosed,
    )  # fmt: skip
    bits = source(seed)
    record = _recorder(ledger, dataset)
    route = plan_route(table.schema, request)
    route.check(table.counts)
    at("record")
    record(_spending(table.schema, request, route))
    at("draw")
    measured = route.draw(table.counts, bits)
    at("publish")
    published = route.publish(measured)
    at("seal")
    return _seal(table.schema, route, measured, published, bits.private, measurements)


def plan_route(schema: Schema, request: Request) -> Route:
    """The way the table will go. Only public values are looked at."""
    if request.keep:
        from discreet.routes.invariant import plan_invariant

        return plan_invariant(schema, request)
    from discreet.build.explicit import NAMES

    if request.mechanism in NAMES or request.own is not None:
        from discreet.routes.explicit import plan_explicit

        return plan_explicit(schema, request)
    from discreet.routes.two_stage import plan_two_stage

    return plan_two_stage(schema, request)


def request_of(
    epsilon: Number | Epsilon | None = None,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    **options: Any,
) -> Request:
    """Everything that was asked, in exact numbers; nonsense is refused here, before anything is read or spent."""
    if rho is not None and (epsilon is not None or alpha is not None):
        raise BadInput("a privacy parameter was needed", "only one of epsilon, alpha and rho may be given")
    for name in options:
        choose(name, [item.name for item in fields(Request)], "option")
    options["keep"] = tuple(options.get("keep", ()))
    _refuse_mixed(options)
    options["mechanism"] = "transport" if options.get("mechanism") is None else options["mechanism"]
    if not isinstance(options["mechanism"], str):
        options |= _own(options["mechanism"], options.get("max_count"))
    if options["mechanism"] == "rank":
        options |= {"mechanism": "transport", "consistent": True}
    if not options["keep"] and options.get("own") is None:
        choose(options["mechanism"], MECHANISMS, "mechanism")
    if options.get("max_count") not in (None, "auto"):
        options["max_count"] = whole(options["max_count"], "max_count", 1)
    if options.get("split") is not None:
        options["split"] = _split(options["split"])
    return Request(
        epsilon=None if rho is not None else epsilon_of(epsilon, alpha),
        delta=probability(delta, "delta"),
        rho=None if rho is None else _rho(rho),
        **options,
    )


def _own(given: Any, max_count: Any) -> dict[str, Any]:
    """A mechanism of the user's: its size is the largest count."""
    from discreet.routes.own import NAME, own_mechanism

    mechanism = own_mechanism(given)
    if max_count not in (None, mechanism.max_count):
        found = f"the mechanism given is for counts up to {mechanism.max_count}"
        raise BadInput(f"max_count = {max_count} was asked for", found, "Leave max_count out")
    return {"mechanism": NAME, "own": mechanism, "max_count": mechanism.max_count}


def _refuse_mixed(options: dict[str, Any]) -> None:
    """What belongs to the other way a table can go must not be ignored in silence."""
    plain = {"law": "l1", "base": "geometric"}
    given = [name for name, value in options.items() if value not in (None, False, plain.get(name))]
    for name in BY_MECHANISM if options["keep"] else WITH_KEEP:
        if name in given:
            how = ("together with", "kept sums go by another route") if options["keep"] else ("without", "it needs one")
            raise BadInput(f"{name} was asked for {how[0]} keep", how[1], f"Drop {name}")


def _rho(value: Number) -> Fraction:
    number = positive(value, "rho")
    if number < SMALLEST_EPSILON**2:
        raise BadInput(f"rho = {value} was asked for", "below 1e-18 the noise would drown every count")
    return number


def _split(value: Number) -> Fraction:
    number = exact(value, "split")
    if not 0 <= number < 1:
        raise BadInput(f"split = {value} was asked for", "the share of the distribution must be at least 0 and below 1")
    return number


BY_MECHANISM = ("mechanism", "consistent", "split", "refine", "base")
WITH_KEEP = ("law", "nonnegative", "inequalities", "per_unit", "allow_diagnosed")
MECHANISMS = (
    "transport", "rank", "geometric", "signed-geometric", "uniform", "randomized-response", "explicit-fair",
    "exponential", "staircase", "discrete-gaussian", "unfixed", "heuristic-max", "heuristic-min", "heuristic-sandwich",
    "heuristic-best", "fixed-point-simplex", "fixed-point-interior", "column-generation",
)  # fmt: skip


def _recorder(ledger: Any, dataset: str | None) -> Callable[[Spending], None]:
    """Where the spending is written before any noise is drawn."""
    if ledger is None:
        if dataset is not None:
            raise BadInput(f"the data set {dataset!r} was named", "no ledger was given", "Give ledger (--ledger URL)")
        return _ignore
    if dataset is None:
        raise BadInput("a ledger was given", "no data set was named", "Give dataset (--dataset NAME)")
    from discreet.ledger import ledger as open_ledger

    book = open_ledger(ledger) if isinstance(ledger, (str, Path)) else ledger
    return book.recorder(dataset)


def _spending(schema: Schema, request: Request, route: Route) -> Spending:
    from discreet.ledger import Spending, digest_of_arguments

    asked = {
        "schema": schema.as_json(),
        "guarantee": route.guarantee.as_json(),
        "mechanism": request.mechanism,
        "max_count": request.max_count,
        "keep": [str(what) for what in request.keep],
    }
    promise = route.charged
    return Spending(
        epsilon=promise.epsilon, delta=promise.delta, rho=promise.rho, digest=digest_of_arguments(asked),
        discloses=route.discloses, note="release",
    )  # fmt: skip


def _seal(
    schema: Schema, route: Route, measured: Measured, published: Published, private: bool, measurements: bool
) -> Release:
    certificate = published.certificate
    guarantee = replace(route.guarantee, private=private, remarks=(ROWS_ARE_PUBLIC, *published.remarks))
    return Release(
        schema=schema,
        published=published,
        measured=measured if measurements and route.signed else None,
        guarantee=guarantee,
        certificate=None if certificate is None else certificate.as_json(),
        max_count=measured.max_count,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def _ignore(_: Any) -> None:
    pass
