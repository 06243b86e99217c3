"""Runs experiments, one process a core, and writes what they found: a page, its pictures, and the same as JSON."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from discreet.errors import BadInput, choose
from discreet.evaluate.pool import outcomes
from discreet_lab.experiment import Experiment, Result, RunSetting

PICTURES = Path("pictures") / "reproduction"
DOTS = 144  # an inch: at half size letters are as large as on a screen


@cache
def experiments() -> dict[str, Experiment]:
    """Every experiment by name, in the order of the papers."""
    from discreet_lab import experiments as package

    modules = [import_module(f"{package.__name__}.{module.name}") for module in iter_modules(package.__path__)]
    found = [one for module in modules for one in module.EXPERIMENTS]
    return {one.name: one for one in sorted(found, key=_place)}


def _place(experiment: Experiment) -> tuple[str, str, int, str]:
    """By paper, then kind, then number."""
    parts = experiment.name.split("-")
    number = next((int(part) for part in parts[1:] if part.isdigit()), 0)
    return parts[0], parts[1], number, experiment.name


def listing() -> list[dict[str, str]]:
    return [{"name": one.name, "paper": one.paper, "what": one.what} for one in experiments().values()]


def chosen(name: str) -> list[str]:
    """`all`, or one experiment."""
    return list(experiments()) if name == "all" else [choose(name, experiments(), "experiment")]


def reproduce(
    names: Iterable[str], *, quick: bool = False, data: str | Path | None = None, out: str | Path | None = None,
    seed: int = 0, workers: int | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Run the experiments; with `out`, write reproduction.md, reproduction.json and the pictures there."""
    from discreet_lab.data import check_folder
    from discreet_lab.page import write_page

    wanted = [name for one in names for name in chosen(one)]
    folder = None if data is None else Path(data)
    if folder is not None:
        check_folder(folder)
    target = None if out is None else _writable(Path(out))
    setting = RunSetting(quick, folder, seed)
    run = partial(run_one, setting=setting, out=target)
    found = dict(outcomes(run, list(dict.fromkeys(wanted)), "Reproducing", workers))
    results = [found[name] for name in wanted]
    if target is not None:
        write_page(target, results, quick)
    return results


def run_one(name: str, setting: RunSetting, out: Path | None) -> dict[str, Any]:
    """One experiment, its picture drawn if a folder is given."""
    experiment = experiments()[name]
    start = time.perf_counter()
    result = experiment.run(setting)
    picture = None
    if out is not None and result.draw is not None:
        from discreet import plot

        picture = PICTURES / f"{name}.png"
        plot.save(result.draw(), out / picture, DOTS)
    return as_record(experiment, result, time.perf_counter() - start, picture)


def as_record(experiment: Experiment, result: Result, seconds: float, picture: Path | None) -> dict[str, Any]:
    """The result as plain values: what the command prints and the page shows."""
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "what": experiment.what,
        "verdict": result.verdict,
        "published": {claim.what: claim.published for claim in result.claims},
        "ours": {claim.what: claim.ours for claim in result.claims},
        "note": result.reasons,
        "claims": [asdict(claim) for claim in result.claims],
        "improvement": result.improvement,
        "controls": [{"what": control.what, "fails": sorted(control.catches)} for control in result.controls],
        "data": [asdict(data) for data in result.data],
        "picture": None if picture is None else picture.as_posix(),
        "seconds": round(seconds, 2),
    }


def _writable(out: Path) -> Path:
    """The folder, made if need be; refused before any work is done if nothing can be written there."""
    try:
        (out / PICTURES).mkdir(parents=True, exist_ok=True)
        probe = out / ".probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput(
            f"results were to be written to {out}", error.strerror or str(error), "Name a folder that can be written"
        ) from error
    return out
