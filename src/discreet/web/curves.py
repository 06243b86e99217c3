"""Errors against epsilon for one shape of the counts, and the epsilon for an error that can be accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import asinh, ceil, exp, expm1, floor, isfinite, log, log10

from discreet.errors import BadInput

LEAST, MOST = "0.01", "10"  # beyond, nothing is promised, or nothing is protected
EPSILONS = ("0.1", "0.3", "1", "3")  # of the picture; the one that is asked for comes to these
STEPS = ("0.03", LEAST)  # below them, where they are asked for: the smaller, the longer it takes to simulate
TRIES = 6  # epsilons to simulate between two others
NEAR = 0.9  # of the error that can be accepted: an error so near to it needs no better epsilon


@dataclass(frozen=True)
class ErrorsAt:
    """The errors to expect at one epsilon."""

    epsilon: str
    count_error: float
    distribution_error: float

    @property
    def size(self) -> float:
        return size(self.epsilon)


@dataclass(frozen=True)
class Suggestion:
    """The least epsilon that was found at which a count is off by no more than was said; None: there is none."""

    accepted: str
    epsilon: str | None
    at: ErrorsAt  # what was simulated there; where there is none, at the largest


Curve = tuple[ErrorsAt, ...]  # by epsilon
Simulate = Callable[[str], ErrorsAt]


def size(epsilon: str) -> float:
    from discreet.numbers import epsilon_of

    return float(epsilon_of(epsilon))


def in_order(points: Iterable[ErrorsAt]) -> Curve:
    return tuple(sorted({one.epsilon: one for one in points}.values(), key=lambda one: one.size))


def error_of(accepted: str) -> float:
    """What somebody can accept, as a number."""
    try:
        error = float(accepted.strip().replace(",", "."))
    except ValueError:
        error = 0.0
    if not (isfinite(error) and error > 0):
        raise BadInput("an error that can be accepted was given", "it is not a number above 0", "Write it as 0.5, or 3")
    return error


def suggestion(curve: Curve, accepted: str, simulate: Simulate) -> tuple[Suggestion, Curve]:
    """An epsilon at which the error was simulated and is no larger, and the curve with all that was simulated."""
    error = error_of(accepted)
    for epsilon in STEPS:
        if any(one.count_error > error for one in curve):
            break
        curve = in_order([*curve, simulate(epsilon)])
    if curve[-1].count_error > error and curve[-1].size < size(MOST):
        curve = in_order([*curve, simulate(MOST)])
    for _ in range(TRIES):
        enough = _enough(curve, error)
        below = [one for one in curve if enough is not None and one.size < enough.size]
        if enough is None or not below or enough.count_error >= NEAR * error:
            break
        between = _between(below[-1], enough, error)
        if between in (below[-1].epsilon, enough.epsilon):
            break
        curve = in_order([*curve, simulate(between)])
    enough = _enough(curve, error)
    return Suggestion(accepted, None if enough is None else enough.epsilon, enough or curve[-1]), curve


def _enough(curve: Curve, error: float) -> ErrorsAt | None:
    """The least epsilon from which on all errors are small enough."""
    found = None
    for one in reversed(curve):
        if one.count_error > error:
            return found
        found = one
    return found


def _between(below: ErrorsAt, above: ErrorsAt, error: float) -> str:
    """Read off a line between the two, and rounded up to two digits. Geometric noise errs by 1 / sinh(epsilon): on that
    scale its logarithm is a line."""
    rise = (log(error) - log(below.count_error)) / (log(above.count_error) - log(below.count_error))
    found = _back(_scale(below.size) + rise * (_scale(above.size) - _scale(below.size)))
    unit = 10.0 ** (floor(log10(found)) - 1)
    return f"{ceil(found / unit - 1e-9) * unit:.6g}"


def _scale(epsilon: float) -> float:
    """log sinh, also where sinh is beyond all floats."""
    return epsilon + log(-expm1(-2 * epsilon)) - log(2)


def _back(scaled: float) -> float:
    """Its inverse, within what floats hold: nobody asks for an epsilon beyond 700."""
    return asinh(exp(min(scaled, 700)))
