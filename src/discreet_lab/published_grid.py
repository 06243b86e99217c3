"""The default beside the published pipeline, as a table: count error and distribution error for every epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from discreet.arrays import Integers
from discreet_lab.baselines.two_stage import default_errors
from discreet_lab.experiment import Data
from discreet_lab.experiments.fixed_point import ABSOLUTE, OURS, W1, Runs, mean, runs_of

FAVOURED = "discreet, favor=distribution"
SHOWN = {
    "default": OURS,
    "favor=distribution": FAVOURED,
    "paper, sandwich": "fixed point, sandwich",
    "paper, optimum": "fixed point, optimum",
    "unfixed optimum": "unfixed optimum",
    "geometric": "geometric",
}
AUTHORS = {  # of 10 replications, from the print and the authors' code: sandwich; optimum; unfixed optimum
    ("binomial", 0.48): "-/.0483; -/.0423; -/.6402",
    ("crime", 0.1): "-/2.1682; -; -/1.4381",
    ("crime", 0.48): "1.3370/.1098; 1.32/-; 1.2651/.4296",
    ("crime", 1.05): "0.66/-; 0.64/-; -",
}


def grid_runs(bins: Integers, epsilons: tuple[float, ...], repeats: int) -> Runs:
    """All methods, and ours for the distribution above all."""
    counts, found = np.repeat(np.arange(len(bins)), bins), runs_of(bins, epsilons, repeats, 0)
    favoured = {
        epsilon: np.array([default_errors(counts, len(bins), epsilon, k, "distribution") for k in range(repeats)])
        for epsilon in epsilons
    }
    return {**found, FAVOURED: favoured}


def lines_of(found: dict[str, Runs], sources: Sequence[Data], repeats: int) -> Iterator[str]:
    stand_ins = [data.source for data in sources if data.stand_in]
    yield f"Means of {repeats} releases; every method on the same tables, all that is simulated from the same seeds."
    if stand_ins:
        yield f"Generated stand-ins take the place of {' and '.join(stand_ins)}."
    yield ""
    yield (
        "| table | epsilon | "
        + " | ".join(SHOWN)
        + " | the authors' (sandwich; optimum; unfixed) | default - optimum |"
    )
    yield "|---|---|" + "---|" * (len(SHOWN) + 2)
    ours = {name: [0, 0] for name in ("default", "favor=distribution")}
    cells = 0
    for table, runs in found.items():
        for epsilon in runs[OURS]:
            pairs = {name: [mean(runs, method, epsilon, k) for k in (ABSOLUTE, W1)] for name, method in SHOWN.items()}
            theirs = [min(pairs["paper, sandwich"][k], pairs["paper, optimum"][k]) for k in (0, 1)]
            for name, wins in ours.items():
                ours[name] = [won + (pairs[name][k] < theirs[k]) for k, won in enumerate(wins)]
            cells += 1
            values = " | ".join(f"{count:.3f}/{law:.4f}" for count, law in pairs.values())
            paired = "/".join(_difference(runs, epsilon, part) for part in (ABSOLUTE, W1))
            yield f"| {table} | {epsilon:g} | {values} | {AUTHORS.get((table, epsilon), '')} | {paired} |"
    yield ""
    for name, (counts, laws) in ours.items():
        yield (
            f"`{name}`: the lower count error in {counts} of {cells} cells, the lower distribution error in {laws}; "
            "against the better of the paper's two each time."
        )


def _difference(runs: Runs, epsilon: float, part: int) -> str:
    """Release by release, the default less the paper's optimum: mean and standard error."""
    ours, theirs = (runs[SHOWN[name]][epsilon][:, part] for name in ("default", "paper, optimum"))
    many = min(len(ours), len(theirs))
    apart = ours[:many] - theirs[:many]
    return f"{apart.mean():+.4f}±{apart.std(ddof=1) / many**0.5:.4f}"
