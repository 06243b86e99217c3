"""What a forger does after an edit: new digests, a new mark for a new table, a new seal, and a report that agrees."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from typing import Any

import pytest

from discreet.arrays import Flags
from discreet.distribution.evidence import Posterior, posterior
from discreet.errors import Damaged, DiscreetError
from discreet.io import EXPLORE, RECORD, REPORT, totals
from discreet.io.folder import Contents, folder_of
from discreet.io.totals import rows_of_totals
from discreet.privacy.values import Remark
from discreet.record.codec import encode
from discreet.record.release import mark_of, parse, read_record, seal_of
from discreet.report import pages
from discreet.report.explore import HARMLESS
from discreet.verify import BESIDE, COMPARED, LAST, _Account, verify_contents
from discreet.ways.keep_distribution import follow
from discreet.ways.keep_distribution.facts import SEEDED

META = re.compile(r'<meta name="discreet" content="[^"]*">')
ABOUT_ROWS = ("totals-dropped", "rows-declared-disjoint")  # codes of remarks
STATED = re.compile(r'"stated":"[^"]*"')  # on the page for analysts


def sealed(contents: Contents, document: dict[str, Any]) -> Contents:
    """With another record, its seal made anew; as it would be read from a file."""
    whole = {**document, "seal": seal_of(document)}
    return written(contents, (json.dumps(whole, indent=1) + "\n").encode())


def written(contents: Contents, record: bytes) -> Contents:
    return replace(contents, files={**contents.files, RECORD: record}, document=parse(record))


def with_files(contents: Contents, files: dict[str, bytes]) -> Contents:
    """With other files: their digests, the mark of the table and the seal made anew."""
    document: dict[str, Any] = dict(contents.document)
    document["digests"] = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    table = document["tables"][0]["file"]
    document["mark"] = mark_of(document["private"], document["digests"].get(table, ""))
    return sealed(replace(contents, files={**files, RECORD: b""}), document)


def claimed(contents: Contents, schema: dict[str, Any], remarks: tuple[Remark, ...]) -> Contents:
    """Something else about the rows, and what the guarantee then says last."""
    document: dict[str, Any] = copy.deepcopy(dict(contents.document))
    document["schema"].update(schema)
    said = [one for one in document["guarantee"]["remarks"] if one["code"] not in ABOUT_ROWS]
    document["guarantee"]["remarks"] = [*said, *map(encode, remarks)]
    return sealed(contents, document)


def with_the_mark_changed(contents: Contents) -> Contents:
    """As seeded, if it was private, or the other way round, with all that follows: the mark, and the seed of a map."""
    document: dict[str, Any] = json.loads(json.dumps(contents.document))
    private = document["private"] = not document["private"]
    document["mark"] = mark_of(private, document["digests"][document["tables"][0]["file"]])
    if "map_seed" in document["mechanism"]:
        bare = document["mechanism"]["map_seed"].removeprefix(SEEDED)
        document["mechanism"]["map_seed"] = bare if private else SEEDED + bare
    return sealed(contents, document)


def with_a_report_that_states_it(contents: Contents) -> Contents:
    """The quick forgery of the report and the page for analysts: the one line that software reads."""
    try:
        words = read_record(contents.document).stated
    except (DiscreetError, Damaged, KeyError, TypeError, ValueError, AttributeError):
        return contents
    said, stating = f'<meta name="discreet" content="{escape(words)}">', f'"stated":{json.dumps(words)}'
    try:
        report, explore = (contents.files[name].decode() for name in (REPORT, EXPLORE))
    except UnicodeDecodeError:  # a table that goes by the name of a page
        return contents
    explore = STATED.sub(lambda _: stating.translate(HARMLESS), explore, count=1)
    return _reported(contents, {REPORT: META.sub(said, report), EXPLORE: explore})


def with_its_report(contents: Contents) -> Contents:
    """The whole one: every page rendered from the forged record."""
    return _reported(contents, pages(folder_of(contents).publication))


def _reported(contents: Contents, rendered: dict[str, str]) -> Contents:
    new = {name: page.encode() for name, page in rendered.items() if page.encode() != contents.files[name]}
    if not new:
        return contents
    document: dict[str, Any] = dict(contents.document)
    digests = document.get("digests")
    if not isinstance(digests, dict):
        return contents
    changed = {name: hashlib.sha256(page).hexdigest() for name, page in new.items()}
    files = {**contents.files, **new}
    return sealed(replace(contents, files=files), {**document, "digests": {**digests, **changed}})


@contextmanager
def reports_uncompared() -> Iterator[None]:
    """As if every page had been rendered anew, which takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        for page in (COMPARED, BESIDE):
            patch.delitem(LAST, page)
        yield


FOUND: dict[object, Posterior] = {}


def remembered(histogram: Any, *given: Any, prefix: Any = None, **options: Any) -> Posterior:
    """What most edits of one folder ask for again is worked out once."""
    named = tuple(options.items())
    key = (histogram.tobytes(), None if prefix is None else prefix.tobytes(), given, named)
    if key not in FOUND:
        FOUND[key] = posterior(histogram, *given, prefix=prefix, **options)
    return FOUND[key]


TOTALS: dict[object, Flags] = {}


def remembered_totals(categories: Any) -> Flags:
    key = tuple((name, *column.to_pylist()) for name, column in zip(categories.column_names, categories.columns))
    if key not in TOTALS:
        TOTALS[key] = rows_of_totals(categories)
    return TOTALS[key]


@contextmanager
def ended_by_the_first_problem() -> Iterator[None]:
    """Whether a folder is refused is known with the first problem: the verdict is the same, and comes sooner."""
    whole = _Account.add

    def add(account: _Account, what: str, run: Callable[[], list[str]]) -> None:
        if not account.problems:
            whole(account, what, run)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Account, "add", add)
        patch.setattr(follow, "posterior", remembered)
        patch.setattr(totals, "rows_of_totals", remembered_totals)
        yield


def passes(contents: Contents, seeded: bool) -> bool:
    """Whether verify finds nothing wrong."""
    with ended_by_the_first_problem():
        return verify_contents(contents, allow_seeded=seeded).valid
