"""Every mechanism and every way, on neighbours where a mistake would show: at zero, inside, at the largest count."""

from __future__ import annotations

from fractions import Fraction
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
# Conditioned noise is calibrated for the worst table there can be: nearly met by a small epsilon and many people in one
# row. There the margin is thin, 0.33 where 0.3 is claimed; the event, all of them still there, has a chance of 0.18.
LITTLE, LITTLE_OFF, VERY_MANY = {"epsilon": "0.3"}, {"epsilon": "0.39"}, 1_600_000
OWN = ((Fraction(73, 100), Fraction(27, 100)), (Fraction(27, 100), Fraction(73, 100)))  # odds of 2.70, below e
OWN_OFF = ((Fraction(78, 100), Fraction(22, 100)), (Fraction(22, 100), Fraction(78, 100)))  # of 3.55, below e^1.3
L2, GAUSSIAN = {"law": "l2"}, {"law": "gaussian"}
ORDERED = {"inequalities": "order:k=a,b"}
NONNEGATIVE, PROJECTED = {"nonnegative": "condition"}, {"nonnegative": "project"}


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
        Case("own", ONE | {"mechanism": OWN}, (0,), (1,), off={"epsilon": "1.3", "mechanism": OWN_OFF}),
        Case("signed-geometric, two at once", signed, (1, 0), (3, 0), contributions=2, off=OFF),
        Case("discrete-gaussian, delta", DELTA | gaussian, (0,), (1,)),
        Case("discrete-gaussian, rho", RHO | gaussian, (2,), (3,), off=RHO_OFF, enough=100_000),
        Case("discrete-gaussian, two each", RHO | gaussian, (1, 3), (2, 4), contributions=2),
        Case(
            "discrete-gaussian, two at once",
            RHO | gaussian,
            (1, 3),
            (3, 3),
            contributions=2,
            off=RHO_OFF,
            enough=100_000,
        ),
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
    ordered = {"one": (0, 3), "other": (1, 3), "keys": {"k": "ab"}}
    crowd = {"one": (30, 0), "other": (29, 1), "keys": {"k": "ab"}}
    crowds = {"one": (20, 0, 0, 20), "other": (19, 1, 1, 19), "keys": {"r": "aabb", "c": "xyxy"}}
    thin = {"off": LITTLE_OFF, "enough": VERY_MANY, "rare": True}
    half = {"epsilon": "1/2", "per_unit": True}
    together = [
        Case("margin, l1", ONE | MARGIN, **moved, off=OFF),
        Case("margin, l1, per unit", half | MARGIN, **moved, off={"epsilon": "0.65"}),
        Case("margin, l1, non-negative", ONE | MARGIN | NONNEGATIVE, **moved),
        Case("margin, l1, non-negative, corner", ONE | MARGIN | NONNEGATIVE, **corner),
        Case("margin, l1, projected", ONE | MARGIN | PROJECTED, **corner),
        Case("margin, gaussian, projected", RHO | MARGIN | GAUSSIAN | PROJECTED, **corner),
        Case("margin, gaussian", RHO | MARGIN | GAUSSIAN, **moved, off=RHO_OFF, enough=100_000),
        Case("margin, gaussian, delta", DELTA | MARGIN | GAUSSIAN, **moved),
        Case("margin, l1, two each", ONE | MARGIN, **two, off=OFF),
    ]
    loud, louder = {"off": OFF}, {"off": RHO_OFF, "enough": 200_000}
    apart = [
        ("total, l1", ONE | TOTAL, moved | loud),
        ("total, l2", ONE | TOTAL | L2, moved | loud | {"enough": 30_000, "rare": True}),
        ("total, gaussian", RHO | TOTAL | GAUSSIAN, moved | louder),
        ("total, l1, non-negative", ONE | TOTAL | NONNEGATIVE, corner),
        ("total, l1, non-negative, crowd", LITTLE | TOTAL | NONNEGATIVE, crowd | thin),
        ("total, l2, non-negative", ONE | TOTAL | L2 | NONNEGATIVE, corner | {"slow": True}),
        ("two margins, l1", ONE | TWO_WAY, swapped | loud),
        ("two margins, l2", ONE | TWO_WAY | L2, swapped | loud | {"enough": 30_000, "rare": True}),
        ("two margins, gaussian", RHO | TWO_WAY | GAUSSIAN, swapped | louder),
        ("two margins, l1, non-negative", ONE | TWO_WAY | NONNEGATIVE, swapped),
        ("two margins, l1, non-negative, crowd", LITTLE | TWO_WAY | NONNEGATIVE, crowds | thin),
        ("a sum beside free rows", ONE | {"keep": ["sum:k=a"]}, free),
        ("inequalities", ONE | ORDERED, ordered),
        ("inequalities, total kept", ONE | ORDERED | TOTAL, ordered | {"other": (1, 2)}),
        ("a sum beside free rows", ONE | {"keep": ["sum:k=a"]}, free | {"other": (1, 0, 2)} | loud),
    ]
    return [*together, *(Case(name, how, **pair, repeated=True) for name, how, pair in apart)]


