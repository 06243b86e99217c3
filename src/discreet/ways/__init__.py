"""The ways a table can go. A way plans on public values, draws once, and publishes by public post-processing.

Each is a package: spec (its options), plan, draw, publish, facts (what its record holds), prove, replay, evidence;
`way.py` names its parts. A new way is one package and one call of `register`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from discreet.arrays import Integers
from discreet.errors import BadInput, called, choose, true_or_false
from discreet.numbers import exact
from discreet.options import known_only, options_of
from discreet.privacy.values import Guarantee, Loss, Remark
from discreet.public_map import SeenValues
from discreet.table import Schema, Table

if TYPE_CHECKING:
    from discreet.certify.prove import Proof
    from discreet.record.release import AnswerTable, Publication, ReleaseRecord
    from discreet.report.errors import Errors
    from discreet.sample.bits import Bits


@dataclass(frozen=True)
class WaySpec:
    """What every spec can do."""

    name: ClassVar[str]

    def check_options(self) -> None:
        """Refuse what is neither yes nor no where one of these is meant ("no" would be taken for yes), and what is none
        of the names that there are."""
        for name, (one, _) in options_of(type(self)).items():
            value = getattr(self, name)
            if one.kind is bool and value is not None and not isinstance(value, bool):
                true_or_false(value, name)
            if one.values is not None and not one.open and value is not None:
                choose(value, one.known, name)

    @classmethod
    def knows(cls, mechanism: str) -> bool:
        """Whether a mechanism of that name is one of this way's."""
        return False

    def in_order(self, given_rows: Integers) -> WaySpec:
        """The same, for rows in published order: what names rows by their place was about the rows as given."""
        return self


PRIVACY = ("epsilon", "alpha", "rho", "delta")  # what stands beside the options of every way


@cache
def ways_by_keyword() -> tuple[type[WaySpec], ...]:
    """The ways that keywords can mean."""
    from discreet.ways.by_size.spec import BySize
    from discreet.ways.keep_distribution.spec import KeepDistribution
    from discreet.ways.keep_sums.spec import KeepSums
    from discreet.ways.measure.spec import Measure
    from discreet.ways.row_by_row.spec import RowByRow

    return KeepDistribution, RowByRow, KeepSums, Measure, BySize


@cache
def keywords() -> dict[str, dict[str, object]]:
    """Every option of every way: what it usually is, by the name of the way."""
    found: dict[str, dict[str, object]] = {}
    for kind in ways_by_keyword():
        for name, (one, default) in options_of(kind).items():
            found.setdefault(name, {})[kind.name] = default if one.usual is None else one.usual
    return found


def spec_of(options: Mapping[str, Any], beside: Collection[str] = PRIVACY) -> WaySpec:
    """The way that keywords mean, in one value. A default said aloud is no contradiction.

    `beside` are the names of what else could have been asked for, by whoever misspelt it."""
    known = keywords()
    if not options.keys() <= known.keys():
        known_only(options, (*known, *beside), "the option")
    meant = way_meant(options)
    for name, value in options.items():
        if meant.name not in known[name] and not _said_aloud(value, next(iter(known[name].values())), meant):
            raise _foreign(name, meant, options)
    return meant(**{name: value for name, value in options.items() if meant.name in known[name]})


def way_meant(options: Mapping[str, Any]) -> type[WaySpec]:
    """What is measured goes before what is kept, that before how rows are drawn; a mechanism that only knows rows goes
    before the distribution."""
    keep_distribution, row_by_row, keep_sums, measure, by_size = ways_by_keyword()
    mechanism = options.get("mechanism")
    if _named(options.get("measure")):
        return measure
    if _named(options.get("keep")) or _named(options.get("inequalities")):
        return keep_sums
    if _names_a_column(options.get("max_count")):
        return by_size
    if mechanism is None or (isinstance(mechanism, str) and not row_by_row.knows(mechanism)):
        return keep_distribution
    return row_by_row


def _names_a_column(value: Any) -> bool:
    """Whether it is a word, and neither a number nor 'auto'."""
    if not isinstance(value, str) or value == "auto":
        return False
    try:
        exact(value)
    except BadInput:
        return True
    return False


def _named(value: Any) -> bool:
    return value is not None and not (isinstance(value, (tuple, list)) and len(value) == 0)


def _said_aloud(value: Any, default: Any, meant: type[WaySpec]) -> bool:
    """Whether a value says no more than leaving it out would; of what is measured no other way's noise can be said."""
    if value is None or value is False:
        return True
    if not isinstance(value, (str, tuple, list)):
        return False
    return len(value) == 0 or (value == default and meant.name != "measure")


