"""How often the intervals of `estimate` cover the truth, how wide they are, and what is gained over reading the table.

The oracle has the same estimate, of the same noise, and knows the law of its error for the very table that was
released: the share of it that was drawn here. So its interval is as wide as 95 of 100 errors are large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet as dc
from discreet.arrays import Floats, Integers
from discreet.errors import BadInput
from discreet.estimate import AnswerSet, Estimate
from discreet.estimate.inequality import dissimilarity_of, gini_of
from discreet.io.frames import frame_of
from discreet_lab.least import least_part, least_quantile, least_row, least_share

AREAS, SEXES, AGES = 20, 2, 6
ROWS, MAX_COUNT = AREAS * SEXES * AGES, 30
LEAST_COVERAGE, MOST_WIDTH = 0.93, 1.3  # what is pointed at
EPSILONS = ("0.1", "1", "3")
BOUNDED = {"0.1": ("0.05", 40), "1": ("0.3", 6), "3": ("0.7", 3)}  # truth and support
SLOW = {"gini", "dissimilarity"}  # every answer takes a simulation: they are asked every other time,
SLOWEST = "measured levels"  # and here every fourth
SEEDS = 10_000  # of one setting
FAR = 1e12  # a ratio that is as good as infinite
RESAMPLED = 100  # times, to see how far off the oracle's width is by chance

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "distribution measured": {"max_count": MAX_COUNT, "split": "1/3", "privatizer": "cumulative"},
    "kept sums": {"keep": ["margin:age"]},
    "kept sums that overlap": {"keep": ["margin:age", "margin:sex"]},
    "measured levels": {"measure": ["cells", "margin:area", "total"]},
    "bounded noise": {"mechanism": "bounded"},
    "matrix": {"mechanism": "explicit-fair", "max_count": MAX_COUNT},
}


def shapes() -> dict[str, Integers]:
    """Half zeros with a long tail; a bell; nearly flat."""
    rng = np.random.default_rng(20)
    tail = np.where(rng.random(ROWS) < 0.5, 0, rng.geometric(0.25, ROWS))
    return {
        "half zeros, long tail": np.minimum(tail, MAX_COUNT),
        "binomial": rng.binomial(20, 0.5, ROWS),
        "flat": rng.integers(0, MAX_COUNT + 1, ROWS),
    }


def keys() -> dict[str, list[str]]:
    area, sex, age = np.indices((AREAS, SEXES, AGES)).reshape(3, -1)
    return {
        "area": [f"a{k:02d}" for k in area], "sex": [("f", "m")[k] for k in sex], "age": [f"g{k}" for k in age],
    }  # fmt: skip


def people() -> Integers:
    """A public number for every area."""
    return np.random.default_rng(21).integers(200, 2000, AREAS)


Asked = Callable[[Estimate, Estimate], Any]  # of this release, and of another one of the same table


@dataclass(frozen=True)
class WithTruth:
    """What is asked, and the true answers."""

    ask: Asked
    true: Floats
    step: float = 0.0  # between two possible answers: an interval of whole numbers from 2 to 2 holds one of them
    at_once: bool = False  # whether all intervals together cover
    last: Floats | None = None  # where an answer may be several numbers: the last of them


def questions(truth: Integers) -> dict[str, WithTruth]:
    """Every question of the kit."""
    table = truth.reshape(AREAS, SEXES, AGES).astype(float)
    area, sex = table.sum(axis=(1, 2)), table.sum(axis=(0, 2))
    public = frame_of({"area": [f"a{k:02d}" for k in range(AREAS)], "people": people()})
    women, men = table[:, 0].sum(axis=1), table[:, 1].sum(axis=1)
    both = np.stack([women, men], axis=1).reshape(1, -1)
    median = np.sort(truth)[(ROWS + 1) // 2 - 1]
    larger, smaller = ((np.sign(area[:, None] - area[None, :]) == k).sum(axis=0) for k in (1, -1))
    return {
        "total": WithTruth(lambda v, _: v.total(), np.array([table.sum()])),
        "by area": WithTruth(lambda v, _: v.by("area"), area),
        "by two columns": WithTruth(lambda v, _: v.by("area", "sex"), table.sum(axis=2).ravel()),
        "where": WithTruth(lambda v, _: v.where(sex="f", age=["g0", "g1"]).by("area"), table[:, 0, :2].sum(axis=1)),
        "rows": WithTruth(lambda v, _: v.rows(), truth.astype(float), 1.0),
        "difference": WithTruth(lambda v, _: v.where(sex="f").minus(v.where(sex="m"), "area"), women - men),
        "ratio": WithTruth(lambda v, _: v.where(sex="f").over(v.where(sex="m")), np.array([sex[0] / sex[1]])),
        "share": WithTruth(lambda v, _: v.share("area"), area / area.sum()),
        "rate": WithTruth(lambda v, _: v.per(public).by("area"), area / people()),
        "year against year": WithTruth(lambda v, w: v.minus(w, "area"), np.zeros(AREAS)),
        "rank": WithTruth(lambda v, _: v.rank("area"), 1.0 + larger, 1.0, True, AREAS - smaller.astype(float)),
        "dissimilarity": WithTruth(lambda v, _: v.dissimilarity("sex", "f", "m", "area"), dissimilarity_of(both)),
        "gini": WithTruth(lambda v, _: v.gini("area"), gini_of(area[None, :])),
        "share of zeros": WithTruth(lambda v, _: v.share_zero(), np.array([(truth == 0).mean()]), 1 / ROWS),
        "share above 2": WithTruth(lambda v, _: v.share_above(2), np.array([(truth > 2).mean()]), 1 / ROWS),
        "median": WithTruth(lambda v, _: v.quantile(0.5), np.array([float(median)]), 1.0),
    }  # fmt: skip


@dataclass(frozen=True)
class Covered:
    """Of one question in one setting."""

    way: str
    shape: str
    epsilon: str
    question: str
    coverage: float
    error: float  # of the coverage, by chance
    width: float  # in parts of the oracle's; nan where it has none
    by_chance: float = 0.0  # a standard error of that, by drawing releases again from those that were made
    fair: float = float("nan")  # in parts of what can be had: the least of all honest ones

    @property
    def fine(self) -> bool:
        return self.coverage >= LEAST_COVERAGE and not self.width > MOST_WIDTH

    def __str__(self) -> str:
        mark = "" if self.fine else "  <--"
        return (
            f"{self.way:24s} {self.shape:22s} epsilon {self.epsilon:4s} {self.question:18s} "
            f"coverage {self.coverage:.3f}  width / oracle {self.width:.2f}{mark}"
        )


@dataclass(frozen=True)
class Gained:
    """Mean absolute errors: of estimates, and of the published table as it is read off."""

    way: str
    epsilon: str
    rows: tuple[float, float]
    sums: tuple[float, float]


def of_one_setting(
    way: str, shape: str, epsilon: str, repeats: int, number: int = 0, only: Sequence[str] = ()
) -> tuple[list[Covered], Gained]:
    """All questions about releases of one table, or only some."""
    truth, named = shapes()[shape], keys()
    table = dc.table(frame_of({**named, "n": truth}), "n", keys=list(named))
    asked, found = {k: v for k, v in questions(truth).items() if not only or k in only}, dict[str, list[Floats]]()
    off: list[tuple[float, ...]] = []
    before: Estimate | None = None
    for k in range(repeats + 1):
        out = dc.release(table, epsilon, seed=SEEDS * number + k, **options(way, epsilon))
        view = dc.estimate(out)
        if before is not None:
            for name, one in asked.items():
                if name not in SLOW or k % (4 if way == SLOWEST else 2) == 1:
                    _answer(found.setdefault(name, []), one, view, before)
            off.append(_read_off(view, out.table.column("n").to_numpy(), truth))
        before = view
    rows_found, rows_read, sums_found, sums_read = np.mean(off, axis=0).tolist()
    covered = [
        _covered(way, shape, epsilon, name, asked[name], many, _least(view, name, truth))
        for name, many in found.items() if many
    ]  # fmt: skip
    return covered, Gained(way, epsilon, (rows_found, rows_read), (sums_found, sums_read))


def options(way: str, epsilon: str) -> dict[str, Any]:
    if way != "bounded noise":
        return WAYS[way]
    truth, support = BOUNDED[epsilon]
    return {**WAYS[way], "truth": truth, "support": support}


def _answer(into: list[Floats], one: WithTruth, view: Estimate, other: Estimate) -> None:
    """Estimate and ends; nothing where the release does not tell it, or the answer is exact."""
    try:
        found = one.ask(view, other)
    except BadInput:
        return
    if isinstance(found, AnswerSet):
        if not found.exact.any():
            into.append(np.stack([found.estimate, found.low, found.high]))
    elif not found.exact:
        into.append(np.array([[found.estimate], [found.interval[0]], [found.interval[1]]]))


def _covered(
    way: str, shape: str, epsilon: str, name: str, one: WithTruth, many: list[Floats], least: float
) -> Covered:
    estimate, low, high = np.stack(many, axis=1)
    last = one.true if one.last is None else one.last
    hits = (low - 1e-9 <= one.true[None, :]) & (last[None, :] <= high + 1e-9)
    each = hits.all(axis=1) if one.at_once else hits.mean(axis=1)
    error = float(each.std() / np.sqrt(len(each)))
    if one.at_once:
        return Covered(way, shape, epsilon, name, float(each.mean()), error, np.nan)
    errors, wide = np.abs(estimate - one.true[None, :]), (high - low).mean(axis=1)
    width, chance = _in_parts(errors, wide, one.step), float("nan")
    if np.isfinite(width):
        some = np.random.default_rng(SEEDS).integers(len(wide), size=(RESAMPLED, len(wide)))
        chance = float(np.std([_in_parts(errors[k], wide[k], one.step) for k in some]))
    if name == "ratio":  # as the share of one in both, which has an end
        low, high = (np.where(np.isinf(end), 1.0, end / (1 + np.minimum(end, FAR))) for end in (low, high))
    fair = float((high - low).mean() + one.step) / least
    return Covered(way, shape, epsilon, name, float(each.mean()), error, width, chance, fair)


def _in_parts(errors: Floats, wide: Floats, step: float) -> float:
    """Mean widths in parts of the oracle's, which are as wide as 95 of 100 errors of each number are large."""
    large = float(np.quantile(errors, 0.95, axis=0, method="higher").mean())
    return float(wide.mean() + step) / max(2 * large + step, 1e-12)


