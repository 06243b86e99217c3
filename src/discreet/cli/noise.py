"""discreet noise --epsilon E --truth P --support D"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Alpha, Epsilon, Json, RefusedDelta, RefusedRho, emit

LONGEST_LIST = 500  # of errors on either side, on a screen


def run(
    truth: Annotated[str, typer.Option("--truth", help="probability that the true count is published")],
    support: Annotated[int, typer.Option("--support", help="the largest error")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: RefusedDelta = "0",
    rho: RefusedRho = None,
    json: Json = False,
) -> None:
    from discreet.build.bounded_noise import bounded_noise

    noise = bounded_noise(epsilon, truth=truth, support=support, alpha=alpha, delta=delta, rho=rho)
    formula = "the paper's formula" if noise.closed_form else "a formula of ours, since the paper's does not hold here"
    listed = noise.support <= LONGEST_LIST
    pairs = zip(range(-noise.support, noise.support + 1), noise.pmf, noise.pmf_optimal) if listed else ()
    lines = [
        f"Noise of least delta for single outputs (by {formula}):",
        f"  single outputs {float(noise.delta_single):.6g}, concluded by the paper {float(noise.delta_paper):.6g}, "
        f"exact {float(noise.delta_exact):.6g}",
        f"Noise of least exact delta: {float(noise.delta_optimal):.6g} "
        f"(none is below {float(noise.lower_bound):.6g}: proven)",
        f"Discrete Gaussian noise of the same variance: {float(noise.delta_gaussian):.6g}",
        f"{'error':>8}{'probability':>14}{'optimal':>14}" if listed else "All probabilities: with --json",
        *(f"{error:>8}{float(p):>14.6g}{float(q):>14.6g}" for error, p, q in pairs),
    ]
    emit(json, noise.as_json(), lines)
