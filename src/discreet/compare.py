"""Named mechanisms side by side: what they cost, which properties they have, how their errors are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.numbers import Epsilon, Number, whole
from discreet.options import spelt
from discreet.privacy import Loss, loss_of, pure_only

if TYPE_CHECKING:
    from discreet.build.design import Design

EXPLICIT = ("geometric", "explicit-fair", "exponential", "staircase", "randomized-response", "uniform")
WEAKLY_HONEST = ("weakly-honest", "row-monotone", "column-monotone")
LARGEST = 100  # max_count up to which the one mechanism that needs a linear program is compared too
PRETTY = {"wrong": "wrong", "absolute": "mean |error|", "squared": "mean error²"}


@dataclass(frozen=True, eq=False)
class Compared:
    """One mechanism of the comparison."""

    name: str
    design: Design

    @property
    def cost(self) -> dict[str, float]:
        return self.design.cost

    @property
    def properties(self) -> dict[str, bool]:
        return self.design.properties

    def error_law(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Errors -m..m and their probabilities when true counts follow the prior."""
        matrix = self.design.mechanism.matrix()
        shares = np.array([float(share) for share in self.design.prior])
        last = len(matrix) - 1
        errors = np.arange(-last, last + 1)
        law = np.array([(shares[:, None] * matrix).trace(error) for error in errors])
        return errors, law

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "cost": self.cost, "properties": self.properties}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` returns."""

    max_count: int
    epsilon: Epsilon
    mechanisms: tuple[Compared, ...]

    def as_json(self) -> dict[str, object]:
        return {
            "max_count": self.max_count,
            "epsilon": str(self.epsilon),
            "mechanisms": [compared.as_json() for compared in self.mechanisms],
        }

    def table(self) -> list[str]:
        """Lines of text: a row for each mechanism."""
        aliases = {"RH": "row-honest", "RM": "row-monotone", "CH": "column-honest", "CM": "column-monotone"}
        aliases |= {"F": "fair", "WH": "weakly-honest", "S": "symmetric"}
        head = f"{'mechanism':<20}" + "".join(f"{PRETTY[cost]:>14}" for cost in PRETTY) + "   " + " ".join(aliases)
        lines = [head]
        for compared in self.mechanisms:
            costs = "".join(f"{compared.cost[cost]:>14.4f}" for cost in PRETTY)
            marks = " ".join(("y" if compared.properties[a] else "-").ljust(len(s)) for s, a in aliases.items())
            lines.append(f"{compared.name:<20}{costs}   {marks}".rstrip())
        return lines

    def plot(self, path: str) -> None:
        """Heat maps above, error histograms below."""
        from discreet import plot

        plot.check_suffix(path)
        drawing, axes = plot.figure(2, len(self.mechanisms), width=3.1, height=2.7)
        largest = max(float(compared.design.mechanism.matrix().max()) for compared in self.mechanisms)
        for compared, (above, below) in zip(self.mechanisms, axes.T):
            cost = f"wrong {compared.cost['wrong']:.3f}, |error| {compared.cost['absolute']:.2f}"
            plot.heat_map(compared.design.mechanism.matrix(), above, f"{compared.name}\n{cost}", largest)
            plot.histogram(*compared.error_law(), below)
        plot.save(drawing, path)


@spelt
def compare(
    max_count: int,
    epsilon: Number | Epsilon | Loss | None = None,
    alpha: Number | None = None,
    prior: Any = None,
    *,
    delta: Number = 0,
    rho: Number | None = None,
) -> Comparison:
    """The explicit mechanisms, and between them the best one that is weakly honest and monotone both ways."""
    from discreet.build.design import design
    from discreet.build.explicit import pure_names

    loss = pure_only(loss_of(epsilon, alpha=alpha, delta=delta, rho=rho), "a comparison")
    last, allowed = whole(max_count, "max_count", 1), loss.epsilon
    names = dict.fromkeys((*EXPLICIT, *pure_names()))
    rows = [Compared(name, design(last, allowed, prior=prior, mechanism=name)) for name in names]
    if last <= LARGEST:
        honest = design(last, allowed, require=WEAKLY_HONEST)
        rows.insert(1, Compared("weakly-honest", honest.under(prior)))
    return Comparison(last, allowed, tuple(rows))
