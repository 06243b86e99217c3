"""What a person said on the pages, as the values of a release. No count is in it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from discreet.errors import BadInput
from discreet.privacy.parse import loss_of
from discreet.spec.values import LedgerSpec, Output, ReleaseSpec, TableSpec
from discreet.ways import WaySpec, spec_of
from discreet.ways.row_by_row.spec import RowByRow
from discreet.web.designed import DESIGNED, PROPERTIES, designed

Form = Mapping[str, Sequence[str]]  # every field with all its values
FIELDS = {  # of the forms, as their screens call them
    "table": ("sheet", "header_row"),
    "contents": ("count", "keys", "wide", "contributions", "totals", "suppressed_as", "keep_order"),
    "keep": (
        "way", "favor", "max_count", "signed", "keep", "more", "nonnegative", "measure", "levels", "mechanism",
        "require", "cost",
    ),
    "plan": ("epsilon", "dataset", "note", "who", "format", "guess"),
}  # fmt: skip


@dataclass(frozen=True)
class Answers:
    """Everything that was said, in the order of the pages."""

    file: Path
    sheet: str | None = None
    header_row: int | None = None
    count: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()  # of epsilon, one for each of several columns of counts; empty where none is given
    keys: tuple[str, ...] = ()
    wide: str | None = None
    universe: Path | None = None
    contributions: int | None = None
    totals: str = "refuse"  # refuse, drop, disjoint
    thousands: str | None = None
    suppressed_as: int | None = None
    keep_order: bool = False
    way: str = "distribution"  # distribution, sums, levels, rows
    favor: str = "balance"
    max_count: int | None = None
    signed: bool = False
    keep: tuple[str, ...] = ()
    nonnegative: bool = False
    measure: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()  # nested columns, coarse to fine
    mechanism: str = "geometric"
    require: tuple[str, ...] = ()  # structural properties of a mechanism that is made for them
    cost: str = "absolute"
    epsilon: str = "1"
    guess: str = ""  # of how counts are distributed, to plan with; public
    dataset: str | None = None
    note: str = ""  # what the release is for, in the ledger
    who: str = ""
    format: str | None = None

    @property
    def fingerprint(self) -> str:
        """By which a form knows what it was drawn from."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:32]

    @property
    def prior(self) -> tuple[float, ...]:
        """What was guessed, as shares of all counts; empty where nothing was."""
        return _shares(self.guess, self.max_count)

    def table(self) -> TableSpec:
        return TableSpec(
            str(self.file), ",".join(self._counts()), self.keys or None,
            None if self.universe is None else str(self.universe), self.keep_order, self.contributions,
            self.totals == "drop", self.totals == "disjoint", self.sheet, self.header_row, self.thousands, self.wide,
            self.suppressed_as,
        )  # fmt: skip

    def _counts(self) -> Iterator[str]:
        for name, share in zip_longest(self.count, self.shares):
            yield f"{name}@{share}" if share else name

    @property
    def designs(self) -> bool:
        """Whether a mechanism is to be made for it, which depends on epsilon and on how often a person is counted."""
        return self.way == "rows" and self.mechanism == DESIGNED

    def spec(self, epsilon: str | None = None) -> WaySpec:
        """The way that was chosen, with its options and no others; at this epsilon, if not at the chosen one."""
        largest = {} if self.max_count is None else {"max_count": self.max_count}
        if self.way == "sums":
            if not self.keep:
                raise BadInput("sums were to be kept", "none is chosen", "Choose at least one, or another way")
            return spec_of({"keep": list(self.keep), "nonnegative": self.nonnegative})
        if self.way == "levels":
            kept = {"keep": list(self.keep)} if self.keep else {}
            nested = {"levels": list(self.levels)} if self.levels else {}
            return spec_of({"measure": list(self.measure) or "auto", **nested, **kept})
        if self.way == "rows":
            if self.designs:
                return RowByRow(self.made(epsilon), self.max_count)
            if self.require:
                found = f"the mechanism {self.mechanism!r} has those that it has"
                do = "Choose the one that is made for them, or take the properties back"
                raise BadInput("properties of a mechanism were chosen", found, do)
            return spec_of({"mechanism": self.mechanism, **largest})
        return spec_of({"favor": self.favor, **largest} if not self.signed else {"signed": True, **largest})

    def made(self, epsilon: str | None = None) -> Any:
        """The mechanism that is made for the properties that were chosen."""
        people = self.table().read_schema()[0].contributions
        return designed(self.max_count, epsilon or self.epsilon, people, self.require, self.cost)

    def release(self, folder: Path, ledger: Path, accept_disclosure: bool = False) -> ReleaseSpec:
        """accept_disclosure: no answer among the others, but said of one refusal, and of that one only."""
        paid = LedgerSpec(self.dataset or "", str(ledger), None, self.note, self.who, accept_disclosure)
        return ReleaseSpec(
            self.table(), loss_of(self.epsilon), self.spec(), paid if self.dataset else None,
            Output(str(folder), self.format),
        )  # fmt: skip