def _least(view: Estimate, name: str, truth: Integers) -> float:
    """The least mean width of an interval that covers for every table; nan where it is not worked out."""
    if name in ("ratio", "share"):
        return _least_of_sums(view, name, truth)
    if view.shares is None or name not in ("rows", "share of zeros", "share above 2", "median"):
        return float("nan")
    evidence = view.shares.evidence
    if name == "rows":
        return least_row(evidence, truth)
    return (
        least_quantile(evidence, truth, 0.5)
        if name == "median"
        else least_share(evidence, truth, 2 * (name[-1] == "2"))
    )


def _least_of_sums(view: Estimate, name: str, truth: Integers) -> float:
    """Of women in both, or of the areas in all of them, on average."""
    from scipy.sparse import csr_array

    codes = keys()["sex" if name == "ratio" else "area"]
    found = []
    for value in ["f"] if name == "ratio" else sorted(set(codes)):
        inside = np.array([code == value for code in codes], dtype=float)
        weights = csr_array(np.stack([inside, 1 - inside]))
        variance, together = (
            view.told.sums(weights, 0.95).variance,
            view.told.covariances(weights[[0]], weights[[1]])[0],
        )
        covariance = np.array([[variance[0], together], [together, variance[1]]])
        one, rest = (weights @ truth).tolist()
        found.append(least_part(one, rest, covariance))
    return float(np.mean(found))


