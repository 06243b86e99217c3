"""That a page does nothing: only what our own pages are made of is let through, so that no list of evils must be known.

The grammar is narrower than HTML. Whatever a browser might read in another way than this does is no page of ours.
"""

from __future__ import annotations

import re

TOKEN = re.compile(
    r"""[^<]+
    | <!doctype\ html>
    | <!--[^<>-]*-->
    | </(?P<end>[A-Za-z][A-Za-z0-9:]*)>
    | <(?P<start>[A-Za-z][A-Za-z0-9:]*)(?P<attributes>(?:\s+[A-Za-z:-]+="[^"<>]*")*)\s*/?>
    """,
    re.VERBOSE,
)
ATTRIBUTE = re.compile(r'([A-Za-z:-]+)="([^"<>]*)"')
PLAIN = frozenset({
    "html", "head", "title", "style", "body", "h1", "h2", "p", "div", "dl", "dt", "dd", "ol", "ul", "li", "figure",
    "figcaption", "code", "strong", "footer", "svg", "metadata", "rdf:rdf", "cc:work", "dc:type", "dc:format", "defs",
    "g", "path", "use", "rect", "clippath", "meta",
})  # fmt: skip
INERT = frozenset({
    "lang", "charset", "name", "content", "class", "type", "id", "transform", "d", "style", "clip-path", "x", "y",
    "width", "height", "viewbox", "version", "xmlns", "xmlns:xlink", "xmlns:cc", "xmlns:dc", "xmlns:rdf",
    "rdf:resource", "xlink:href",
})  # fmt: skip
FRAGMENT = re.compile(r"#[\w.-]+")  # a place on the same page
DRAWN = re.compile(r"url\(#[\w.-]+\)")
CALL = re.compile(r"([\w-]*)\(")
FUNCTIONS = {"var"}  # that a style may call; url only with a place on the same page


def active_content(page: str) -> str | None:
    """The first thing that no report of ours has, or None."""
    place = 0
    while place < len(page):
        token = TOKEN.match(page, place)
        if token is None:
            return page[place : place + 40]
        found = _not_ours(token, page)
        if found is not None:
            return found
        place = token.end()
    return None


def _not_ours(token: re.Match[str], page: str) -> str | None:
    name = token["start"] or token["end"]
    if name is None:
        return None
    if name.lower() not in PLAIN:
        return f"<{name}>"
    for attribute, value in ATTRIBUTE.findall(token["attributes"] or ""):
        if attribute.lower() not in INERT or not _inert(attribute.lower(), value):
            return f'{attribute}="{value[:40]}"'
    if token["start"] and name.lower() == "style":
        inside = page[token.end() : page.find("<", token.end())]
        return None if _inert("style", inside) else inside[:40]
    return None


def _inert(attribute: str, value: str) -> bool:
    """Whether a value can neither load nor run anything."""
    if attribute == "xlink:href":
        return FRAGMENT.fullmatch(value) is not None
    if attribute in ("style", "clip-path"):
        rest = DRAWN.sub("", value)
        return not re.search(r"[@\\&]|/\*", rest) and set(CALL.findall(rest)) <= FUNCTIONS
    return True
