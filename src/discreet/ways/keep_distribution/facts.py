"""What the record of a release that keeps the distribution holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, get_args

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.laws import NoiseLaw
from discreet.mechanism import Form, NoiseThenMap
from discreet.privacy.values import (
    ROWS_ARE_PUBLIC,
    Approximate,
    Concentrated,
    Loss,
    Neighbours,
    Pure,
    Remark,
    one_person,
    together,
    top_coded,
)
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED

Step = Literal["max_count", "distribution", "counts"]
STEPS: tuple[Step, ...] = get_args(Step)  # in the order in which they spend
Share = Pure | Concentrated
DEPENDENT = Remark("mapped-together")
TOO_WIDE = Remark("too-wide-to-map")


MOST_MEASURED = 4  # numbers for each count: a tree of them, filled up to a power of two, has less
SEEDED = "seeded-"  # before the seed of a map whose noise came from a seed, too


def map_seed(entropy: bytes, private: bool) -> str:
    """The public seed of a map. The mark is a part of it: without the mark the map is another one."""
    return ("" if private else SEEDED) + entropy.hex()


@dataclass(frozen=True)
class PartFacts:
    """A step that spent, and its share of the budget."""

    what: Step
    loss: Loss = field(metadata={"flat": True})


@dataclass(frozen=True, eq=False)
class BoughtFacts:
    """A largest count that was paid for: noisy numbers of rows above 1, 2, 3, 4, 6, ..., and the quantile read off."""

    quantile: Fraction
    above: Integers
    odds: Fraction  # of the geometric noise in each number


@dataclass(frozen=True, eq=False)
class MappedMechanism:
    """How rows were drawn and mapped."""

    name: str
    parameters: dict[str, str]  # of the noise, by name
    form: Form = field(metadata={"flat": True})
    map_seed: str  # expands into the public words of the map
    refined: bool
    parts: tuple[PartFacts, ...]
    bought_max_count: BoughtFacts | None

    @property
    def steps(self) -> set[str]:
        """What was paid for."""
        return {part.what for part in self.parts}

    @property
    def constructed(self) -> bool:
        return self.name not in ("transport", "rank")

    @property
    def noise(self) -> NoiseLaw | None:
        return self.form.noise if isinstance(self.form, NoiseThenMap) else None

    @property
    def clamp(self) -> tuple[int, int] | None:
        return self.form.clamp if isinstance(self.form, NoiseThenMap) else None


@dataclass(frozen=True, eq=False)
class DistributionFacts:
    """The published distribution of counts, and what it was estimated from."""

    distribution: Floats
    method: str | None  # the privatizer, where the distribution was measured
    measurements: Integers | None
    noise: NoiseLaw | None
    histogram: Integers | None  # whole rows, where the table has exactly this one

    def __post_init__(self) -> None:
        measured = 0 if self.measurements is None else len(self.measurements)
        longest = max(len(self.distribution), 0 if self.histogram is None else len(self.histogram))
        if longest > LARGEST_MAPPED + 1 or measured > MOST_MEASURED * (LARGEST_MAPPED + 1):
            raise BadInput("a distribution was given", f"it is kept of counts up to {LARGEST_MAPPED:,} only")


@dataclass(frozen=True, eq=False)
class KeptDistribution:
    """All of it."""

    mechanism: MappedMechanism
    distribution: DistributionFacts | None


def remarks(facts: KeptDistribution, max_count: int | None) -> tuple[Remark, ...]:
    """What the promise does not say by itself."""
    said = (ROWS_ARE_PUBLIC, *top_coded(max_count))
    if facts.distribution is None:
        return (*said, TOO_WIDE)
    return said if facts.mechanism.constructed else (*said, DEPENDENT)


def per_unit(loss: Share, contributions: int) -> Share:
    """Of one unit, where a person may add `contributions` of them to one row."""
    if contributions == 1:
        return loss
    squared = isinstance(loss, Concentrated)
    return loss.times(Fraction(1, contributions**2 if squared else contributions))


def neighbours(shares: list[Share], contributions: int) -> Neighbours:
    """One person more or less; a unit of distance costs its part of every share."""
    whole = together(shares)
    assert not isinstance(whole, Approximate), "shares are pure or concentrated"
    return one_person(per_unit(whole, contributions), contributions)


def grade_of(loss: Loss) -> Literal["exact", "enclosed"]:
    """A conversion from rho to epsilon and delta rests on enclosures of logarithms; all else is exact."""
    return "enclosed" if isinstance(loss, Approximate) else "exact"
