"""A release as one self-contained page for readers without statistics. Nothing secret is in it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

    from discreet.record.release import Publication, ReleaseRecord
    from discreet.report.prepared import Prepared

TEMPLATE = "report.html.jinja"
SOURCES = (
    *(f"record/words/{name}" for name in ("promises.py", "steps.py", "pages.py")),
    *(f"report/{name}" for name in (TEMPLATE, "facts.py", "figures.py", "drawing.py", "errors.py")),
    *(f"report/{name}" for name in ("csvw.py", "explore.py", "told.py", "prepared.py")),
)
ESTIMATES = "estimate"  # whose files compute what the analyst's page shows
DRAWING = ("jinja2", "numpy")  # what a report is drawn with
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
DRAWINGS = re.compile(r"<svg.*?</svg>", re.DOTALL)
CLOSE = 0.02  # points of a drawing: another machine may round its last digits in another way


def render(publication: Publication[Any], found: Prepared | None = None) -> str:
    """The HTML of report.html."""
    from discreet.record.words.pages import said_on_every_page
    from discreet.report.facts import page_of
    from discreet.report.figures import distribution_svg, error_svg, is_cumulative
    from discreet.report.passive import CONTROL
    from discreet.report.prepared import prepared

    page = page_of(publication, found or prepared(publication))
    written = (
        templates()
        .get_template(TEMPLATE)
        .render(
            page=page,
            said=said_on_every_page(vars(page)),
            distribution=distribution_svg(page.distribution),
            upto=is_cumulative(page.distribution),
            errors=error_svg(page.errors),
        )
    )
    return CONTROL.sub("\ufffd", written)  # names of columns and the publisher's own words may hold any


@cache
def templates() -> Environment:
    """Where those of our pages are found; a template is compiled once."""
    from jinja2 import Environment, PackageLoader

    return Environment(loader=PackageLoader("discreet", "report"), autoescape=True)


def pages(publication: Publication[Any], answers: Prepared | None = None) -> dict[str, str]:
    """Everything in a folder that is for people, by the name of its file; the record has the names of the tables."""
    from discreet.io import REPORT
    from discreet.report.prepared import prepared

    found = answers or prepared(publication)
    return {REPORT: render(publication, found), **beside(publication, found)}


def beside(publication: Publication[Any], prepared: Prepared | None = None) -> dict[str, str]:
    """All of it but the report."""
    from discreet.io import ANALYSIS, EXPLORE, METADATA
    from discreet.report import csvw, explore

    found = {EXPLORE: explore.render(publication, prepared), ANALYSIS: analysis()}
    return found | ({METADATA: csvw.render(publication.record)} if METADATA in page_names(publication.record) else {})


def page_names(record: ReleaseRecord[Any]) -> tuple[str, ...]:
    """The names of these files."""
    from discreet.io import ANALYSIS, EXPLORE, METADATA, METADATA_OF, REPORT

    return REPORT, EXPLORE, ANALYSIS, *((METADATA,) if record.tables[0].file == METADATA_OF else ())


def analysis() -> str:
    """The text of analysis.R: the same in every release."""
    from importlib.resources import files

    return files("discreet").joinpath("report", "analysis.R").read_text(encoding="utf-8")


def rendered_by() -> dict[str, str]:
    """Everything that decides how a report looks: versions, and a digest of our own words and pages.

    Two records that agree in this have, of equal facts, equal reports; where they differ nothing can be said.
    """
    import discreet

    packages = {name: _version(name) for name in DRAWING}
    return {"discreet": discreet.__version__, **packages, "words": _words_digest()}


@cache
def _version(package: str) -> str:
    """It is looked up in a file, and does not change while we run."""
    from importlib.metadata import version

    return version(package)


def _words_digest() -> str:
    """Of the words as they are in memory, and the sources that fill them in and lay them out."""
    import hashlib
    from importlib.resources import files

    from discreet.record.words import MODULES

    texts = ((name, value) for module in MODULES for name, value in vars(module).items())
    tables = sorted((name, value) for name, value in texts if name.isupper() and name != "MORE")
    found = [files("discreet").joinpath(name).read_bytes() for name in sources()]
    return hashlib.sha256(repr(tables).encode() + b"".join(found)).hexdigest()


def sources() -> tuple[str, ...]:
    """Every file that decides what stands on a page."""
    from importlib.resources import files

    names = sorted(one.name for one in files("discreet").joinpath(ESTIMATES).iterdir())
    return (*SOURCES, *(f"{ESTIMATES}/{name}" for name in names if name.endswith(".py")))


def same_page(one: str, other: str) -> bool:
    """Equal letter by letter, but for the last digits of numbers in drawings."""
    if one == other:
        return True
    if DRAWINGS.sub("", one) != DRAWINGS.sub("", other):
        return False
    return all(_same_drawing(a, b) for a, b in zip(DRAWINGS.findall(one), DRAWINGS.findall(other), strict=True))


def _same_drawing(one: str, other: str) -> bool:
    if one == other:
        return True
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other))
    return all(abs(float(a) - float(b)) <= CLOSE for a, b in pairs)