def _foreign(name: str, meant: type[WaySpec], options: Mapping[str, Any]) -> BadInput:
    """An option that belongs to another way."""
    asked, drop = f"{called(name)} was asked for", f"Drop {called(name)}"
    keep, measure, belongs = called("keep"), called("measure"), keywords()[name]
    if meant.name == "measure":
        return BadInput(f"{asked} together with {measure}", "margins go another way", drop)
    if set(belongs) == {"measure"}:
        advice = f"Give {measure} too (auto, or margin:COLUMN, cells), or drop {called(name)}"
        return BadInput(f"{asked} without {measure}", "it belongs to measured margins", advice)
    if meant.name == "keep-sums":
        return BadInput(f"{asked} together with {keep}", "kept sums go another way", drop)
    if "keep-sums" in belongs:
        return BadInput(f"{asked} without {keep}", "it belongs to kept sums", f"{drop}, or give {keep}")
    which = options.get("mechanism")
    if meant.name == "by-size":
        found = f"the column {options['max_count']!r} gives every group its own size"
        return BadInput(f"{asked} with groups of their own sizes", found, drop)
    if meant.name == "keep-distribution":
        named = "no mechanism" if which is None else f"the mechanism {which!r}"
        return BadInput(f"{asked} with {named}", "it belongs to bounded noise", f"{drop}, or use mechanism 'bounded'")
    return BadInput(
        f"{asked} with the mechanism {which if isinstance(which, str) else 'of your own'!r}",
        "it draws every row by itself and keeps no distribution",
        "Use mechanism 'transport'",
    )


def shared_out(schema: Schema, spec: WaySpec) -> WaySpec:
    """The way that a table goes whose columns of counts have shares of their own; any other goes as was asked."""
    if not schema.shares:
        return spec
    from discreet.ways.by_share.spec import for_shares

    return for_shares(spec)


def mechanism_names() -> tuple[str, ...]:
    """Every mechanism that `release` knows by name."""
    found = [options_of(kind).get("mechanism") for kind in ways_by_keyword()]
    return tuple(dict.fromkeys(name for one in found if one is not None for name in one[0].known))


Spec = TypeVar("Spec", bound=WaySpec)
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

    # Two more, for the ledger; a plan that lacks them is charged as if nothing good were known of it.
    # apart: whether no answer is pushed the same way by what a person leaves and by what a person comes to, as where
    # rows are measured one by one or added up: then squared lengths add up.
    # law: the name of the mechanism, or of the law of its noise.


class NotApplicable(Exception):
    """A check that a release gives no occasion for, and why."""


@dataclass(frozen=True, eq=False)
class Published(Generic[Facts]):
    """What people see: the counts, and how they came from what was measured."""

    counts: Integers
    measured: Integers | None  # the noisy values, where they differ from the counts and are worth publishing too
    guarantee: Guarantee
    facts: Facts
    max_count: int | None = None
    certificate: Proof | None = None
    answers: tuple[AnswerTable, ...] | None = None  # to questions about the table, where there are any


@dataclass(frozen=True, eq=False)
class Entries:
    """How many entries a question has, and the keys of each, as an Arrow table; the total has none."""

    number: int
    keys: Any


@dataclass(frozen=True, eq=False)
class LongKeys:
    """The entries of what was measured and of what is answered, by question, where these are not the table's rows."""

    measurements: Mapping[str, Entries]
    answers: Mapping[str, Entries]


def _always(_: Publication[Any]) -> bool:
    return True


def _nothing(_: Publication[Any]) -> None:
    return None


def _never(_: Publication[Any]) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class DrawnInParts:
    """What is known of all parts together once the noise of each was drawn."""

    seen: SeenValues  # the noisy values that occur, and how often
    bits: Bits  # for what is drawn once, for all parts
    public: Bits  # for what is public and has nothing to do with any noise
    secret: SeenValues | None = None  # the counts themselves, in memory only, where the plan asks about them
    sums: Integers | None = None  # of the noisy values of each block, where sums are kept
    rows_of: Callable[[Integers], Integers] | None = None  # the rows of some blocks, by their places in all parts


@dataclass(frozen=True, eq=False)
class PartBlocks:
    """Blocks of rows whose sums are kept, by name; and of each part the blocks that it has rows of, and how many."""

    labels: tuple[str, ...]
    pieces: tuple[Integers, ...]
    sizes: tuple[Integers, ...]

    @property
    def whole(self) -> Integers:
        """How many rows each block has."""
        found = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(found, np.concatenate(self.pieces), np.concatenate(self.sizes))
        return found


class Gathered(Protocol):
    """What is found out about all parts while they are read one after the other."""

    def add(self, part: Publication[Any]) -> None: ...

    def problems(self) -> list[str]: ...