def _read_off(view: Estimate, published: Integers, truth: Integers) -> tuple[float, float, float, float]:
    """Errors of rows and of sums by area: estimated, and read off the table."""
    rows, sums = view.rows(), view.by("area").estimate
    middle = np.asarray(rows.more.get("median", rows.estimate), dtype=float)
    area, read = truth.reshape(AREAS, -1).sum(axis=1), published.reshape(AREAS, -1).sum(axis=1)
    pairs = ((middle, truth), (published, truth), (sums, area), (read, area))
    one, other, three, four = (float(np.abs(found - true).mean()) for found, true in pairs)
    return one, other, three, four


def lines_of(covered: Iterable[Covered], gained: Iterable[Gained], repeats: int) -> Iterator[str]:
    """As Markdown: by question and way, over all shapes and epsilons."""
    rows = list(covered)
    names, ways = _each(row.question for row in rows), _each(row.way for row in rows)
    cells: Mapping[tuple[str, str], list[Covered]] = {
        (name, way): [row for row in rows if (row.question, row.way) == (name, way)] for name in names for way in ways
    }
    yield "Coverage of 95% intervals: the mean over all settings, the lowest of any, and the widest in parts of the"
    yield f"oracle's; {repeats} releases for each of three shapes and three epsilons ({', '.join(EPSILONS)})."
    yield ""
    yield f"| question | {' | '.join(ways)} |"
    yield "|---" * (len(ways) + 1) + "|"
    for name in names:
        yield f"| {name} | {' | '.join(_cell(cells[name, way]) for way in ways)} |"
    yield ""
    yield from _short_of(rows)
    yield ""
    yield "Mean error of rows and of sums by area, estimated and as read off the published table, over all shapes:"
    yield ""
    yield "| way | epsilon | rows: estimated | read off | sums: estimated | read off |"
    yield "|---|---|---|---|---|---|"
    pairs = list(gained)
    for way in ways:
        for epsilon in _each(one.epsilon for one in pairs):
            some = [one for one in pairs if (one.way, one.epsilon) == (way, epsilon)]
            means = [float(np.mean([(*one.rows, *one.sums)[k] for one in some])) for k in range(4)]
            yield f"| {way} | {epsilon} | {' | '.join(f'{mean:.3g}' for mean in means)} |"


