"""The ways a table can go. A route plans on public values, draws once, and publishes by public post-processing."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from discreet.arrays import Integers
from discreet.guarantee import Guarantee
from discreet.numbers import Epsilon


@dataclass(frozen=True)
class Request:
    """What was asked for, in exact numbers. All of it is public."""

    epsilon: Epsilon | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    max_count: int | str | None = None
    mechanism: str = "transport"
    own: Any = None  # a mechanism of the user's, in place of a named one
    consistent: bool | None = None
    split: Fraction | None = None
    refine: bool | None = None
    keep: tuple[Any, ...] = ()
    law: str = "l1"
    nonnegative: bool = False
    per_unit: bool = False
    allow_diagnosed: bool = False
    base: str = "geometric"
    inequalities: Any = None


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything that was learned from the secret counts, with its noise in it. From here on all is post-processing."""

    rows: Integers  # a noisy value for each row
    cumulative: Integers | None = None  # noisy cumulative histogram, if the distribution was measured
    max_count: int | None = None
    public_seed: str = ""  # expands into the public words of the map
    bought: Any = None  # a largest count that was paid for
    mechanism: Any = None  # a mechanism that was constructed from what was measured


@dataclass(frozen=True, eq=False)
class Published:
    """What people see: the counts, and how they came from what was measured."""

    counts: Integers
    mechanism: dict[str, Any]
    distribution: dict[str, Any] | None = None
    invariants: dict[str, Any] | None = None
    remarks: tuple[str, ...] = field(default=())
    certificate: Any = None  # the proof for the mechanism of the rows, where that is a matrix or noise


class Route(Protocol):
    """A plan, made without looking at the counts."""

    @property
    def guarantee(self) -> Guarantee:
        """What the release will promise."""

    @property
    def charged(self) -> Guarantee:
        """What a ledger is charged: the promise for the smallest change there is."""

    @property
    def max_count(self) -> int | None:
        """The largest count there can be; larger ones are treated as this one."""

    @property
    def signed(self) -> bool:
        """Whether the measured values differ from the published ones, so that they are worth publishing too."""

    @property
    def discloses(self) -> tuple[str, ...]:
        """What is published exactly, in words."""

    def check(self, counts: Integers) -> None:
        """Refuse a table that cannot go this way; called before anything is spent."""

    def draw(self, counts: Integers, bits: Any) -> Measured:
        """The only step that touches the secret counts, and the only one with secret randomness."""

    def publish(self, measured: Measured) -> Published:
        """Public post-processing: anybody can replay it."""