@dataclass(frozen=True)
class InParts(Generic[PlanOf, Facts]):
    """How a way goes where the rows are in parts, each worked on by itself: a part, or all that is known of them."""

    require: Callable[[PlanOf], None]  # refuse what cannot go in parts, and say what can
    asks: Callable[[PlanOf], int | None]  # up to which count the plan asks how often each occurs; None: it does not
    maps: Callable[[PlanOf], bool]  # whether counts are made from noisy values, once all of these are known
    draw: Callable[[Any, Table[Any], Bits, bytes], Integers]  # noisy values of a part, and what it was given for
    # it: all that touches the secret counts
    publish: Callable[[PlanOf, DrawnInParts], Published[Facts]]  # all but the rows
    counts: Callable[[Facts, Integers, SeenValues, Integers], Integers]  # of a part: from its noisy values, those of
    # all parts, and how often each of them comes in earlier ones
    replay: Callable[[Publication[Facts]], list[str]]  # problems with what all parts have together
    replay_part: Callable[[Publication[Facts], Publication[Facts], Integers], list[str]]  # and of a part: itself, all
    # parts together, and how often each noisy value comes in earlier ones
    # where sums are kept:
    narrowed: Callable[[Any], Any] | None = None  # the spec without what other sums imply
    by: Callable[[Any], Any] | None = None  # what makes the blocks, or a refusal
    numbered: Callable[[Any, Any, int], tuple[Integers, tuple[str, ...]]] | None = None  # the block of every row
    plan: Callable[[Schema, Loss, Any, PartBlocks], PlanOf] | None = None  # in place of the way's own
    dealt: Callable[[PlanOf, Bits], list[bytes]] | None = None  # for each part what it is given, a secret
    for_tasks: Callable[[PlanOf], Any] | None = None  # as much of the plan as a task needs
    gathered: Callable[[ReleaseRecord[Facts]], Gathered] | None = None


@dataclass(frozen=True)
class Way(Generic[Spec, PlanOf, MeasuredBy, Facts]):
    """The parts of a way, each a plain function."""

    name: str
    spec: type[Spec]
    facts: type[Facts]
    plan: Callable[[Schema, Loss, Spec], PlanOf]  # public values in, a plan or a refusal out
    draw: Callable[[PlanOf, Integers, Bits], MeasuredBy]  # the only step that touches the secret counts
    publish: Callable[[PlanOf, MeasuredBy], Published[Facts]]  # public post-processing: anybody can replay it
    prove: Callable[[Publication[Facts]], list[str]]  # problems with what is promised; knows no builder
    replay: Callable[[Publication[Facts]], list[str]]  # problems with how the counts follow from what was measured
    evidence: Callable[[Publication[Facts], float], Any]  # the analyst's side
    errors: Callable[[Publication[Facts], Any], Errors | None]  # how far off a count is, from that, if there is any
    steps: Callable[[Publication[Facts]], tuple[Remark, ...]]  # what was done, as codes with numbers
    check: Callable[[PlanOf, Integers], None] | None = None  # refuse a table before anything is spent
    rebuild: Callable[[Publication[Facts]], list[str]] | None = None  # problems with a mechanism constructed for it
    long_keys: Callable[[ReleaseRecord[Facts], Any], LongKeys] | None = None  # of questions about the table
    as_drawn: Callable[[PlanOf, MeasuredBy], Integers | None] | None = None  # the counts, where no work is to be done
    unbiased: Callable[[Publication[Facts]], bool] = _never  # whether the counts are right on average
    averages: Callable[[Publication[Facts]], str | None] = _nothing  # words for them, where others are true of them
    estimable: Callable[[Publication[Facts]], bool] = _always  # whether the analyst's side has an answer to anything
    in_parts: InParts[PlanOf, Facts] | None = None  # where the rows are in parts; None: it cannot go so
    rows_alike: bool = False  # whether its plan knows nothing of a row: then fewer rows tell what to expect


PACKAGES = {
    "keep-distribution": "discreet.ways.keep_distribution",
    "row-by-row": "discreet.ways.row_by_row",
    "keep-sums": "discreet.ways.keep_sums",
    "measure": "discreet.ways.measure",
    "by-size": "discreet.ways.by_size",
    "by-share": "discreet.ways.by_share",
}


def register(name: str, package: str) -> None:
    """A way of one's own: a package whose module `way` holds WAY."""
    if PACKAGES.get(name, package) != package:
        raise BadInput(f"the way {name!r} was to be registered", "there is another way of that name")
    PACKAGES[name] = package


def way_named(name: str) -> Way[Any, Any, Any, Any]:
    """Loaded when first asked for: most releases go one way only."""
    package = PACKAGES.get(name) or PACKAGES[choose(name, PACKAGES, "way")]
    way: Way[Any, Any, Any, Any] = import_module(f"{package}.way").WAY
    return way
