"""What a release promises: to whom, how much, and how firmly it is known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from discreet.numbers import Epsilon, decimal_above, epsilon_of, text
from discreet.privacy.convert import (
    SMALLEST_DELTA,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_variance,
    require_delta,
    rho_for,
    zcdp_epsilon,
)

Grade = Literal["exact", "enclosed", "diagnosed", "refuted"]
GRADES = ("exact", "enclosed", "diagnosed")  # of a guarantee that may be published
ONE_PERSON = "one person more or less in one row"


def unit_of(contributions: int) -> str:
    """Who the neighbours are when nothing is kept."""
    if contributions == 1:
        return ONE_PERSON
    return f"one person more or less, who is counted up to {contributions} times"


@dataclass(frozen=True)
class Guarantee:
    """A promise of differential privacy. Exactly one of `epsilon` (with `delta`) and `rho` was asked for."""

    epsilon: Epsilon | None = None
    delta: Fraction = Fraction(0)
    rho: Fraction | None = None
    unit: str = ONE_PERSON
    grade: Grade = "exact"
    private: bool = True
    remarks: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        if self.rho is not None:
            return "concentrated"
        return "approximate" if self.delta else "pure"

    @property
    def sentence(self) -> str:
        """The promise in one sentence, for people."""
        if not self.private:
            return "NOT PRIVATE: the noise came from a seed, for a test or a simulation."
        return " ".join([self._core(), *self.remarks])

    def _core(self) -> str:
        neighbours = f"Any two tables that differ by {self.unit}"
        if self.rho is not None:
            return f"{neighbours} are protected with zero-concentrated differential privacy, rho = {text(self.rho)}."
        assert self.epsilon is not None
        factor = decimal_above(self.epsilon.bounds()[1], 4)
        most = f"lead to any published table with probabilities that differ by a factor of {factor} at most"
        if self.delta:
            most += f", except with probability {decimal_above(self.delta, 15)}"
        return f"{neighbours} {most} (epsilon = {self.epsilon}{f', delta = {text(self.delta)}' if self.delta else ''})."

    def as_json(self) -> dict[str, Any]:
        return {
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "alpha": None if self.epsilon is None or self.epsilon.ratio is None else text(1 / self.epsilon.ratio),
            "delta": text(self.delta),
            "rho": None if self.rho is None else text(self.rho),
            "kind": self.kind,
            "unit": self.unit,
            "grade": self.grade,
            "remarks": list(self.remarks),
            "sentence": self.sentence,
        }

    @classmethod
    def of_json(cls, value: dict[str, Any], private: bool) -> Guarantee:
        """The promise that release.json states in numbers."""
        epsilon = None
        if value["epsilon"] is not None:
            epsilon = epsilon_of(alpha=value["alpha"]) if value["alpha"] else epsilon_of(value["epsilon"])
        rho = None if value["rho"] is None else Fraction(value["rho"])
        remarks = tuple(value["remarks"])
        return cls(epsilon, Fraction(value["delta"]), rho, value["unit"], value["grade"], private, remarks)

    def __repr__(self) -> str:
        return f"<Guarantee {self.kind}, {self.grade}: {self.sentence}>"


__all__ = ["GRADES", "ONE_PERSON", "SMALLEST_DELTA", "Grade", "Guarantee", "gaussian_delta", "gaussian_epsilon", "gaussian_variance", "require_delta", "rho_for", "unit_of", "zcdp_epsilon"]  # fmt: skip
