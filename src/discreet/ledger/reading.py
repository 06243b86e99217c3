"""A ledger line by line: each must be what this software would have written after those before it.

What is about to be written is read first in the same way, so that no line is written that could not be read again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from discreet.errors import BadInput
from discreet.ledger import names
from discreet.ledger.accounts import Account, Charge, Entry, Outcome, disclosure_of
from discreet.ledger.chain import Broken, Line, compact, next_line
from discreet.ledger.spending import PRICING, Amount, Spending
from discreet.privacy.price import RELATIONS, Relation

APART = ("note", "who", "token_digest")  # of a spending: what has no part in its price, and differs each time
DIGEST = re.compile("[0-9a-f]{64}")
FIELDS = {  # of every kind of line; whether a text may be missing (None)
    "opened": {"dataset": False, "relation": False, "at": False, "budget": None},
    "charged": {"dataset": False, "at": False, "kept": True, "sums": True, "number": None, "rules": None, "price": None,
                "spending": None, "disclosure": None},
    "released": {"dataset": False, "at": False, "digest": False, "drawn": False, "token": False, "number": None},
}  # fmt: skip
UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)


class UnknownRules(Broken):
    """A line was priced by rules of another version of this software."""


class Accounts:
    """Everything in a ledger, at one moment. Hashes are checked before; what nobody would have written is broken."""

    def __init__(self, lines: Iterable[Line] = ()) -> None:
        self.by_name: dict[str, Account] = {}
        self.last: Line | None = None
        self._spent: dict[str, Amount] = {}
        self._names: set[str] = set()  # in their usual form; what else looks alike is refused when a budget is set
        for line in lines:
            self._take(line)

    @property
    def head(self) -> str:
        return "" if self.last is None else self.last.hash

    def entries(self) -> tuple[Entry, ...]:
        """Of all data sets, in the order of the chain: clocks may run backwards, lines do not."""
        found = [
            (line, account, place + 1)
            for account in self.by_name.values()
            for place, (line, _) in enumerate(account.charges)
        ]
        return tuple(account.entry(number) for _, account, number in sorted(found, key=lambda one: one[0]))

    def add(self, value: Mapping[str, object], asked: str) -> Line:
        """The line that comes next, if it could be read; it is not written yet."""
        try:
            line = next_line(self.last, value)
            self._take(line)
        except Broken as broken:
            raise BadInput(asked, f"such a line would not fit the ledger: it {broken.why}") from broken
        except (TypeError, ValueError) as error:
            raise BadInput(asked, f"such a line could not be written: {error}") from error
        return line

    def _take(self, line: Line) -> None:
        try:
            self._read(line)
        except Broken:
            raise
        except UNREADABLE as error:
            raise Broken(line.number, f"cannot be read ({error})") from error
        except (BadInput, AssertionError) as error:
            raise Broken(line.number, f"cannot be right ({error})") from error
        self.last = line

    def _read(self, line: Line) -> None:
        value = line.value
        if compact(value) != line.content:
            raise ValueError("it is not in the form in which lines are written")
        kinds = {"opened": self._opened, "charged": self._charged, "released": self._released}
        if value["kind"] not in kinds:
            raise ValueError(f"there is no line of the kind {value['kind']!r}")
        _check_fields(value, FIELDS[value["kind"]])
        kinds[value["kind"]](line, value)

    def _opened(self, _: Line, value: Mapping[str, Any]) -> None:
        name = names.checked_name(value["dataset"], "a data set was opened")
        usual = names.plain(name)
        if usual in self._names or value["relation"] not in RELATIONS:
            raise ValueError(
                "a data set is opened once, under a name like no other, for one of the relations there are"
            )
        budget = _amount(value["budget"])
        if not (budget.epsilon or budget.rho):
            raise ValueError("a budget is above zero")
        self.by_name[name] = Account(name, value["relation"], budget, value["at"])
        self._spent[name] = budget.zero()
        self._names.add(usual)

    def _charged(self, line: Line, value: Mapping[str, Any]) -> None:
        account = self.by_name[value["dataset"]]
        if _whole(value["number"]) != len(account.charges) + 1:
            raise ValueError("the entries of a data set are numbered one after another")
        if _whole(value["rules"]) not in PRICING:
            raise UnknownRules(line.number, f"was priced by rules {value['rules']}")
        spending = dict(value["spending"])
        if not all(isinstance(spending.pop(name), str) for name in APART):
            raise ValueError("a note, who spent, and the digest of a token are texts")
        price = _priced(value["rules"], account.budget, account.relation, compact(spending))
        if value["price"] != price.as_json():
            raise ValueError(f"its price is {value['price']}, and what it is for costs {price.as_json()}")
        spent = self._spent[account.dataset].plus(price)
        if not (price.sound and account.budget.covers(spent)):
            raise ValueError("it goes over the budget")
        disclosure_of(compact(value["disclosure"]))
        if value["sums"] is not None and value["kept"] is None:
            raise ValueError("sums are kept of some rows")
        self._spent[account.dataset] = spent
        account.charges.append((line.number, Charge(line.hash, value, price)))

    def _released(self, _: Line, value: Mapping[str, Any]) -> None:
        account, number = self.by_name[value["dataset"]], _whole(value["number"])
        if not 1 <= number <= len(account.charges):
            raise ValueError("nothing was charged for it")
        if not (DIGEST.fullmatch(value["digest"]) and DIGEST.fullmatch(value["drawn"])):
            raise ValueError("a digest has 64 letters from 0 to f")
        expected = account.charges[number - 1][1].value["spending"]["token_digest"]
        if expected and digest_of_token(value["token"]) != expected:
            raise ValueError("it does not show the token of the release that was charged, so it is another one")
        outcomes = account.outcomes.setdefault(number, [])
        if any(one.drawn != value["drawn"] for one in outcomes):
            raise ValueError("its entry paid for other noise already, and one charge pays for one draw")
        outcomes.append(Outcome(value["digest"], value["at"], value["drawn"]))


def digest_of_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", errors="replace")).hexdigest()


@lru_cache(maxsize=1000)
def _priced(rules: int, budget: Amount, relation: Relation, public: str) -> Amount:
    """What a spending must have cost. Most releases are like many others: each is priced once."""
    from discreet.record.codec import decode, encode

    spending: Spending = decode(Spending, json.loads(public))
    again = {name: item for name, item in encode(spending).items() if name not in APART}
    if compact(again) != public:
        raise ValueError("a spending is written in one way only")
    return PRICING[rules](budget, relation, spending)


def _check_fields(value: Mapping[str, Any], known: Mapping[str, bool | None]) -> None:
    """The fields of a line and no others; those that are texts are texts."""
    if set(value) != {"kind", *known}:
        raise ValueError("it has other fields than such a line has")
    for name, optional in known.items():
        if optional is not None and not (isinstance(value[name], str) or (optional and value[name] is None)):
            raise ValueError(f"its field {name!r} is no text")


def _whole(number: Any) -> int:
    if type(number) is not int:
        raise ValueError(f"{number!r} is no whole number")
    return number


def _amount(written: Mapping[str, str]) -> Amount:
    found = Amount.of_json(written)
    if found.as_json() != written or not found.sound:
        raise ValueError(f"{written} is no amount")
    return found
