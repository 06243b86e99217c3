"""What was published, as an analyst needs it: a noisy value for each row, and the law of its noise."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.laws import NoiseLaw
from discreet.mechanism import LARGEST_MATRIX, Continued, EdgeThenNoise, Form, Mechanism, NoiseThenMap

if TYPE_CHECKING:
    from discreet.distribution.evidence import Posterior
    from discreet.estimate.steady import SteadyNoise
    from discreet.record.release import Publication


FARTHEST = 1000.0  # deviations of noise: a number of rows that is told is never as far from all that it can be
LARGEST_COUNT = 100_000  # that distributions are looked for up to; larger noisy values are looked at one by one


@dataclass(frozen=True, eq=False)
class Evidence:
    """Published values and their laws: `law` of the noise added to a true count, or else `transition` T[true, seen]."""

    seen: Integers
    law: NoiseLaw | None
    transition: Floats | None
    top: int | None  # counts above this one were treated as this one
    cumulative: Floats | None  # noisy numbers of rows with a count of at most 0, 1, ...
    cumulative_law: NoiseLaw | None
    published: Floats | None  # the published distribution of counts
    categories: Any = field(repr=False)
    least: int = 0  # counts below this one were treated as this one
    numbers: Integers | None = field(default=None, repr=False)  # how many rows have each value; None: one each
    steady: SteadyNoise | None = field(default=None, repr=False)  # where there are too many counts for a matrix
    behind: Evidence | None = field(default=None, repr=False)  # of all rows, where these are some of them

    @property
    def rows(self) -> int:
        return len(self.seen) if self.numbers is None else int(self.numbers.sum())

    @property
    def sum(self) -> float:
        """Of the values of all rows."""
        return float(self.seen.sum() if self.numbers is None else self.seen @ self.numbers)

    @cached_property
    def size(self) -> int:
        """True counts are looked for in 0..size-1."""
        if self.transition is not None:
            return len(self.transition)
        if self.top is not None and self.top <= LARGEST_COUNT:
            return self.top + 1
        return min(LARGEST_COUNT + 1, max(2, int(self.seen.max()) + 2))

    @cached_property
    def beyond(self) -> Integers:
        """By how much noisy values exceed the range, where nothing was cut: few rows, each far from others."""
        if self.law is None or (self.top is not None and self.top <= LARGEST_COUNT):
            return np.zeros(0, dtype=np.int64)
        return self.seen[self.seen > self.size - 1] - (self.size - 1)

    @property
    def only_sums(self) -> bool:
        """Whether the range is too wide for any answer but sums of noisy values."""
        wide = self.law is not None and self.law.decay is None and self.size > LARGEST_MATRIX
        return wide and self.top is None and self.steady is None

    @property
    def wholly_measured(self) -> bool:
        """Whether the number of rows with a count of at most 0, 1, ... was measured as far as there are counts."""
        return self.cumulative is not None and len(self.cumulative) == self.size - 1

    @cached_property
    def clamped(self) -> Integers:
        return np.clip(self.seen, 0, (self.size if self.transition is None else self.transition.shape[1]) - 1)

    @cached_property
    def histogram(self) -> Floats:
        outputs = self.size if self.transition is None else self.transition.shape[1]
        return np.bincount(self.clamped, weights=self.numbers, minlength=outputs).astype(float)

    @cached_property
    def matrix(self) -> Floats:
        """T[true count, clamped noisy value]."""
        if self.transition is not None:
            return self.transition
        if self.size > LARGEST_MATRIX or self.law is None:
            raise BadInput(
                f"an estimate over counts up to {self.size - 1:,} was asked for",
                f"for this noise it is made up to {LARGEST_MATRIX - 1:,} only",
                "Ask for sums or rows" if self.only_sums else "Ask for sums, rows, quantiles, or shares above a count",
            )
        return NoiseThenMap(self.law, (0, self.size - 1)).matrix()

    def of(self, rows: Integers) -> Evidence:
        """What some of the rows say by themselves: what was measured of all rows together is left out, but not what it
        tells about the distribution they are from."""
        categories = None if self.categories is None else self.categories.take(rows)
        if self.steady is not None and self.law is None:
            return replace(self, seen=self.seen[rows], categories=categories, behind=self.behind or self)
        return replace(
            self, seen=self.seen[rows], cumulative=None, cumulative_law=None, published=self.prior,
            categories=categories, behind=None if self.steady is None else self.behind or self,
        )  # fmt: skip

    @cached_property
    def prior(self) -> Floats:
        """The distribution of counts, from all that was measured: as published, where it was made so, or made now."""
        if self.published is not None:
            padded = np.zeros(max(self.size, len(self.published)))
            padded[: len(self.published)] = self.published
            shares: Floats = padded[: self.size]
            if shares.any():
                shares /= shares.sum()
                return shares
        return self._by_evidence()

    def _by_evidence(self) -> Floats:
        """The expected share of these rows that have each count, every prior that explains them by its evidence."""
        from discreet.distribution.evidence import shares_behind

        if self.law is None:
            return shares_behind(self.histogram, self.matrix, self._measured, self.cumulative_law)
        shares = np.maximum(self.fitted.distribution, 0.0)
        return np.asarray(shares / shares.sum(), dtype=float)

    @cached_property
    def fitted(self) -> Posterior:
        """The distribution behind noisy values, where the law of their noise is known."""
        from discreet.distribution.evidence import posterior
        from discreet.distribution.evidence.cells import reach_of

        assert self.law is not None
        reach = reach_of(self.law) if self.law.decay is None else 0
        low, high = -reach, self.size - 1 + reach
        seen = np.bincount(np.clip(self.seen, low, high) - low, weights=self.numbers, minlength=high - low + 1)
        cut = self.top is not None or len(self.beyond) > 0
        return posterior(
            seen, low, self.law, self.size - 1, cut=cut, prefix=self._measured, prefix_noise=self.cumulative_law
        )

    @property
    def _measured(self) -> Integers | None:
        """No farther out than noise ever is: beside more all else would be lost in rounding."""
        if self.cumulative is None or self.cumulative_law is None:
            return None
        far = FARTHEST * (1 + np.sqrt(self.cumulative_law.spread))
        return np.rint(np.clip(self.cumulative, -far, self.rows + far)).astype(np.int64)


def _steady(form: Form, top: int | None, seen: Integers) -> SteadyNoise | None:
    """Where counts are so large that the noise is looked at alone, and it has an end."""
    from discreet.estimate.steady import WIDE, steady_law, steady_of

    if isinstance(form, (Continued, EdgeThenNoise)):
        found, first = steady_of(form), form.last if isinstance(form, Continued) else form.beyond
        return found if int(seen.max(initial=0)) > first + WIDE else None
    wide = isinstance(form, NoiseThenMap) and max(int(seen.max(initial=0)), top or 0) > WIDE
    return steady_law(form.noise) if isinstance(form, NoiseThenMap) and wide else None


def _transition(form: Form, counts: Integers) -> Floats:
    largest = int(counts.max(initial=0))
    if isinstance(form, Continued):
        return form.upto(max(form.last, largest + form.reach[0])).matrix()
    if isinstance(form, EdgeThenNoise):  # no larger count can be behind these
        return form.transition(max(largest, form.beyond) + form.noise.centre[1] + 1)
    return Mechanism("published", form).matrix()


def rows_evidence(
    publication: Publication[Any],
    form: Form,
    *,
    top: int | None,
    cumulative: Integers | None = None,
    cumulative_law: NoiseLaw | None = None,
    published: Floats | None = None,
    least: int = 0,
) -> Evidence:
    """What the rows of a release say, by themselves: their noise where it is published, else the whole matrix."""
    measured, whole = publication.measured, publication.in_parts
    noisy = isinstance(form, NoiseThenMap) and (measured is not None or form.clamp is None)
    seen = publication.counts if measured is None else measured
    steady = _steady(form, top, seen) if noisy or not isinstance(form, NoiseThenMap) else None
    if isinstance(form, NoiseThenMap) and not noisy and form.range is None:
        form = NoiseThenMap(form.noise, (0, int(publication.counts.max()) + 1))  # as far as anything was seen
    return Evidence(
        seen=seen,
        law=form.noise if isinstance(form, NoiseThenMap) and noisy else None,
        transition=None if noisy or steady is not None else _transition(form, publication.counts),
        top=top,
        cumulative=None if cumulative is None else cumulative.astype(float),
        cumulative_law=cumulative_law,
        published=published,
        categories=publication.categories,
        least=least,
        numbers=None if whole is None else (whole.counts if whole.measured is None else whole.measured).numbers,
        steady=steady,
    )
