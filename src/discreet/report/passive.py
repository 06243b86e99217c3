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
    "figcaption", "code", "table", "tr", "th", "td", "strong", "footer", "svg", "g", "path", "text", "meta", "a", "bdi",
})  # fmt: skip
INERT = frozenset({
    "lang", "charset", "name", "content", "class", "transform", "d", "style", "x", "y", "viewbox", "xmlns", "href",
    "role", "scope",
})  # fmt: skip
HEAD = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'  # else a browser guesses the encoding
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but line breaks and tabs: some switch the encoding
TEXT_ONLY = frozenset({"style", "title"})  # a browser reads on to the end of these, whatever stands in between
FILE = re.compile(
    r"(table|measurements|answers|manifest|release|report|explore)[-0-9]*(\.[a-z]+)?|analysis\.R|"
    r"table\.csv-metadata\.json"
)  # beside the page: no address leads elsewhere
PRINTED = "@media print {"  # the one rule for some readers alone
CALL = re.compile(r"(?<![\w-])([\w-]*)\(")  # begun at the beginning of a word alone: long words cost no more than short
FUNCTIONS = {"var"}  # that a style may call


def active_content(page: str) -> str | None:
    """The first thing that no report of ours has, or None."""
    if not page.startswith(HEAD):
        return page[:40]
    if control := CONTROL.search(page):
        return control[0]
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
    name = (token["start"] or token["end"] or "").lower()
    if not name:
        return None
    if name not in PLAIN:
        return f"<{name}>"
    for attribute, value in _attributes(token):
        if attribute not in INERT or not _inert(attribute, value):
            return f'{attribute}="{value[:40]}"'
    if token["start"] and name in TEXT_ONLY:
        end = page.find("<", token.end())
        if end < 0 or not page.startswith(f"</{token['start']}>", end):
            return f"<{name}>" if end < 0 else page[end : end + 40]
        inside = page[token.end() : end]
        return None if name != "style" or _plain_style(inside) else inside[:40]
    return None


def _attributes(token: re.Match[str]) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in ATTRIBUTE.findall(token["attributes"] or "")]


def _plain_style(rules: str) -> bool:
    """Of a whole element, which holds for the whole page."""
    return _inert("style", rules.replace(PRINTED, "{"))


def _inert(attribute: str, value: str) -> bool:
    """Whether a value can neither load nor run anything."""
    if attribute == "href":
        return FILE.fullmatch(value) is not None
    if attribute == "charset":
        return value == "utf-8"
    if attribute == "style":
        return not re.search(r"[@\\&]|/\*", value) and set(CALL.findall(value)) <= FUNCTIONS
    return True
