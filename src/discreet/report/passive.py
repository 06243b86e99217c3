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
    "figcaption", "code", "table", "tr", "th", "td", "strong", "footer", "svg", "metadata", "rdf:rdf", "cc:work",
    "dc:type", "dc:format", "defs", "g", "path", "use", "rect", "clippath", "meta", "a", "bdi",
})  # fmt: skip
INERT = frozenset({
    "lang", "charset", "name", "content", "class", "type", "id", "transform", "d", "style", "clip-path", "x", "y",
    "width", "height", "viewbox", "version", "xmlns", "xmlns:xlink", "xmlns:cc", "xmlns:dc", "xmlns:rdf",
    "rdf:resource", "xlink:href", "href", "role", "scope",
})  # fmt: skip
HEAD = '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'  # else a browser guesses the encoding
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but line breaks and tabs: some switch the encoding
TEXT_ONLY = frozenset({"style", "title"})  # a browser reads on to the end of these, whatever stands in between
FILE = re.compile(
    r"(table|measurements|answers|manifest|release|report|explore)[-0-9]*(\.[a-z]+)?|analysis\.R|"
    r"table\.csv-metadata\.json"
)  # beside the page: no address leads elsewhere
PRINTED = "@media print {"  # the one rule for some readers alone
FRAGMENT = re.compile(r"#[\w.-]+")  # a place on the same page
DRAWN = re.compile(r"url\(#[\w.-]+\)")
CALL = re.compile(r"([\w-]*)\(")
FUNCTIONS = {"var"}  # that a style may call; url only with a place on the same page


def active_content(page: str) -> str | None:
    """The first thing that no report of ours has, or None."""
    if not page.startswith(HEAD):
        return page[:40]
    if control := CONTROL.search(page):
        return control[0]
    place, tokens = 0, []
    while place < len(page):
        token = TOKEN.match(page, place)
        if token is None:
            return page[place : place + 40]
        found = _not_ours(token, page)
        if found is not None:
            return found
        tokens.append(token)
        place = token.end()
    return _multiplied(tokens)


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
        inside = page[token.end() :].partition("<")
        if not inside[2].startswith(f"/{token['start']}>"):
            return (inside[1] + inside[2])[:40] or f"<{name}>"
        return None if name != "style" or _plain_style(inside[0]) else inside[0][:40]
    return None


def _attributes(token: re.Match[str]) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in ATTRIBUTE.findall(token["attributes"] or "")]


def _multiplied(tokens: list[re.Match[str]]) -> str | None:
    """What is drawn again elsewhere is a single path, and no clip is clipped: else a short page draws without end."""
    paths: set[str] = set()
    others: set[str] = set()
    used: set[str] = set()
    clipping = 0
    for token in tokens:
        name, attributes = (token["start"] or token["end"] or "").lower(), _attributes(token)
        if name == "clippath" and not token[0].endswith("/>"):
            clipping += 1 if token["start"] else -1
        elif clipping and (name == "use" or any("url" in value.lower() for _, value in attributes)):
            return token[0][:40]
        names = {value for key, value in attributes if key == "id"}
        (paths if name == "path" else others).update(names)
        used |= {value[1:] for key, value in attributes if key == "xlink:href"}
    return next(iter(sorted(used - (paths - others))), None)


def _plain_style(rules: str) -> bool:
    """Of a whole element, which holds for the whole page: not even a place on the page."""
    return "url" not in rules.lower() and _inert("style", rules.replace(PRINTED, "{"))


def _inert(attribute: str, value: str) -> bool:
    """Whether a value can neither load nor run anything."""
    if attribute == "xlink:href":
        return FRAGMENT.fullmatch(value) is not None
    if attribute == "href":
        return FILE.fullmatch(value) is not None
    if attribute == "charset":
        return value == "utf-8"
    if attribute in ("style", "clip-path"):
        rest = DRAWN.sub("", value)
        return not re.search(r"[@\\&]|/\*", rest) and set(CALL.findall(rest)) <= FUNCTIONS
    return True