def _short_of(rows: list[Covered]) -> Iterator[str]:
    """What is below what is pointed at by more than chance, or wider."""
    low = [row for row in rows if row.coverage + 2 * row.error < LEAST_COVERAGE]
    wide = [row for row in rows if row.width > MOST_WIDTH]
    surely = [row for row in wide if not row.width - 2 * row.by_chance <= MOST_WIDTH]
    yield f"Of {len(rows)} cells {len(low)} cover less than {LEAST_COVERAGE:.0%} by more than two standard errors"
    if low:
        yield "(" + "; ".join(_named(row, f"{row.coverage:.0%}") for row in low) + ")"
    yield f"and {len(wide)} are wider than {MOST_WIDTH} of the oracle's,"
    yield f"{len(surely)} of them by more than two standard errors of its width. These are, beside what can be had:"
    yield ""
    yield "| wide | way, shape, epsilon | of the oracle's | of what can be had |"
    yield "|---|---|---|---|"
    for row in surely:
        fair = "–" if np.isnan(row.fair) else f"{row.fair:.2f}"
        yield f"| {row.question} | {row.way}, {row.shape}, {row.epsilon} | {row.width:.2f} | {fair} |"


def _named(row: Covered, number: str) -> str:
    return f"{row.question}, {row.way}, {row.shape}, epsilon {row.epsilon}: {number}"


def _cell(some: list[Covered]) -> str:
    if not some:
        return "–"
    mean, least = float(np.mean([row.coverage for row in some])), min(row.coverage for row in some)
    widest = np.array([row.width for row in some])
    wide = "" if np.isnan(widest).all() else f", {np.nanmax(widest):.2f}"
    return f"{100 * mean:.1f}, {100 * least:.0f}{wide}"


def _each(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
