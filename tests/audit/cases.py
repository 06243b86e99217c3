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


ONE = {"epsilon": 1}
RHO, RHO_OFF = {"rho": "1/2"}, {"rho": "0.845"}  # a scale of 1 claimed, and one of 1/1.3 used
DELTA = {"epsilon": 1, "delta": "1/100"}
MARGIN, TOTAL = {"keep": [f"margin:{MANY_TIMES}"]}, {"keep": ["total"]}
TWO_WAY = {"keep": ["margin:r", "margin:c"]}
L2, GAUSSIAN, NONNEGATIVE = {"law": "l2"}, {"law": "gaussian"}, {"nonnegative": True}


def _rows() -> list[Case]:
    """Row by row: every row is a draw."""
    found = []
    for name in ("geometric", "staircase", "uniform", "randomized-response", "explicit-fair", "exponential"):
        tight = name not in ("uniform", "exponential")  # the others need less than they are given
        options = ONE | _bounded(name)
        found += [Case(name, options, (low,), (high,), off=OFF if tight else None) for low, high in EDGES]
        found += [Case(f"{name}, two each", options, (1, 0), (2, 1), contributions=2)]
    signed, gaussian = ONE | {"mechanism": "signed-geometric"}, _bounded("discrete-gaussian")
    found += [Case("signed-geometric", signed, (low,), (high,), off=OFF) for low, high in EDGES]
    return [
        *found,
        Case("signed-geometric, two at once", signed, (1, 0), (3, 0), contributions=2, off=OFF),
        Case("discrete-gaussian, delta", DELTA | gaussian, (0,), (1,)),
        Case("discrete-gaussian, rho", RHO | gaussian, (2,), (3,), off=RHO_OFF),
        Case("discrete-gaussian, two each", RHO | gaussian, (1, 3), (2, 4), contributions=2),
        Case("discrete-gaussian, two at once", RHO | gaussian, (1, 3), (3, 3), contributions=2, off=RHO_OFF),
    ]


def _bounded(name: str) -> dict[str, Any]:
    return {"mechanism": name, "max_count": TOP}


def _sums() -> list[Case]:
    """Kept sums: a person is moved where a total is kept, and two change places where both margins are."""
    moved = {"one": (0, 1, 2), "other": (1, 0, 2), "keys": {"k": "abc"}}
    corner = {"one": (0, 0, 3), "other": (1, 0, 2), "keys": {"k": "abc"}}
    two = {"one": (0, 1, 2, 0), "other": (1, 0, 1, 1), "keys": {"k": "abcd"}, "contributions": 2}
    free = {"one": (0, 1, 2), "other": (0, 1, 3), "keys": {"k": "aab", "j": "xyx"}}
    swapped = {"one": (0, 1, 1, 0), "other": (1, 0, 0, 1), "keys": {"r": "aabb", "c": "xyxy"}}
    together = [
        Case("margin, l1", ONE | MARGIN, **moved, off=OFF),
        Case("margin, l1, per unit", {"epsilon": "1/2", "per_unit": True} | MARGIN, **moved),
        Case("margin, l1, non-negative", ONE | MARGIN | NONNEGATIVE, **moved),
        Case("margin, l1, non-negative, corner", ONE | MARGIN | NONNEGATIVE, **corner, off={"epsilon": "1.8"}),
        Case("margin, gaussian", RHO | MARGIN | GAUSSIAN, **moved, off=RHO_OFF),
        Case("margin, gaussian, delta", DELTA | MARGIN | GAUSSIAN, **moved),
        Case("margin, l1, two each", ONE | MARGIN, **two),
    ]
    apart = {
        "total, l1": (ONE | TOTAL, moved),
        "total, l2": (ONE | TOTAL | L2, moved),
        "total, gaussian": (RHO | TOTAL | GAUSSIAN, moved),
        "total, l1, non-negative": (ONE | TOTAL | NONNEGATIVE, corner),
        "total, l2, non-negative": (ONE | TOTAL | L2 | NONNEGATIVE, corner),
        "two margins, l1": (ONE | TWO_WAY, swapped),
        "two margins, l2": (ONE | TWO_WAY | L2, swapped),
        "two margins, gaussian": (RHO | TWO_WAY | GAUSSIAN, swapped),
        "two margins, l1, non-negative": (ONE | TWO_WAY | NONNEGATIVE, swapped),
        "a sum beside free rows": (ONE | {"keep": ["sum:k=a"]}, free),
    }
    slow = ("total, l2, non-negative", "two margins, l1, non-negative", "total, l1, non-negative")
    return [
        *together,
        *(Case(name, how, **pair, repeated=True, slow=name in slow) for name, (how, pair) in apart.items()),
    ]


def _distributions() -> list[Case]:
    """The distribution is kept: all rows of a release belong together."""
    pair, edge = ((0, 1, 3), (1, 1, 3)), ((2, 2, TOP - 1), (2, 2, TOP))
    plain = {"max_count": TOP, "refine": False}
    kept = {
        "transport": (ONE | plain, pair),
        "transport, edge": (ONE | plain, edge),
        "transport, refined": (ONE | {"max_count": TOP}, pair),
        "transport, no range": (ONE, pair),
        "transport, rho": (RHO | plain, pair),
        "transport, delta": (DELTA | plain | {"base": "gaussian"}, pair),
        "rank": (ONE | plain | {"mechanism": "rank"}, pair),
        **{name: (ONE | {"max_count": 2, "mechanism": name}, ((0, 1, 2), (1, 1, 2))) for name in CONSTRUCTED},
    }
    slow = ("transport, refined", "transport, no range")
    found = [
        Case(name, how, *tables, {"k": "abc"}, repeated=True, slow=name in slow) for name, (how, tables) in kept.items()
    ]
    two = Case("transport, two each", ONE | plain, (0, 1, 3), (1, 2, 3), {"k": "abc"}, 2, repeated=True)
    return [*found, two, Case("transport, too loud", ONE | plain, *pair, {"k": "abc"}, repeated=True, off=OFF)]


CASES = [*_rows(), *_sums(), *_distributions()]