def _distributions() -> list[Case]:
    """The distribution is kept: all rows of a release belong together."""
    pair, edge = ((0, 1, 3), (1, 1, 3)), ((2, 2, TOP - 1), (2, 2, TOP))
    plain = {"max_count": TOP, "refine": False}
    kept = {
        "transport": (ONE | plain, pair),
        "transport, edge": (ONE | plain, edge),
        "transport, refined": (ONE | {"max_count": TOP}, pair),
        "transport, no range": (ONE, pair),
        "transport, own borders": (ONE | {"refine": False, "split": "1/2"}, pair),
        "transport, signed": (ONE | {"signed": True}, pair),
        "transport, top-coded": (ONE | plain | {"top_code": True}, edge),
        "transport, rho": (RHO | plain, pair),
        "transport, delta": (DELTA | plain | {"base": "gaussian"}, pair),
        "rank": (ONE | plain | {"mechanism": "rank"}, pair),
        **{name: (ONE | {"max_count": 2, "mechanism": name}, ((0, 1, 2), (1, 1, 2))) for name in CONSTRUCTED},
    }
    slow = ("transport, refined", "transport, no range")
    loud = {"transport": OFF, "transport, edge": OFF}
    found = [
        Case(name, how, *tables, {"k": "abc"}, repeated=True, slow=name in slow, off=loud.get(name), enough=30_000)
        for name, (how, tables) in kept.items()
    ]
    return [*found, Case("transport, two each", ONE | plain, (0, 1, 3), (1, 2, 3), {"k": "abc"}, 2, repeated=True)]


def _margins() -> list[Case]:
    """Margins are measured: every question tells of the same person."""
    square = {"keys": {"r": "aabb", "c": "xyxy"}}
    added = square | {"one": (0, 1, 1, 0), "other": (1, 1, 1, 0)}
    moved = square | {"one": (1, 0, 1, 0), "other": (0, 1, 1, 0)}
    swapped = square | {"one": (0, 1, 1, 0), "other": (1, 0, 0, 1)}
    nested = {"keys": {"s": "aab", "t": "xyz"}, "one": (0, 1, 1), "other": (0, 2, 1)}  # rows are missing
    three, levels = {"measure": ["total", "margin:r", "cells"]}, {"measure": "auto", "levels": "s,t"}
    two_margins = {"measure": ["margin:r,c"], **TWO_WAY}
    return [
        Case("measure", ONE | three, **added, repeated=True, off=OFF),
        Case("measure, total kept", ONE | three | TOTAL, **moved, repeated=True, off=OFF),
        Case("measure, both margins kept", ONE | two_margins, **swapped, repeated=True, off=OFF),
        Case("measure, levels", ONE | levels, **nested, repeated=True, slow=True, off=OFF),
        Case("measure, rho", RHO | three, **added, repeated=True, off=RHO_OFF),
        Case("measure, delta", DELTA | three, **added, repeated=True),
        Case("measure, two each", ONE | three, **added | {"other": (1, 2, 1, 0)}, contributions=2, repeated=True),
    ]


def _noise_with_a_largest_error() -> list[Case]:
    """Bounded noise: near zero, where rows of their own begin and end, and far from it; several at once."""
    noise = ONE | {"mechanism": "bounded", "truth": "1/3", "support": 3}
    found = [Case("bounded", noise, (low,), (high,), off=OFF) for low, high in ((0, 1), (2, 3), (9, 10))]
    for small in ("unbiased", "both"):
        edge = noise | {"small_counts": small}
        found += [Case(f"bounded, {small}", edge, (low,), (low + 1,)) for low in (0, 1, 2, 6)]
    lifted = noise | {"min_count": 2, "max_count": 9}
    several = {**noise, "epsilon": 2, "support": 5}
    return [
        *found,
        Case("bounded, smallest and largest count", lifted, (1,), (2,)),
        Case("bounded, smallest and largest count", lifted, (8,), (9,), off=OFF),
        Case("bounded, two at once", several, (4, 1), (6, 1), contributions=2, off={"epsilon": "2.6"}),
        Case("bounded, two each", several, (4, 1), (5, 2), contributions=2),
    ]


def _sizes() -> list[Case]:
    """Groups of their own sizes, on the edge of each."""
    found = []
    for name in ("geometric", "explicit-fair", "randomized-response"):
        asked = ONE | {"mechanism": name, "max_count": "size"}
        found += [
            Case(f"{name} by size", asked, one, other, {"size": "42"}, off=OFF)
            for one, other in (((3, 1), (4, 1)), ((0, 1), (0, 2)))
        ]
    return found


CASES = [*_rows(), *_noise_with_a_largest_error(), *_sizes(), *_sums(), *_distributions(), *_margins()]
