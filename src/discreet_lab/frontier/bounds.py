"""What no method can have, however it estimates: bounds beside the study.

    python -m discreet_lab.frontier.bounds --data DIR

1. The oracle of the study knows the counts of these very rows. Who knows no more than the law that they are drawn from
   sees in a noisy value only its own row: the least error is that of the median of what it may have been. So many times
   the oracle's error is the least that anybody has, on average over tables of that law.
   The same where two laws are hard to tell from each other, and ask for different rules; or many, of which each is as
   likely as another: on average over them nobody errs less than who weighs them by how likely they make the noisy
   values, and takes for each row the median of what it may have been.
2. Two laws of which noisy values hardly differ cannot be told apart, and so an error that one of them has and the other
   has not cannot be promised rightly for both: the promise is wrong in one of them at least (1 - d) / 2 of the time,
   if noisy tables of both are no further apart than d in total variation, which Hellinger's affinity bounds.
3. Who knows the true distribution, and may not err more in counts than so much, has a least sum of both errors: by
   weak duality it is at least min((1 + m) count + W1), less m times what is allowed, for every m >= 0. (Of a table in
   which every noisy value is as frequent as it is expected to be, as in one of very many rows.)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from pathlib import Path

import numpy as np

from discreet.arrays import Floats, Integers
from discreet_lab.frontier.tables import some_tables
from discreet_lab.frontier.verdicts import PROMISE, TWENTIETH

NOTHING = 1e-12  # a tail of the noise that changes no digit shown
DRAWN = 8  # tables
MOVED = 0.1  # of a count, either way, by which a real table is smoothed into a law
SHARES = tuple(percent / 100 for percent in range(4, 100, 4))  # of the rows that are not as the others
DISTANCES = range(1, 7)  # from them
NEAR = (  # laws that are hard to tell from those of two tables
    ("coin", 0.25, (0.626, 0.32, 0.045, 0.009)),
    ("few", 0.1, (0.722, 0.0, 0.004, 0.081, 0.192, 0.001)),
)
TWO_PLACES = tuple(product(range(1, 6), range(38, 43)))  # those of two-point, each to within two counts
BETWEEN = combinations_with_replacement(range(10, 16), 2)  # where two spikes of spiky may be, that are at 12 and 13
SPIKES = tuple((0, *pair, far) for pair, far in product(BETWEEN, range(37, 44)))  # and that at 40, to within three
ALIKE = (("all-zero", 0.1, 0.09), ("all-equal", 0.1, 1.92), ("all-equal", 0.25, 0.44), ("all-equal", 0.5, 0.075))
PRICES = np.concatenate([[0.0], 2.0 ** np.arange(-3, 8, 0.1)])  # m


def law_of(counts: Integers) -> Floats:
    return np.asarray(np.bincount(counts) / len(counts), dtype=float)


def smoothed(counts: Integers, part: float = MOVED) -> Floats:
    """Every count moved by up to a part of itself, each way alike."""
    law = np.zeros(int(counts.max() * (1 + part)) + 2)
    for count in counts.tolist():
        way = int(part * count)
        law[count - way : count + way + 1] += 1 / (2 * way + 1)
    return np.asarray(law / law.sum(), dtype=float)


def _joint(law: Floats, decay: float) -> tuple[Floats, int]:
    """Chances of a noisy value, a row each from -reach on, with the counts at most `reach` from it."""
    reach = math.ceil(math.log(NOTHING) / math.log(decay))
    masses = (1 - decay) / (1 + decay) * decay ** np.abs(np.arange(-reach, reach + 1))
    near = np.lib.stride_tricks.sliding_window_view(np.pad(law, 2 * reach), 2 * reach + 1)
    return np.asarray(near * masses, dtype=float), reach


def least_error(law: Floats, decay: float) -> float:
    """The least mean error of a count in geometric noise for who knows the law of the rows, but not the rows; of the
    law of a table itself it is what the oracle expects."""
    chance, _ = _joint(law, decay)
    upto = np.cumsum(chance, axis=1)
    middle = (upto < upto[:, -1:] / 2).sum(axis=1)
    return float((chance * np.abs(np.arange(chance.shape[1]) - middle[:, None])).sum())


def beyond_both(one: Floats, other: Floats, decay: float, rows: int) -> float:
    """How many times the least error of one of two laws everybody has who does not know which of them it is.

    A rule that were the best for both at once would have to be one: what that costs them together, times the chance
    that noisy tables do not tell them apart, is lost in one of them or the other (Le Cam 1973).
    """
    size = max(len(one), len(other))
    one, other = (np.pad(law, (0, size - len(law))) for law in (one, other))
    least = [least_error(law, decay) for law in (one, other)]
    lost = 2 * least_error((one + other) / 2, decay) - sum(least)
    return 1 + lost * (1 - apart(one, other, decay, rows)) / 2 / max(least)


def beyond_any(laws: Floats, decay: float, rows: int, draws: int = 1) -> float:
    """How many times the least error everybody has, on average over laws (a line each) of which it is one.

    Tables of each are drawn; of each the error is worked out that who weighs the laws expects, which is on average
    what he has.
    """
    rng, found, places = np.random.default_rng(rows), [], np.arange(laws.shape[1])
    reach = math.ceil(math.log(NOTHING) / math.log(decay))
    values = np.arange(-reach, len(places) + reach)[:, None]
    joint = laws[:, None, :] * ((1 - decay) / (1 + decay) * decay ** np.abs(values - places))
    noisy = joint.sum(axis=2)
    given = joint / noisy[:, :, None]
    for one in np.repeat(np.arange(len(laws)), draws):
        seen = rng.multinomial(rows, noisy[one] / noisy[one].sum())
        likely = np.log(noisy) @ seen
        weights = np.exp(likely - likely.max())
        chance = np.tensordot(weights / weights.sum(), given, axes=1)
        middle = (np.cumsum(chance, axis=1) < 0.5).sum(axis=1)
        off = np.abs(places - middle[:, None])
        found.append(float(seen @ (chance * off).sum(axis=1)) / rows)
    return float(np.mean(found)) / float(np.mean([least_error(law, decay) for law in laws]))


def places_of(places: tuple[int, ...], size: int, even: float = 0.0) -> Floats:
    """A law with as many rows at each of those places (twice as many where one is named twice), and some anywhere."""
    law = np.full(size, even / size)
    np.add.at(law, list(places), (1 - even) / len(places))
    return law


def beyond_the_oracle(law: Floats, rows: int, decay: float, draws: int = DRAWN) -> float:
    """How many times the oracle's error is the least, on average over tables of so many rows of that law."""
    rng = np.random.default_rng(rows)
    tables = (rng.choice(len(law), rows, p=law) for _ in range(draws))
    return least_error(law, decay) / float(np.mean([least_error(law_of(table), decay) for table in tables]))


