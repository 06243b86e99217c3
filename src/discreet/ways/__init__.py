"""The ways a table can go. A way plans on public values, draws once, and publishes by public post-processing.

Each is a package: spec (its options), plan, draw, publish, facts (what its record holds), prove, replay, evidence;
`way.py` names its parts. A new way is one package and one call of `register`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from discreet.arrays import Integers
from discreet.errors import choose
from discreet.privacy.guarantee import Guarantee, Remark
from discreet.privacy.loss import Loss
from discreet.table import Schema

if TYPE_CHECKING:
    from discreet.certify.proof import Proof
    from discreet.record.release import Publication
    from discreet.report.errors import Errors
    from discreet.sample.bits import Bits

Spec = TypeVar("Spec")
PlanOf = TypeVar("PlanOf", bound="Planned")
MeasuredBy = TypeVar("MeasuredBy")
Facts = TypeVar("Facts")


class Planned(Protocol):
    """What will be done, made without looking at the counts."""

    @property
    def guarantee(self) -> Guarantee:
        """What the release will promise."""

    @property
    def discloses(self) -> tuple[str, ...]:
        """What is published exactly: the names of kept sums."""

    @property
    def steps(self) -> tuple[Remark, ...]:
        """Each step and its price, as codes with numbers."""


@dataclass(frozen=True, eq=False)
class Published(Generic[Facts]):
    """What people see: the counts, and how they came from what was measured."""

    counts: Integers
    measured: Integers | None  # the noisy values, where they differ from the counts and are worth publishing too
    guarantee: Guarantee
    facts: Facts
    max_count: int | None = None
    certificate: Proof | None = None


@dataclass(frozen=True)
class Way(Generic[Spec, PlanOf, MeasuredBy, Facts]):
    """The parts of a way, each a plain function."""

    name: str
    spec: type[Spec]
    facts: type[Facts]
    plan: Callable[[Schema, Loss, Spec], PlanOf]  # public values in, a plan or a refusal out
    check: Callable[[PlanOf, Integers], None]  # refuse a table that cannot go this way, before anything is spent
    draw: Callable[[PlanOf, Integers, Bits], MeasuredBy]  # the only step that touches the secret counts
    publish: Callable[[PlanOf, MeasuredBy], Published[Facts]]  # public post-processing: anybody can replay it
    prove: Callable[[Publication[Facts]], list[str]]  # problems with what is promised; knows no builder
    replay: Callable[[Publication[Facts]], list[str]]  # problems with how the counts follow from what was measured
    evidence: Callable[[Publication[Facts], float], Any]  # the analyst's side
    errors: Callable[[Publication[Facts]], Errors | None]  # how far off a count is, from what is published
    steps: Callable[[Publication[Facts]], tuple[Remark, ...]]  # what was done, as codes with numbers


PACKAGES = {
    "keep-distribution": "discreet.ways.keep_distribution",
    "row-by-row": "discreet.ways.row_by_row",
    "keep-sums": "discreet.ways.keep_sums",
}


def register(name: str, package: str) -> None:
    """A way of one's own: a package whose module `way` holds WAY."""
    PACKAGES[name] = package


def way_named(name: str) -> Way[Any, Any, Any, Any]:
    """Loaded when first asked for: most releases go one way only."""
    way: Way[Any, Any, Any, Any] = import_module(f"{PACKAGES[choose(name, PACKAGES, 'way')]}.way").WAY
    return way
