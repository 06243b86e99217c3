"""Paper 002: noise for the counties of a state whose total is kept. Figures 2, 8 and 9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.sample.bits import source
from discreet_lab.data import census_noise, county_populations
from discreet_lab.experiment import Claim, Control, Data, Experiment, Result, RunSetting, stated
from discreet_lab.experiments.subspace import LARGE, exact_plan

Noise = dict[str, Integers]  # by state: a row for every draw, a column for every county
STATES = (
    "Alabama",
    "Georgia",
    "Kentucky",
    "Mississippi",
    "North Carolina",
    "Texas",
    "Virginia",
    "Ohio",
    "Iowa",
    "Kansas",
)
NOVEMBER = Data(
    "the Census Bureau's errors in the demonstration data of November 2020",
    "they may not be redistributed; only the noise of the mechanism is compared",
    obtainable=False,
)


def county_noise(cells: int, number: int, seed: int, rate: str = "0.192") -> Integers:
    """Noise for the counties of a state whose total is kept."""
    return exact_plan(np.ones((1, cells), dtype=np.int64), "l1", rate).draws(number, source(seed))


def _county_claims(noise: Noise, populations: Noise) -> tuple[Claim, ...]:
    off = max(float(np.max(np.abs(z.mean(axis=0)) / (z.std(axis=0) / len(z) ** 0.5))) for z in noise.values())
    inside = min(float((np.abs(z) <= 30).mean()) for z in noise.values())
    broken = sum(int((z.sum(axis=1) != 0).sum()) for z in noise.values())
    negative = sum(int((z + populations[state] < 0).sum()) for state, z in noise.items())
    return (
        stated("state totals kept, whole numbers", "always", f"{broken} totals broken", broken == 0),
        stated("unbiased in every county", "yes", f"worst {off:.1f} standard errors off", off < LARGE),
        stated("noise within -30..30", "the overwhelming majority", f"{100 * inside:.1f}%", inside > 0.99),
        stated("draws that make a county negative", "0 of 1,000", str(negative), negative == 0),
    )


def counties(states: tuple[str, ...]) -> Callable[[RunSetting], Result]:
    def run(setting: RunSetting) -> Result:
        number = setting.repeats(1000, 300)
        tables = {state: county_populations(setting, state) for state in states}
        populations = {state: values for state, (values, _) in tables.items()}
        noise = {state: county_noise(len(values), number, setting.seed) for state, values in populations.items()}
        wide = {state: 4 * values for state, values in noise.items()}
        huge = {state: 1000 * values for state, values in noise.items()}
        biased = {state: values + 10 * (np.arange(values.shape[1]) == 0) for state, values in noise.items()}
        census = census_noise(setting)
        note = "" if census is None else _census_note(*census)

        def draw() -> Any:
            from discreet import plot

            shown = list(noise.items())[:4]
            drawing, axes = plot.figure(len(shown), 1, width=7, height=1.8)
            for ax, (state, values) in zip(axes[:, 0], shown):
                plot.noise_by_cell(values, ax, f"{state}, counties by population", {"one draw": values[0]})
            return drawing

        return Result(
            _county_claims(noise, populations),
            (
                Control("four times the noise", _county_claims(wide, populations)),
                Control("ten people more in the first county", _county_claims(biased, populations)),
                Control("a thousand times the noise", _county_claims(huge, populations)),
            ),
            "One exact draw of all counties of a state takes milliseconds; the paper runs a chain for a million steps.",
            data=(*(data for _, data in tables.values()), NOVEMBER),
            note=note,
            draw=draw,
        )

    return run


def _census_note(truth: Integers, noisy: Integers) -> str:
    order = np.argsort(truth)
    errors = (noisy - truth)[order]
    half = len(errors) // 2
    return (
        "In the Bureau's pair that may be shown (California, March 2022) the mean error is "
        f"{errors[:half].mean():+.1f} for the smaller half of the counties, {errors[half:].mean():+.1f} for the larger."
    )


def projected(cells: int, number: int, rng: np.random.Generator, rate: float = 0.192) -> Integers:
    """Double geometric noise, put back onto whole numbers that sum to zero: the nearest in l2, then in l1."""
    chance = -np.expm1(-rate)
    noise = rng.geometric(chance, (number, cells)) - rng.geometric(chance, (number, cells))
    level = noise - noise.mean(axis=1, keepdims=True)
    whole = np.floor(level).astype(np.int64)
    short = -whole.sum(axis=1)
    largest = np.argsort(np.argsort(-(level - whole), axis=1), axis=1)  # ranks of what was cut off
    out: Integers = whole + (largest < short[:, None])
    return out


def figure_9(setting: RunSetting) -> Result:
    number, rng = setting.repeats(1000, 300), np.random.default_rng(setting.seed)
    tables = {state: county_populations(setting, state) for state in STATES}
    ours = {state: county_noise(len(values), number, setting.seed) for state, (values, _) in tables.items()}
    theirs = {state: projected(noise.shape[1], number, rng) for state, noise in ours.items()}
    people = {state: values for state, (values, _) in tables.items()}
    return Result(
        _overlap_claims(ours, theirs, people),
        (
            Control(
                "three times the projected noise; counties of a thousandth of their people",
                _overlap_claims(
                    ours,
                    {state: 3 * noise for state, noise in theirs.items()},
                    {state: values // 1000 for state, values in people.items()},
                ),
            ),
            Control(
                "projected noise with one person too many",
                _overlap_claims(ours, {s: z + (np.arange(z.shape[1]) == 0) for s, z in theirs.items()}, people),
            ),
        ),
        "Noise that keeps the total by itself needs no projection, and its law is known: intervals follow from it.",
        data=(*(data for _, data in tables.values()), NOVEMBER),
        note="The caption speaks of the noise after non-negativity, the text of projected double geometric noise: "
        "both are compared.",
        draw=lambda: _pairs_figure(ours, theirs),
    )


def _overlap_claims(ours: Noise, theirs: Noise, people: Noise) -> tuple[Claim, ...]:
    negative = sum(int((noise + people[state] < 0).sum()) for state, noise in ours.items())
    ratios = [float(_quartiles(theirs[state]) / _quartiles(noise)) for state, noise in ours.items()]
    broken = sum(int((noise.sum(axis=1) != 0).sum()) for noise in theirs.values())
    return (
        stated(
            "boxes of projected double geometric noise majorly overlap", "comparable magnitude",
            f"{min(ratios):.2f} to {max(ratios):.2f} times the height", min(ratios) > 0.5 and max(ratios) < 2,
        ),
        stated("projected noise keeps the totals", "always", f"{broken} broken", broken == 0),
        stated("counties that non-negativity would change", "none in 1,000 draws", str(negative), negative == 0),
    )  # fmt: skip


def _quartiles(noise: Integers) -> float:
    """The mean height of the boxes."""
    low, high = np.quantile(noise, (0.25, 0.75), axis=0)
    return float((high - low).mean())


def _pairs_figure(ours: Noise, theirs: Noise) -> Any:
    from discreet import plot

    shown = list(ours)[:3]
    drawing, axes = plot.figure(len(shown), 2, width=4.2, height=1.8)
    for row, state in zip(axes, shown):
        plot.noise_by_cell(ours[state], row[0], f"{state}, on the lattice")
        plot.noise_by_cell(theirs[state], row[1], f"{state}, projected double geometric")
    return drawing


EXPERIMENTS = (
    Experiment("002-figure-2", "noise for the counties of Illinois", counties(("Illinois",))),
    Experiment("002-figure-8", "noise for the counties of ten states", counties(STATES)),
    Experiment("002-figure-9", "projected noise for the counties of ten states", figure_9),
)
