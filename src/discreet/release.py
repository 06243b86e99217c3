"""Release a table of counts: choose the way, record what it costs, draw, publish, seal."""

from __future__ import annotations

import datetime
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.arrays import FrameT, Integers
from discreet.errors import BadInput
from discreet.numbers import Epsilon, Number
from discreet.options import described, keywords_of, options_of, spelt
from discreet.privacy.parse import loss_of
from discreet.privacy.values import Loss, Pure
from discreet.released import Release, Stages
from discreet.sample.bits import source
from discreet.table import Schema, Table
from discreet.ways import Planned, Published, WaySpec, shared_out, spec_of, way_meant, way_named, ways_by_keyword

if TYPE_CHECKING:
    from discreet.ledger import PublicTable, Spending
    from discreet.record.release import About, LedgerEntry, PartsFacts, ReleaseRecord


@spelt
def release(
    table: Table[FrameT],
    epsilon: Number | Epsilon | Loss | None = None,
    way: WaySpec | None = None,
    *,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    measurements: bool = True,
    about: About | None = None,
    ledger: Any = None,
    dataset: str | None = None,
    note: str = "",
    who: str = "",
    accept_disclosure: bool = False,
    seed: int | None = None,
    stages: Stages | None = None,
    **options: Any,
) -> Release[FrameT]:
    """Publish private counts in place of the table's. Randomness comes from the operating system.

    table: what `table`, `read_table` or `count` made; or a Spark data frame, with `count`, `keys` and `out` beside it:
    then it is released in parts, by Spark, into the folder `out`, and its table is a Spark data frame again.
    `release(table, epsilon=1, keep=[...])` is short for `release(table, Pure(1), KeepSums(keep=[...]))`.

    epsilon: the privacy parameter, a number, or a value Pure(e), Approximate(e, d), Concentrated(r).
    alpha: e^-epsilon, exact, in place of epsilon. rho: zero-concentrated privacy, in place of epsilon. delta: beside
    epsilon, for Gaussian noise and for mechanisms of your own.
    measurements: whether the noisy values before any mapping are published too.
    about: who publishes what, for the report: About(title=..., source=..., contact=..., licence=..., note=...).
    ledger, dataset: where the spending is recorded before anything is drawn; note, who: what for, and by whom.
    accept_disclosure: go on even where the kept sums, with those of earlier releases, give rows away.
    seed: for tests; it makes the result repeatable and NOT private.
    stages: called with the name of each stage as it begins, for progress.
    """
    at = stages or ignore
    if not isinstance(table, Table):
        made: Release = _for_frames(table)(
            table, epsilon, way, alpha=alpha, rho=rho, delta=delta, measurements=measurements, about=about,
            ledger=ledger, dataset=dataset, note=note, who=who, accept_disclosure=accept_disclosure, seed=seed,
            stages=stages, **options,
        )  # fmt: skip
        return made
    check_about(about)
    loss, spec = asked(epsilon, way, options, BESIDE, alpha=alpha, rho=rho, delta=delta)
    spec = shared_out(table.schema, spec)
    chosen = way_named(spec.name)
    bits = source(seed)
    from discreet.ledger.paying import open_book
    from discreet.record.release import Publication

    book = open_book(ledger, dataset, bits, note=note, who=who, accept_disclosure=accept_disclosure)
    record = None if book is None else book.recorder(str(dataset))
    placed = spec if table.given_rows is None else spec.in_order(table.given_rows)
    plan = chosen.plan(table.schema, loss, placed)
    if chosen.check is not None:
        chosen.check(plan, table.counts)
    at("record")
    entry = None
    if record is not None:
        spending = spending_of(table.schema, placed, plan, table.counts)
        entry = record(replace(spending, note=note, who=who, accept_disclosure=accept_disclosure))
    at("draw")
    measured = chosen.draw(plan, table.counts, bits)
    at("publish")
    published = chosen.publish(plan, measured)
    at("seal")
    sealed = sealed_record(table.schema, spec.name, published, bits.private, about, entry)
    measured = published.measured if measurements else None
    categories, kind = table.schema.categories, table.schema.kind
    return Release(Publication(sealed, categories, published.counts, measured, published.answers), kind, book)


BESIDE = keywords_of(release)


def _for_frames(thing: Any) -> Callable[..., Any]:
    """What releases a thing that is no table: of all frames only Spark's may be too large to become one."""
    from discreet.io.spark import is_spark_frame

    if not is_spark_frame(thing):
        raise BadInput("a table was to be released", f"a {type(thing).__name__} was given", "Use read_table or table")
    from discreet.parts.spark import release_frame

    return release_frame