def apart(one: Floats, other: Floats, decay: float, rows: int) -> float:
    """No further are noisy tables of so many rows of two laws from each other, in total variation."""
    size = max(len(one), len(other))
    noisy = [_joint(np.pad(law, (0, size - len(law))), decay)[0].sum(axis=1) for law in (one, other)]
    affinity = min(1.0, float(np.sqrt(noisy[0] * noisy[1]).sum() / np.sqrt(noisy[0].sum() * noisy[1].sum())))
    return math.sqrt(max(0.0, 1 - affinity ** (2 * rows)))


@dataclass(frozen=True)
class Mistaken:
    """Some rows have another count than all the others: the least error then, and how often a promise must be wrong."""

    share: float
    distance: int
    error: float
    wrong: float

    def __str__(self) -> str:
        return f"{self.share:.0%} of the rows {self.distance} off: least error {self.error:.3g}, wrong {self.wrong:.0%}"


def mistaken(count: int, rows: int, decay: float, measured: float) -> Mistaken | None:
    """Where all rows are alike and that error is measured: of tables in which some are not, the one hardest to tell, of
    those in which the least error is so much more that no promise is right for both."""
    alike, found = np.eye(1, count + 1, count)[0], []
    for distance, share in product(DISTANCES, SHARES):
        law = np.zeros(count + distance + 1)
        sides = [place for place in (count - distance, count + distance) if place >= 0]
        law[count], law[sides] = 1 - share, share / len(sides)
        error = least_error(law, decay)
        if error - max(PROMISE * error, TWENTIETH) > measured + max(PROMISE * measured, TWENTIETH):
            found.append(Mistaken(share, distance, error, (1 - apart(alike, law, decay, rows)) / 2))
    return max(found, key=lambda one: one.wrong, default=None)


