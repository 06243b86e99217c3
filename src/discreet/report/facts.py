"""What the report says, as values. All computation is here; the template only lays it out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.document import SEED_WARNING
from discreet.encode import mechanism_of, noise_of
from discreet.mechanism import LARGEST_MATRIX, Mechanism, NoiseThenMap

if TYPE_CHECKING:
    from discreet.release import Release


@dataclass(frozen=True, eq=False)
class Errors:
    """How far off a published count is on average, for each true count."""

    counts: Floats
    absolute: Floats


@dataclass(frozen=True, eq=False)
class Page:
    title: str
    rows: int
    keys: str
    count: str
    created: str
    warning: str | None
    guarantee: str
    unit: str
    epsilon: str
    factor: str | None
    grade: str
    mechanism: str
    steps: list[str]
    remarks: list[str]
    distribution: Floats | None
    errors: Errors | None
    typical_error: str | None
    kept: list[str]
    determined: list[str]
    measurements: bool
    advice: list[str]


GRADES = {
    "exact": "proved in exact arithmetic",
    "enclosed": "proved with rigorous numerical bounds",
    "diagnosed": "checked by simulation, not proved",
}


def facts(release: Release) -> Page:
    promise = release.guarantee
    invariants = release.published.invariants or {}
    errors = expected_errors(release)
    return Page(
        title=f"{release.schema.count} by {', '.join(release.schema.keys) or 'row'}",
        rows=release.schema.rows,
        keys=", ".join(release.schema.keys),
        count=release.schema.count,
        created=release.created,
        warning=None if release.private else SEED_WARNING,
        guarantee=promise.sentence,
        unit=promise.unit,
        epsilon=_parameter(release),
        factor=None if promise.epsilon is None else f"{math.exp(min(float(promise.epsilon), 50)):.3g}",
        grade=GRADES[promise.grade],
        mechanism=release.mechanism["name"],
        steps=list(release.mechanism.get("steps", [])) or [_one_step(release)],
        remarks=list(promise.remarks),
        distribution=None if release.distribution is None else np.array(release.distribution["distribution"], float),
        errors=errors,
        typical_error=None if errors is None else _typical(release, errors),
        kept=list(invariants.get("labels", []))[:30],
        determined=list(invariants.get("determined", [])),
        measurements=release.measured is not None,
        advice=_advice(release),
    )


def _parameter(release: Release) -> str:
    promise = release.guarantee
    if promise.rho is not None:
        return f"rho = {promise.as_json()['rho']}"
    delta = "" if not promise.delta else f", delta = {promise.as_json()['delta']}"
    return f"epsilon = {promise.epsilon}{delta}"


def _one_step(release: Release) -> str:
    return f"Every count was replaced by a random one, drawn by the mechanism '{release.mechanism['name']}'."


def _advice(release: Release) -> list[str]:
    advice = ["Treat every count as approximate: differences smaller than the typical error mean nothing."]
    if release.measured is not None:
        advice.append(
            "For sums over many rows use the file of measurements: its values may be negative, but their errors cancel."
        )
    if release.distribution is not None:
        advice.append(
            "For questions about the distribution (how many rows have no case?) use the published distribution."
        )
    advice.append("Software can compute estimates with intervals from this folder: discreet estimate FOLDER.")
    return advice


def expected_errors(release: Release) -> Errors | None:
    """Expected absolute error by true count, from the published mechanism alone."""
    value = release.mechanism
    if "form" not in value:
        return None
    mechanism = mechanism_of(value)
    top = mechanism.max_count
    if top is None or (isinstance(mechanism.form, NoiseThenMap) and mechanism.form.clamp != (0, top)):
        return _noise_alone(value)
    if top + 1 > LARGEST_MATRIX:
        return _noise_alone(value)
    return _by_count(mechanism, top)


def _by_count(mechanism: Mechanism, top: int) -> Errors:
    counts = np.arange(top + 1.0)
    absolute = (np.abs(counts[None, :] - counts[:, None]) * mechanism.matrix()).sum(axis=1)
    return Errors(counts, absolute)


def _noise_alone(value: dict[str, Any]) -> Errors | None:
    if "noise" not in value:
        return None
    noise = noise_of(value["noise"])
    reach = 4 * noise.centre[1]
    mean = float(2 * (np.arange(reach + 1) * noise.masses(reach)).sum())
    return Errors(np.array([0.0, 1.0]), np.array([mean, mean]))


def _typical(release: Release, errors: Errors) -> str:
    """Average over the published distribution where there is one, else the plain average."""
    weights = None
    if release.distribution is not None and len(release.distribution["distribution"]) == len(errors.counts):
        weights = np.array(release.distribution["distribution"], float)
    return f"{np.average(errors.absolute, weights=weights):.2g}"
