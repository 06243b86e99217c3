"""A mechanism of the user's own: a design, a mechanism, or any matrix of probabilities."""

from __future__ import annotations

from math import lcm
from typing import Any

from discreet.certify.rows import exact_rows
from discreet.errors import BadInput
from discreet.mechanism import LARGEST_WRITTEN, LONGEST_WEIGHT, Exponents, Form, Mechanism, NoiseThenMap, Weights
from discreet.ways.row_by_row.facts import OWN


def own_mechanism(given: Any) -> Mechanism:
    """What was given, as a mechanism that can be certified, published and sampled as it is."""
    if isinstance(given, str):
        from discreet.io.files import read_matrix

        given = read_matrix(given)
    mechanism = getattr(given, "mechanism", given)
    form = mechanism.form if isinstance(mechanism, Mechanism) else weights_of(mechanism)
    if isinstance(form, NoiseThenMap):
        if not form.noise.rational:
            raise BadInput(
                "a mechanism of your own was given", "its noise is Gaussian", "Ask for it by name, with its delta"
            )
        form = mechanism.weights
    rows, columns = form.shape
    if rows > columns or rows < 2 or getattr(given, "first", 0):
        raise BadInput(
            "a mechanism of your own was given",
            f"it has {rows} inputs and {columns} outputs",
            "A table needs two inputs at least, from 0 on, and no fewer outputs",
        )
    assert isinstance(form, (Weights, Exponents))
    refuse_unwritable(
        form, "a mechanism of your own was given", "Give whole weights with one common row sum, or fewer counts"
    )
    return Mechanism(OWN, form)


def refuse_unwritable(form: Form, asked: str, do: str) -> None:
    """What a record cannot hold is refused before it is paid for: `verify` would not read it."""
    if isinstance(form, Weights) and not form.can_be_written:
        limit = f"{LARGEST_WRITTEN >> 20} MiB or {LONGEST_WEIGHT:,} digits"
        raise BadInput(asked, f"written exactly, its {len(form.rows)} rows take more than {limit}", do)


def weights_of(matrix: Any) -> Weights:
    """Any matrix whose rows sum to one within 1e-9, normalised as rationals, with one common row sum."""
    exact = exact_rows(matrix)
    total = lcm(*exact.sums)
    pairs = zip(exact.rows, exact.sums)
    return Weights(tuple(tuple(entry * (total // own) for entry in row) for row, own in pairs), total)