def with_place(answers: Answers, form: Form) -> Answers:
    """Where the table stands in its file."""
    return replace(answers, sheet=_word(form, "sheet"), header_row=_number(form, "header_row", "the header row"))


def with_contents(answers: Answers, form: Form, universe: Path | None) -> Answers:
    keys = tuple(form.get("keys", ()))
    count = tuple(name for name in form.get("count", ()) if name)
    wide = _word(form, "wide")
    if not count:
        raise BadInput("a table was described", "no column of counts is chosen", "Choose the column with the counts")
    both = set(keys) & set(count)
    if both:
        found = f"{sorted(both)[0]!r} is chosen as counts and as a key"
        raise BadInput("a table was described", found, "A column is either: take one choice back")
    given = tuple(_word(form, f"share {name}") or "" for name in count)
    return replace(
        answers, count=count, keys=keys, shares=given if len(count) > 1 and any(given) else (),
        wide=wide, universe=universe or answers.universe,
        contributions=_number(form, "contributions", "the number of rows"), totals=_word(form, "totals") or "refuse",
        thousands=_mark(form), suppressed_as=_number(form, "suppressed_as", "the largest suppressed count"),
        keep_order="keep_order" in form,
    )  # fmt: skip


def with_keeping(answers: Answers, form: Form) -> Answers:
    more = [word for line in form.get("more", ()) for word in line.splitlines() if word.strip()]
    return replace(
        answers, way=_word(form, "way") or "distribution", favor=_word(form, "favor") or "balance",
        max_count=_number(form, "max_count", "the largest count"), signed="signed" in form,
        keep=(*form.get("keep", ()), *more), nonnegative="nonnegative" in form,
        measure=tuple(form.get("measure", ())), mechanism=_word(form, "mechanism") or "geometric",
        levels=tuple(name.strip() for name in (_word(form, "levels") or "").split(",") if name.strip()),
        require=tuple(name for name in form.get("require", ()) if name in PROPERTIES),
        cost=_word(form, "cost") or "absolute",
    )  # fmt: skip


def with_price(answers: Answers, form: Form) -> Answers:
    epsilon = _word(form, "epsilon") or "1"
    loss_of(epsilon)
    guess = _word(form, "guess") or ""
    _shares(guess, answers.max_count)
    return replace(
        answers, epsilon=epsilon, guess=guess, dataset=_word(form, "dataset"), note=_word(form, "note") or "",
        who=_word(form, "who") or "", format=_word(form, "format"),
    )  # fmt: skip


@lru_cache(maxsize=64)
def _shares(guess: str, max_count: int | None) -> tuple[float, ...]:
    """A share for every count from 0 on, up to the largest that is expected."""
    from discreet.costs import prior_of
    from discreet.plan import LARGEST_RANGE

    if not guess:
        return ()
    asked = "a guess of how counts are distributed was given"
    try:
        numbers = tuple(map(float, re.split(r"[\s;,]+", guess)))
    except ValueError:
        do = "Write one for each count from 0 on, with points for decimals: 60 25 10 5"
        raise BadInput(asked, "it is not a list of numbers", do) from None
    top = len(numbers) - 1 if max_count is None else max_count
    if not 1 <= len(numbers) - 1 <= top <= LARGEST_RANGE:
        found = f"it says how many counts there are of every size up to {len(numbers) - 1:,}"
        do = f"Guess up to 1 at least, up to the largest count to expect at most, and up to {LARGEST_RANGE:,}"
        raise BadInput(asked, found, do)
    total = sum(numbers)
    shares = (*(one / total if total > 0 else one for one in numbers), *(0.0,) * (top + 1 - len(numbers)))
    prior_of(shares, top + 1, "a guess of how counts are distributed")
    return shares


def over(view: Mapping[str, object], form: Form) -> dict[str, object]:
    """A screen as it was before a form that was not taken, with what stood in the form."""
    found = {**view}
    for name in FIELDS.get(str(view["screen"]), ()):
        if isinstance(view[name], list):
            found[name] = list(form.get(name, ()))
        elif isinstance(view[name], bool):
            found[name] = name in form
        else:
            found[name] = _word(form, name) or ""
    if "thousands" in found:
        found["thousands"] = _mark(form)
    if "shares" in found:
        found["shares"] = {name: _word(form, f"share {name}") or "" for name in form.get("count", ())}
    return found


def _word(form: Form, name: str) -> str | None:
    found = form.get(name, ())
    return found[0].strip() or None if found else None


def _mark(form: Form) -> str | None:
    found = form.get("thousands", ("",))[0]
    return " " if found == "blank" else found.strip() or None


def _number(form: Form, name: str, what: str) -> int | None:
    word = _word(form, name)
    if word is None:
        return None
    if not word.isdecimal() or len(word) > 12:
        raise BadInput(f"{what} was given", "it is not a whole number", "Write it with digits only")
    return int(word)
