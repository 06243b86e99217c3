"""What the record of a release that measured margins holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.arrays import Integers
from discreet.laws import NoiseLaw
from discreet.levels.asked import What
from discreet.privacy.values import (
    ROWS_ARE_PUBLIC,
    Approximate,
    Change,
    Concentrated,
    Loss,
    Neighbours,
    Pure,
    Remark,
    together,
)
from discreet.shown.terse import Terse
from discreet.ways.keep_sums.facts import InvariantFacts

NAME = "measured-margins"
ONE_TABLE = Remark("one-table")


@dataclass(frozen=True)
class QuestionFacts:
    """What was measured: its share of the budget, and the noise in each of its entries."""

    question: What
    asked: bool  # or added because it makes the answers to others better
    share: Fraction
    noise: NoiseLaw


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredMargins(Terse):
    """How the table came about."""

    name: str
    levels: tuple[str, ...]  # nested key columns, coarse to fine; all other keys are attributes
    questions: tuple[QuestionFacts, ...]  # measured, in this order
    answers: tuple[What, ...]  # the questions that are answered, in this order
    histogram: Integers | None  # how many leaves were to have each count, where their noisy values were mapped


@dataclass(frozen=True, eq=False, repr=False)
class MeasureFacts(Terse):
    """All of it."""

    mechanism: MeasuredMargins
    invariants: InvariantFacts | None  # what was kept


@dataclass(frozen=True)
class Stretch:
    """By how much one person, or the smallest change that survives what is kept, can move the answers to a question.

    A question adds up rows, and every row is in one of its entries. So its answers move by no more than the rows do,
    in all; and in squared length most where all that grows is in one entry, and all that shrinks in another.
    """

    change: Change
    contributions: int

    @property
    def distance(self) -> int:
        return self.change.distance * self.contributions

    @property
    def square(self) -> int:
        return (self.change.more**2 + self.change.fewer**2) * self.contributions**2


def pays(noise: NoiseLaw, share: Loss, stretch: Stretch) -> bool:
    """Whether the noise of one question pays for its share."""
    price = noise.price(1)
    if isinstance(share, Concentrated):
        return isinstance(price, Concentrated) and price.rho * stretch.square <= share.rho
    ratio = noise.worst_odds
    return (
        isinstance(share, Pure)
        and ratio is not None
        and share.times(Fraction(1, stretch.distance)).epsilon.allows(ratio)
    )


def neighbours(noises: list[NoiseLaw], stretch: Stretch) -> Neighbours:
    """Who they are, with the price of one unit of distance in all questions together."""
    rate = together(noise.price(1) for noise in noises)
    assert not isinstance(rate, Approximate)
    return Neighbours(stretch.change, rate, stretch.contributions, "l2" if isinstance(rate, Concentrated) else "l1")


def remarks(kept: tuple[Remark, ...]) -> tuple[Remark, ...]:
    """What the promise does not say by itself."""
    return (ROWS_ARE_PUBLIC, *kept, ONE_TABLE)
