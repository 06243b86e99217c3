"""What is asked of a table, said in names: the words for kept sums, `cells`, and a share of the budget for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from discreet.errors import BadInput, called, did_you_mean, short
from discreet.lattice.invariants import Kept, Margin, Sums, SumWhere, Total, kept_json, kept_of, parse_name
from discreet.numbers import share_of, text
from discreet.options import listed, spelt

Auto = Literal["auto"]
AUTO: Auto = "auto"
WORDS = ("total", "margin", "sum", "cells")


@dataclass(frozen=True)
class Cells:
    """Every cell by itself."""

    def __str__(self) -> str:
        return "cells"


What = Total | Margin | Cells


@spelt
def cells() -> Cells:
    """Measure every cell by itself."""
    return Cells()


@dataclass(frozen=True)
class Asked:
    """A question, and the share of the budget it is to have, if somebody said so.

    Where one sum was asked for, its whole margin is: a person is in one of its sums, and all cost no more than one.
    """

    what: What
    share: Fraction | None = None
    one: SumWhere | None = None  # of a margin, what was named

    def __str__(self) -> str:
        word = str(self.one or self.what)
        return word if self.share is None else f"{word}@{text(self.share)}"


def asked_list(given: Any) -> tuple[Asked, ...] | Auto:
    """Whatever was asked for, as a list: one value may stand without one, and words are understood."""
    items = listed(given, (str, Asked, Total, Margin, Cells, SumWhere, Sums))
    words = [item for item in items if isinstance(item, str)]
    if not items or (words == [AUTO] and len(items) == 1):
        return AUTO
    if AUTO in words:
        raise BadInput("measure was given as 'auto' with more beside it", "it stands alone", "Name all questions")
    return tuple(dict.fromkeys(_asked(item) for item in items))


def with_shares(asked: tuple[Asked, ...] | Auto, shares: Any) -> tuple[Asked, ...] | Auto:
    """Shares that were given beside the questions, put where they belong."""
    if shares is None or (isinstance(shares, str) and shares == AUTO):
        return asked
    if not isinstance(shares, Mapping):
        found = f"a {type(shares).__name__} names no question"
        raise BadInput("shares were given", found, 'Give {"margin:state": "1/4", ...}, or "auto"')
    wanted = {_asked(name).what: share_of(number, name) for name, number in shares.items()}
    if isinstance(asked, str):
        raise BadInput("shares were given beside measure = 'auto'", "it finds shares itself", "Name all questions")
    foreign = next((what for what in wanted if what not in [one.what for one in asked]), None)
    if foreign is not None:
        raise BadInput(f"a share was given to {foreign}", "it is not among the questions asked", "Measure it too")
    twice = next((one for one in asked if one.share is not None and one.what in wanted), None)
    if twice is not None:
        raise BadInput(f"a share was given to {twice.what}", "it has one already", "Say it once")
    return tuple(
        replace(one, share=wanted.pop(one.what, one.share)) for one in asked
    )  # of several sums of one margin, once


def _asked(item: Any) -> Asked:
    if isinstance(item, str):
        return parse_asked(item)
    if isinstance(item, Sums):
        raise _only_margins(str(item))
    if isinstance(item, SumWhere):
        return _whole_margin(item)
    if isinstance(item, (Total, Margin, Cells)):
        return Asked(item)
    if isinstance(item, Asked):
        return item
    raise _no_question(item)


def _no_question(item: Any) -> BadInput:
    found = "it is no question"
    return BadInput(f"a {type(item).__name__} was to be measured", found, 'Write total(), margin("county"), cells()')


def _only_margins(name: str) -> BadInput:
    found = "a person may be in several of its sums, which no share of a budget is meant for"
    return BadInput(f"the sums of {name} were to be measured", found, "Measure margins, of columns that name the sums")


def _whole_margin(what: SumWhere, share: Fraction | None = None) -> Asked:
    return Asked(Margin(tuple(column for column, _ in what.where)), share, what)


def parse_asked(word: str) -> Asked:
    """total, margin:A,B, sum:COL=VALUE or cells, each with an optional share: margin:state@1/4."""
    name, at, share = word.rpartition("@")
    return _named(name, word, share_of(share, name)) if at else _named(word, word, None)


def _named(name: str, word: str, share: Fraction | None) -> Asked:
    kind = name.partition(":")[0]
    if name == "cells":
        return Asked(Cells(), share)
    if kind not in WORDS:
        found = "it is neither total, margin:COLUMN, sum:COLUMN=VALUE nor cells"
        raise BadInput(f"{called('measure')} {short(word)} was asked for", found, did_you_mean(kind, WORDS))
    kept = parse_name(name)
    assert not isinstance(kept, Sums)
    return _whole_margin(kept, share) if isinstance(kept, SumWhere) else Asked(kept, share)


def what_json(what: What) -> Any:
    return "cells" if isinstance(what, Cells) else kept_json(what)


def what_of(value: Any) -> What:
    """What `what_json` wrote."""
    if value == "cells":
        return Cells()
    found: Kept = kept_of(value)
    if not isinstance(found, (Total, Margin)):
        raise _only_margins(str(found))
    return found


def asked_json(asked: Asked) -> Any:
    """A word where it can be read back, otherwise what it stands for."""
    name = what_json(asked.what)
    if isinstance(name, str) and "@" not in str(asked.one or name):
        return str(asked)
    return {"what": name, **({} if asked.share is None else {"share": text(asked.share)})}  # TOML writes no null


def asked_of(value: Any) -> Asked:
    """What `asked_json` wrote, or a word."""
    if isinstance(value, str):
        return parse_asked(value)
    if not isinstance(value, Mapping) or not {"what"} <= set(value) <= {"what", "share"}:
        raise _no_question(value)
    share = value.get("share")
    return Asked(what_of(value["what"]), None if share is None else share_of(share, value["what"]))
