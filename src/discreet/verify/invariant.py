"""Checks of a release that keeps sums exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import choose
from discreet.guarantee import zcdp_epsilon
from discreet.io.folder import Folder
from discreet.lattice.guarantee import Asked, Change, remarks, smallest_change, unit
from discreet.lattice.invariants import Invariants, invariant_matrix, kept_of
from discreet.lattice.plan import LAWS
from discreet.lattice.structure import Structure, structure_of
from discreet.table import ROWS_ARE_PUBLIC
from discreet.verify.claims import claimed_epsilon, contributions

CHAIN = "The noise came from a Markov chain; its distance from the law is diagnosed, not proved, and charged as delta"
UNIT = Change(1, 1, "", True)


def prove(folder: Folder) -> list[str]:
    """The noise is wide enough for the smallest change that survives what is kept, and the words say which that is."""
    document, invariants = folder.document, _invariants(folder)
    structure = structure_of(invariants)
    change = smallest_change(structure)
    asked = _asked(document)
    problems = [*_check_shape(document), *_check_words(document, asked, change, structure, invariants)]
    if not _enough(document, UNIT if asked.per_unit else change):
        problems.append("The noise is smaller than what is claimed needs.")
    return problems


def _asked(document: dict[str, Any]) -> Asked:
    """What the release says was asked for; its words follow from this."""
    mechanism = document["mechanism"]
    return Asked(
        law=choose(mechanism["law"], LAWS, "law"),
        per_unit=str(document["guarantee"]["unit"]).startswith("one unit of"),
        restricted=_restricted(mechanism),
        contributions=contributions(document),
    )


def _restricted(mechanism: dict[str, Any]) -> bool:
    return bool(mechanism["nonnegative"]) or mechanism["inequalities"] is not None


def _check_shape(document: dict[str, Any]) -> list[str]:
    """Nothing is said that belongs to another kind of release, and the law is one."""
    mechanism, problems = document["mechanism"], []
    if document["certificate"] is not None or document["distribution"] is not None:
        problems.append("The release tells of a certificate or a distribution, but it has none.")
    if document["schema"]["max_count"] is not None:
        problems.append("The release tells of a largest count, which would change the kept sums.")
    name = {"l1": "odds", "l2": "rate", "gaussian": "variance"}[mechanism["law"]]
    if mechanism["name"] != f"lattice-{mechanism['law']}" or set(mechanism["parameters"]) != {name}:
        problems.append("The mechanism is not what its name says.")
    elif Fraction(mechanism["parameters"][name]) <= (1 if name == "odds" else 0):
        problems.append("The law of the noise is none.")
    return problems


def _check_words(
    document: dict[str, Any], asked: Asked, change: Change, structure: Structure, invariants: Invariants
) -> list[str]:
    """Neighbours, remarks and grade are those that what is kept leads to."""
    promise, problems = document["guarantee"], []
    if promise["unit"] != unit(asked, change):
        problems.append("The guarantee is about other neighbours than what is kept leaves.")
    said = [ROWS_ARE_PUBLIC, *remarks(asked, change, structure, invariants)]
    more = promise["remarks"][len(said) :]
    if promise["remarks"][: len(said)] != said:
        problems.append("The guarantee's remarks are not those that belong to what is kept.")
    chain = "chain" in document["mechanism"]["sampler"].split("+")
    charged = len(more) == 1 and more[0].startswith(CHAIN) and Fraction(promise["delta"]) > 0
    if promise["grade"] != ("diagnosed" if chain else "exact") or (not charged if chain else bool(more)):
        problems.append("The grade of the guarantee is not the one of its sampler.")
    return problems


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
    factor = people * (2 if _restricted(mechanism) else 1)
    epsilon = claimed_epsilon(document)
    if mechanism["law"] == "l1":
        return epsilon.times(Fraction(1, factor * change.length)).allows(Fraction(numbers["odds"]))
    return (Fraction(numbers["rate"]) * factor) ** 2 * change.square <= epsilon.rational() ** 2


def _invariants(folder: Folder) -> Invariants:
    keys = {name: folder.categories.column(name).to_pylist() for name in folder.document["schema"]["keys"]}
    return invariant_matrix([kept_of(what) for what in folder.document["invariants"]["kept"]], keys, len(folder.counts))


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
