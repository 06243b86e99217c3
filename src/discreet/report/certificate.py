"""What a mechanism promises, as one self-contained page: the verdict, the curve, bias and variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.report.figures import curve_svg

if TYPE_CHECKING:
    from discreet.certify import Certificate

TEMPLATE = "certificate.html.jinja"


def render(certificate: Certificate, name: str) -> str:
    """The HTML of a page about the mechanism that goes by this name."""
    from discreet.certify import words
    from discreet.report import templates
    from discreet.report.passive import CONTROL

    assert certificate.curve is not None, "a page shows the curve"
    numbers = {"name": name, "goes_on": words.GOES_ON if certificate.goes_on else ""}
    written = (
        templates()
        .get_template(TEMPLATE)
        .render(
            said={key: text.format(**numbers) for key, text in words.PAGE.items()},
            verdict=list(words.verdict(certificate)),
            curve=curve_svg(certificate.curve.points),
            points=list(words.points(certificate.curve)),
            moments=[(f"{float(one.bias):.4g}", f"{float(one.variance):.4g}") for one in certificate.moments],
        )
    )
    return CONTROL.sub("\ufffd", written)
