"""Named mechanisms side by side: what they cost, which properties they have, how their errors are spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.numbers import Epsilon, Number, whole
from discreet.options import spelt
from discreet.privacy import Loss, loss_of, pure_only
from discreet.shown import Shown

if TYPE_CHECKING:
    from discreet.build.design import Design

EXPLICIT = ("geometric", "explicit-fair", "exponential", "staircase", "randomized-response", "uniform")
WEAKLY_HONEST = ("weakly-honest", "row-monotone", "column-monotone")
LARGEST = 100  # max_count up to which the one mechanism that needs a linear program is compared too
ALIASES = {
    "RH": "row-honest", "RM": "row-monotone", "CH": "column-honest", "CM": "column-monotone", "F": "fair",
    "WH": "weakly-honest", "S": "symmetric",
}  # fmt: skip
SEEN = 0.002  # the least probability that shows as a bar
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
        return self.design.error_law()

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "cost": self.cost, "properties": self.properties}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
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
        head = f"{'mechanism':<20}" + "".join(f"{PRETTY[cost]:>14}" for cost in PRETTY) + "   " + " ".join(ALIASES)
        lines = [head]
        for compared in self.mechanisms:
            costs = "".join(f"{compared.cost[cost]:>14.4f}" for cost in PRETTY)
            marks = " ".join(("y" if compared.properties[a] else "-").ljust(len(s)) for s, a in ALIASES.items())
            lines.append(f"{compared.name:<20}{costs}   {marks}".rstrip())
        return lines

    def grid(self) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Heads and rows of text: costs, and which properties hold."""
        rows = []
        for compared in self.mechanisms:
            held = (name for name, holds in compared.properties.items() if holds)
            rows.append((compared.name, *(f"{compared.cost[cost]:.4g}" for cost in PRETTY), ", ".join(held) or "none"))
        return ("mechanism", *PRETTY.values(), "properties"), tuple(rows)

    def plot(self, path: str) -> None:
        """Heat maps above, error histograms below, to a PNG, SVG or PDF file."""
        from discreet import plot

        plot.check_suffix(path)
        plot.save(self.drawing(), path)

    def drawing(self) -> Any:
        """All on one scale: one bar of colours for the heat maps, one pair of axes for the histograms."""
        from discreet import plot

        drawing, axes = plot.figure(2, len(self.mechanisms), width=2.1, height=2.3)
        largest = max(float(compared.design.mechanism.matrix().max()) for compared in self.mechanisms)
        laws = [compared.error_law() for compared in self.mechanisms]
        farthest = max(int(np.abs(errors[law >= SEEN]).max()) for errors, law in laws)
        highest = max(float(law.max()) for _, law in laws)
        for place, (compared, law) in enumerate(zip(self.mechanisms, laws)):
            above, below = axes[:, place]
            cost = f"wrong {compared.cost['wrong']:.3f}, |error| {compared.cost['absolute']:.2f}"
            plot.heat_map(compared.design.mechanism.matrix(), above, "", largest, bar=False)
            above.set_title(f"{compared.name}\n{cost}", fontsize=8)
            plot.histogram(*law, below)
            below.set_xlim(-farthest - 0.6, farthest + 0.6)
            below.set_ylim(0, 1.05 * highest)
            for ax in (above, below) if place else ():
                ax.set_ylabel("")
                ax.tick_params(labelleft=False)
        plot.colour_bar(drawing, axes[0])
        return drawing


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
