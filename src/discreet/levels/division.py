"""The search for the best division of a budget into thousandths: by gradients, then in whole thousandths."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.levels.loss import Loss
from discreet.threads import one_thread

PARTS = 1000  # shares are published in thousandths
LEAST = 1e-9  # weight of a question in the search: at zero nothing would draw it back
ROUNDS = 300  # of the search from one start
MOVES = 400  # of a thousandth from one question to another, after rounding
PUSHES = (0.2, 0.5)  # parts of the spare budget that one question is given, to see whether it keeps them
TRIFLE = 1e-3  # of the loss: what leaving out questions that nobody asked for may cost, all together
TANGENTS = 300  # that a bound is the highest of, at most,
LITTLE = 0.05  # each where every question has so many thousandths: from nearly none it would take long to come back
CERTAIN = 60.0  # an epsilon that leaves no noise in any table; beyond it the numbers would overflow
TRIALS = 100  # of such pushes from one start; on tables of six attributes more of them gain 2% at most


def precision_of(shares: Floats, budget: float, pure: bool) -> tuple[Floats, Floats]:
    """One over the variance of the noise that a share of the budget buys, and its derivative by the share."""
    if pure:  # of the geometric law: cosh(epsilon) - 1
        epsilons = np.minimum(budget * shares, CERTAIN)
        return 2 * np.sinh(epsilons / 2) ** 2, budget * np.sinh(epsilons)
    return 2 * budget * shares, np.full_like(shares, 2 * budget)


@dataclass(frozen=True, eq=False)
class Division:
    """What is left of the budget, to be divided into thousandths among the questions that are free."""

    of: Loss
    budget: float
    pure: bool
    constant: Floats  # shares of the whole budget that are not to be chosen
    free: Any  # which questions divide the rest
    rest: float
    floors: Integers  # thousandths of the rest, of those questions

    def loss(self, parts: Any) -> tuple[float, Floats]:
        """And its derivative by thousandths of the rest, whole or not."""
        shares = self.constant.copy()
        shares[self.free] = parts * self.rest / PARTS
        precision, slope = precision_of(shares, self.budget, self.pure)
        loss, by_precision = self.of(precision)
        return loss, (by_precision * slope)[self.free] * self.rest / PARTS

    @cached_property
    def spare(self) -> int:
        """Thousandths above all floors."""
        return PARTS - int(self.floors.sum())

    def best(self) -> tuple[Integers, float]:
        """Whole thousandths, and what no division is below (of use under rho alone)."""
        if not len(self.floors) or not self.spare:
            return self.floors, self.loss(self.floors)[0]
        with one_thread():
            found = [self.search(np.ones(len(self.floors)))]
            if self.pure:
                found = [self.pushed(parts) for parts in (*found, self.search(self.mostly_one()))]
            whole = min((self.improved(self.rounded(parts)) for parts in found), key=lambda one: self.loss(one)[0])
            return self.simpler(whole), self.bound(found[0])

    def parts(self, weights: Floats) -> Floats:
        """Thousandths from the floors upwards, the spare ones by weight."""
        return np.asarray(self.floors + self.spare * weights / weights.sum())

    def search(self, weights: Floats) -> Floats:
        """Downhill from these weights, to where no small change helps."""
        from scipy.optimize import minimize

        def of_weights(weights: Floats) -> tuple[float, Floats]:
            loss, slope = self.loss(self.parts(weights))
            slope = slope * self.spare / weights.sum()
            return np.log(loss), (slope - slope @ weights / weights.sum()) / loss

        found = minimize(
            of_weights,
            np.maximum(weights / weights.mean(), LEAST),
            jac=True,
            method="L-BFGS-B",
            bounds=[(LEAST, None)] * len(weights),
            options={"maxiter": ROUNDS, "maxfun": 2 * ROUNDS, "ftol": 1e-9, "gtol": 1e-9},
        )
        return self.parts(found.x)

    def bound(self, parts: Floats) -> float:
        """Below every division with these floors, if the loss is convex: the least of its tangent.

        Near the best division tangents may still be steep: so the highest of some, on the way there."""
        highest = -np.inf
        for _ in range(TANGENTS):
            loss, slope = self.loss(parts)
            highest = max(highest, loss + float(slope @ (self.floors - parts)) + self.spare * float(slope.min()))
            if self.pure or highest >= loss * (1 - TRIFLE):
                break
            parts = self.parts(np.maximum(parts - self.floors, LITTLE) * -slope)
        return highest

    def mostly_one(self) -> Floats:
        """Weights: half for the question that is best alone, half for all alike."""
        each = np.eye(len(self.floors))
        alone = min(each, key=lambda weights: self.loss(self.parts(weights))[0])
        return alone + 1 / len(each)

    def pushed(self, parts: Floats) -> Floats:
        """Without convexity: much more for one question, or nothing above its floor, and downhill again; if that is
        better, from there on. What is worst at first comes last."""
        loss, trials = self.loss(parts)[0], self.pushes(parts)
        for _ in range(TRIALS):
            if not trials:
                break
            new = self.search(trials.pop())
            less = self.loss(new)[0]
            if less < loss * (1 - 1e-5):
                parts, loss, trials = new, less, self.pushes(new)
        return parts

    def pushes(self, parts: Floats) -> list[Floats]:
        """Weights to try, the best at first sight last."""
        weights, each = (parts - self.floors) / self.spare, np.eye(len(parts))
        more = [(1 - part) * weights + part * one for part in PUSHES for one in each]
        none = [weights * (1 - one) for own, one in zip(weights, each) if 1 / PARTS < own < 1 - 1 / PARTS]
        return sorted(more + none, key=lambda trial: -self.loss(self.parts(trial))[0])

    def rounded(self, parts: Floats) -> Integers:
        """Down to whole thousandths, and those left over to where each helps most."""
        return self.filled(np.floor(parts + 1e-9).astype(np.int64), np.ones(len(parts), dtype=bool))

    def filled(self, whole: Integers, open_to: Any) -> Integers:
        """All thousandths given out, each to where it helps most."""
        whole = whole.copy()
        for _ in range(PARTS - int(whole.sum())):
            whole[np.where(open_to, self.loss(whole)[1], np.inf).argmin()] += 1
        return whole

    def improved(self, whole: Integers) -> Integers:
        """A thousandth moved from where it helps least to where it helps most, as long as that helps."""
        loss, slope = self.loss(whole)
        for _ in range(MOVES):
            moved = whole.copy()
            moved[np.where(whole > self.floors, slope, -np.inf).argmax()] -= 1
            moved[slope.argmin()] += 1
            less, slope = self.loss(moved)
            if less >= loss:
                break
            whole, loss = moved, less
        return whole

    def simpler(self, whole: Integers) -> Integers:
        """Without questions that nobody asked for where they are worth next to nothing, the smallest first."""
        most = self.loss(whole)[0] * (1 + TRIFLE)
        for i in np.argsort(whole, kind="stable"):
            if whole[i] and not self.floors[i]:
                others = whole > 0
                others[i] = False
                without = self.filled(np.where(others, whole, 0), others)
                whole = without if self.loss(without)[0] <= most else whole
        return whole
