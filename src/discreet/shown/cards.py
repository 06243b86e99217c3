"""The cards: for every kind of value what is to be seen of it. Facts are asked of the value, words of where they are.

Nothing here reads a secret count: of a table only its schema is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.numbers import Epsilon, digits_above, percent, text
from discreet.shown import MOST_ROWS, Card, Listing, Shown
from discreet.shown.terse import in_digits

if TYPE_CHECKING:
    from discreet.build.bounded_inputs import BoundedMechanism
    from discreet.build.bounded_noise import BoundedNoise
    from discreet.build.construct import Construction
    from discreet.build.design import Design
    from discreet.certify.prove import Certificate, Witness
    from discreet.choose import Choices
    from discreet.compare import Comparison
    from discreet.distribution.private import PrivateDistribution
    from discreet.estimate import Estimate
    from discreet.estimate.answers import Answer, AnswerSet
    from discreet.evaluate.study import Evaluation
    from discreet.ledger.accounts import Statement
    from discreet.mechanism import Mechanism
    from discreet.plan import Plan
    from discreet.privacy.values import Guarantee
    from discreet.released import Release
    from discreet.table import Table
    from discreet.verify import Verification

FIRST = 5  # rows of a table
DIGITS = 6  # of what is rounded up
SECRET = "secret"
LONGEST = 60  # letters of a key


def card_of(value: Shown) -> Card:
    """By the name of its class, so that no module is loaded to show a value of another."""
    made = next(CARDS[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in CARDS)
    return made(value)


def near(number: float) -> str:
    return in_digits(number, 4)


def short(number: Fraction) -> str:
    """As it is, where that is short; otherwise rounded up."""
    exact = text(number)
    return exact if len(exact) <= DIGITS + 2 else digits_above(number, DIGITS)


def shortly(epsilon: Epsilon) -> str:
    return short(epsilon.value) if epsilon.value is not None else digits_above(Fraction(str(epsilon)), DIGITS)


def plural(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def _cell(value: Any) -> str:
    said = str(value)
    return said if len(said) <= LONGEST else said[: LONGEST - 1] + "…"


def _first_rows(categories: Any, keys: Iterable[str], count: str, counts: list[str], title: str) -> Listing:
    """The first rows of key columns, and beside them what stands for their counts."""
    names = tuple(keys)
    columns = [[_cell(one) for one in categories.column(name).slice(0, len(counts)).to_pylist()] for name in names]
    return Listing((*names, count), tuple(zip(*columns, counts)), title)


def table(value: Table[Any]) -> Card:
    schema = value.schema
    rows = [SECRET] * min(FIRST, schema.rows)
    grid = (_first_rows(schema.categories, schema.keys, schema.count, rows, "the first rows"),) if schema.keys else ()
    persons = "one row" if schema.contributions == 1 else f"up to {schema.contributions:,} rows"
    facts = [
        ("published as they are", ", ".join(schema.keys) or "no column"),
        ("published with noise", schema.count),
        ("one person is counted in", persons),
    ]
    if schema.shares:
        facts.append(("shares of the budget", ", ".join(f"{name} {text(share)}" for name, share in schema.shares)))
    if schema.dropped_totals:
        facts.append(("rows left out as totals", f"{schema.dropped_totals:,}"))
    by = ", ".join(schema.keys) or "row"
    title = f"Table of {plural(schema.rows, 'secret count')} {schema.count!r} by {by}"
    return Card(title, facts=tuple(facts), grids=grid, after=("dc.choose(table)", "dc.release(table, epsilon=...)"))


def guarantee(value: Guarantee) -> Card:
    from discreet.record.words import promises

    facts = (("neighbours", str(value.unit)), ("how firmly it is known", promises.GRADES[value.grade]))
    warning = "" if value.private else promises.SEED_WARNING
    title = f"Guarantee: {value.loss} ({value.kind})"
    return Card(title, (value.sentence,), facts, warning=warning)


def plan(value: Plan) -> Card:
    lead = tuple(f"{number}. {step}" for number, step in enumerate(value.steps, start=1))
    facts = (("columns that will be published", ", ".join(value.published_columns)), ("guarantee", value.guarantee))
    grids = []
    if value.questions:
        asked = tuple((one.name, near(one.sd), f"{float(Fraction(one.share)):.1%}") for one in value.questions)
        grids.append(Listing(("question", "sd of an answer", "share of the budget"), asked))
    if value.expected:
        head = ("shape of the data", "error of a count", "error of the distribution")
        rows = tuple((one.shape, near(one.count_error), near(one.distribution_error)) for one in value.expected)
        grids.append(Listing(head, rows, f"errors to expect, by simulation {value.about}"))
    title = f"Plan for {value.promise.loss}: {plural(len(value.steps), 'step')}, nothing spent"
    return Card(title, lead, facts, tuple(grids))


def choices(value: Choices) -> Card:
    head = ("epsilon", "error of a count", "error of the distribution", *value.heads)
    rows = tuple((one.epsilon, near(one.count_error), near(one.distribution_error), *one.means) for one in value)
    return Card(f"Choices of epsilon: {len(value)}", (value.sentence, value.about), grids=(Listing(head, rows),))


def release(value: Release[Any]) -> Card:
    from discreet.record.words import promises

    record, schema = value.record, value.record.schema
    first = [f"{int(one):,}" for one in value.counts[:FIRST]]
    grid = _first_rows(value.publication.categories, schema.keys, schema.count, first, "the first rows, as published")
    facts = (
        ("guarantee", f"{record.guarantee.loss} ({record.guarantee.kind}), {promises.GRADES[record.guarantee.grade]}"),
        ("neighbours", str(record.guarantee.unit)),
        ("mechanism", value.mechanism.name),
    )
    warning = "" if value.private else promises.SEED_WARNING
    after = ("out.table", "out.save('folder')", "dc.verify('folder')", "dc.estimate(out)", "dc.plot(out)")
    title = f"Release of {plural(schema.rows, 'row')}: {schema.count} by {', '.join(schema.keys) or 'row'}"
    title += f", {record.guarantee.loss}" + ("" if value.private else ", NOT PRIVATE")
    return Card(title, (record.guarantee.sentence,), facts, (grid,), warning, after)


def verification(value: Verification) -> Card:
    lists = (("problem", value.problems), ("checked", value.checked), ("does not apply", value.not_applicable))
    grids = tuple(Listing((name,), tuple((one,) for one in found)) for name, found in lists if found)
    verdict = "valid" if value.valid else plural(len(value.problems), "problem")
    title = f"Verification: {verdict}; {plural(len(value.checked), 'check')}"
    said = () if value.private is not False else ("The noise came from a seed: the release is not private.",)
    lines = (f"{title}.", *said, *value.problems)
    return Card(title, said, grids=grids, lines=lines)


def certificate(value: Certificate) -> Card:
    from discreet.certify import words

    said = tuple(words.verdict(value))
    verdict = {True: "holds", False: "refuted", None: "nothing claimed"}[value.holds]
    claim = "" if value.epsilon is None else f", epsilon = {shortly(value.epsilon)}"
    delta = f", delta = {short(value.delta)}" if value.delta else ""
    grids: tuple[Listing, ...] = ()
    if value.curve is not None:
        grids = (Listing(words.CURVE_HEAD, tuple(words.points(value.curve)), "delta by epsilon"),)
    return Card(f"Certificate: {verdict}{claim}{delta}", said, grids=grids, lines=said)


def witness(value: Witness) -> Card:
    from discreet.certify.words import times

    title = f"Witness: output {value.output} is {times(value.ratio)} as likely from {value.input} as from "
    return Card(title + f"{value.neighbour}; {times(value.allowed)} is allowed")


def design(value: Design) -> Card:
    cost = value.objective
    bound = "none is known" if cost.lower_bound is None else near(cost.lower_bound)
    facts = [
        ("privacy", f"epsilon = {shortly(value.epsilon)}" + (f", delta = {short(value.delta)}" if value.delta else "")),
        (f"cost ({cost.name})", near(cost.value)),
        ("no mechanism costs less than", bound),
        ("how it was found", f"{value.method}: {value.reason}"),
        ("required", ", ".join(value.requirements) or "nothing"),
    ]
    if value.free:
        facts.append(("had at no loss", ", ".join(value.free)))
    last = value.mechanism.max_count
    title = f"Design: {value.mechanism.name} for counts 0..{last}, {cost.name} {near(cost.value)}"
    return Card(title, facts=tuple(facts), after=("dc.plot(design)", "design.mechanism.matrix()"))


def mechanism(value: Mechanism) -> Card:
    last = value.max_count
    counts = "all counts" if last is None else f"counts 0..{last}"
    facts = tuple((name, _cell(_exactly(said))) for name, said in value.parameters.items())
    return Card(f"Mechanism {value.name} for {counts}", facts=facts)


def _exactly(said: Any) -> Any:
    return short(said) if isinstance(said, Fraction) else said


def construction(value: Construction) -> Card:
    bound = "none is known" if value.lower_bound is None else near(value.lower_bound)
    facts = (("cost", near(value.cost)), ("no such mechanism costs less than", bound))
    return Card(f"Construction by {value.method}: cost {near(value.cost)}", value.notes, facts)


def comparison(value: Comparison) -> Card:
    title = f"Comparison of {len(value.mechanisms)} mechanisms for counts 0..{value.max_count}"
    title += f", epsilon = {shortly(value.epsilon)}"
    return Card(title, grids=(Listing(*value.grid()),), lines=(title, *value.table()))


def private_distribution(value: PrivateDistribution) -> Card:
    shares = tuple((f"{count:,}", f"{share:.2%}") for count, share in enumerate(value.distribution.tolist()))
    facts = (("privacy", str(value.loss)), ("method", value.method), ("rows", f"{value.rows:,}"))
    title = f"Private distribution of counts 0..{value.max_count:,}, {value.loss}"
    warning = "" if value.private else "Not private."
    return Card(title, facts=facts, grids=(Listing(("count", "share of rows"), shares),), warning=warning)


def bounded_noise(value: BoundedNoise) -> Card:
    shares = [float(one) for one in value.pmf_optimal] if value.support <= FIRST else []
    errors = range(-value.support, value.support + 1)
    grid = (Listing(("error", "probability"), tuple((f"{k:+d}", near(p)) for k, p in zip(errors, shares))),)
    facts = (
        ("privacy", f"epsilon = {shortly(value.epsilon)}, delta = {digits_above(value.delta_optimal, DIGITS)}"),
        ("the truth is published with probability", short(value.truth)),
    )
    title = f"Bounded noise on -{value.support}..{value.support}, epsilon = {shortly(value.epsilon)}"
    return Card(title, facts=facts, grids=grid if shares else ())


def bounded_mechanism(value: BoundedMechanism) -> Card:
    facts = (
        ("privacy", f"epsilon = {shortly(value.epsilon)}, delta = {digits_above(value.delta, DIGITS)}"),
        ("no such mechanism has less than", digits_above(value.lower_bound, DIGITS) if value.lower_bound else "0"),
        ("the truth is published with probability", short(value.truth)),
    )
    return Card(f"Bounded mechanism, errors up to {value.support}, epsilon = {shortly(value.epsilon)}", facts=facts)


def evaluation(value: Evaluation) -> Card:
    head = ("method", "epsilon", "metric", "value", f"{100 * value.level:g}% interval")
    rows = tuple(
        (row["method"], row["epsilon"], row["metric"], near(row["value"]), _between(row))
        for row in value.rows if row["metric"] in SHOWN_METRICS
    )  # fmt: skip
    methods = {row["method"] for row in value.rows}
    title = f"Evaluation of {plural(len(methods), 'method')} on the true counts"
    return Card(title, grids=(Listing(head, rows),), warning=value.warning, after=("found.frame()", "dc.plot(found)"))


SHOWN_METRICS = ("absolute", "w1")


def _between(row: Any) -> str:
    return "exact" if row["exact"] else f"{near(row['low'])} to {near(row['high'])}"


def statement(value: Statement) -> Card:
    facts = (("budget", str(value.budget)), ("spent", str(value.spent)), ("left", str(value.left)))
    title = f"Account of {value.dataset!r}: left {value.left}"
    return Card(title, (value.sentence,), facts, lines=(value.sentence,))


def answer(value: Answer) -> Card:
    return Card(f"Answer {value}", lines=(str(value),))


def answer_set(value: AnswerSet) -> Card:
    names, first = value.columns, min(len(value), MOST_ROWS + 1)
    head = (*names, "estimate", f"{percent(value.level)} interval")
    keys = [[_cell(one) for one in value.keys_frame.column(name).slice(0, first).to_pylist()] for name in names]
    found = [value.at(place) for place in range(first)]
    middle, ends = [one.words[0] for one in found], [_ends(one) for one in found]
    title = f"Answers for {plural(len(value), 'group')}" + (f" by {', '.join(names)}" if names else "")
    said = (f"Every number is {value.cut}.",) if value.cut else ()
    after = ("answers.table()", "answers.plot()")
    return Card(
        title, said, grids=(Listing(head, tuple(zip(*keys, middle, ends)), rows_in_all=len(value)),), after=after
    )


def _ends(one: Answer) -> str:
    return "exact" if one.exact else " to ".join(one.words[1:])


def estimate(value: Estimate) -> Card:
    """What can be asked of any table; what this one does not answer is left out."""
    rows = tuple((name, str(found)) for name, found in _asked(value))
    title = f"Estimate of the true table, with {percent(value.level)} intervals"
    return Card(
        title, grids=(Listing(("question", "answer"), rows),), after=("estimate.by(column)", "dc.plot(estimate)")
    )


def _asked(value: Estimate) -> Iterator[tuple[str, Answer]]:
    from discreet.errors import DiscreetError

    for name in ("total", "mean", "share_zero"):
        try:
            yield name, getattr(value, name)()
        except (DiscreetError, AttributeError):  # a release may not tell it
            continue


CARDS: dict[str, Callable[[Any], Card]] = {
    "Table": table, "Guarantee": guarantee, "Plan": plan, "Choices": choices, "Release": release,
    "Verification": verification, "Certificate": certificate, "Witness": witness, "Design": design,
    "Mechanism": mechanism, "Construction": construction, "Comparison": comparison,
    "PrivateDistribution": private_distribution, "BoundedNoise": bounded_noise, "BoundedMechanism": bounded_mechanism,
    "Evaluation": evaluation, "Statement": statement, "Answer": answer, "AnswerSet": answer_set,
    "Estimate": estimate,
}  # fmt: skip
