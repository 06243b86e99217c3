"""From what is kept, in names, to the chain that keeps it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from discreet.errors import BadInput
from discreet.lattice.chains import Chain, chain_sampler
from discreet.lattice.invariants import Kept, Keys, invariant_matrix
from discreet.lattice.laws import calibrated
from discreet.lattice.neighbours import terms_of
from discreet.lattice.structure import structure_of
from discreet.numbers import Epsilon, Number, whole
from discreet.privacy.parse import loss_of
from discreet.privacy.values import Loss, noise_meant

DIMENSIONS = ("row", "column", "layer")


def keys_of_shape(shape: Iterable[int]) -> dict[str, list[str]]:
    """Key columns of a complete table of this shape: `row`, `column`, `layer`, their values 1, 2, ..."""
    sizes = [whole(size, "the shape", 1) for size in shape]
    if not 1 <= len(sizes) <= len(DIMENSIONS):
        raise BadInput(f"a shape of {len(sizes)} numbers was given", f"1 to {len(DIMENSIONS)} are understood")
    cells, keys, repeat = math.prod(sizes), {}, math.prod(sizes)
    for name, size in zip(DIMENSIONS, sizes):
        repeat //= size
        keys[name] = [str(cell // repeat % size + 1) for cell in range(cells)]
    return keys


def kept_chain(
    key_columns: Keys,
    keep: Iterable[Kept | str],
    epsilon: Number | Epsilon | Loss | None = None,
    *,
    rows: int | None = None,
    alpha: Number | None = None,
    rho: Number | None = None,
    delta: Number = 0,
    law: str | None = None,
    nonnegative: bool = False,
    per_unit: bool = False,
    contributions: int = 1,
    iterations: int | None = None,
) -> Chain:
    """A chain for the law that a release with these options has, even where an exact sampler would be used."""
    invariants = invariant_matrix(keep, key_columns, rows)
    people = whole(contributions, "contributions", 1)
    loss = loss_of(epsilon, alpha=alpha, rho=rho, delta=delta)
    name = noise_meant(loss, law, "l1", "gaussian")
    terms = terms_of(structure_of(invariants), name, people, per_unit, nonnegative)
    noise = calibrated(name, loss, terms)
    epsilon_per_unit = noise.rate if noise.odds is None else math.log(noise.odds)
    sigma = None if noise.variance is None else math.sqrt(noise.variance)
    return chain_sampler(
        invariants.matrix,
        law=name,
        epsilon=epsilon_per_unit if sigma is None else None,
        sigma=sigma,
        nonnegative=nonnegative,
        iterations=iterations,
    )