def least_sum(counts: Integers, decay: float, allowed: float) -> float:
    """Of both errors, for who knows the true distribution, and whose mean error of a count is at most `allowed`."""
    law, places = law_of(counts), np.arange(counts.max() + 1)
    masses = decay ** np.abs(places[:, None] - places) * (1 - decay) / (1 + decay)
    masses[[0, -1]] /= 1 - decay  # all that is seen beyond an end
    chance = masses * law
    many = chance.sum(axis=1)
    below = np.cumsum(chance / many[:, None], axis=1)[:, :-1]
    found = [_least(below, many, np.cumsum(law)[:-1], 1 + price) - price * allowed for price in PRICES]
    return float(max(found))


def _least(below: Floats, many: Floats, held: Floats, weight: float) -> float:
    """Over all shares of the rows to publish as at most l: weight times the rows on the wrong side, and the distance
    from `held`, summed over l. Both are linear between two noisy values but for a bend at `held`."""
    upto = np.concatenate([[0.0], np.cumsum(many)])[:, None]
    right = np.concatenate([np.zeros((1, len(held))), np.cumsum(many[:, None] * below, axis=0)])
    wrong = upto + right[-1] - 2 * right
    ends = (weight * wrong + np.abs(upto - held)).min(axis=0)
    bend = np.array([np.interp(share, upto[:, 0], column) for share, column in zip(held, wrong.T)])
    return float(np.minimum(ends, weight * bend).sum())


def plain_error(counts: Integers, decay: float, top: int | None) -> float:
    """The mean error of a count in noise that is cut to 0 and up, and to `top`."""
    chance, reach = _joint(law_of(counts), decay)
    values = np.arange(len(chance)) - reach
    true = values[:, None] + np.arange(-reach, reach + 1)
    return float((chance * np.abs(np.clip(values, 0, top)[:, None] - true)).sum())


def lines(data: Path | None) -> Iterator[str]:
    """All that the page on the frontier says of bounds."""
    precincts, homicides, binomial, coin = some_tables(("precincts", "homicides", "binomial", "yes-no"), data)
    law = smoothed(precincts.counts)
    for epsilon in (0.1, 0.25, 0.5, 1.0):
        times = beyond_the_oracle(law, precincts.rows, math.exp(-epsilon))
        yield f"precincts {epsilon:g}: who knows the law has {times:.3f} of the oracle's error"
    (example,) = some_tables(("example",))
    times = beyond_the_oracle(smoothed(example.counts), example.rows, math.exp(-0.1))
    yield f"example 0.1: who knows the law has {times:.3f} of the oracle's error"
    for name, epsilon, near in NEAR:
        (table,) = some_tables((name,))
        times = beyond_both(law_of(table.counts), np.array(near), math.exp(-epsilon), table.rows)
        yield f"{name} {epsilon:g}: who does not know whether it is {near} has {times:.3f} of one of the least errors"
    laws = np.array([places_of(places, 51) for places in TWO_PLACES])
    yield f"two-point 0.1: who knows its places to within two has {beyond_any(laws, math.exp(-0.1), 1000, DRAWN):.3f}"
    laws = np.array([places_of(places, 61, 0.2) for places in SPIKES])
    yield f"spiky 0.1: who knows its spikes to within two has {beyond_any(laws, math.exp(-0.1), 3000):.3f}"
    for name, epsilon, measured in ALIKE:
        (table,) = some_tables((name,))
        found = mistaken(int(table.counts[0]), table.rows, math.exp(-epsilon), measured)
        yield f"{name} {epsilon:g}, where {measured:g} is measured: {found}"
    for table, epsilon, top in ((coin, 1.0, 1), (homicides, 2.0, None), (binomial, 2.0, None)):
        decay = math.exp(-epsilon)
        plain = plain_error(table.counts, decay, top)
        least = [least_sum(table.counts, decay, more * plain) for more in (1.0, 1.01)]
        sums = f"least sum {least[0]:.4f}, with 1% more error of counts {least[1]:.4f}"
        yield f"{table.name} {epsilon:g}: plain {plain:.4f}, {sums}"


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="the folder with the real tables")
    for line in lines(parser.parse_args(given).data):
        print(line, flush=True)


if __name__ == "__main__":
    main()
