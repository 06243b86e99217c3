"""One release of one table by every method. The product's releases are made by the product's own code."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.distribution.refine import refine
from discreet.laws import NoiseLaw
from discreet.privacy.parse import loss_of
from discreet.public_map import rank_rows
from discreet.sample.bits import seeded
from discreet.table import Schema
from discreet.ways.keep_distribution.draw import Measured, draw
from discreet.ways.keep_distribution.follow import Noisy
from discreet.ways.keep_distribution.plan import DistributionPlan, plan
from discreet.ways.keep_distribution.publish import publish
from discreet.ways.keep_distribution.spec import LARGEST_MAPPED, KeepDistribution
from discreet_lab.baselines.pipelines import mapped, paper, two_stage, unfixed
from discreet_lab.baselines.simulate import Pipeline

Method = Literal[
    "balance", "counts", "distribution", "plain", "version 0.1", "oracle", "oracle by rank", "paper", "unfixed"
]
FITTED: tuple[Method, ...] = ("balance", "counts")
MEASURED: tuple[Method, ...] = ("distribution",)
OTHERS: tuple[Method, ...] = ("plain", "version 0.1", "oracle", "oracle by rank", "paper", "unfixed")
GROUPS = (FITTED, MEASURED, OTHERS)  # what is made together
NEED_MAX_COUNT: tuple[Method, ...] = ("paper", "unfixed")
SELECTOR = "sandwich"  # the one that the authors of the paper recommend


@dataclass(frozen=True)
class BothErrors:
    """Of one release: mean absolute error of a count, Wasserstein-1 of their distribution; and what the record says
    of the first."""

    method: Method
    count: float
    distribution: float
    promised: float | None = None


@dataclass(frozen=True, eq=False)
class StudySetting:
    """A table to be released: its counts (none above max_count, where that is known), and the budget."""

    name: str
    counts: Integers
    max_count: int | None
    epsilon: str

    def plan(self, **options: object) -> DistributionPlan:
        known = {} if self.max_count is None else {"max_count": self.max_count, "top_code": True}
        schema = Schema((), "count", len(self.counts), None)
        return plan(schema, loss_of(self.epsilon), KeepDistribution(**known, **options))  # type: ignore[arg-type]

    @cached_property
    def ordered(self) -> Integers:
        return np.sort(self.counts)

    def errors(self, method: Method, released: Integers, promised: float | None = None) -> BothErrors:
        count = float(np.abs(released - self.counts).mean())
        return BothErrors(method, count, float(np.abs(np.sort(released) - self.ordered).mean()), promised)

    def seed(self, repeat: int) -> int:
        """The same at every budget, with max_count and without."""
        return zlib.crc32(f"{self.name} {repeat}".encode())


def released(setting: StudySetting, group: tuple[Method, ...], repeat: int) -> tuple[BothErrors, ...]:
    """The errors of a group of methods, in one repeat."""
    if group == FITTED:
        return fitted(setting, repeat)
    if group == MEASURED:
        return (favoured(setting, "distribution", repeat),)
    return others(setting, repeat)


def favoured(setting: StudySetting, favor: Method, repeat: int) -> BothErrors:
    """As a release is made: planned, drawn and published."""
    made = setting.plan(favor=favor)
    out = publish(made, draw(made, setting.counts, seeded(setting.seed(repeat))))
    assert out.facts.mechanism.aim is not None
    return setting.errors(favor, out.counts, out.facts.mechanism.aim.count_error)


def fitted(setting: StudySetting, repeat: int) -> tuple[BothErrors, ...]:
    """balance and counts: the same plan, draw and fit, so each is done once. A test compares with `favoured`."""
    made = setting.plan()
    assert made.noise is not None
    drawn, spec = draw(made, setting.counts, seeded(setting.seed(repeat))), made.spec
    noisy = Noisy(drawn.seen, made.noise, spec.cut)
    post = noisy.fitted()

    def errors(method: Method, lam: float | None) -> BothErrors:
        found = noisy.followed(post, lam, spec.top)
        bins = np.diff(found.upto, prepend=0)
        counts = rank_rows(drawn.rows, bins, drawn.public_seed, beyond=spec.cut is None)
        return setting.errors(method, counts, found.count_error)

    return errors("balance", None), errors("counts", 0.0)


def others(setting: StudySetting, repeat: int) -> tuple[BothErrors, ...]:
    """What the default is measured by; where all budget goes to the rows, on the very noise that the default has."""
    made = setting.plan()
    drawn, seed, top = draw(made, setting.counts, seeded(setting.seed(repeat))), setting.seed(repeat), setting.max_count
    assert made.noise is not None
    rows, budget = drawn.rows, float(setting.epsilon)
    found = [
        setting.errors("plain", np.clip(rows, 0, top)),
        setting.errors("oracle", medians(rows, setting.counts, made.noise)),
        setting.errors("oracle by rank", by_rank(drawn, setting.ordered)),
    ]
    if top is None:
        old = version_0_1(rows, made.noise, np.random.default_rng(seed))
        return (*found, setting.errors("version 0.1", old))
    pipelines: tuple[tuple[Method, Pipeline], ...] = (
        ("version 0.1", two_stage(budget, top)),
        ("paper", paper(budget, top, selector=SELECTOR)),
        ("unfixed", unfixed(budget, top)),
    )
    for name, pipeline in pipelines:
        found.append(setting.errors(name, pipeline(setting.counts, np.random.default_rng(seed))))
    return tuple(found)


def version_0_1(rows: Integers, noise: NoiseLaw, rng: np.random.Generator) -> Integers:
    """The default of version 0.1 without max_count: the range read off the noisy values, no stage one."""
    top = max(1, int(rows.max()))
    clamped = np.clip(rows, 0, top)
    if top > LARGEST_MAPPED:
        return clamped
    target = refine(np.bincount(clamped, minlength=top + 1), noise, None, None)
    return mapped(clamped, target, noise, "spread", rng)


def medians(rows: Integers, counts: Integers, noise: NoiseLaw) -> Integers:
    """The least count error for who knows the true distribution: each noisy value becomes the median of what it may
    have been. Beyond the smallest and the largest count geometric noise says no more."""
    assert noise.decay is not None
    support, many = np.unique(counts, return_counts=True)
    values, place = np.unique(np.clip(rows, support[0], support[-1]), return_inverse=True)
    weights: Floats = np.log(many) + np.log(noise.decay) * np.abs(values[:, None] - support)
    upto = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
    middle: Integers = support[(upto < upto[:, -1:] / 2).sum(axis=1)]
    return middle[place]


def by_rank(drawn: Measured, ordered: Integers) -> Integers:
    """The true distribution itself, for who knows it: the k-th smallest noisy value becomes the k-th smallest count."""
    words = np.random.default_rng(zlib.crc32(drawn.public_seed.encode())).random(len(ordered))
    out = np.empty_like(ordered)
    out[np.lexsort((words, drawn.rows))] = ordered
    return out
