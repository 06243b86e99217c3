"""The words of a ledger, for people, in one place: no code reads them, and they may change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from discreet.errors import called
from discreet.ledger.disclosure import FIXED, Disclosure, GivenCell
from discreet.ledger.spending import Amount, amount_of
from discreet.numbers import text

if TYPE_CHECKING:
    from discreet.ledger.accounts import Entry, Statement
    from discreet.ledger.exactly import ExactSpending

LONGEST_AMOUNT = 12  # letters: what is longer is rounded on a page; the export has every digit
DIGITS = 6  # of an amount that is rounded: a millionth too much at most

COMPOSITION = {
    "pure": "basic composition: the epsilons of all releases add up",
    "approximate": "basic composition: the epsilons and the deltas of all releases add up",
    "concentrated": "zero-concentrated composition: the rhos of all releases add up; a pure epsilon costs epsilon^2/2",
}

RELATIONS = {
    "added-or-removed": "one person added or removed",
    "moved": "one person moved, from the rows they are counted in to others",
}

PROTECTED = {
    "pure": "Whatever was published, in all releases together, is at most e^({epsilon}) times as likely with any "
    "person as with the same person {done}, and the other way round.",
    "approximate": "Take anything that was published, in all releases together. With any person it is at most "
    "e^({epsilon}) times as likely as with the same person {done}, plus {delta}; and the other way round.",
    "concentrated": "All releases together are zero-concentrated differentially private with rho = {rho}, between the "
    "data and the same data with any one person {done}.",
}
DONE = {"added-or-removed": "left out", "moved": "in other rows"}
SUMS_STAY = "This holds between data that agree on every sum that was published exactly; those sums are not protected."
ASSUMED = "It holds between data that meet what they were said to meet, and that they do is not protected: {names}."
SUMS_SHOW = (
    "That a person is in the data at all is not protected where they are counted in a sum that was published exactly: "
    "leaving them out would change it. There the promise is about changes that leave every such sum as it is."
)
NOT_MOVED = (
    "A person who moves is removed from one row and added to another: that costs up to twice as much epsilon, "
    "and up to four times as much rho."
)
NOT_REMOVED = (
    "That a person is in the data at all is protected only where no sum was kept: a removal then costs no more than a "
    "move. A kept sum shows it."
)
NOTHING_ELSE = (
    "Not protected: releases made without this ledger, data sets under other names that hold the same people, and "
    "anything that is not counted."
)
OUTCOMES = {
    "released": "released, digest {digests}",
    "released again": "released {times} times, as folders that differ, digests {digests}",
    "charged, not released": "charged, not released: no folder was recorded for it. The noise may have been seen, so "
    "nothing is given back",
}
CHAIN = (
    "Every line holds a hash of the line before it. Head of the chain: {head} ({lines} lines). Keep this page: "
    "`discreet ledger check URL --head HEX` says later whether the lines up to this one are still there, unchanged."
)
NOT_TOLD = "The entry fits, but it was never told that this release was saved: it does not hold the folder's digest."
NOT_OPEN = "The ledger is not open in this process."
UNTOLD = (
    "What was released is out, but its entry #{number} of {dataset!r} still reads 'charged, not released': {why} "
    "For a folder, tell it later with `discreet ledger check URL DIR --record`."
)
EXACT = (
    "By basic composition {basic}; exactly epsilon = {epsilon} at delta = {delta}, for all releases together "
    "(enclosed: rounded up, never below the truth)."
)
NO_EXACT = (
    "By basic composition {basic}; at delta = {delta} no epsilon holds for all releases together: what they give away "
    "for certain is more."
)
BY_PRICE = (
    "Of {by_law} release(s) the noise itself is known to the ledger; {by_price} count as the worst that costs what "
    "they cost."
)
NOT_CHOSEN = (
    "The exact figure holds where it was not decided by looking at earlier releases how much later ones may spend; the "
    "sum of prices, by which the budget is kept, holds anyway."
)
NO_SUCH_HEAD = "No line of the ledger has this hash: it was cut off or written anew, or it is another ledger."
UNKNOWN = "what they would give away could not be found out: they are too many, or too entangled"
ACCEPT = f"Nothing was drawn or recorded. Keep other sums, or accept it with {called('accept_disclosure', like='')}"


def account(statement: Statement) -> str:
    """The state of a data set in one sentence."""
    disclosed = "; published exactly: " + ", ".join(statement.discloses) if statement.discloses else ""
    waiting = f", {statement.unreleased} of them charged, not released" if statement.unreleased else ""
    return (
        f"{statement.dataset}: budget {statement.budget} for {RELATIONS[statement.relation]}; spent {statement.spent} "
        f"in {statement.releases} release(s){waiting}; left {statement.left} ({statement.composition}){disclosed}."
    )


def one_line(text: str) -> str:
    """A text of somebody's, with nothing in it that a page would not show in its place."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def history_line(entry: Entry) -> str:
    again = f" ({len(entry.digests)} times)" if len(entry.digests) > 1 else ""
    state = entry.state if entry.state != "released" else f"released {entry.digests[-1][:12]}{again}"
    words = (entry.recorded, f"{entry.dataset} #{entry.number}", str(entry.charged), state, entry.spending.who)
    return "  ".join(one_line(word) for word in (*words, entry.spending.note) if word)


