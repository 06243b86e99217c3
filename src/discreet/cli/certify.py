"""discreet certify MATRIX"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Alpha, Delta, Epsilon, Json, Plot, emit


def run(
    matrix: Annotated[str, typer.Argument(help="JSON, CSV without header, ptable's CSV (i, j, p), or NPZ")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: Delta = "0",
    curve: Annotated[
        bool, typer.Option("--curve", help="delta for many epsilons; then --epsilon may be left out")
    ] = False,
    plot: Plot = None,
    json: Json = False,
) -> None:
    import discreet as dc
    from discreet.certify.words import lines
    from discreet.io.files import read_matrix

    if plot is not None:
        from discreet.plot import check_suffix

        check_suffix(plot)
    certificate = dc.certify(read_matrix(matrix), epsilon, delta, alpha, curve=curve or plot is not None)
    if plot is not None:
        certificate.plot(plot)
    emit(json, certificate.as_json(), lambda: lines(certificate))
    raise typer.Exit(1 if certificate.holds is False else 0)
