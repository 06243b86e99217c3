"""Every mechanism and every way, on neighbours where a mistake would show: at zero, inside, at the largest count."""

from __future__ import annotations

from typing import Any

from .simulate import MANY_TIMES, Case

TOP = 4
EDGES = [(0, 1), (2, 3), (TOP - 1, TOP)]
CONSTRUCTED = (
    "unfixed", "heuristic-max", "heuristic-min", "heuristic-sandwich", "heuristic-best", "fixed-point-simplex",
    "fixed-point-interior", "column-generation",
)  # fmt: skip
OFF = {"epsilon": "1.3"}  # claimed as 1
COPY = f"margin:{MANY_TIMES}"


def _rows() -> list[Case]:
    """Row by row: every row is a draw."""
    bounded = ("geometric", "staircase", "uniform", "randomized-response", "explicit-fair", "exponential")
    tight = ("geometric", "staircase", "randomized-response", "explicit-fair")
    found = [
        Case(
            name,
            {"epsilon": 1, "mechanism": name, "max_count": TOP},
            (low,),
            (high,),
            off=OFF if name in tight else None,
        )
        for name in bounded
        for low, high in EDGES
    ]
    signed: dict[str, Any] = {"epsilon": 1, "mechanism": "signed-geometric"}
    found += [Case("signed-geometric", signed, (low,), (high,), off=OFF) for low, high in EDGES]
    gaussian: dict[str, Any] = {"mechanism": "discrete-gaussian", "max_count": TOP}
    return [
        *found,
        Case("discrete-gaussian, delta", {**gaussian, "epsilon": 1, "delta": "1/100"}, (0,), (1,)),
        Case("discrete-gaussian, rho", {**gaussian, "rho": "1/2"}, (2,), (3,), off={"rho": "0.845"}),
        Case("discrete-gaussian, two each", {**gaussian, "rho": "1/2"}, (1, 3), (2, 4), contributions=2, off={"rho": "0.845"}),
        Case("geometric, two each", {"epsilon": 1, "mechanism": "geometric", "max_count": TOP}, (1, 0), (2, 1), contributions=2, off=OFF),
        Case("signed-geometric, two each", signed, (1, 0), (3, 0), contributions=2, off=OFF),
        Case("explicit-fair, two each", {"epsilon": 1, "mechanism": "explicit-fair", "max_count": TOP}, (1, 0), (2, 1), contributions=2),
    ]  # fmt: skip


def _sums() -> list[Case]:
    """Kept sums: a person is moved where a total is kept, and two change places where both margins are."""
    moved = ((0, 1, 2), (1, 0, 2))
    corner = ((0, 0, 3), (1, 0, 2))
    letters = {"k": "abc"}
    square = {"r": "aabb", "c": "xyxy"}
    swapped = ((0, 1, 1, 0), (1, 0, 0, 1))
    both = ["margin:r", "margin:c"]
    return [
        Case("margin, l1", {"epsilon": 1, "keep": [COPY]}, *moved, letters, off=OFF),
        Case("margin, l1, per unit", {"epsilon": "1/2", "keep": [COPY], "per_unit": True}, (1,), (1,), {"k": "a"}),
        Case("margin, l1, non-negative", {"epsilon": 1, "keep": [COPY], "nonnegative": True}, *moved, letters, off={"epsilon": "1.6"}),
        Case("margin, l1, non-negative, corner", {"epsilon": 1, "keep": [COPY], "nonnegative": True}, *corner, letters),
        Case("margin, gaussian", {"rho": "1/2", "keep": [COPY], "law": "gaussian"}, *moved, letters, off={"rho": "0.845"}),
        Case("margin, gaussian, delta", {"epsilon": 1, "delta": "1/100", "keep": [COPY], "law": "gaussian"}, *moved, letters),
        Case("margin, l1, two each", {"epsilon": 1, "keep": [COPY]}, (0, 1, 2, 0), (1, 0, 1, 1), {"k": "abcd"}, contributions=2),
        Case("total, l1", {"epsilon": 1, "keep": ["total"]}, *moved, letters, repeated=True),
        Case("total, l2", {"epsilon": 1, "keep": ["total"], "law": "l2"}, *moved, letters, repeated=True),
        Case("total, gaussian", {"rho": "1/2", "keep": ["total"], "law": "gaussian"}, *moved, letters, repeated=True),
        Case("total, l1, non-negative", {"epsilon": 1, "keep": ["total"], "nonnegative": True}, *corner, letters, repeated=True),
        Case("total, l2, non-negative", {"epsilon": 1, "keep": ["total"], "law": "l2", "nonnegative": True}, *corner, letters, repeated=True),
        Case("two margins, l1", {"epsilon": 1, "keep": both}, *swapped, square, repeated=True),
        Case("two margins, l2", {"epsilon": 1, "keep": both, "law": "l2"}, *swapped, square, repeated=True),
        Case("two margins, gaussian", {"rho": "1/2", "keep": both, "law": "gaussian"}, *swapped, square, repeated=True),
        Case("two margins, l1, non-negative", {"epsilon": 1, "keep": both, "nonnegative": True}, *swapped, square, repeated=True),
        Case("a sum beside free rows", {"epsilon": 1, "keep": ["sum:k=a"]}, (0, 1, 2), (0, 1, 3), {"k": "aab", "j": "xyx"}, repeated=True),
    ]  # fmt: skip


def _distributions() -> list[Case]:
    """The distribution is kept: all rows of a release belong together."""
    pair = ((0, 1, 3), (1, 1, 3))
    edge = ((2, 2, TOP - 1), (2, 2, TOP))
    plain: dict[str, Any] = {"epsilon": 1, "max_count": TOP, "refine": False}
    letters = {"k": "abc"}
    return [
        Case("transport", plain, *pair, letters, repeated=True, off=OFF),
        Case("transport, edge", plain, *edge, letters, repeated=True),
        Case("transport, refined", {"epsilon": 1, "max_count": TOP}, *pair, letters, repeated=True),
        Case("transport, no range", {"epsilon": 1}, *pair, letters, repeated=True),
        Case("transport, rho", {"rho": "1/2", "max_count": TOP, "refine": False}, *pair, letters, repeated=True),
        Case("transport, delta", {"epsilon": 1, "delta": "1/100", "base": "gaussian", "max_count": TOP, "refine": False}, *pair, letters, repeated=True),
        Case("transport, two each", plain, (0, 1, 3), (1, 2, 3), letters, contributions=2, repeated=True),
        Case("rank", {**plain, "mechanism": "rank"}, *pair, letters, repeated=True),
        *(Case(name, {"epsilon": 1, "max_count": 2, "mechanism": name}, (0, 1, 2), (1, 1, 2), letters, repeated=True) for name in CONSTRUCTED),
    ]  # fmt: skip


CASES = [*_rows(), *_sums(), *_distributions()]
