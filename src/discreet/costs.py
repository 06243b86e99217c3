"""What a wrong answer costs: named costs, and matrices of one's own. costs[i, j]: the truth is i, j is published."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput, did_you_mean, short
from discreet.numbers import exact

NAMES = ("wrong", "absolute", "squared", "ranges", "beyond:D", "lopsided:A,B")


def cost_matrix(cost: str | Any, inputs: int, outputs: int | None = None) -> Floats:
    """The matrix of a cost by name (`wrong`, `absolute`, `squared`, `ranges`, `beyond:D`, `lopsided:A,B`) or as given.

    `ranges` is the share of all ranges from a to b that hold one of the two counts and not the other: how often a
    question "how many rows have counts from a to b" is answered wrongly for the row.
    `beyond:D` costs 1 when the error exceeds D; `lopsided:A,B` costs A for each unit too many and B for each too few.
    """
    shape = (inputs, inputs if outputs is None else outputs)
    if not isinstance(cost, str):
        return _own_matrix(cost, shape)
    error: Integers = np.arange(shape[1])[None, :] - np.arange(shape[0])[:, None]
    name, _, values = cost.partition(":")
    if name == "wrong" and not values:
        wrong: Floats = (error != 0).astype(float)
        return wrong
    if name == "absolute" and not values:
        return np.abs(error).astype(float)
    if name == "squared" and not values:
        return error.astype(float) ** 2
    if name == "ranges" and not values:
        size, apart = max(shape), np.abs(error)
        parted: Floats = apart * (size + 1 - apart) / (size * (size + 1) / 2)
        return parted
    if name == "beyond":
        return (np.abs(error) > _numbers(cost, values, 1)[0]).astype(float)
    if name == "lopsided":
        over, under = _numbers(cost, values, 2)
        return np.where(error > 0, over * error, -under * error)
    raise BadInput(f"the cost {cost!r} was asked for", "there is no cost of that name", did_you_mean(name, NAMES))


def _numbers(cost: str, values: str, wanted: int) -> list[float]:
    parts = values.split(",") if values else []
    if len(parts) != wanted:
        raise BadInput(f"the cost {cost!r} was asked for", f"it takes {wanted} number(s) after the colon")
    numbers = [exact(part.strip(), f"the cost {cost!r}") for part in parts]
    if any(number < 0 for number in numbers):
        raise BadInput(f"the cost {cost!r} was asked for", "its numbers must not be negative")
    return [float(number) for number in numbers]


def _own_matrix(cost: Any, shape: tuple[int, int]) -> Floats:
    matrix = floats_of(cost, "a cost matrix")
    if matrix.shape != shape or not np.isfinite(matrix).all():
        raise BadInput(
            f"a cost matrix of shape {matrix.shape} was given",
            f"{shape[0]} rows and {shape[1]} columns of finite numbers are needed",
        )
    return matrix


def floats_of(values: Any, what: str) -> Floats:
    """Numbers as an array, or BadInput."""
    try:
        found: Floats = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(f"{what} was given", f"{short(values)} is not a list of numbers", "Give numbers") from error
    return found


def prior_of(prior: Any, size: int, what: str = "the prior") -> Floats:
    """A probability vector of the right length; uniform when none is given."""
    if prior is None:
        return np.full(size, 1 / size)
    vector = floats_of(prior, what)
    if vector.shape != (size,):
        raise BadInput(f"{what} was given", f"it has shape {vector.shape}, {size} numbers are needed")
    if not np.isfinite(vector).all() or (vector < 0).any():
        raise BadInput(f"{what} was given", "it holds a negative or non-finite number")
    if abs(vector.sum() - 1) > 1e-9:
        raise BadInput(f"{what} was given", f"it sums to {vector.sum():.12g}, not to 1")
    return vector / float(vector.sum())
