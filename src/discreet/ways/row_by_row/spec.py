"""The options of a release row by row."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.errors import BadInput, called, choose
from discreet.numbers import Number, exact, probability, text, whole
from discreet.options import option, spelt_fields
from discreet.ways import WaySpec
from discreet.ways.keep_distribution.spec import AUTO, count_or_word

MATRICES = ("uniform", "randomized-response", "explicit-fair", "exponential")
LAWS = ("geometric", "discrete-gaussian", "staircase", "bounded")  # ours; a law that is registered is one too
BOUNDED = "bounded"  # noise with a largest error
SIGNED = "signed-geometric"  # without an end, so that sums stay unbiased
OF_BOUNDED = ("truth", "support", "min_count", "small_counts")
CLAMPED, UNBIASED, BOTH = "clamped", "unbiased", "both"
SMALL_COUNTS = (CLAMPED, UNBIASED, BOTH)  # what bounded noise keeps near zero: see below
LARGEST_INTEGER = (1 << 62) - 1  # counts are of 64 bits, with room for the noise
FILES = (".json", ".csv", ".txt", ".npz")


def names() -> tuple[str, ...]:
    """Every mechanism that is known by name: exact noise of a registered law, clamped, or a matrix."""
    from discreet.laws import laws

    return (*laws(), SIGNED, *MATRICES)


@spelt_fields
@dataclass(frozen=True, eq=False)
class RowByRow(WaySpec):
    """Every row by itself, through one mechanism: by name, or of your own."""

    name: ClassVar[str] = "row-by-row"

    mechanism: Any = option(
        None,
        "a name; or a design, a mechanism, a matrix of probabilities, or a file with one, certified before use; if not "
        "given, geometric for epsilon, discrete-gaussian for rho",
        values=lambda: (*LAWS, SIGNED, *MATRICES), open=True, metavar="NAME|FILE", usual="geometric",
    )  # fmt: skip
    max_count: int | None = option(None, "the largest count, larger ones are treated as it", read=count_or_word)

    truth: Number | None = option(None, "of bounded noise: the chance that a count is published as it is", metavar="P")
    support: int | None = option(None, "of bounded noise: the largest error", kind=int, metavar="D")
    min_count: int | None = option(
        None, "of bounded noise: a public smallest count, smaller ones are treated as it", kind=int, metavar="M"
    )
    small_counts: str | None = option(
        None,
        "of bounded noise, for counts from 1 to below D: clamped keeps the chance of the truth, unbiased is right on "
        "average instead, both is both and costs more delta",
        values=lambda: SMALL_COUNTS, usual="clamped",
    )  # fmt: skip

    @classmethod
    def knows(cls, mechanism: str) -> bool:
        return mechanism in names() or is_file(mechanism)

    def __eq__(self, other: object) -> bool:
        """Equal in all options; matrices of one's own, which Python compares entry by entry, as wholes."""
        return isinstance(other, RowByRow) and all(
            same(getattr(self, one.name), getattr(other, one.name)) for one in fields(self)
        )

    def __hash__(self) -> int:
        return hash((self.shown, self.max_count, self.truth, self.support))

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, Path):
            object.__setattr__(self, "mechanism", str(self.mechanism))
        for name, value in getattr(self.mechanism, "as_options", {}).items():
            given = getattr(self, name)
            if name != "mechanism" and given is not None and exact(given, name) != value:
                found = f"the noise given has {name} {text(value)}"
                raise BadInput(f"{called(name, given)} was asked for", found, "Leave it out, or make the noise for it")
            object.__setattr__(self, name, value)
        if isinstance(self.mechanism, str) and not self.file:
            choose(self.mechanism, names(), "mechanism")
        if str(self.max_count) == AUTO and self.mechanism in (None, "geometric", SIGNED):
            object.__setattr__(self, "max_count", None)
        if str(self.max_count) == AUTO:
            raise BadInput(
                f"the mechanism {self.shown!r} was asked for with {called('max_count')} 'auto'",
                "it has no stage that could measure the largest count",
                f"Give {called('max_count')} as a number, or use mechanism 'transport'",
            )
        if self.max_count is not None:
            object.__setattr__(self, "max_count", whole(self.max_count, "max_count", 1, LARGEST_INTEGER))
        self._check_bounded()

    def _check_bounded(self) -> None:
        """What belongs to bounded noise: all that it needs, and nothing of it elsewhere."""
        if not self.bounded:
            given = [name for name in OF_BOUNDED if getattr(self, name) is not None]
            if given:
                found = "it belongs to bounded noise"
                asked = f"{called(given[0])} was asked for with the mechanism {self.shown!r}"
                raise BadInput(asked, found, f"Drop {called(given[0])}")
            return
        if self.truth is None or self.support is None:
            lacking = "truth" if self.truth is None else "support"
            do = f"Give {called('truth')}, the chance of no error, and {called('support')}, the largest error"
            raise BadInput("bounded noise was asked for", f"{called(lacking)} is not given", do)
        object.__setattr__(self, "truth", probability(self.truth, "truth", open_ends=True))
        object.__setattr__(self, "support", whole(self.support, "support", 1))
        self.check_options()
        if self.min_count is not None:
            object.__setattr__(self, "min_count", whole(self.min_count, "min_count", 0, LARGEST_INTEGER))
            if self.max_count is not None and self.min_count > self.max_count:
                found = f"it is above the largest count, {self.max_count}"
                raise BadInput(f"{called('min_count', self.min_count)} was asked for", found, "Give a smaller one")

    @property
    def bounded(self) -> bool:
        """Whether it is bounded noise, whose delta is worked out."""
        return isinstance(self.mechanism, str) and self.mechanism == BOUNDED

    @property
    def file(self) -> bool:
        """Whether the mechanism is in a file."""
        return isinstance(self.mechanism, str) and is_file(self.mechanism)

    @property
    def own(self) -> bool:
        """Whether it is a mechanism of the user's."""
        return self.file or not isinstance(self.mechanism, (str, type(None)))

    @property
    def shown(self) -> str:
        return "of your own" if self.own and not self.file else self.mechanism or "geometric"


def same(one: Any, other: Any) -> bool:
    if hasattr(one, "shape") or hasattr(other, "shape"):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def is_file(word: str) -> bool:
    return word.lower().endswith(FILES)
