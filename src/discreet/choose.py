"""Help to choose epsilon: what it costs in error, and what it means for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.costs import floats_of
from discreet.errors import BadInput
from discreet.numbers import Epsilon, Number, epsilon_of, whole
from discreet.options import spelt
from discreet.privacy.parse import epsilons_of
from discreet.shown import Shown
from discreet.table import Schema, Table
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED

EPSILONS = ("0.01", "0.03", "0.1", "0.3", "1", "2", "3", "5")  # about threefold steps, from strong protection to weak
MAX_COUNT = 50  # of the reference shape, where nobody says how large counts are
PRIORS = (Fraction(1, 2), Fraction(1, 100))  # beliefs before: an even chance, and a rare thing
REFERENCE = "mostly-zero"  # where nobody gives a prior: zeros, with a tail


@dataclass(frozen=True)
class Choice:
    """One epsilon: the errors to expect, and what it means."""

    epsilon: str
    count_error: float
    distribution_error: float
    meaning: str

    @property
    def means(self) -> tuple[str, ...]:
        """The meaning in numbers: the factor, and what an even chance and one in a hundred become at most."""
        epsilon = epsilon_of(self.epsilon)
        return factor(epsilon), *(_percent(highest_belief(epsilon, prior)) for prior in PRIORS)

    def as_json(self) -> dict[str, object]:
        return dict(vars(self))


class Choices(Shown, tuple[Choice, ...]):
    """Several, by epsilon, with what their figures mean, said once."""

    heads = ("factor", "an even chance becomes", "one in a hundred becomes")
    sentence = (
        "Whatever a reader believes about whether one person is counted, the release changes its odds by no more than "
        "e^epsilon, about the factor below: an even chance, or one in a hundred, becomes at most what the last columns "
        "say."
    )
    about = (
        f"Errors are those of a table of mostly zeros with counts up to {MAX_COUNT}, unless a largest count or a prior "
        "says otherwise: larger counts can err more, and so can other shapes."
    )

    def __new__(cls, found: Iterable[Choice]) -> Choices:
        return super().__new__(cls, found)

    def plot(self, path: str) -> None:
        """Errors against epsilon, and the most that a belief can become, to a PNG, SVG or PDF file."""
        from discreet.plot import save

        save(self.drawing(), path)

    def drawing(self) -> Any:
        """Two panels: errors against epsilon, and the most that a belief can become."""
        return _drawn(self)


@spelt
def choose(
    schema: Schema | Table | int,
    prior: Any = None,
    *,
    max_count: int | None = None,
    epsilons: Number | Sequence[Number] = EPSILONS,
) -> Choices:
    """Errors against epsilon for a table of this many rows, with the meaning of each epsilon in plain words.

    `prior` is a public guess of the distribution of counts over 0..max_count; without one a reference shape stands in:
    mostly zeros, with a tail. No count is read.
    """
    from discreet.evaluate.shapes import SHAPES
    from discreet.plan import plan

    several = epsilons_of(epsilons, "help to choose epsilon")
    public = schema.schema if isinstance(schema, Table) else schema
    top = _largest(prior, max_count)
    likely = SHAPES[REFERENCE](top) if prior is None else prior
    choices = []
    for epsilon in several:
        row = plan(public, epsilon, max_count=max_count, prior=likely).expected[0]
        choices.append(Choice(str(epsilon), row.count_error, row.distribution_error, meaning(epsilon)))
    return Choices(choices)


def _largest(prior: Any, max_count: int | None) -> int:
    if max_count is not None:
        return whole(max_count, "max_count", 1, LARGEST_MAPPED)
    if prior is None:
        return MAX_COUNT
    if (given := floats_of(prior, "the prior")).ndim != 1:
        raise BadInput("the prior was given", f"it has shape {given.shape}", "Give one number for every count")
    return len(given) - 1


def meaning(epsilon: Epsilon) -> str:
    """From prior to posterior: how far a reader's belief about one person can move."""
    half, rare = (highest_belief(epsilon, prior) for prior in PRIORS)
    return (
        f"Whatever a reader believes about whether one person is counted, the release changes its odds by a factor of "
        f"e^{epsilon} at most, which is about {factor(epsilon)}: "
        f"an even chance becomes at most {_percent(half)}, one in a hundred at most {_percent(rare)}."
    )


def factor(epsilon: Epsilon) -> str:
    """e^epsilon, to the nearest hundredth, or whole number where it is large."""
    high = epsilon.bounds()[1]
    return f"{round(high):,}" if high >= 100 else f"{float(high):.2f}"


def highest_belief(epsilon: Epsilon, prior: Fraction) -> Fraction:
    """The largest probability that a belief of `prior` can grow to, rounded up."""
    factor = epsilon.bounds()[1]
    return prior * factor / (1 - prior + prior * factor)


def _percent(share: Fraction) -> str:
    """Rounded up to a tenth of a per cent; never 100 where it is less."""
    tenths = ceil(share * 1000)
    return f"{tenths // 10}.{tenths % 10}%" if tenths < 1000 or share == 1 else "nearly 100%"


def _drawn(choices: Sequence[Choice]) -> Any:
    from discreet.plot import FILL, INK, figure

    drawing, axes = figure(1, 2)
    values = [float(Fraction(choice.epsilon)) for choice in choices]
    error, belief = axes[0]
    error.loglog(values, [choice.count_error for choice in choices], marker="o", color=INK, label="of a count")
    error.loglog(
        values, [choice.distribution_error for choice in choices], marker="s", color=FILL, label="of the distribution"
    )
    error.set_ylabel("expected error")
    for prior, style in ((Fraction(1, 2), "-"), (Fraction(1, 10), "--"), (Fraction(1, 100), ":")):
        highest = [float(highest_belief(epsilon_of(choice.epsilon), prior)) for choice in choices]
        belief.semilogx(values, highest, style, color=INK, label=f"{float(prior):.0%} before")
    belief.set_ylabel("most that a reader can believe after")
    belief.set_ylim(0, 1)
    for axis in (error, belief):
        axis.set_xlabel("epsilon")
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=8)
    return drawing
