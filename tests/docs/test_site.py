"""The site: every page has its place, every link leads somewhere, what is made from the source is up to date."""

from __future__ import annotations

import os
import re
import runpy
import sys
from pathlib import Path

import pytest

import discreet as dc

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import fields  # noqa: E402
from contents import CONTENTS  # noqa: E402

from tests.tampering.unchecked import FIELDS, on_trust  # noqa: E402

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
LINK = re.compile(r"(?m)(?:\]\(|^\[[^\]]+\]: )(?!https?:|mailto:)([^)#\s]*)(#[^)\s]+)?")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
site = runpy.run_path(str(ROOT / "docs" / "site.py"))


def anchors(page: Path) -> set[str]:
    """Those that headings have, on hosts of Markdown and on the site."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    found: dict[str, int] = {}
    slugs = set()
    for heading in re.findall(r"(?m)^#+ +(.+)$", text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        slugs.add(slug if slug not in found else f"{slug}-{found[slug]}")
        found[slug] = found.get(slug, 0) + 1
    return slugs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))
    for place, anchor in LINK.findall(text):
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"{page.name} links to {place}"
        if anchor:
            assert anchor[1:] in anchors(target), f"{page.name} links to {place}{anchor}; there are {anchors(target)}"


def test_every_page_has_a_place() -> None:
    listed = {name for names in CONTENTS.values() for pattern in names for name in site["_listed"](pattern)}
    there = {page.relative_to(ROOT).with_suffix("").as_posix() for page in PAGES}
    made = {"docs/api", "docs/decisions/README"}
    wanted = {name for name in there if not name.startswith("docs/decisions/")}
    assert listed - made == wanted, "put new pages into docs/contents.py"


def test_every_public_name_is_in_the_reference() -> None:
    page = site["api"]()
    for name in dir(dc):
        assert re.search(rf":: discreet\.{name}[\n(]", page), name


def test_pages_made_from_the_source_are_up_to_date() -> None:
    reference = runpy.run_path(str(ROOT / "docs" / "reference.py"))
    for place, made in (("COMMANDS_PAGE", reference["commands"]()), ("FIELDS_PAGE", fields.page())):
        assert reference[place].read_text(encoding="utf-8") == made, "run: python docs/reference.py"


def test_pictures_are_drawn_the_same_way_each_time_and_the_build_writes_none_of_the_repository(tmp_path: Path) -> None:
    pictures = runpy.run_path(str(ROOT / "docs" / "pictures.py"))
    kept = {path: path.stat().st_mtime_ns for path in (ROOT / "docs" / "pictures").iterdir()}
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        pictures["estimate"](tmp_path / name)
    first, second = ((tmp_path / name / "estimate.svg").read_bytes() for name in ("first", "second"))
    assert first == second
    assert {path: path.stat().st_mtime_ns for path in (ROOT / "docs" / "pictures").iterdir()} == kept
    assert "PICTURES" not in (ROOT / "docs" / "site.py").read_text(encoding="utf-8")


def test_screenshots_are_those_that_the_tests_take() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "screenshots.py"))
    assert {path.name for path in (ROOT / "docs" / "pictures").glob("*.png")} == set(tool["TAKEN"])
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "web").glob("*.py"))
    for taken in tool["TAKEN"].values():
        assert taken.removesuffix(".png").removeprefix("desk") in source, taken
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert all(f"pictures/{shown})" in pages for shown in tool["TAKEN"])


def test_every_field_of_the_record_has_a_meaning() -> None:
    assert fields.undescribed() == []


def test_what_verify_does_with_a_field_is_what_tampering_finds() -> None:
    """The page says on trust of the fields that the tests of tampering let pass, and of no others."""
    kinds = [*fields.PARTS, *(kind for name in fields.WAYS for kind in fields._inside(fields.way_named(name).facts))]
    said = {
        fields.place(kind, name): fields._checked(kind, name) for kind in kinds for name, *_ in fields.described(kind)
    }
    assert {at for at, told in said.items() if told == "on trust"} == {at for at in said if on_trust(at)}
    inside = {one.partition(".")[0] + "." + one.split(".")[1] if "." in one else one for one in FIELDS}
    unsaid = {one for one in inside if not any(at.startswith(one) for at in said)}
    assert unsaid <= {"created", "private", "mark", "about", "ledger", "rendered"} | FLAT
    assert all(f"| `{name}` |" in fields.page() for name in ("created", "private", "mark", "ledger", "rendered"))


FLAT = {
    "guarantee.epsilon",
    "guarantee.alpha",
    "guarantee.delta",
    "guarantee.rho",
    "mechanism.weights",
    "mechanism.map",
}  # of a loss, a form


def test_output_stands_under_its_snippet() -> None:
    text = "a\n\n```python\nprint(1)\n```\n\nb\n\n```sh\ndiscreet demo\n```\n"
    made = site["with_output"](text, ["1\n", ""])
    assert made == "a\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\nb\n\n```sh\ndiscreet demo\n```\n"


def test_a_page_with_output_has_the_links_of_the_site(tmp_path: Path) -> None:
    from snippets import blocks

    site["lay_out"](tmp_path)
    site["add_output"](tmp_path / "README.md", ["said\n" for _ in blocks(ROOT / "README.md")])
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "```text\nsaid\n```" in text and "docs/decisions)" not in text and "docs/decisions/README.md)" in text


def test_a_page_that_loads_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="https://x.org">x</a><img src="pictures/a.png"><script src="s.js"></script>'
    )
    assert site["foreign_assets"](tmp_path) == []
    (tmp_path / "b.html").write_text('<script async src="https://x.org/s.js"></script>')
    assert len(site["foreign_assets"](tmp_path)) == 1


if os.environ.get("DISCREET_FULL"):  # a minute, which `make docs` takes anyway: it fails on a warning, too

    def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
        site["lay_out"](tmp_path / "source")
        site["render"](tmp_path / "source", tmp_path / "site")
        assert (tmp_path / "site" / "search.html").exists() and (tmp_path / "site" / "searchindex.js").exists()


def test_docstrings_of_the_reference_leave_no_dead_marks() -> None:
    """A word between bars would be a link of reStructuredText that leads nowhere; in backticks it is code."""
    bare = re.compile(r"(?<![`\w|])\|[^|\s`][^|`\n]*[^|\s`]\|(?![`\w|])")
    assert bare.search("The largest entry of |z T - z|.") and not bare.search("The largest entry of `|z T - z|`.")
    for name in dir(dc):
        found = getattr(dc, name)
        names = [one for one in vars(found) if not one.startswith("_")] if isinstance(found, type) else []
        for one in (found, *(getattr(found, inner) for inner in names)):
            own = getattr(one, "__doc__", None)
            assert not (isinstance(own, str) and bare.search(own)), f"{name}: {own}"


def test_the_scores_of_a_search_are_all_that_sphinx_looks_for() -> None:
    """Guides come first; a score that is missing would be no number, and nothing would be in order."""
    import sphinx

    own = (ROOT / "docs" / "scorer.js").read_text(encoding="utf-8")
    theirs = (Path(sphinx.__file__).parent / "themes/basic/static/searchtools.js").read_text(encoding="utf-8")
    usual = theirs.partition("var Scorer = {")[2].partition("};")[0]
    known = set(re.findall(r"^\s*(\w+):", usual, re.MULTILINE))
    assert known == set(re.findall(r"^  (\w+):", own, re.MULTILINE)) | {"0", "1", "2"}


def test_what_is_called_is_in_the_reference_as_a_function_and_fields_have_meanings() -> None:
    page = site["api"]()
    assert ".. py:function:: discreet.plot(value" in page and "discreet.plot.heat_map" not in page
    meaning = runpy.run_path(str(ROOT / "docs" / "conf.py"))["meaning"]
    assert meaning(dc.About, "title") == "title of the publication"
    assert meaning(dc.KeepSums, "keep") and meaning(dc.Plan, "questions")
    assert meaning(dc.Plan, "no such field") == "" == meaning(None, "title")