def asked(
    epsilon: Number | Epsilon | Loss | None, way: WaySpec | None, options: Mapping[str, Any], beside: Collection[str],
    *, alpha: Any, rho: Any, delta: Any,
) -> tuple[Loss, WaySpec]:  # fmt: skip
    """What may be lost, and the way: two values, whether they were given as such or as keywords."""
    if way is None:
        spec, mechanism = spec_of(options, beside), options.get("mechanism")  # first: it names a misspelt epsilon
        if hasattr(mechanism, "as_options"):
            epsilon = _epsilon_of(mechanism, epsilon, alpha, rho)
            alpha = None
        return loss_of(epsilon, alpha=alpha, rho=rho, delta=delta), spec
    if not isinstance(way, WaySpec):
        known = ", ".join(kind.__name__ for kind in ways_by_keyword())
        raise BadInput("a way was to be taken", f"a {type(way).__name__} is not a way", f"Use {known}, or keywords")
    if options:
        found = f"{way.name!r} was given as a value already"
        raise BadInput(f"the option {next(iter(options))!r} was asked for", found, "Put it into that value")
    return loss_of(epsilon, alpha=alpha, rho=rho, delta=delta), way


def _epsilon_of(noise: Any, epsilon: Any, alpha: Any, rho: Any) -> Epsilon:
    """Of noise that was made for one; whoever gives another has not decided."""
    own: Epsilon = noise.epsilon
    if (epsilon, alpha, rho) != (None, None, None):
        asked = loss_of(epsilon, alpha=alpha, rho=rho)
        if asked != Pure(own):
            found = f"the noise given is for epsilon = {own}"
            raise BadInput(f"{asked} was asked for", found, "Leave it out, or make the noise for it")
    return own


def check_about(about: Any) -> None:
    """Refuse what could be written into no record, before anything is spent."""
    from discreet.record.release import About

    if about is not None and not isinstance(about, About):
        found = f"a {type(about).__name__} does not say who publishes what"
        raise BadInput("about was given", found, "Use About(title=..., source=..., contact=..., licence=..., note=...)")


def spending_of(
    schema: Schema, spec: WaySpec, plan: Planned, counts: Integers | None, table: PublicTable | None = None
) -> Spending:
    """What is about to be spent, with all that is public about it."""
    from discreet.ledger import Spending
    from discreet.ledger.documents import kept_table
    from discreet.ledger.exactly import laws_section
    from discreet.ledger.public import asked_for, public_table

    promise, kept = plan.guarantee, getattr(spec, "keep", ())
    sections = {**asked_for(schema, promise.loss, spec), **laws_section(getattr(plan, "laws", ()))}
    limits = getattr(getattr(plan, "lattice", None), "inequalities", None)
    rows = kept_table(schema.count, schema.key_columns, kept, schema.rows, limits) if kept or limits else None
    return Spending(
        promise.loss, promise.unit, apart=getattr(plan, "apart", False), mechanism=getattr(plan, "law", ""),
        table=table or public_table(schema), discloses=plan.discloses, spec=sections,
        assumes=tuple(map(str, getattr(spec, "inequalities", ()))), kept=rows, counts=None if rows is None else counts,
    )  # fmt: skip


def sealed_record(
    schema: Schema, way: str, published: Published[Any], private: bool, about: About | None,
    entry: LedgerEntry | None, parts: PartsFacts | None = None,
) -> ReleaseRecord[Any]:  # fmt: skip
    """All facts about the release; its files get their names and digests when it is saved."""
    import discreet
    from discreet.record.release import NOTHING_SAID, PublishedTable, ReleaseRecord, SchemaFacts

    facts = SchemaFacts(
        schema.keys, schema.count, schema.rows, published.max_count, schema.contributions, schema.order,
        schema.rows_are_disjoint, schema.dropped_totals, schema.suppressed_as,
    )  # fmt: skip
    keyed = parts is not None and parts.randomness == "keyed"
    promise = replace(
        published.guarantee, private=private, remarks=(*published.guarantee.remarks, *facts.remarks),
        grade="computational" if keyed else published.guarantee.grade,
    )  # fmt: skip
    return ReleaseRecord(
        software=f"discreet {discreet.__version__}",
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        private=private,
        way=way,
        schema=facts,
        tables=(PublishedTable("", (*schema.keys, schema.count)),),
        guarantee=promise,
        certificate=published.certificate,
        facts=published.facts,
        about=about or NOTHING_SAID,
        ledger=entry,
        parts=parts,
    )


def ignore(_: Any) -> None:
    pass


def _documented() -> None:
    """help(release) names every option of every way, from where it is written."""
    plain = inspect.signature(release)
    own = [item for item in plain.parameters.values() if item.kind is not inspect.Parameter.VAR_KEYWORD]
    more: dict[str, inspect.Parameter] = {}
    lines = []
    for kind in ways_by_keyword():
        lines.append(f"\n    {kind.__name__}: {kind.__doc__}\n{described(kind, '        ')}")
        for name, (_, default) in options_of(kind).items():
            usual = default if way_meant({name: default}) is way_meant({}) else None  # left out, it chooses no way
            more.setdefault(name, inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual))
    release.__signature__ = plain.replace(parameters=[*own, *more.values()])  # type: ignore[attr-defined]
    release.__doc__ = f"{release.__doc__}\n    The ways, and their options with their defaults:\n" + "\n".join(lines)


_documented()
