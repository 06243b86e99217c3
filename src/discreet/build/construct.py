"""A distribution in, a mechanism out: every constructor by name, each result with its cost and how good it can be."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.build import explicit
from discreet.build.certificate import transport_bound
from discreet.build.columns import best_columns
from discreet.build.fixed_point import solve_fixed_point
from discreet.build.heuristic import SELECTORS, heuristic
from discreet.build.integers import inner_odds, to_weights
from discreet.build.pricing import lower_bound
from discreet.build.transport import CONVEX, LARGEST_DENSE, output_law, transport, transport_cost
from discreet.build.unfixed import unfixed, unfixed_bound, unfixed_by_name
from discreet.costs import cost_matrix, floats_of, prior_of
from discreet.errors import BadInput, SolverFailed, choose
from discreet.laws import Geometric, NoiseLaw, law_parameters, standard_noise
from discreet.laws.law import constant_odds
from discreet.mechanism import Mechanism
from discreet.numbers import Epsilon, Number, lasting
from discreet.options import spelt
from discreet.privacy import Loss, loss_of, pure_only
from discreet.shown import Shown

LARGEST_PROGRAM = 200  # counts; the program has their square in entries, and twice as many privacy rows
LARGEST_PRICED = 200  # counts up to which columns are generated for the sake of a bound: some seconds
WORST_GAP = 0.01  # of a program's answer
SECONDS = 60.0  # for column generation: 300 counts are done in ten, 500 need some minutes
RESOLVED = 1e-9  # of a cost: less than that is lost in the rounding of bounds


@dataclass(frozen=True, eq=False, repr=False)
class Construction(Shown):
    """A mechanism made for a distribution z of counts.

    `cost` is its expected cost when counts follow z. No mechanism of the kind asked for (private, and for all methods
    but 'unfixed' with the same output law) costs less than `lower_bound`: proven, or None if no bound is known.
    """

    mechanism: Mechanism
    method: str
    cost: float
    lower_bound: float | None
    fixed_point_residual: float
    notes: tuple[str, ...] = ()

    @property
    def gap(self) -> float | None:
        """How much can be gained at most, as a part of the cost, or of 1e-9 where the cost is nearer to zero."""
        return None if self.lower_bound is None else (self.cost - self.lower_bound) / max(abs(self.cost), RESOLVED)

    def matrix(self) -> Floats:
        return self.mechanism.matrix()

    def as_json(self) -> dict[str, object]:
        """The fields of `discreet construct --json`."""
        small = max(self.mechanism.form.shape) < LARGEST_DENSE
        return {
            "method": self.method,
            "matrix": self.matrix().tolist() if small else None,
            "cost": self.cost,
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "fixed_point_residual": self.fixed_point_residual,
        }


@dataclass(frozen=True, eq=False)
class Task:
    """What a constructor is asked for."""

    method: str
    z: Floats
    target: Floats
    noise: NoiseLaw
    cost: Any
    seconds: float = math.inf

    @property
    def odds(self) -> Fraction:
        odds = constant_odds(self.noise)
        assert odds is not None, "only transport takes any other noise"
        return odds

    @property
    def convex(self) -> bool:
        """Whether transport is the optimum for the cost."""
        return isinstance(self.cost, str) and self.cost.partition(":")[0] in CONVEX

    @cached_property
    def costs(self) -> Floats:
        if len(self.z) > LARGEST_DENSE:
            raise BadInput(
                f"the method {self.method!r} was asked for with {len(self.z)} counts",
                f"it works with whole matrices, up to {LARGEST_DENSE} counts",
                "Use the method transport",
            )
        return cost_matrix(self.cost, len(self.z))


@spelt
def construct(
    z: Any,
    epsilon: Number | Epsilon | Loss | None = None,
    alpha: Number | None = None,
    method: str = "transport",
    cost: str | Any = "absolute",
    *,
    target: Any = None,
    delta: Number = 0,
    rho: Number | None = None,
    seconds: float = SECONDS,
) -> Construction:
    """A mechanism for counts distributed as z, by one of `METHODS`.

    With rho, or epsilon and delta, the noise of `transport` and `discrete-gaussian` is discrete Gaussian. `target`
    (transport only) is another law to be published in place of z. After `seconds`, column generation returns what it
    has, with the gap that is proved for it.
    """
    known = explicit.names()
    choose(method, (*METHODS, *known), "method")
    size = floats_of(z, "a distribution").size
    if size < 2:
        raise BadInput("a distribution of counts was given", f"it has {size} entries, at least 2 are needed")
    distribution = prior_of(z, size, "the distribution")
    if target is not None and method != "transport":
        raise BadInput(f"another target was asked for with the method {method!r}", "only transport takes one")
    wanted = distribution if target is None else prior_of(target, size, "the target")
    loss = loss_of(epsilon, alpha=alpha, delta=delta, rho=rho)
    if method in known:
        return _explicit(method, distribution, cost, loss)
    paid = loss if method == "transport" else pure_only(loss, f"the method {method!r}")
    return METHODS[method](Task(method, distribution, wanted, standard_noise(paid), cost, lasting(seconds)))


def _explicit(name: str, z: Floats, cost: Any, loss: Loss) -> Construction:
    mechanism = explicit.explicit(name, len(z) - 1, loss)
    if mechanism.max_count is None:
        raise BadInput(f"the method {name!r} was asked for", "it has no matrix, so no cost on a distribution")
    return Construction(
        mechanism,
        name,
        mechanism.cost(cost, z),
        None,
        mechanism.fixed_point_residual(z),
        ("does not look at the distribution",),
    )


def _transport(task: Task) -> Construction:
    form = transport(task.z, task.noise, task.target)
    cost = transport_cost(form, task.z, task.cost)
    bound, notes = None, ["noise, then a public map: privacy rests on the noise alone"]
    if constant_odds(task.noise) is None:
        notes.append("the best map of this noise; no bound over all mechanisms of its kind is known")
    elif len(task.z) <= LARGEST_DENSE:
        bound = _best_bound(task, transport_bound(form, task.z, task.costs))
    else:
        notes.append("optimal by theorem; the numerical certificate is computed up to 2001 counts")
    if not task.convex:
        notes.append("transport is the optimum for convex costs only: for this cost see the gap")
    residual = float(np.abs(output_law(form, task.z) - task.target).max())
    return _result(task, Mechanism("transport", form, law_parameters(task.noise)), cost, bound, residual, notes)


def _unfixed(task: Task) -> Construction:
    noise = Geometric(task.odds)
    dense = len(task.z) <= LARGEST_DENSE
    form = unfixed(task.z, noise, task.costs) if dense else unfixed_by_name(task.z, noise, task.cost)
    cost = transport_cost(form, task.z, task.cost)
    bound = unfixed_bound(task.z, noise, task.costs) if dense else None
    residual = float(np.abs(output_law(form, task.z) - task.z).max())
    notes = ["noise, then a public map: privacy rests on the noise alone", "the distribution is not kept"]
    if not dense:
        notes.append(f"optimal by theorem; the numerical bound is computed up to {LARGEST_DENSE} counts")
    return _result(task, Mechanism("unfixed", form, law_parameters(task.noise)), cost, bound, residual, notes)


def _greedy(task: Task) -> Construction:
    name = task.method.removeprefix("heuristic-")
    inner, costs = inner_odds(task.odds), task.costs
    tried = {s: heuristic(task.z, inner, s) for s in (SELECTORS if name == "best" else (name,))}
    selector = min(tried, key=lambda s: float((task.z[:, None] * costs * tried[s].matrix).sum()))
    best = transport(task.z, task.noise)
    notes = [f"selector {selector}", f"{tried[selector].scales} scales"]
    if tried[selector].bits:
        notes.append(f"computed with {tried[selector].bits} binary digits")
    return _weighed(task, tried[selector].matrix, _best_bound(task, transport_bound(best, task.z, costs)), notes)


def _program(task: Task) -> Construction:
    if len(task.z) > LARGEST_PROGRAM:
        raise BadInput(
            f"the method {task.method!r} was asked for with {len(task.z)} counts",
            f"the plain linear program is offered up to {LARGEST_PROGRAM}",
            "Use transport, or column-generation for other costs",
        )
    algorithm = "simplex" if task.method == "fixed-point-simplex" else "interior"
    matrix, duals = solve_fixed_point(task.costs, task.z, float(inner_odds(task.odds)), algorithm)  # type: ignore[arg-type]
    bound = max(lower_bound(task.costs, task.z, math.log(task.odds), duals), float(task.costs.min()))
    found = _weighed(task, matrix, bound, ["the bound is priced over all scales, not the solver's word"])
    if found.gap is not None and found.gap > WORST_GAP:
        raise SolverFailed(
            f"the method {task.method!r} was asked for",
            f"once its errors are repaired, the solver's answer may be {found.gap:.0%} above the optimum",
            "Use the method column-generation",
        )
    return found


def _column_generation(task: Task) -> Construction:
    """Never dearer than transport, also where time runs out or the interior-point method gets nowhere."""
    inner = inner_odds(task.odds)
    known = [float(task.costs.min()), unfixed_bound(task.z, Geometric(task.odds), task.costs)]
    matrices, notes = [transport(task.z, Geometric(inner)).matrix()], []
    try:
        found = best_columns(task.costs, task.z, math.log(inner), seconds=task.seconds)
    except SolverFailed:
        notes.append("the interior-point method failed: this is transport, no better than the gap says")
    else:
        known.append(lower_bound(task.costs, task.z, math.log(task.odds), found.duals))
        matrices.insert(0, found.matrix)
        notes.append(f"{found.steps} interior-point steps")
        if found.cut_short:
            notes.append(f"stopped after {task.seconds:g} s: no better than the gap says")
    best = min(matrices, key=lambda made: float((task.z[:, None] * task.costs * made).sum()))
    return _weighed(task, best, max(known), notes)


def _best_bound(task: Task, bound: float) -> float:
    """The largest known: for a cost that is not convex the duals of transport say little, and may say nothing."""
    if task.convex:
        return max(bound, 0.0)
    known = [bound, float(task.costs.min()), unfixed_bound(task.z, Geometric(task.odds), task.costs)]
    if len(task.z) <= LARGEST_PRICED and task.target is task.z:
        log_odds = math.log(task.odds)
        with suppress(SolverFailed):  # a bound is a help: without this one the others stand
            known.append(lower_bound(task.costs, task.z, log_odds, best_columns(task.costs, task.z, log_odds).duals))
    return max(known)


def _weighed(task: Task, matrix: Floats, bound: float, notes: list[str]) -> Construction:
    """The matrix as integer weights, checked; cost and residual are those of the weights."""
    weights = to_weights(matrix, task.odds, task.z)
    written = weights.matrix()
    cost = float((task.z[:, None] * task.costs * written).sum())
    residual = float(np.abs(task.z @ written - task.z).max())
    return _result(task, Mechanism(task.method, weights, law_parameters(task.noise)), cost, bound, residual, notes)


def _result(
    task: Task, mechanism: Mechanism, cost: float, bound: float | None, residual: float, notes: list[str]
) -> Construction:
    """A bound above the cost is one of rounding: the cost is then the bound."""
    return Construction(
        mechanism, task.method, cost, None if bound is None else min(bound, cost), residual, tuple(notes)
    )


METHODS: dict[str, Callable[[Task], Construction]] = {
    "transport": _transport,
    **{f"heuristic-{name}": _greedy for name in (*SELECTORS, "best")},
    "unfixed": _unfixed,
    "fixed-point-simplex": _program,
    "fixed-point-interior": _program,
    "column-generation": _column_generation,
}
