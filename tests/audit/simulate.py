"""Everything that releases of two neighbouring tables publish, many times over, to be audited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

from discreet.build import construct as construct_module
from discreet.distribution.privatizer import noise_for, privatizer
from discreet.privacy.price import whole_price
from discreet.release import asked
from discreet.sample.bits import seeded
from discreet.table import Schema
from discreet.ways import way_named
from discreet.ways.keep_distribution.follow import Noisy
from discreet.ways.measure import follow

TOGETHER = 500  # copies of a small table in one release: a plan for more takes longer than it saves
MANY_TIMES = "copy"  # the key that tells the copies of a small table apart


@dataclass(frozen=True)
class Case:
    """A small table, a neighbour of it, and how they are released."""

    name: str
    options: dict[str, Any]
    one: tuple[int, ...]
    other: tuple[int, ...]
    keys: dict[str, str] = field(default_factory=dict)  # a letter for each row
    contributions: int = 1
    repeated: bool = False  # rows of one release depend on each other: one release for every draw
    slow: bool = False  # a release takes long: fewer of them
    off: dict[str, Any] | None = None  # options whose noise is 30% too small for what `options` claims
    enough: int = 50_000  # draws by which an auditor tells that it is
    rare: bool = False  # so many that only `make attack` makes them

    @property
    def at_once(self) -> bool:
        """Whether many draws are made by one call: of small tables in one release, or of noise that keeps sums."""
        sums = "keep" in self.options and "measure" not in self.options
        return not self.repeated or (sums and self.options.get("law") != "l2")

    def __str__(self) -> str:
        return f"{self.name}: {self.one} {self.other}"


@dataclass(frozen=True)
class Drawn:
    """A row for each draw: the table, the measurements, and the answers about the distribution, where there are any."""

    published: Any
    loss: Any  # of the whole change


def drawn(
    case: Case, counts: tuple[int, ...], copies: int, seed: int, *, off: bool = False, measured: bool = False
) -> Drawn:
    """measured: without the map, which is public work on what was measured and takes most of the time."""
    options = dict(case.options if not off or case.off is None else {**case.options, **case.off})
    privacy = {name: options.pop(name, None) for name in ("epsilon", "alpha", "rho")}
    delta = options.pop("delta", 0)
    loss, spec = asked(privacy.pop("epsilon"), None, options, (), **privacy, delta=delta)
    way, bits = way_named(spec.name), seeded(seed)
    size = 1 if case.repeated else min(copies, TOGETHER if "keep" in options else copies)
    plan = way.plan(_schema(case, size), loss, spec)
    table = np.tile(np.array(counts, dtype=np.int64), size)
    if case.repeated and case.at_once:
        return Drawn(_kept_sums(plan, table, copies, bits), whole_price(plan.guarantee))
    if measured:
        return Drawn(_measured(plan, table, copies, bits), whole_price(plan.guarantee))
    with _construct_once(), _fit_once(), _reach_once():
        releases = [_published(way, plan, table, bits) for _ in range(copies // size)]
    columns = [np.concatenate([one[k].reshape(size, -1) for one in releases]) for k in range(len(releases[0]))]
    return Drawn(np.concatenate(columns, axis=1), whole_price(plan.guarantee))


def _kept_sums(plan: Any, table: Any, copies: int, bits: Any) -> Any:
    """What as many releases of the table would publish: each adds one draw of the plan's noise, and nothing else."""
    lattice = plan.lattice
    return table + lattice.draws(copies, bits, table if lattice.restricted else None)


def _measured(plan: Any, table: Any, copies: int, bits: Any) -> Any:
    """What as many releases that keep the distribution, or measure margins, would measure: all noisy answers."""
    if plan.law == "measured-margins":
        design = plan.layout.design
        answers = [(law, design.answer(design.in_cells(table), asked).ravel()) for asked, law in plan.noise.items()]
        noisy = [law.add(np.tile(answer, copies), bits).reshape(copies, -1) for law, answer in answers]
        return np.concatenate(noisy, axis=1)
    top, spec = plan.spec.top, plan.spec
    rows = plan.noise.add(np.tile(table, copies), bits).reshape(copies, -1)
    histogram = np.bincount(np.minimum(table, top), minlength=top + 1)
    answers = answered(spec.privatizer, histogram, plan.distribution, copies, bits, plan.contributions)
    return np.concatenate([rows, answers], axis=1)


def answered(name: str, histogram: Any, loss: Any, copies: int, bits: Any, contributions: int = 1) -> Any:
    """What so many measurements of a histogram by a privatizer give."""
    law = noise_for(name, len(histogram), loss, contributions)
    return law.add(np.tile(privatizer(name).answers(histogram), copies), bits).reshape(copies, -1)


def _published(way: Any, plan: Any, table: Any, bits: Any) -> list[Any]:
    """Everything that one release shows: counts, measurements, answers, and what was measured of the distribution."""
    measured = way.draw(plan, table, bits)
    published = way.publish(plan, measured)
    shown = [published.counts] if published.measured is None else [published.counts, published.measured]
    shown += [one.estimates for one in published.answers or ()]
    first = getattr(measured, "stage_one", None)
    if first is not None and first.borders is None:
        shown.append(first.answers)
    elif first is not None:  # as many answers as the first of them ask for: how many, and one that there always is
        shown.append(np.array([len(first.answers), first.answers[0], *first.borders[:2]]))
    return shown


def _schema(case: Case, copies: int) -> Schema:
    rows = len(case.one)
    keys = {name: list(letters) * copies for name, letters in case.keys.items()}
    if not case.repeated:
        keys[MANY_TIMES] = np.repeat(np.arange(copies), rows).astype(str).tolist()
    names = tuple(keys)
    return Schema(names, "n", rows * copies, pa.table(keys) if keys else None, contributions=case.contributions)


FITTED: dict[Any, Any] = {}  # by all that a fit depends on: for both tables, and for every case with the same noise


@contextmanager
def _fit_once() -> Iterator[None]:
    """What is fitted depends on what was measured alone, and of few small rows the same is measured again and again."""
    real = Noisy.fitted

    def fitted(noisy: Noisy) -> Any:
        prefix = None if noisy.prefix is None else (noisy.prefix.tobytes(), noisy.prefix_noise)
        key = (noisy.seen.values.tobytes(), noisy.seen.numbers.tobytes(), noisy.noise, noisy.cut, prefix)
        if key not in FITTED:
            FITTED[key] = real(noisy)
        return FITTED[key]

    with patch.object(Noisy, "fitted", fitted):
        yield


@contextmanager
def _reach_once() -> Iterator[None]:
    """How far intervals reach follows from the plan alone: worked out once for every question of it."""
    real, known = follow.errors_of, {}  # type: ignore[var-annotated]

    def errors_of(design: Any, spread: Any, noise: Any, question: Any) -> Any:
        if question not in known:
            known[question] = real(design, spread, noise, question)
        return known[question]

    with patch.object(follow, "errors_of", errors_of):
        yield


@contextmanager
def _construct_once() -> Iterator[None]:
    """A mechanism that is constructed depends on the measured distribution alone: each is made once."""
    real, laws = construct_module.construct, {}  # type: ignore[var-annotated]

    @cache
    def made(law: bytes, epsilon: Any, method: str) -> Any:
        return real(laws[law], epsilon, method=method)

    def constructed(law: Any, epsilon: Any, *, method: str) -> Any:
        key = np.asarray(law).tobytes()
        laws[key] = law
        return made(key, epsilon, method)

    with patch.object(construct_module, "construct", constructed):
        yield
