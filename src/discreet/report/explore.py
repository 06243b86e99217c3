"""explore.html: one page that answers questions with intervals. A static shell, the same in every release, around data.

The shell (markup, style, script) is text that is known by its digest; the data is JSON in which no markup can stand.
So whoever checks a page need not judge a script: it is one of ours, letter by letter, or it is refused.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import Damaged
from discreet.report.known import KNOWN_SHELLS, digest_of
from discreet.report.prepared import DIGITS, Numbers, Prepared, prepared
from discreet.report.told import explore_page

if TYPE_CHECKING:
    from discreet.record.release import Publication

PARTS = ("explore.html", "explore.css", "explore.js")
POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
)
DATA = "@DATA@"
START, END = 'id="data">', "</script>\n<script>"  # around it
CLOSE = 2 * 10.0**-DIGITS  # another machine may round a last digit in another way
TRILLION = 1e12  # a distribution is told in parts of it: a posterior may rest on the smallest
HARMLESS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})  # in JSON: no markup, whatever it says


@cache
def shell() -> tuple[str, str]:
    """The page before its data, and after it."""
    from importlib.resources import files

    markup, style, script = (files("discreet").joinpath("report", name).read_text(encoding="utf-8") for name in PARTS)
    policy = POLICY.format(script=_hash(script), style=_hash(style))
    page = markup.replace("@POLICY@", policy).replace("@STYLE@", style).replace("@SCRIPT@", script)
    before, _, after = page.partition(DATA)
    return before, after


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def digest_of_shell(before: str, after: str) -> str:
    return digest_of(f"{before}{DATA}{after}")


def render(publication: Publication[Any], answers: Prepared | None = None) -> str:
    """The HTML of explore.html."""
    found = answers or prepared(publication)
    content = {**asdict(explore_page(publication, found)), **_as_json(found)}
    before, after = shell()
    return f"{before}{_written(content)}{after}"


def _as_json(found: Prepared) -> dict[str, object]:
    rows = found.rows
    return {
        "values": found.values,
        "asked": [
            {"by": one.by, "groups": [group.tolist() for group in one.groups], "numbers": _numbers(one.numbers)}
            for one in found.asked
        ],
        "rows": None if rows is None else {
            "groups": [group.tolist() for group in rows.groups], "published": rows.published.tolist(),
            "numbers": None if rows.numbers is None else _numbers(rows.numbers),
        },
        "prior": [np.round(one * TRILLION, DIGITS).tolist() for one in found.prior],
    }  # fmt: skip


def _numbers(found: Numbers) -> dict[str, object]:
    exact = np.asarray(found.exact, dtype=bool)
    columns = {name: np.round(getattr(found, name), DIGITS).tolist() for name in ("estimate", "low", "high")}
    return {**columns, "exact": bool(exact[0]) if (exact == exact[0]).all() else exact.astype(int).tolist()}


def shell_of(page: str) -> tuple[str, str]:
    """What stands before the data of a page, and after it."""
    start, end = page.find(START) + len(START), page.find(END)
    return page[:start], page[max(start, end) :]


def data_of(page: str) -> Mapping[str, Any]:
    """The data in a page, if its shell is one of ours."""
    before, after = shell_of(page)
    content = page[len(before) : len(page) - len(after)]
    if digest_of_shell(before, after) not in KNOWN_SHELLS:
        raise Damaged("explore.html", "its script, its style or its markup is none of ours")
    if any(mark in content for mark in "<>&") or not content.isascii():
        raise Damaged("explore.html", "its data holds markup")
    try:
        found = json.loads(content)
        same = _written(found) == content  # a field that stands twice, blanks and more digits could say what they hide
    except (ValueError, RecursionError) as error:
        raise Damaged("explore.html", "its data cannot be read") from error
    if not isinstance(found, dict):
        raise Damaged("explore.html", "its data is no object")
    if not same or not _is_rounded(found):
        raise Damaged("explore.html", "its data is written in another way than releases are")
    return found


def _written(content: object) -> str:
    return json.dumps(content, separators=(",", ":"), allow_nan=False).translate(HARMLESS)


def _is_rounded(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_rounded, value.values()))
    if isinstance(value, list):
        return all(map(_is_rounded, value))
    return not isinstance(value, float) or round(value, DIGITS) == value


def same_numbers(ours: str, page: str, *, estimates: bool) -> bool:
    """Whether a page in other words has the rows of this one, and nothing that has no name here; and the estimates,
    which another version of ours may have made better."""
    one, other = data_of(ours), data_of(page)
    names = ("values", "asked", "rows", "prior") if estimates else ("values",)
    if not other.keys() <= one.keys() or not all(same_data(one[name], other.get(name)) for name in names):
        return False
    rows, told = one["rows"], other.get("rows")
    if rows is None or told is None or not isinstance(told, dict):
        return rows is None and told is None
    return told.keys() == rows.keys() and all(rows[name] == told[name] for name in ("groups", "published"))


def policy_of(page: str) -> str:
    """The policy that a known page sets for itself."""
    return page.partition('Content-Security-Policy" content="')[2].partition('"')[0]


def same_explored(one: str, other: str) -> bool:
    """Two pages with the same shell, and data that is equal but for last digits."""
    return shell_of(one) == shell_of(other) and same_data(data_of(one), data_of(other))


def same_data(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of numbers that were computed."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_data(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_data, one, other))
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
        return numbers and abs(one - other) <= CLOSE + 1e-9 * abs(one)
    return type(one) is type(other) and bool(one == other)
