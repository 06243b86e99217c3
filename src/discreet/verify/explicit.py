"""Checks of a release made row by row with one mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.encode import mechanism_of
from discreet.guarantee import zcdp_epsilon
from discreet.io.folder import Folder
from discreet.mechanism import Mechanism, NoiseThenMap
from discreet.sample.laws import Gaussian, Geometric, Staircase
from discreet.verify.claims import check_promise, claimed_epsilon, contributions, gaussian_noise, prove_rows

MATRICES = ("uniform", "randomized-response", "explicit-fair", "exponential", "own")


def prove(folder: Folder) -> list[str]:
    document, mechanism = folder.document, mechanism_of(folder.document["mechanism"])
    noise = gaussian_noise(mechanism)
    grade = "exact" if noise is None or document["guarantee"]["rho"] is not None else "enclosed"
    problems = [*check_promise(document, grade), *_check_name(mechanism)]
    if document.get("distribution") is not None:
        problems.append("The release tells of a distribution, but it measured none.")
    if noise is not None and (document["guarantee"]["rho"] is not None or contributions(document) > 1):
        return problems + _prove_concentrated(document, noise)
    return problems + _prove_certificate(document)


def _check_name(mechanism: Mechanism) -> list[str]:
    form = mechanism.form
    if isinstance(form, NoiseThenMap):
        names = {
            Geometric: {"geometric", "signed-geometric"},
            Staircase: {"staircase"},
            Gaussian: {"discrete-gaussian"},
        }
        fits = mechanism.name in names[type(form.noise)] and form.map is None
        fits = fits and (mechanism.name != "signed-geometric" or form.clamp is None)
    else:
        fits = mechanism.name in MATRICES
    return [] if fits else ["The mechanism is not what its name says."]


def _prove_concentrated(document: dict[str, Any], noise: Gaussian) -> list[str]:
    promise, rho = document["guarantee"], Fraction(contributions(document) ** 2) / (2 * noise.variance)
    if document.get("certificate") is not None:
        return ["The release has a certificate of something it does not claim."]
    if promise["rho"] is not None:
        return [] if rho == Fraction(promise["rho"]) else ["The noise is not the one that the claimed rho needs."]
    enough = zcdp_epsilon(rho, Fraction(promise["delta"])) <= claimed_epsilon(document).rational()
    return [] if enough else ["The noise is smaller than the claimed epsilon and delta need."]


def _prove_certificate(document: dict[str, Any]) -> list[str]:
    epsilon = claimed_epsilon(document).times(Fraction(1, contributions(document)))
    return prove_rows(document, epsilon, Fraction(document["guarantee"]["delta"]))


def replay(folder: Folder) -> list[str]:
    """The table is the measurements, clamped."""
    mechanism = mechanism_of(folder.document["mechanism"])
    if mechanism.max_count != folder.document["schema"]["max_count"]:
        return ["The largest count of the schema is not that of the mechanism."]
    form = mechanism.form
    if not isinstance(form, NoiseThenMap) or form.clamp is None or folder.measurements is None:
        return []
    wrong = np.flatnonzero(np.clip(folder.measurements, *form.clamp) != folder.counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from its measurement."] if len(wrong) else []
