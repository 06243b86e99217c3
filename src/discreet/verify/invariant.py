"""Checks of a release that keeps sums exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.guarantee import zcdp_epsilon
from discreet.io.folder import Folder
from discreet.lattice.guarantee import Change, smallest_change
from discreet.lattice.invariants import Invariants, Kept, invariant_matrix, sums
from discreet.lattice.structure import structure_of
from discreet.verify.claims import claimed_epsilon, contributions


def prove(folder: Folder) -> list[str]:
    """The noise is wide enough for the smallest change that survives what is kept."""
    document = folder.document
    change = Change(1, 1, "", True) if _per_unit(document) else smallest_change(structure_of(_invariants(folder)))
    chain, grade = "chain" in document["mechanism"]["sampler"].split("+"), document["guarantee"]["grade"]
    if chain != (grade == "diagnosed") or (chain and Fraction(document["guarantee"]["delta"]) <= 0):
        return [
            "The noise of a Markov chain is diagnosed, with its distance from the law in delta; other noise is not."
        ]
    return [] if _enough(document, change) else ["The noise is smaller than what is claimed needs."]


def _per_unit(document: dict[str, Any]) -> bool:
    return str(document["guarantee"]["unit"]).startswith("one unit of")


def _enough(document: dict[str, Any], change: Change) -> bool:
    mechanism, promise = document["mechanism"], document["guarantee"]
    numbers = mechanism["parameters"]
    people = contributions(document)
    if mechanism["law"] == "gaussian":
        rho = Fraction(change.square * people**2) / (2 * Fraction(numbers["variance"]))
        if promise["rho"] is not None:
            return rho <= Fraction(promise["rho"])
        return zcdp_epsilon(rho, Fraction(promise["delta"])) <= claimed_epsilon(document).rational()
    # conditioning on inequalities may cost as much again
    factor = people * (2 if mechanism["nonnegative"] or mechanism["inequalities"] is not None else 1)
    epsilon = claimed_epsilon(document)
    if mechanism["law"] == "l1":
        return epsilon.times(Fraction(1, factor * change.length)).allows(Fraction(numbers["odds"]))
    return (Fraction(numbers["rate"]) * factor) ** 2 * change.square <= epsilon.rational() ** 2


def _invariants(folder: Folder) -> Invariants:
    keys = {name: folder.categories.column(name).to_pylist() for name in folder.document["schema"]["keys"]}
    kept: list[Kept | str] = []
    for what in folder.document["invariants"]["kept"]:
        kept.append(what if isinstance(what, str) else sums(what["matrix"], what["name"]))
    return invariant_matrix(kept, keys, len(folder.counts))


def replay(folder: Folder) -> list[str]:
    """The table has every kept sum, and is not below what it was conditioned on."""
    published, mechanism = folder.document["invariants"], folder.document["mechanism"]
    invariants = _invariants(folder)
    problems = []
    if list(invariants.labels) != published["labels"]:
        problems.append("The names of the kept sums do not follow from what is kept.")
    wrong = np.flatnonzero(invariants.sums(folder.counts) != np.array(published["sums"], dtype=np.int64))
    if len(wrong):
        problems.append(f"The table does not have the kept sum {invariants.labels[int(wrong[0])]}.")
    if [int(row) + 1 for row in structure_of(invariants).determined] != published["determined"]:
        problems.append("The rows that are determined by what is kept are not those listed.")
    if mechanism["nonnegative"] and folder.counts.min() < 0:
        problems.append("The table has a negative count.")
    limits = mechanism["inequalities"]
    if limits is not None and (np.array(limits["matrix"]) @ folder.counts < np.array(limits["least"])).any():
        problems.append("The table violates an inequality it was conditioned on.")
    return problems
