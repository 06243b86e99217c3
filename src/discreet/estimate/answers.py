"""Answers: an estimate with the interval that covers the truth, alone or one for each of many groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil, floor, inf, isfinite, log10
from typing import Any

import numpy as np

from discreet.arrays import Flags, Floats
from discreet.errors import BadInput, did_you_mean, short
from discreet.numbers import percent
from discreet.shown import Shown

LAST_BIT = 1e-9  # of a unit: what floats of everyday sizes are off by, and more


@dataclass(frozen=True)
class Cut:
    """What was done to counts before any noise, and so to every sum of them that is estimated."""

    top: int | None = None  # larger counts were treated as it
    least: int = 0  # smaller counts were treated as it
    by_size: bool = False  # the largest count of a row is the size of its group
    other: Cut | None = None  # of the counts that these are compared with, where it is not the same

    def __bool__(self) -> bool:
        return self.top is not None or self.least > 0 or self.by_size or self.other is not None

    def __str__(self) -> str:
        if self.other is not None:
            return f"of counts {self._how() or 'as they are'}, against counts {self.other._how() or 'as they are'}"
        return f"of counts {self._how()}" if self else ""

    def against(self, other: Cut) -> Cut:
        """Of two totals that are compared."""
        return self if self == other else replace(self, other=other)

    def as_json(self) -> dict[str, object]:
        said: dict[str, object] = {} if self.top is None else {"cut_at": self.top}
        said |= {"raised_to": self.least} if self.least else {}
        said |= {"cut_at_size": True} if self.by_size else {}
        others = {} if self.other is None else {"cut_at": None, **self.other.as_json()}
        return said | {f"against_{name}": value for name, value in others.items()}

    def _how(self) -> str:
        said = ["cut at the size of their group"] if self.by_size else []
        said += [f"cut at {self.top}"] if self.top is not None else []
        said += [f"raised to {self.least}"] if self.least else []
        return " and ".join(said)


@dataclass(frozen=True, repr=False)
class Answer(Shown):
    """An estimate and the interval that covers the true value with probability `level`, over the noise."""

    estimate: float
    interval: tuple[float, float]
    level: float
    exact: bool = False  # whether it has no error at all: what is kept is published as it is
    cut: Cut = Cut()  # what the number is about, where counts were cut before the noise
    conservative: bool = False  # whether the interval is wider than it would be if all that was measured were known

    def as_json(self) -> dict[str, object]:
        known = {"estimate": _finite(self.estimate), "interval": [_finite(end) for end in self.interval]}
        return {**known, "level": self.level, "exact": self.exact, **_said(self.cut, self.conservative)}

    def table(self) -> Any:
        """As a frame (Arrow) of one row."""
        from discreet.io.answers import answer_frame

        estimate, low, high = (np.array([number]) for number in (self.estimate, *self.interval))
        said = _columns(self.cut, self.conservative, 1)
        return answer_frame(None, estimate, low, high, self.level, np.array([self.exact]), said)

    def times(self, factor: float) -> Answer:
        """The same in other units."""
        low, high = sorted(end * factor for end in self.interval)
        return replace(self, estimate=self.estimate * factor, interval=(low, high))

    @property
    def words(self) -> tuple[str, str, str]:
        """The estimate and the ends of its interval with as many digits as the interval leaves meaning to; the ends
        are rounded outwards, so that what is said of them stays true."""
        low, high = self.interval
        reach = high - low if isfinite(high - low) else 2 * max(self.estimate - low, high - self.estimate, key=_size)
        if not 0 < reach < inf or not isfinite(self.estimate):
            return _plain(self.estimate), _plain(low), _plain(high)
        places = 1 - floor(log10(reach))
        ends = min(places, 0) if _whole(low) and _whole(high) else places  # no 3.0 where counts are whole numbers
        places = min(places, 0) if ends <= 0 and _whole(self.estimate) else places
        outwards = _multiple(low, 10.0**-ends, floor), _multiple(high, 10.0**-ends, ceil)
        first, last = (f"{end + 0.0:,.{max(ends, 0)}f}" for end in outwards)
        return f"{round(self.estimate, places) + 0.0:,.{max(places, 0)}f}", first, last

    def __str__(self) -> str:
        middle, low, high = self.words
        about = f", {self.cut}" if self.cut else ""
        if self.exact:
            return f"{middle} (exact{about})"
        surely = "at least " if self.conservative else ""
        return f"{middle} (between {low} and {high}, {surely}{percent(self.level)}{about})"


class NoSuchGroup(BadInput, KeyError):
    """There is no answer of that name: still what a mapping says of a key that it does not have."""

    __str__ = BadInput.__str__


@dataclass(frozen=True, eq=False, repr=False)
class AnswerSet(Shown, Mapping[Any, Answer]):
    """An answer for every group of rows, or for every row. As a mapping: by the value of the key column, or by the
    values of several."""

    keys_frame: Any = field(repr=False)  # the key columns of the groups, as an Arrow table
    estimate: Floats
    low: Floats
    high: Floats
    exact: Flags
    level: float
    cut: Cut = Cut()
    conservative: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)  # further columns: an array for each

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.keys_frame.column_names)

    @cached_property
    def _places(self) -> dict[Any, int]:
        values = [self.keys_frame.column(name).to_pylist() for name in self.columns]
        named: Any = values[0] if len(values) == 1 else zip(*values)
        return {name: k for k, name in enumerate(named)}

    def __getitem__(self, name: Any) -> Answer:
        try:
            return self.at(self._places[name])
        except (KeyError, TypeError):
            named, known = ", ".join(map(str, name)) if isinstance(name, tuple) else str(name), self.labels()
            do = f"Write [{list(self)[known.index(named)]!r}]" if named in known else did_you_mean(named, known)
            found = f"no group by {', '.join(self.columns)} is called that"
            raise NoSuchGroup(f"the answer for {short(named)} was asked for", found, do) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self.estimate)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnswerSet) and dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def at(self, place: int) -> Answer:
        """The answer for the group in this place."""
        low, high = float(self.low[place]), float(self.high[place])
        exact = bool(self.exact[place])
        return Answer(float(self.estimate[place]), (low, high), self.level, exact, self.cut, self.conservative)

    def table(self) -> Any:
        """As a tidy frame (Arrow): the key columns, estimate, low, high, level, exact, and what else is known: also
        where counts were cut (`cut_at`)."""
        from discreet.io.answers import answer_frame

        more = {**self.more, **_columns(self.cut, self.conservative, len(self))}
        return answer_frame(self.keys_frame, self.estimate, self.low, self.high, self.level, self.exact, more)

    def as_json(self) -> list[dict[str, object]]:
        """An object for every group, with its keys."""
        from discreet.io.answers import beside

        keys, said = self.keys_frame.to_pylist(), _said(self.cut, self.conservative)
        columns = {
            "estimate": map(_finite, self.estimate.tolist()),
            "interval": map(list, zip(map(_finite, self.low.tolist()), map(_finite, self.high.tolist()))),
            "exact": self.exact.tolist(),
            **{name: np.asarray(values).tolist() for name, values in self.more.items()},
            **{name: [value] * len(self) for name, value in {"level": self.level, **said}.items()},
        }
        names = [beside(self.columns, name) for name in columns]
        return [{**of, **dict(zip(names, one))} for of, one in zip(keys, zip(*columns.values()))]

    def plot(self, ax: Any = None, title: str = "", most: int = 40) -> Any:
        """The estimates with their intervals as error bars. The figure they are in."""
        from discreet.plot import with_error_bars

        surely = "at least " if self.conservative else ""
        about = f"{surely}{percent(self.level)} interval{self._cut}"
        return with_error_bars(self.labels(), self.estimate, self.low, self.high, ax, title, most, about)

    def map(self, geojson: Any, key: str, ax: Any = None, title: str = "") -> Any:
        """A map of the estimates: the areas of a GeoJSON file, or of its content, whose property `key` holds the name
        of a group. The figure it is in."""
        from discreet.io.areas import areas_of
        from discreet.plot import choropleth

        areas = areas_of(geojson, key, self.labels())
        return choropleth(areas, self.estimate, self.low, self.high, ax, title, self._cut)

    @property
    def _cut(self) -> str:
        return f", {self.cut}" if self.cut else ""

    def labels(self) -> list[str]:
        """What each group is called."""
        values = [self.keys_frame.column(name).to_pylist() for name in self.columns]
        return [", ".join(map(str, one)) for one in zip(*values)]

    def lines(self) -> list[str]:
        """A line for each."""
        return [f"{name}: {self.at(k)}" for k, name in enumerate(self.labels())]


def _said(cut: Cut, conservative: bool) -> dict[str, object]:
    """What stands beside a number only where there is something to say."""
    return cut.as_json() | ({"conservative": True} if conservative else {})


def _columns(cut: Cut, conservative: bool, number: int) -> dict[str, Any]:
    """The same as columns of a frame."""
    return {name: np.full(number, value) for name, value in _said(cut, conservative).items()}


def _plain(number: float) -> str:
    """A number that is known to the last digit."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:.6g}"


def _whole(number: float) -> bool:
    """Whether it is a whole number, or none at all."""
    return not isfinite(number) or float(number).is_integer()


def _multiple(end: float, unit: float, way: Callable[[float], int]) -> float:
    """Of a unit, below or above; what is one already but for the last bit of a float stays."""
    near = end / unit
    whole = round(near) if isfinite(near) and abs(near - round(near)) < LAST_BIT else None
    return end if not isfinite(end) else (way(near) if whole is None else whole) * unit


def _size(number: float) -> float:
    return number if isfinite(number) else -inf


def _finite(number: float) -> float | None:
    """JSON knows no infinity."""
    return number if np.isfinite(number) else None
