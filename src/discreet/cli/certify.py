"""discreet certify MATRIX"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.common import Alpha, Delta, Epsilon, Json, Plot, RefusedRho, emit
from discreet.errors import BadInput


def run(
    matrix: Annotated[str, typer.Argument(help="JSON, CSV without header, ptable's CSV (i, j, p), or NPZ")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: Delta = "0",
    rho: RefusedRho = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="delta for many epsilons; then --epsilon may be left out")
    ] = False,
    plot: Plot = None,
    report: Annotated[
        str | None, typer.Option("--report", help="write a page for people to this HTML file", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    import discreet as dc
    from discreet.certify.words import lines
    from discreet.io.files import read_probabilities

    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    if report is not None and not report.lower().endswith(".html"):
        raise BadInput(f"a page was to be written to {report}", "the name must end in .html")
    given, wanted = read_probabilities(matrix), curve or plot is not None or report is not None
    certificate = dc.certify(given, epsilon, delta, alpha, rho=rho, curve=wanted)
    if plot is not None:
        certificate.plot(plot)
    if report is not None:
        from discreet.io.files import write_text
        from discreet.report.certificate import render

        write_text(report, render(certificate, Path(matrix).name))
    emit(json, certificate.as_json(), lambda: lines(certificate))
    raise typer.Exit(1 if certificate.holds is False else 0)
