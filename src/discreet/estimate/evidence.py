"""What was published, as an analyst needs it: a noisy value for each row, and the law of its noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.encode import mechanism_of, noise_of
from discreet.errors import BadInput
from discreet.mechanism import LARGEST_MATRIX, Noise, NoiseThenMap


@dataclass(frozen=True, eq=False)
class Evidence:
    """Published values and their laws: `law` of the noise added to a true count, or else `transition` T[true, seen]."""

    seen: Integers
    law: Noise | None
    transition: Floats | None
    top: int | None  # counts above this one were treated as this one
    cumulative: Floats | None  # noisy numbers of rows with a count of at most 0, 1, ...
    cumulative_law: Noise | None
    published: Floats | None  # the published distribution of counts
    categories: Any = field(repr=False)

    @property
    def rows(self) -> int:
        return len(self.seen)

    @cached_property
    def size(self) -> int:
        """True counts are looked for in 0..size-1."""
        if self.transition is not None:
            return len(self.transition)
        if self.top is not None:
            return self.top + 1
        return max(2, int(self.seen.max()) + 2)

    @cached_property
    def clamped(self) -> Integers:
        return np.clip(self.seen, 0, self.size - 1)

    @cached_property
    def histogram(self) -> Floats:
        outputs = self.size if self.transition is None else self.transition.shape[1]
        return np.bincount(self.clamped, minlength=outputs).astype(float)

    @cached_property
    def matrix(self) -> Floats:
        """T[true count, clamped noisy value]."""
        if self.transition is not None:
            return self.transition
        if self.size > LARGEST_MATRIX:
            raise BadInput(
                f"an estimate over counts up to {self.size - 1} was asked for",
                f"for this noise it is made up to {LARGEST_MATRIX - 1} only",
            )
        assert self.law is not None
        return NoiseThenMap(self.law, (0, self.size - 1)).matrix()

    @cached_property
    def prior(self) -> Floats:
        """The published distribution of counts, or one estimated from the rows where none was published."""
        if self.published is not None:
            padded = np.zeros(max(self.size, len(self.published)))
            padded[: len(self.published)] = self.published
            return padded[: self.size] / padded[: self.size].sum()
        from discreet.estimate.deconvolve import most_likely

        return most_likely(self)


@dataclass(frozen=True, eq=False)
class Publication:
    """The parts of a release, wherever they come from."""

    counts: Integers
    measured: Integers | None
    categories: Any
    mechanism: dict[str, Any]
    distribution: dict[str, Any] | None
    invariants: dict[str, Any] | None
    max_count: int | None


def publication_of(release: Any) -> Publication:
    """From a release, or from the folder it was saved in."""
    if isinstance(release, (str, Path)):
        from discreet.io.folder import read_folder

        folder = read_folder(release)
        named = {name: folder.document.get(name) for name in ("mechanism", "distribution", "invariants")}
        top = folder.document["schema"].get("max_count")
        return Publication(folder.counts, folder.measurements, folder.categories, max_count=top, **named)  # type: ignore[arg-type]
    from discreet.release import Release

    if not isinstance(release, Release):
        raise BadInput("an estimate was asked for", f"a {type(release).__name__} is not a release", "Give its folder")
    published = release.published
    return Publication(
        published.counts,
        None if release.measured is None else release.measured.rows,
        release.schema.categories,
        published.mechanism,
        published.distribution,
        published.invariants,
        release.max_count,
    )


def evidence_of(release: Any) -> Evidence:
    """What a release without invariants says about its rows."""
    known = release if isinstance(release, Publication) else publication_of(release)
    stage_one = known.distribution or {}
    noisy = stage_one.get("measurements")
    law, transition = _row_law(known.mechanism, known.measured is not None)
    return Evidence(
        seen=known.counts if known.measured is None else known.measured,
        law=law,
        transition=transition,
        top=known.max_count,
        cumulative=None if noisy is None else np.array(noisy, dtype=float),
        cumulative_law=None if noisy is None else noise_of(stage_one["noise"]),
        published=np.array(stage_one["distribution"]) if stage_one else None,
        categories=known.categories,
    )


def _row_law(mechanism: dict[str, Any], measured: bool) -> tuple[Noise | None, Floats | None]:
    """How a seen value comes from the true count: the noise, or the whole matrix."""
    if mechanism.get("form") == "noise-then-map":
        if measured or mechanism["clamp"] is None:
            return noise_of(mechanism["noise"]), None
        if mechanism["name"] == "rank":
            raise BadInput(
                "an estimate was asked for",
                "rows were mapped by their ranks and the measurements were not published",
                "Publish the release with its measurements",
            )
    return None, mechanism_of(mechanism).matrix()
