"""Several methods on one table: expected errors where a formula gives them, simulated releases where none does.

For the keeper of the data: it looks at true counts, and nothing it makes is private.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.costs import cost_matrix
from discreet.errors import BadInput, called, choose
from discreet.evaluate.metrics import ks, total_variation, w1
from discreet.evaluate.pool import outcomes
from discreet.lattice.invariants import kept_list
from discreet.lattice.laws import LAWS
from discreet.laws import calibrated_laws
from discreet.numbers import Number, level_of, whole
from discreet.options import listed, spelt
from discreet.privacy import Approximate, loss_of, pure_only
from discreet.privacy.parse import epsilons_of
from discreet.shown import Shown
from discreet.table import Schema, Table
from discreet.ways.keep_distribution.spec import MAPPED

UNBOUNDED = (*MAPPED, "geometric", "signed-geometric")  # these do without a largest count

WARNING = (
    "Private side: these figures come from the true counts. Choosing a method by looking at them leaks something that "
    "no epsilon accounts for; choose on public or reference data of the same shape."
)
DISTANCES = ("w1", "ks", "total_variation")
MOST_BIASES = 100  # a row of the result for each: more would bury the others


@dataclass(frozen=True)
class Setting:
    """What all methods share. All of it is public."""

    repeats: int
    seed: int
    max_count: int | None
    delta: Fraction
    keep: tuple[Any, ...]
    beyond: tuple[int, ...]
    level: float

    @property
    def costs(self) -> tuple[str, ...]:
        return ("absolute", "squared", "wrong", *(f"beyond:{depth}" for depth in self.beyond))


@dataclass(frozen=True)
class Job:
    """One method at one epsilon."""

    method: str
    epsilon: str


class ErrorRow(TypedDict):
    """One figure of one method at one epsilon, as it stands in the table, the JSON and the journal."""

    method: str
    epsilon: str
    metric: str
    count: int | None  # of the bias by count
    value: float
    low: float
    high: float
    exact: bool
    repeats: int  # 0 where it is exact
    private_side: bool


@dataclass(frozen=True, repr=False)
class Evaluation(Shown):
    """Tidy rows: method, epsilon, metric, count (for the bias by count), value, interval, whether it is exact."""

    rows: tuple[ErrorRow, ...]
    level: float
    warning: str = WARNING

    def value(self, method: str, epsilon: Any, metric: str) -> float:
        """One figure."""
        wanted = (method, str(epsilons_of(epsilon, "an evaluation")[0]), metric)
        found = [row for row in self.rows if (row["method"], row["epsilon"], row["metric"]) == wanted]
        if not found:
            raise BadInput(f"the {metric} of {method} at epsilon {epsilon} was asked for", "it was not evaluated")
        return float(found[0]["value"])

    def frame(self) -> Any:
        """The rows as an Arrow table, stamped as private-side."""
        import pyarrow

        metadata = {"private_side": "true", "warning": self.warning, "level": str(self.level)}
        return pyarrow.Table.from_pylist(list(self.rows)).replace_schema_metadata(metadata)

    def as_json(self) -> dict[str, object]:
        return {"rows": list(self.rows), "private_side": True, "warning": self.warning, "level": self.level}

    def save(self, path: str | Path) -> None:
        """Parquet, CSV or JSON by the suffix; whole or not at all."""
        from discreet.evaluate.files import save

        save(self.frame(), self.as_json(), Path(path))

    def plot(self, path: str | Path) -> None:
        """Count error and distribution error against epsilon, and against each other, to a PNG, SVG or PDF file."""
        from discreet import plot

        plot.check_suffix(path)
        plot.save(self.drawing(), path)

    def drawing(self) -> Any:
        """Three panels, and under them one legend that hides nothing."""
        from discreet import plot

        drawing, axes = plot.figure(1, 3, width=3.8)
        plot.error_against_epsilon(*self._curves("absolute"), axes[0, 0], "error of a count")
        plot.error_against_epsilon(*self._curves("w1"), axes[0, 1], "error of the distribution (W1)")
        epsilons, counts = self._curves("absolute")
        _, shapes = self._curves("w1")
        paths = {name: list(zip(counts[name][0], shapes[name][0])) for name in counts}
        plot.frontier(paths, axes[0, 2], f"trade-off, epsilon {epsilons[0]:g} to {epsilons[-1]:g}")
        return plot.legend_below(drawing)

    def _curves(self, metric: str) -> tuple[list[float], dict[str, tuple[list[float], list[float]]]]:
        chosen = [row for row in self.rows if row["metric"] == metric]
        epsilons = sorted({float(Fraction(row["epsilon"])) for row in chosen})
        curves: dict[str, tuple[list[float], list[float]]] = {}
        for method in dict.fromkeys(row["method"] for row in chosen):
            line = sorted((row for row in chosen if row["method"] == method), key=lambda row: Fraction(row["epsilon"]))
            curves[method] = [row["value"] for row in line], [row["high"] - row["value"] for row in line]
        return epsilons, curves


@spelt
def evaluate(
    table: Table,
    methods: Iterable[str] = ("transport", "rank", "geometric"),
    epsilons: Iterable[Number] = ("0.1", "0.5", "1"),
    repeats: int = 100,
    *,
    max_count: int | None = None,
    delta: Number = 0,
    keep: Any = (),
    beyond: Sequence[int] = (1, 5),
    seed: int = 0,
    level: float = 0.95,
    workers: int | None = None,
    resume: str | Path | None = None,
) -> Evaluation:
    """Errors of every method at every epsilon on this table, with confidence intervals on all that is simulated.

    `methods` are mechanisms as `release` takes them, or laws (l1, l2, gaussian) of noise that keeps the sums in `keep`.
    In one repeat all methods start from the same seed. `resume` names a file that remembers finished jobs.
    """
    setting = _setting(table, repeats, seed, max_count, delta, keep, beyond, level)
    several = epsilons_of(epsilons, "an evaluation")
    jobs = [Job(method, str(epsilon)) for method in _methods(methods, setting) for epsilon in several]
    done = {}
    journal = None
    if resume is not None:
        from discreet.evaluate.files import Journal

        journal = Journal.open(Path(resume), _fingerprint(table, setting))
        done = journal.finished
    left = [job for job in jobs if (job.method, job.epsilon) not in done]
    for job, rows in outcomes(partial(_job, _Sent(table.schema, table.counts), setting), left, "Evaluating", workers):
        done[job.method, job.epsilon] = rows
        if journal is not None:
            journal.add(job.method, job.epsilon, rows)
    return Evaluation(tuple(row for job in jobs for row in done[job.method, job.epsilon]), setting.level)


@dataclass(frozen=True, eq=False)
class _Sent:
    """What goes to another process of ours: a table itself does not travel."""

    schema: Schema
    counts: Integers


def _job(sent: _Sent, setting: Setting, job: Job) -> list[ErrorRow]:
    return run_job(job, Table(sent.schema, sent.counts), setting)


def run_job(job: Job, table: Table, setting: Setting) -> list[ErrorRow]:
    """All rows of one method at one epsilon."""
    truth = _treated(job, table, setting)
    known = exact_errors(job, truth, setting)
    seen: dict[tuple[str, int | None], list[float]] = {}
    _one_release(job, table, truth, setting, setting.repeats)  # imports and caches are not the method's time
    for repeat in range(setting.repeats):
        for key, value in _one_release(job, table, truth, setting, repeat).items():
            seen.setdefault(key, []).append(value)
    rows: list[ErrorRow] = []
    for (metric, count), values in {**seen, **{key: [value] for key, value in known.items()}}.items():
        value, margin = _mean(values, setting.level)
        rows.append(
            {
                "method": job.method,
                "epsilon": job.epsilon,
                "metric": metric,
                "count": count,
                "value": value,
                "low": value - margin if metric == "bias" else max(0.0, value - margin),
                "high": value + margin,
                "exact": (metric, count) in known,
                "repeats": len(values) if (metric, count) not in known else 0,
                "private_side": True,
            }
        )
    return rows


def _treated(job: Job, table: Table, setting: Setting) -> Integers:
    """The counts as the method treats them: larger ones than max_count as max_count, where it has one."""
    if setting.max_count is None or job.method in (*LAWS, "signed-geometric"):
        return table.counts
    return np.minimum(table.counts, setting.max_count)


def exact_errors(job: Job, truth: Integers, setting: Setting) -> dict[tuple[str, int | None], float]:
    """Expected costs and biases of a mechanism whose matrix is known before any draw; nothing for the others."""
    from discreet.build.explicit import explicit, names

    if setting.max_count is None or job.method not in names() or job.method == "signed-geometric":
        return {}
    made = explicit(job.method, setting.max_count, job.epsilon, delta=_delta(job, setting))
    matrix, share = made.matrix(), np.bincount(truth, minlength=setting.max_count + 1) / len(truth)
    found: dict[tuple[str, int | None], float] = {}
    for cost in setting.costs:
        found[cost, None] = float(share @ (cost_matrix(cost, len(matrix)) * matrix).sum(axis=1))
    bias = made.bias()
    for count in _biased(truth):
        found["bias", count] = float(bias[count])
    return found


def _takes_delta(method: str) -> bool:
    """Only Gaussian noise needs a delta; other noise refuses it."""
    law = calibrated_laws().get(method)
    return method == "gaussian" or (law is not None and not law.pure)


def _delta(job: Job, setting: Setting) -> Number:
    return setting.delta if _takes_delta(job.method) else 0


def _one_release(
    job: Job, table: Table, truth: Integers, setting: Setting, repeat: int
) -> dict[tuple[str, int | None], float]:
    from discreet.release import release

    options: dict[str, Any] = {"mechanism": job.method, "delta": _delta(job, setting)}
    if job.method in LAWS:
        options = {"law": job.method, "keep": setting.keep, "delta": _delta(job, setting)}
    elif job.method != "signed-geometric":
        options["max_count"] = setting.max_count
        if job.method in MAPPED and setting.max_count is not None:
            options["top_code"] = True  # as every other method with a largest count: errors are then comparable
    start = time.perf_counter()
    out = release(table, job.epsilon, seed=_seed(setting.seed, repeat), **options).counts
    found: dict[tuple[str, int | None], float] = {("seconds", None): time.perf_counter() - start}
    error = out - truth
    for cost in setting.costs:
        found[cost, None] = float(_cost(cost, error).mean())
    low = min(0, int(out.min()))
    one, other = np.bincount(out - low), np.bincount(truth - low)
    found.update({("w1", None): w1(one, other), ("ks", None): ks(one, other)})
    found["total_variation", None] = total_variation(one, other)
    for count in _biased(truth):
        found["bias", count] = float(error[truth == count].mean())
    if setting.keep:
        found["kept", None] = _kept(table, setting.keep, out)
    return found


def _cost(cost: str, error: Integers) -> Floats:
    size = np.abs(error)
    if cost == "absolute":
        return size.astype(float)
    if cost == "squared":
        return size.astype(float) ** 2
    return (size > (0 if cost == "wrong" else int(cost.partition(":")[2]))).astype(float)


def _biased(truth: Integers) -> list[int]:
    """The counts whose bias is reported."""
    return [int(count) for count in np.unique(truth)[:MOST_BIASES]]


def _kept(table: Table, keep: tuple[Any, ...], out: Integers) -> float:
    """The share of the sums in `keep` that the release has right."""
    from discreet.lattice.invariants import invariant_matrix

    schema = table.schema
    wanted = invariant_matrix(keep, schema.key_columns, schema.rows)
    return float((wanted.sums(out) == wanted.sums(table.counts)).mean())


def _mean(values: list[float], level: float) -> tuple[float, float]:
    from scipy.stats import t

    if len(values) == 1:
        return values[0], 0.0
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return float(np.mean(values)), float(t.ppf((1 + level) / 2, len(values) - 1)) * spread


def _seed(seed: int, repeat: int) -> int:
    return int(np.random.SeedSequence((seed, repeat)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _setting(
    table: Table,
    repeats: int,
    seed: int,
    max_count: int | None,
    delta: Number,
    keep: Any,
    beyond: Sequence[int],
    level: float,
) -> Setting:
    if not isinstance(table, Table):
        raise BadInput("a table was to be evaluated", f"a {type(table).__name__} was given", "Use read_table or table")
    return Setting(
        repeats=whole(repeats, "the number of repeats", 2),
        seed=whole(seed, "seed", 0),
        max_count=None if max_count is None else whole(max_count, "max_count", 1),
        delta=loss_of(1, delta=delta).delta,
        keep=kept_list(keep),
        beyond=tuple(whole(depth, "beyond", 0) for depth in listed(beyond)),
        level=level_of(level),
    )


def _methods(methods: Iterable[str], setting: Setting) -> list[str]:
    from discreet.ways import mechanism_names

    known = (*mechanism_names(), *calibrated_laws(), *LAWS)
    names = list(dict.fromkeys(choose(name, known, "method") for name in listed(methods, (str,))))
    if not names:
        raise BadInput("methods were to be evaluated", "none was named")
    for name in names:
        if name in LAWS and not setting.keep:
            raise BadInput(
                f"the law {name!r} was to be evaluated",
                "nothing to keep is named",
                f"Give {called('keep', like='total')}",
            )
        if name not in (*LAWS, *UNBOUNDED) and setting.max_count is None:
            raise BadInput(
                f"{name} was to be evaluated",
                f"it needs a {called('max_count')}",
                f"Give {called('max_count', like='M')}",
            )
    if setting.delta and not any(_takes_delta(name) for name in names):
        pure_only(Approximate(1, setting.delta), " and ".join(names))
    return names


def _fingerprint(table: Table, setting: Setting) -> str:
    """What a file of finished jobs belongs to."""
    import hashlib

    return hashlib.sha256(table.counts.tobytes() + repr(setting).encode()).hexdigest()
