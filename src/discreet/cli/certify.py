"""discreet certify MATRIX"""

from __future__ import annotations

from typing import Annotated

import typer

from discreet.cli.common import Alpha, Delta, Epsilon, Json, emit


def run(
    matrix: Annotated[str, typer.Argument(help="JSON, CSV without header, or NPZ")],
    epsilon: Epsilon = None,
    alpha: Alpha = None,
    delta: Delta = "0",
    json: Json = False,
) -> None:
    import discreet as dc
    from discreet.io.files import read_matrix

    certificate = dc.certify(read_matrix(matrix), epsilon, delta, alpha)
    emit(json, certificate.as_json(), lambda: _lines(certificate))
    raise typer.Exit(0 if certificate.holds else 1)


def _lines(certificate: object) -> list[str]:
    from discreet.certify import Certificate
    from discreet.certify.prove import for_people

    assert isinstance(certificate, Certificate)
    if certificate.holds:
        return [f"Proved: epsilon = {certificate.epsilon} holds (the smallest is {certificate.smallest_epsilon})."]
    assert certificate.witness is not None
    witness = certificate.witness
    ratio = "infinitely" if witness.ratio is None else f"{for_people(witness.ratio):.6g} times"
    return [
        f"Refuted: output {witness.output} is {ratio} as likely from {witness.input} as from "
        f"{witness.neighbour}; {for_people(witness.allowed):.6g} times is allowed.",
        f"The smallest epsilon at which it would hold: {certificate.smallest_epsilon or 'none'}.",
    ]
