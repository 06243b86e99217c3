"""A release as one self-contained page for readers without statistics. Nothing secret is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.release import Release


def render(release: Release) -> str:
    """The HTML of report.html."""
    from jinja2 import Environment, PackageLoader

    from discreet.report.facts import facts
    from discreet.report.figures import distribution_svg, error_svg

    page = facts(release)
    environment = Environment(loader=PackageLoader("discreet", "report"), autoescape=True)
    return environment.get_template("report.html.jinja").render(
        page=page,
        distribution=distribution_svg(page.distribution),
        errors=error_svg(page.errors),
    )