def cell(one: GivenCell) -> str:
    keys = ", ".join(f"{name} = {value}" for name, value in one.keys.items()) or "the only row"
    if one.modulus == 0:
        return f"{keys} (exactly)"
    if one.modulus == FIXED:
        return f"{keys} (exactly: it can have no other value)"
    return f"{keys} (its remainder after division by {one.modulus})"


def given_away(disclosure: Disclosure) -> str:
    """What kept sums give away together: how many cells, and the first by name."""
    number = disclosure.exact + disclosure.remainders + disclosure.fixed
    if number == 0 and not disclosure.examined:
        return "nobody knows how much: not all of them could be examined"
    if number == 0:
        return "no single row" + (", as far as they were compared" if disclosure.not_compared else "")
    named = "; ".join(cell(one) for one in disclosure.cells)
    more = number - len(disclosure.cells)
    least = "" if disclosure.examined else "at least "
    return f"{least}{number} row{'s' * (number != 1)}: {named}" + (f"; and {more} more" if more else "")


def limits(disclosure: Disclosure) -> Iterator[str]:
    """What was not looked at."""
    if disclosure.not_compared:
        numbers = ", ".join(f"#{number}" for number in disclosure.not_compared)
        yield (
            f"Not compared, or only in part: those of {numbers}. They are sums of other rows, or of rows that go by "
            "other names, or they count something else."
        )
    if not disclosure.examined:
        yield "The sums are too entangled, or too many, to find everything that they give away."


def page(
    statement: Statement, entries: Sequence[Entry], disclosure: Disclosure, *, address: str, opened: str, lines: int,
    exact: ExactSpending | None = None,
) -> str:  # fmt: skip
    """The statement of a data set: a page for people."""
    lines_of_it = _page(statement, entries, disclosure, exact, address=address, opened=opened, lines=lines)
    return "\n".join(map(one_line, lines_of_it)) + "\n"


def _page(
    statement: Statement, entries: Sequence[Entry], disclosure: Disclosure, exact: ExactSpending | None, *,
    address: str, opened: str, lines: int,
) -> Iterator[str]:  # fmt: skip
    title = f"Statement of the data set {statement.dataset}"
    yield from (title, "=" * len(title), "", f"Ledger {address}; budget set {opened}.", "")
    yield from _heading("What is protected")
    parts = {name: rounded_up(value) for name, value in statement.spent.as_json().items()}
    if any(value != "0" for value in parts.values()):
        yield PROTECTED[statement.spent.kind].format(done=DONE[statement.relation], **parts)
    else:
        yield "Nothing was published yet."
    if statement.discloses:
        yield SUMS_STAY
    if statement.assumes:
        yield ASSUMED.format(names=", ".join(statement.assumes))
    yield from ("", *_heading("What is not protected"))
    yield NOT_MOVED if statement.relation == "added-or-removed" else NOT_REMOVED
    if statement.discloses:
        if statement.relation == "added-or-removed":
            yield SUMS_SHOW
        yield f"Published exactly: {', '.join(statement.discloses)}."
    if statement.discloses or statement.assumes:
        yield f"Together, what is kept and what is met give away {given_away(disclosure)}."
        yield from limits(disclosure)
    yield from (NOTHING_ELSE, "", *_heading("The account"))
    yield f"Budget  {statement.budget}"
    yield f"Spent   {_short(statement.spent)}"
    yield f"Left    {_short(statement.left, up=False)}"
    yield f"For {RELATIONS[statement.relation]}, by {statement.composition}."
    if exact is not None:
        yield from exactly(exact)
    yield from ("", *_heading(f"Releases ({statement.releases})"))
    for entry in entries:
        yield from _entry(entry)
    yield from ("", *_heading("The record"), CHAIN.format(head=statement.head, lines=lines))


