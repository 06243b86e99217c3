"""The options of a release that keeps the distribution of counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.errors import BadInput, choose
from discreet.numbers import Number, exact, whole
from discreet.options import option
from discreet.ways import WaySpec, mechanism_names

MAPPED = ("transport", "rank")  # noise, then a map onto the distribution
CONSTRUCTED = (
    "unfixed", "heuristic-max", "heuristic-min", "heuristic-sandwich", "heuristic-best", "fixed-point-simplex",
    "fixed-point-interior", "column-generation",
)  # fmt: skip  # a mechanism built for the distribution, for each row
BASES = ("geometric", "gaussian", "staircase")  # ours; a law that is registered is one too
PRIVATIZERS = ("cumulative", "cyclic-laplace", "hierarchical", "laplace", "privelet", "sorted")  # ours, too
AUTO = "auto"
CUMULATIVE = "cumulative"  # the privatizer whose measurements refinement understands
LARGEST_CONSTRUCTED = 800  # counts: with weights of 40 digits a matrix just fits what a record may hold
LARGEST_MAPPED = 1_000_000  # noisy counts beyond this are left as they are: no distribution is worth keeping so fine


def bases() -> tuple[str, ...]:
    from discreet.laws import laws

    return tuple("gaussian" if name == "discrete-gaussian" else name for name in laws())


def exact_privatizers() -> tuple[str, ...]:
    from discreet.distribution.privatizer import exact_privatizers

    return tuple(exact_privatizers())


def count_or_word(word: str) -> int | str:
    """A whole number where it is one; anything else is left for the spec to judge."""
    return int(word) if word.lstrip("-").isdigit() else word


@dataclass(frozen=True)
class KeepDistribution(WaySpec):
    """Keep the distribution of counts: measure it, add noise to every row, map the noisy rows onto it."""

    name: ClassVar[str] = "keep-distribution"

    max_count: int | str | None = option(
        None,
        "the largest count, larger ones are treated as it; 'auto' buys one; left out, it is read off the noisy values",
        read=count_or_word,
    )
    mechanism: str = option(
        "transport",
        "how rows come to the distribution: noise and a map, or a mechanism constructed for it",
        values=lambda: (*MAPPED, *CONSTRUCTED),
    )
    consistent: bool | None = option(
        None, "map rows by their ranks: the table has exactly the published distribution",
        kind=bool, flag="--consistent/--independent",
    )  # fmt: skip
    split: Number | None = option(None, "share of the budget for the distribution, at least 0 and below 1")
    refine: bool | None = option(
        None, "estimate the distribution again from the noisy rows: free", kind=bool, flag="--refine/--no-refine"
    )
    base: str | None = option(
        None,
        "noise under the map; if not given, geometric for epsilon and gaussian for rho",
        values=lambda: BASES,
        usual="geometric",
    )
    privatizer: str = option(CUMULATIVE, "how the distribution is measured", values=lambda: PRIVATIZERS)

    def __post_init__(self) -> None:
        name = "transport" if self.mechanism is None else self.mechanism
        if name not in (*MAPPED, *CONSTRUCTED):
            choose(name, mechanism_names(), "mechanism")
            found = "it draws every row by itself and keeps no distribution"
            raise BadInput(f"the mechanism {name!r} was asked for to keep the distribution", found, "Use RowByRow")
        self.check_types()
        if name == "rank":
            if self.consistent is False:
                found = "rank is another word for consistent"
                raise BadInput("the mechanism 'rank' was asked for, but not consistent", found, "Use 'transport'")
            name = "transport"
            object.__setattr__(self, "consistent", True)
        object.__setattr__(self, "mechanism", name)
        if self.base is not None:
            choose(self.base, bases(), "base noise")
        if self.privatizer != CUMULATIVE:
            choose(self.privatizer, exact_privatizers(), "privatizer")
        if self.split is not None:
            object.__setattr__(self, "split", _share(self.split))
        self._check_range()
        if self.refine and self.privatizer != CUMULATIVE:
            found = "refinement takes the measurements of 'cumulative' only"
            raise BadInput(f"refine was asked for with the privatizer {self.privatizer!r}", found, "Leave refine out")
        if name != "transport":
            self._refuse_for_constructed(name)

    def _check_range(self) -> None:
        if isinstance(self.max_count, str) and self.max_count != AUTO:
            raise BadInput(f"max_count = {self.max_count!r} was asked for", "it must be a whole number or 'auto'")
        if self.max_count is None or isinstance(self.max_count, str):
            return
        object.__setattr__(self, "max_count", whole(self.max_count, "max_count", 1))
        if self.top is not None and self.top > LARGEST_MAPPED:
            raise too_fine(self.top)

    def _refuse_for_constructed(self, name: str) -> None:
        """What a constructed mechanism cannot do."""
        if self.max_count is None:
            raise BadInput(f"the mechanism {name!r} was asked for", "it needs a max_count", "Give a number or 'auto'")
        if name != "unfixed" and self.top is not None and self.top > LARGEST_CONSTRUCTED:
            found = f"it is a matrix, and larger ones than for counts up to {LARGEST_CONSTRUCTED} may not be verified"
            raise BadInput(
                f"the mechanism {name!r} was asked for", found, "Give a smaller max_count, or use 'transport'"
            )
        if self.refine:
            found = "only mapped noise can be refined"
            raise BadInput(f"refinement was asked for with {name!r}", found, "Use 'transport'")
        if self.base not in (None, "geometric"):
            raise BadInput(f"base was asked for with {name!r}", "it is built for pure epsilon", "Use 'transport'")
        if self.consistent:
            raise BadInput(f"consistent was asked for with {name!r}", "only ranks keep it", "Use 'transport'")

    @property
    def top(self) -> int | None:
        """The largest count, where it was given."""
        return self.max_count if isinstance(self.max_count, int) else None

    @property
    def refined(self) -> bool:
        """Refinement takes numbers of rows with a count of at most 0, 1, ...; other measurements stand alone."""
        if self.refine is None:
            return self.mechanism == "transport" and self.privatizer == CUMULATIVE
        return self.refine


def too_fine(top: int) -> BadInput:
    return BadInput(
        f"a largest count of {top} was asked for, or bought",
        f"the distribution of counts is kept up to {LARGEST_MAPPED:,} only",
        "Leave max_count out, or use mechanism 'geometric'",
    )


def _share(value: Number) -> Fraction:
    number = exact(value, "split")
    if not 0 <= number < 1:
        raise BadInput(f"split = {value} was asked for", "the share of the distribution must be at least 0 and below 1")
    return number
