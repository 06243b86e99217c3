"""Checks of a release made row by row with one mechanism."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.encode import mechanism_of
from discreet.guarantee import zcdp_epsilon
from discreet.io.folder import Folder
from discreet.mechanism import NoiseThenMap
from discreet.verify.claims import claimed_epsilon, contributions, gaussian_noise, prove_rows


def prove(folder: Folder) -> list[str]:
    document, each = folder.document, contributions(folder.document)
    promise = document["guarantee"]
    gaussian = gaussian_noise(mechanism_of(document["mechanism"]))
    delta = Fraction(promise["delta"])
    if gaussian is not None and (promise["rho"] is not None or each > 1):
        rho = Fraction(each**2) / (2 * gaussian.variance)
        if promise["rho"] is not None:
            return [] if rho <= Fraction(promise["rho"]) else ["The noise is smaller than the claimed rho needs."]
        enough = zcdp_epsilon(rho, delta) <= claimed_epsilon(document).rational()
        return [] if enough else ["The noise is smaller than the claimed epsilon and delta need."]
    return prove_rows(document, claimed_epsilon(document).times(Fraction(1, each)), delta)


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
