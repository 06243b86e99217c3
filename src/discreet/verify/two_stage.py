"""Checks of a release that keeps the distribution of counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.build import explicit
from discreet.build.transport import monotone_map
from discreet.distribution.max_count import border_of
from discreet.distribution.projections import integer_bins, median
from discreet.distribution.refine import refine
from discreet.encode import map_of, mechanism_of, noise_of
from discreet.errors import BadInput
from discreet.guarantee import zcdp_epsilon
from discreet.io.folder import Folder
from discreet.mechanism import NoiseThenMap, PublicMap
from discreet.numbers import Epsilon, epsilon_of
from discreet.release import MECHANISMS
from discreet.routes.two_stage import DEPENDENT, LARGEST_MAPPED, MAPPED, apply_map, rank_rows
from discreet.sample.laws import Gaussian, Geometric
from discreet.sample.public import spread_words
from discreet.verify.claims import check_promise, claimed_epsilon, contributions, prove_rows

TOLERANCE = 1e-6  # refinement is numerical: another machine may differ in the last digits


def prove(folder: Folder) -> list[str]:
    """Every part is as private as its share of the budget, and the shares do not exceed the whole."""
    document = folder.document
    shares = {part["what"]: part for part in document["mechanism"]["parts"]}
    gaussian = shares["counts"]["rho"] is not None and document["guarantee"]["rho"] is None
    if len(shares) != len(document["mechanism"]["parts"]):
        return ["A share of the budget is listed twice."]
    return [
        *check_promise(document, "enclosed" if gaussian else "exact"),
        *_check_shape(document, shares),
        *_prove_sum(document, shares),
        *_prove_stages(document, shares),
        *_prove_counts(document, shares["counts"]),
    ]


def _check_shape(document: dict[str, Any], shares: dict[str, Any]) -> list[str]:
    """Nothing is said that belongs to another kind of release."""
    problems, parts = [], shares.values()
    if document["certificate"] is not None and shares["counts"]["epsilon"] is None:
        problems.append("The release has a certificate of something it does not claim.")
    if any((part["epsilon"] is None) == (part["rho"] is None) or (part["rho"] and part["alpha"]) for part in parts):
        problems.append("A share of the budget is stated in two ways at once, or not at all.")
    bought = document["mechanism"]["bought_max_count"]
    if bought is not None and bought["epsilon"] != shares["max_count"]["epsilon"]:
        problems.append("The largest count was not bought with its share of the budget.")
    published = document["distribution"]
    if published is not None:
        if published["method"] != (None if published["measurements"] is None else "cumulative"):
            problems.append("The distribution was not measured by the method it names.")
        if abs(sum(published["distribution"]) - 1) > TOLERANCE or min(published["distribution"]) < 0:
            problems.append("The published distribution is none.")
    return [*problems, *_check_name(document)]


def _check_name(document: dict[str, Any]) -> list[str]:
    """The name, the form and the remarks fit each other."""
    mechanism, published = document["mechanism"], document["distribution"]
    name, mapped = mechanism["name"], mechanism["form"] == "noise-then-map"
    consistent = published is not None and "histogram" in published
    fits = consistent == (name == "rank") and mapped == (name in ("rank", *MAPPED))
    constructed = name not in ("rank", "transport")  # from the measured distribution, with parameters, never refined
    fits = fits and constructed == bool(mechanism["parameters"]) and not (constructed and mechanism["refined"])
    if not fits or name not in MECHANISMS or name in explicit.NAMES:
        return ["The mechanism is not what its name says."]
    together = published is not None and not constructed
    said = DEPENDENT in document["guarantee"]["remarks"]
    return [] if said == together else ["The guarantee does not say whether the rows were mapped together."]


def _prove_sum(document: dict[str, Any], shares: dict[str, Any]) -> list[str]:
    promise = document["guarantee"]
    too_much = ["The shares of the budget exceed the whole."]
    if all(part["rho"] is None for part in shares.values()):
        total = sum((_epsilon_of(part).rational() for part in shares.values()), Fraction(0))
        return [] if total == claimed_epsilon(document).rational() else ["The shares of the budget are not the whole."]
    rho = sum((_rho_of(part) for part in shares.values()), Fraction(0))
    if promise["rho"] is not None:
        return [] if rho <= Fraction(promise["rho"]) else too_much
    enough = zcdp_epsilon(rho, Fraction(promise["delta"])) <= claimed_epsilon(document).rational()
    return [] if enough else too_much


def _epsilon_of(part: dict[str, Any]) -> Epsilon:
    return epsilon_of(alpha=part["alpha"]) if part["alpha"] else epsilon_of(part["epsilon"])


def _rho_of(part: dict[str, Any]) -> Fraction:
    return Fraction(part["rho"]) if part["rho"] is not None else Fraction(part["epsilon"]) ** 2 / 2


def _prove_stages(document: dict[str, Any], shares: dict[str, Any]) -> list[str]:
    problems = []
    noises = {
        "distribution": (document["distribution"] or {}).get("noise"),
        "max_count": (document["mechanism"]["bought_max_count"] or {}).get("noise"),
    }
    for what, noise in noises.items():
        if (noise is None) != (what not in shares):
            problems.append(f"The share of the budget for the {what} does not fit what was measured.")
        elif noise is not None and not _enough(noise_of(noise), shares[what], contributions(document)):
            problems.append(
                f"The noise in the measurement of the {what} is smaller than its share of the budget needs."
            )
    return problems


def _enough(noise: Any, part: dict[str, Any], people: int) -> bool:
    """Whether noise of that law pays for that part when one person adds `people` units."""
    if isinstance(noise, Geometric) and part["epsilon"] is not None:
        return _epsilon_of(part).times(Fraction(1, people)).allows(noise.odds)
    if isinstance(noise, Gaussian) and part["rho"] is not None:
        return Fraction(people**2) / (2 * noise.variance) <= Fraction(part["rho"])
    return False


def _prove_counts(document: dict[str, Any], part: dict[str, Any]) -> list[str]:
    people = contributions(document)
    form = mechanism_of(document["mechanism"]).form
    if isinstance(form, NoiseThenMap) and isinstance(form.noise, Gaussian):
        return [] if _enough(form.noise, part, people) else ["The noise of the counts is smaller than its share needs."]
    return prove_rows(document, _epsilon_of(part).times(Fraction(1, people)), Fraction(0))


def replay(folder: Folder) -> list[str]:
    """The largest count, the distribution, the map and the table follow from the published measurements."""
    return [*_replay_max_count(folder), *_replay_distribution(folder), *_replay_table(folder)]


def _replay_max_count(folder: Folder) -> list[str]:
    document, measured = folder.document, folder.measurements
    top, clamp = document["schema"]["max_count"], document["mechanism"].get("clamp")
    bought = document["mechanism"]["bought_max_count"]
    if bought is not None and (bought["max_count"] != top or border_of(bought, len(folder.counts)) != top):
        return ["The largest count does not follow from its measurement."]
    if clamp is None:
        return []
    expected = top if top is not None else None if measured is None else max(1, int(measured.max()))
    return (
        [] if expected in (None, clamp[1]) and clamp[0] == 0 else ["The range of the map is not the one of the schema."]
    )


def _replay_distribution(folder: Folder) -> list[str]:
    document = folder.document
    published, mechanism = document["distribution"], document["mechanism"]
    if published is None:
        wide = mechanism.get("clamp") is not None and mechanism["clamp"][1] > LARGEST_MAPPED
        return [] if wide else ["The distribution of counts is missing."]
    expected = _expected_distribution(folder)
    if expected is None:
        return []
    shares = np.array(published["distribution"], dtype=float)
    if "histogram" in published:
        bins = np.array(published["histogram"])
        if bins.sum() != len(folder.counts) or np.abs(shares - bins / bins.sum()).max() > TOLERANCE:
            return ["The published distribution is not the one of the published histogram."]
        gap = np.abs(np.cumsum(bins - integer_bins(expected, len(folder.counts)))).max()
        return [] if gap <= 1 else ["The published histogram does not follow from the measurements."]
    off = len(shares) != len(expected) or np.abs(shares - expected).max() > TOLERANCE
    return ["The published distribution does not follow from the measurements."] if off else []


def _expected_distribution(folder: Folder) -> Any:
    mechanism, published = folder.document["mechanism"], folder.document["distribution"]
    rows = len(folder.counts)
    prefix = None if published["measurements"] is None else np.array(published["measurements"], dtype=np.int64)
    if prefix is not None and not mechanism["refined"]:
        return median(np.diff(prefix, prepend=0, append=rows).astype(float), float(rows))
    if folder.measurements is None:
        return None
    top = mechanism["clamp"][1]
    seen = np.bincount(np.clip(folder.measurements, 0, top), minlength=top + 1)
    noise = None if published["noise"] is None else noise_of(published["noise"])
    return refine(seen, noise_of(mechanism["noise"]), prefix, noise)


def _replay_table(folder: Folder) -> list[str]:
    mechanism, published = folder.document["mechanism"], folder.document["distribution"]
    if published is not None and "histogram" in published:
        bins = np.bincount(folder.counts, minlength=len(published["histogram"]))
        if bins.tolist() != published["histogram"]:
            return ["The histogram of the table is not the published one."]
    if folder.measurements is None or mechanism["form"] != "noise-then-map":
        return []
    wrong = np.flatnonzero(_replayed(folder, folder.measurements) != folder.counts)
    return [f"Row {int(wrong[0]) + 1} of the table does not follow from the measurements."] if len(wrong) else []


def _replayed(folder: Folder, measured: Integers) -> Integers:
    mechanism, published = folder.document["mechanism"], folder.document["distribution"]
    seed = mechanism["map_seed"]
    clamped = np.clip(measured, *mechanism["clamp"])
    if published is not None and "histogram" in published:
        return rank_rows(measured, np.array(published["histogram"]), seed)
    if mechanism["name"] != "transport":
        return apply_map(mechanism_of(mechanism), measured, seed)
    if mechanism["map"] is None:
        return clamped
    public_map = _checked_map(folder, map_of(mechanism["map"]), clamped)
    return public_map.apply(clamped, spread_words(clamped, seed, public_map.bits))


def _checked_map(folder: Folder, public_map: PublicMap, clamped: Integers) -> PublicMap:
    """The map, if it is the monotone one from the noisy values to the published distribution."""
    target = np.array(folder.document["distribution"]["distribution"], dtype=float)
    bins = integer_bins(target, len(clamped))
    expected = monotone_map(np.bincount(clamped, minlength=len(target)).astype(float), bins.astype(float))
    same = public_map.first == expected.first and public_map.bits == expected.bits
    same = same and np.array_equal(public_map.outputs, expected.outputs)
    off = np.abs(public_map.keys.astype(float) - expected.keys.astype(float)).max(initial=0) if same else np.inf
    if off > TOLERANCE * 2.0**expected.bits:
        raise BadInput("the map was to be checked", "it does not lead to the published distribution")
    return public_map
