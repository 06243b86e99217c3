"""A mechanism of the user's own: a design, a mechanism, or any matrix of probabilities."""

from __future__ import annotations

from typing import Any

from discreet.certify.rows import weights_of
from discreet.errors import BadInput
from discreet.mechanism import LARGEST_WRITTEN, LONGEST_WEIGHT, Continued, Form, Mechanism, NoiseThenMap, Weights
from discreet.ways.row_by_row.facts import OWN


def own_mechanism(given: Any) -> Mechanism:
    """What was given, as a mechanism that can be certified, published and sampled as it is."""
    if isinstance(given, str):
        from discreet.io.files import read_probabilities

        given = read_probabilities(given)
    inside = getattr(given, "mechanism", None)
    mechanism = inside if isinstance(inside, Mechanism) else given  # frames have columns and methods of any name
    first = getattr(given, "first", 0) if isinstance(mechanism, Mechanism) else 0
    form = mechanism.form if isinstance(mechanism, Mechanism) else weights_of(mechanism)
    if isinstance(form, NoiseThenMap):
        if not form.noise.rational:
            raise BadInput(
                "a mechanism of your own was given", "its noise is Gaussian", "Ask for it by name, with its delta"
            )
        form = mechanism.weights
    rows, columns = form.shape
    if not isinstance(form, Continued) and (rows > columns or rows < 2 or first):
        raise BadInput(
            "a mechanism of your own was given",
            f"it has {rows} inputs and {columns} outputs",
            "A table needs two inputs at least, from 0 on, and no fewer outputs",
        )
    refuse_unwritable(
        form, "a mechanism of your own was given", "Give whole weights with one common row sum, or fewer counts"
    )
    return Mechanism(OWN, form)


def refuse_unwritable(form: Form, asked: str, do: str) -> None:
    """What a record cannot hold is refused before it is paid for: `verify` would not read it."""
    weights = form.start if isinstance(form, Continued) else form
    if isinstance(weights, Weights) and not weights.can_be_written:
        limit = f"{LARGEST_WRITTEN >> 20} MiB or {LONGEST_WEIGHT:,} digits"
        raise BadInput(asked, f"written exactly, its {len(weights.rows)} rows take more than {limit}", do)
