"""What the record of a release that keeps the distribution holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from discreet.arrays import Floats, Integers
from discreet.distribution.evidence.thresholds import FEWEST_ROWS
from discreet.errors import BadInput
from discreet.laws import NoiseLaw
from discreet.mechanism import Form, NoiseThenMap
from discreet.privacy.values import ROWS_ARE_PUBLIC, Loss, Remark, top_coded
from discreet.shown.terse import Terse
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED, SIGNED

Step = Literal["distribution", "counts"]
STEPS: tuple[Step, ...] = get_args(Step)  # in the order in which they spend
TOGETHER, DECIDED = Remark("mapped-together"), Remark("decided-together")
NEGATIVE, CUT_NEGATIVE = Remark("counts-may-be-negative"), Remark("counts-may-be-negative-cut")

DECIMALS = 12  # of a share: far below what a row is worth in any table
MOST_MEASURED = 4  # numbers for each count: a tree of them, filled up to a power of two, has less
SEEDED = "seeded-"  # before the seed of a map whose noise came from a seed, too


@dataclass(frozen=True)
class PartFacts:
    """A step that spent, and its share of the budget."""

    what: Step
    loss: Loss = field(metadata={"flat": True})


def too_wide(noise: NoiseLaw) -> bool:
    """Whether noise drowns every count whose distribution could be kept: it is then left as it is."""
    return noise.spread > LARGEST_MAPPED**2


def left_alone(noise: NoiseLaw, favor: str, rows: int) -> bool:
    """Whether it is known beforehand that noisy counts will be published as they are, cut to the range of counts."""
    return too_wide(noise) or (favor == "balance" and rows < FEWEST_ROWS)


def lam_text(lam: float | None) -> str | None:
    """How a weight is written; None: none was used."""
    return None if lam is None else f"{lam:.6g}"


@dataclass(frozen=True)
class AimFacts:
    """Which error was made small: by a word, or by a weight; and how far the distribution was followed in the end."""

    favor: str  # balance, counts or distribution; lam, where a weight was given
    lam: str | None  # the weight of its error against that of the counts; None: the noisy counts were left as they are
    count_error: float  # to be expected of a published count, given all that was measured
    distribution_error: float  # and of the distribution of all of them, Wasserstein-1

    @classmethod
    def of(cls, favor: str, lam: float | None, *errors: float) -> AimFacts:
        """With as many digits as the numbers are good for."""
        count, distribution = (float(f"{error:.3g}") for error in errors)
        return cls(favor, lam_text(lam), count, distribution)


@dataclass(frozen=True, eq=False, repr=False)
class MappedMechanism(Terse):
    """How rows were drawn and mapped."""

    name: str
    parameters: dict[str, str]  # of the noise, by name
    form: Form = field(metadata={"flat": True})
    map_seed: str  # expands into the public words of the map
    refined: bool
    top_code: bool  # whether counts above max_count were treated as it, before the noise
    aim: AimFacts | None  # None where nothing was mapped, or by a mechanism constructed for it
    parts: tuple[PartFacts, ...]

    @cached_property
    def steps(self) -> set[str]:
        """What was paid for."""
        return {part.what for part in self.parts}

    @cached_property
    def constructed(self) -> bool:
        return self.name not in ("transport", "rank", SIGNED)

    @cached_property
    def noise(self) -> NoiseLaw | None:
        return self.form.noise if isinstance(self.form, NoiseThenMap) else None

    @cached_property
    def clamp(self) -> tuple[int, int] | None:
        return self.form.range if isinstance(self.form, NoiseThenMap) else None


@dataclass(frozen=True, eq=False, repr=False)
class DistributionFacts(Terse):
    """The published distribution of counts, and what it was estimated from."""

    distribution: Floats
    method: str | None  # the privatizer, where the distribution was measured
    measurements: Integers | None
    borders: Integers | None  # where nobody knew the range: the first answers, from which it was chosen
    noise: NoiseLaw | None
    histogram: Integers | None  # of the published table, where rows were mapped by rank

    def __post_init__(self) -> None:
        measured = max(0 if some is None else len(some) for some in (self.measurements, self.borders))
        longest = max(len(self.distribution), 0 if self.histogram is None else len(self.histogram))
        if longest > LARGEST_MAPPED + 1 or measured > MOST_MEASURED * (LARGEST_MAPPED + 1):
            raise BadInput("a distribution was given", f"it is kept of counts up to {LARGEST_MAPPED:,} only")


@dataclass(frozen=True, eq=False, repr=False)
class KeptDistribution(Terse):
    """All of it."""

    mechanism: MappedMechanism
    distribution: DistributionFacts


def known_remarks(cut: int | None, signed: bool) -> tuple[Remark, ...]:
    """What the promise does not say by itself, as far as it is known before anything is drawn."""
    said = (ROWS_ARE_PUBLIC, *(() if cut is None else top_coded(cut)))
    return said if not signed else (*said, NEGATIVE if cut is None else CUT_NEGATIVE)


def remarks(facts: KeptDistribution, max_count: int | None, rows: int) -> tuple[Remark, ...]:
    """All of it: whether rows were mapped depends on what came out."""
    mechanism = facts.mechanism
    said = known_remarks(max_count if mechanism.top_code else None, mechanism.name == SIGNED)
    if mechanism.name == SIGNED:
        return said
    if mechanism.aim is None or mechanism.noise is None or left_alone(mechanism.noise, mechanism.aim.favor, rows):
        return said
    return (*said, DECIDED if mechanism.aim.lam is None else TOGETHER)
