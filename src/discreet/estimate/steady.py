"""Large counts behind noise that has an end and is the same for all of them: no matrix over all counts is needed.

What is seen tells nothing of counts that are further from it than the noise leads. So a question about counts near some
number is answered in a window around it: whatever is seen outside counts as seen at its end, and the first and the last
row of the matrix stand for all counts from which nothing inside is ever seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.estimate.evidence import Evidence
from discreet.laws import NoiseLaw
from discreet.mechanism import Continued, EdgeThenNoise

WIDE = 400  # counts; up to it the whole matrix is looked at
MARGIN = 120  # counts on either side of a question, beyond what the noise leads to: what is further off hardly helps


@dataclass(frozen=True, eq=False)
class SteadyNoise:
    """How counts are seen: the first ones by rows of their own, all others by one noise."""

    start: Floats  # T[count, seen] of the counts before `settled`
    noise: Floats  # the chances of errors from -down on
    down: int

    @property
    def up(self) -> int:
        return len(self.noise) - 1 - self.down

    @property
    def settled(self) -> int:
        return len(self.start)

    @property
    def bias(self) -> float:
        return float(self.noise @ self._errors)

    @property
    def variance(self) -> float:
        return float(self.noise @ (self._errors - self.bias) ** 2)

    @property
    def _errors(self) -> Floats:
        return np.arange(float(len(self.noise))) - self.down

    @cached_property
    def _reach(self) -> tuple[int, int]:
        """How far any row leads down and up."""
        true, seen = np.nonzero(self.start)
        return max(self.down, int((true - seen).max(initial=0))), max(self.up, int((seen - true).max(initial=0)))

    @property
    def width(self) -> int:
        """How many counts may be behind one that is seen."""
        return sum(self._reach) + 1

    def rows(self, last: int) -> Floats:
        """T[count, seen] of the counts 0..last, which none of whose noise leads below 0."""
        return self.window(0, max(last + self._reach[1], self.start.shape[1]))[1][: last + 1]

    def window(self, low: int, high: int) -> tuple[int, Floats]:
        """The first count of a window, and T[count, seen] with what is seen cut to low..high."""
        first = max(0, low - self.up) if low > 0 else 0
        assert low == 0 or first >= max(self.start.shape), "from there on all counts are alike"
        counts = np.arange(first, max(high, self.settled) + self.down + 1)
        found = np.zeros((len(counts), high - low + 1))
        for count in range(first, self.settled):
            np.add.at(found[count], np.minimum(np.arange(self.start.shape[1]), high), self.start[count])
        alike = np.flatnonzero(counts >= self.settled)
        for error, chance in zip(self._errors.astype(np.int64).tolist(), self.noise):
            found[alike, np.clip(counts[alike] + error, low, high) - low] += chance
        return first, found

    def around(self, count: int) -> tuple[int, int]:
        """Where a window begins and ends that tells all that can be told of counts near this one."""
        low = count - self.up - MARGIN
        at_all = low - self.up >= max(self.start.shape)
        return low if at_all else 0, max(count + self.down + MARGIN, self.settled)

    def behind(self, seen: Integers) -> tuple[Floats, Floats]:
        """Of each the counts that it may come from, and its chance under each of these."""
        down, up = self._reach
        counts = np.maximum(seen - up, 0)[:, None] + np.arange(down + up + 1)[None, :]
        error = seen[:, None] - counts + self.down
        inside = (error >= 0) & (error < len(self.noise)) & (counts >= self.settled)
        chance = np.where(inside, self.noise[np.clip(error, 0, len(self.noise) - 1)], 0.0)
        if self.settled:
            early = (counts < self.settled) & (seen < self.start.shape[1])[:, None]
            place = np.minimum(counts, self.settled - 1), np.minimum(seen, self.start.shape[1] - 1)[:, None]
            chance = np.where(early, self.start[place], chance)
        return counts.astype(float), chance

    def sure(self, seen: int) -> tuple[int, int]:
        """Between which counts the k-th smallest is, where this is the k-th smallest that is seen."""
        down, up = self._reach
        return max(0, seen - up), max(0, seen + down)

    def interval(self, level: float) -> tuple[int, int, int]:
        """What to add to what is seen, by the noise alone: for the lower end, the middle and the upper end."""
        tail = (1 - level) / 2
        ends = np.searchsorted(np.cumsum(self.noise), np.array([tail, 0.5, 1 - tail]) - 1e-12) - self.down
        low, middle, high = ends.tolist()
        return -high, -middle, -low


def steady_of(form: Continued | EdgeThenNoise) -> SteadyNoise:
    """Of a mechanism with rows of their own for small counts."""
    if isinstance(form, Continued):
        down, up = form.reach
        rows = form.matrix()
        return SteadyNoise(rows[:-1], rows[-1, form.last - down : form.last + up + 1], down)
    half, reach = form.noise.masses(form.noise.centre[1]), form.noise.centre[1]
    start = form.transition(form.beyond)
    return SteadyNoise(start, np.concatenate([half[:0:-1], half]), reach)


def steady_law(law: NoiseLaw) -> SteadyNoise | None:
    """Of noise that has an end."""
    reach = law.centre[1]
    if law.decay is not None or not np.isneginf(law.log_mass(np.array([reach + 1.0])))[0]:
        return None
    half = law.masses(reach)
    return SteadyNoise(np.zeros((0, 0)), np.concatenate([half[:0:-1], half]), reach)


def near(evidence: Evidence, noise: SteadyNoise, count: int) -> tuple[int, Evidence]:
    """The first count of a window around this one, and what rows tell in it; each count less the first."""
    return cut_to(evidence, noise, *noise.around(count))


def cut_to(evidence: Evidence, noise: SteadyNoise, low: int, high: int) -> tuple[int, Evidence]:
    """The same in the window of what is seen at low..high."""
    first, matrix = noise.window(low, high)

    def cut(one: Evidence) -> Evidence:
        return replace(
            one, seen=np.clip(one.seen, low, high) - low, law=None, transition=matrix, top=None, steady=None,
            least=max(0, one.least - first), published=None, behind=None,
        )  # fmt: skip

    some = cut(evidence)
    return first, some if evidence.behind is None else replace(some, published=cut(evidence.behind).prior)


def ordered(evidence: Evidence, wanted: float) -> int:
    """The smallest value that so many rows, at least one, do not exceed."""
    order = np.argsort(evidence.seen, kind="stable")
    numbers = np.ones(len(order)) if evidence.numbers is None else evidence.numbers[order]
    place = int(np.searchsorted(np.cumsum(numbers), max(wanted, 0.5)))
    return int(evidence.seen[order[min(place, len(order) - 1)]])