def exactly(found: ExactSpending) -> Iterator[str]:
    """What all releases cost together, from the noise of each, beside the sum of their prices."""
    delta = rounded_up(text(found.delta))
    if found.epsilon is None:
        yield NO_EXACT.format(basic=_short(found.basic), delta=delta)
    else:
        yield EXACT.format(basic=_short(found.basic), epsilon=rounded_up(text(found.epsilon)), delta=delta)
    if found.by_price:
        yield BY_PRICE.format(by_price=found.by_price, by_law=found.by_law)
    yield NOT_CHOSEN


def rounded_up(amount: str, up: bool = True) -> str:
    """An amount for reading: as it is where that is short, otherwise rounded to some digits."""
    if len(amount) <= LONGEST_AMOUNT:
        return amount
    from decimal import ROUND_CEILING, ROUND_FLOOR, Context
    from fractions import Fraction

    exact = Fraction(amount)
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return str(context.divide(exact.numerator, exact.denominator))


def _short(amount: Amount, up: bool = True) -> str:
    parts = {name: rounded_up(value, up) for name, value in amount.as_json().items()}
    shown = ", ".join(f"{name} = {value}" for name, value in parts.items() if name != "delta" or value != "0")
    exact = parts == amount.as_json()
    return shown if exact else f"{shown} (rounded {'up' if up else 'down'})"


def _heading(words: str) -> tuple[str, ...]:
    return words, "-" * len(words)


def _entry(entry: Entry) -> Iterator[str]:
    spending = entry.spending
    yield f"#{entry.number}  {entry.recorded}  {_short(entry.charged)}"
    for name, value in (("by", spending.who), ("for", spending.note), ("mechanism", spending.mechanism)):
        if value:
            yield f"    {name} {value}"
    yield f"    promises {_short(amount_of(spending.loss))} for {spending.neighbours}"
    state = "released again" if len(entry.digests) > 1 else entry.state
    yield f"    {OUTCOMES[state].format(digests=', '.join(entry.digests), times=len(entry.digests))}"
    if spending.discloses:
        yield f"    publishes exactly: {', '.join(spending.discloses)}"
    if spending.assumes:
        yield f"    of data that were said to meet: {', '.join(spending.assumes)}"
    if entry.disclosure.refused:
        yield f"    accepted: gives away {given_away(entry.disclosure)}"
    yield f"    line {entry.hash}"


CSV_COLUMNS = (
    "number", "dataset", "recorded", "who", "note", "state", "epsilon", "delta", "rho", "mechanism", "discloses",
    "digests", "hash",
)  # fmt: skip


def as_csv(entries: Sequence[Entry]) -> str:
    """The history as a table, a line per entry; an apostrophe stands before what a spreadsheet would calculate."""
    import csv
    import io
    import re

    from discreet.io.formulas import FORMULA

    def plain(value: object) -> object:
        return re.sub(f"({FORMULA})", r"'\1", one_line(value)) if isinstance(value, str) else value

    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, lineterminator="\n", restval="")
    writer.writeheader()
    for entry in entries:
        spending = entry.spending
        row = {
            "number": entry.number, "dataset": entry.dataset, "recorded": entry.recorded, "who": spending.who,
            "note": spending.note, "state": entry.state, **entry.charged.as_json(), "mechanism": spending.mechanism,
            "discloses": "; ".join(spending.discloses), "digests": " ".join(entry.digests), "hash": entry.hash,
        }  # fmt: skip
        writer.writerow({name: plain(value) for name, value in row.items()})
    return out.getvalue()
