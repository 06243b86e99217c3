"""A misspelt keyword is answered by every public name as any other bad input is."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import replace
from typing import Any

import pytest

import discreet as dc
from discreet.options import spelt, spelt_fields

ANY = ("sum_where",)  # whose keywords are the columns of a table
MADE = ("About", "Approximate", "BySize", "Concentrated", "KeepDistribution", "KeepSums", "LedgerSpec", "Measure",
        "Output", "Pure", "ReleaseSpec", "RowByRow", "TableSpec")  # fmt: skip
NAMELESS = ("cells", "example", "margin", "total")  # they take nothing by name


def keywords(thing: Any) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, one in inspect.signature(thing).parameters.items() if one.kind in kinds]


TAKING = sorted(
    name
    for name in dir(dc)
    if inspect.isfunction(getattr(dc, name)) and keywords(getattr(dc, name)) and name not in ANY
)
POSITIONAL = {
    "release": [dc.example()],
    "release_many": [[dc.example()]],
    "plan": [dc.example()],
    "release_parts": ["in"],
}


def test_there_are_functions_to_ask() -> None:
    assert {"explicit", "construct", "design", "certify", "compare", "private_distribution"} <= set(TAKING)
    assert {"bounded_noise", "choose", "evaluate", "release_many", "release", "verify", "table"} <= set(TAKING)


@pytest.mark.parametrize("name", [*TAKING, *MADE])
def test_a_misspelt_keyword_is_refused_with_what_was_probably_meant(name: str) -> None:
    thing = getattr(dc, name)
    for known in keywords(thing):
        if (name, known) != ("release_many", "tables"):  # passed on to `release`, which has none like it
            with pytest.raises(
                dc.BadInput, match=f"'{known}z' was asked for: there is none of that name. Did you mean"
            ):
                thing(*POSITIONAL.get(name, ()), **{f"{known}z": 1})


@pytest.mark.parametrize("name", [*TAKING, *MADE, *NAMELESS])
def test_a_keyword_like_no_other_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(dc.BadInput, match="'qqqq' was asked for"):
        getattr(dc, name)(*POSITIONAL.get(name, ()), qqqq=1)


def test_what_is_checked_looks_as_it_did() -> None:
    def one(first: int, *, second: str = "b") -> str:
        """What it does."""
        return f"{first}{second}"

    checked = spelt(one)
    assert inspect.signature(checked) == inspect.signature(one)
    assert (checked.__doc__, checked.__name__, checked(1), checked(first=2, second="c")) == (
        one.__doc__, one.__name__, "1b", "2c",
    )  # fmt: skip
    with pytest.raises(TypeError, match="missing"):
        checked()  # type: ignore[call-arg]


def test_a_value_that_is_checked_is_copied_and_pickled() -> None:
    spec = dc.KeepSums(keep=(dc.total(),))
    assert replace(spec, nonnegative=True).nonnegative
    assert pickle.loads(pickle.dumps(spec)) == spec


def test_a_checked_value_may_be_inherited_from() -> None:
    from dataclasses import dataclass

    @spelt_fields
    @dataclass(frozen=True)
    class One:
        first: int = 1

    @spelt_fields
    @dataclass(frozen=True)
    class Two(One):
        second: int = 2

    assert Two(first=3, second=4) == Two(3, 4)
    with pytest.raises(dc.BadInput, match="Did you mean 'second'"):
        Two(secnd=4)  # type: ignore[call-arg]
