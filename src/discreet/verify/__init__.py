"""Re-check a release folder, without the data."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.document import SCHEMA_VERSION, SEED_WARNING, seal_of
from discreet.errors import BadInput, DiscreetError, choose
from discreet.guarantee import GRADES, Guarantee
from discreet.io.folder import Folder, read_folder, sha256
from discreet.io.tables import may_be_ascending
from discreet.table import AS_GIVEN, ROWS_ARE_PUBLIC, SORTED

ROUTES = ("explicit", "two-stage", "invariant")
FIELDS = (
    "schema_version", "software", "created", "private", "schema", "guarantee", "mechanism", "digests", "seal",
)  # fmt: skip


@dataclass(frozen=True)
class Verification:
    """What was checked, and every problem found, in sentences."""

    problems: tuple[str, ...]
    checked: tuple[str, ...]

    @property
    def valid(self) -> bool:
        return not self.problems

    def __bool__(self) -> bool:
        return self.valid

    def as_json(self) -> dict[str, Any]:
        return {"valid": self.valid, "problems": list(self.problems), "checked": list(self.checked)}


def verify(folder: str | Path, digest: str | None = None) -> Verification:
    """Re-check a release: files, format, the proof of privacy, and every step after the noise.

    Every inconsistent edit is found. A forger who rewrites everything consistently is caught only by `digest`, the
    sha256 of release.json received by another way. Nothing can prove that the noise was honestly drawn.
    """
    path = Path(folder)
    if not (path / "release.json").is_file():
        raise BadInput(f"the release in {folder} was to be verified", "there is no release.json in it")
    problems: list[str] = []
    checked: list[str] = []

    def check(what: str, run: Callable[[], list[str]]) -> bool:
        found = _guarded(what, run)
        problems.extend(found)
        checked.append(what)
        return not found

    document = json_of(path, problems)
    if document is None:
        return Verification(tuple(problems), ("release.json can be read",))
    check("the digest of release.json", lambda: _digest(path, digest)) if digest else None
    check("release.json has every field", lambda: _fields(document))
    check("the seal of release.json", lambda: _seal(document))
    check("the digests of all files", lambda: _digests(path, document))
    if problems:
        return Verification(tuple(problems), tuple(checked))
    if check("the files can be read", lambda: _readable(path, document)):
        read = read_folder(path)
        for what, run in CHECKS.items():
            check(what, lambda run=run: run(read))  # type: ignore[misc]
    return Verification(tuple(problems), tuple(checked))


def _guarded(what: str, run: Callable[[], list[str]]) -> list[str]:
    """A check that stumbles over a damaged file has found a problem."""
    try:
        return run()
    except DiscreetError as error:
        return [f"{what}: {error}"]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        return [f"{what}: release.json is damaged ({type(error).__name__}: {error})."]


def json_of(path: Path, problems: list[str]) -> dict[str, Any] | None:
    try:
        text = (path / "release.json").read_text(encoding="utf-8")
        document = json.loads(text, object_pairs_hook=_without_duplicates)
    except (OSError, ValueError) as error:
        problems.append(f"release.json cannot be read: {error}.")
        return None
    if not isinstance(document, dict):
        problems.append("release.json is not a JSON object.")
        return None
    return document


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A field that stands twice would be read differently by different readers."""
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a field stands twice")
    return dict(pairs)


def _digest(path: Path, digest: str) -> list[str]:
    found = sha256(path / "release.json")
    return [] if found == digest.lower() else [f"release.json has the digest {found}, not the one given."]


def _fields(document: dict[str, Any]) -> list[str]:
    problems = [f"release.json has no field {name!r}." for name in FIELDS if name not in document]
    if document.get("schema_version") not in (None, SCHEMA_VERSION):
        problems.append(
            f"release.json has the schema version {document['schema_version']!r}; this is {SCHEMA_VERSION}."
        )
    return problems


def _seal(document: dict[str, Any]) -> list[str]:
    return [] if document["seal"] == seal_of(document) else ["release.json was changed: its seal does not fit."]


def _digests(path: Path, document: dict[str, Any]) -> list[str]:
    expected = document["digests"]
    present = {file.name for file in path.iterdir()} - {"release.json"}
    problems = [f"The file {name} is missing." for name in sorted(set(expected) - present)]
    problems += [f"The file {name} is not part of the release." for name in sorted(present - set(expected))]
    for name in sorted(present & set(expected)):
        if sha256(path / name) != expected[name]:
            problems.append(f"The file {name} was changed: its digest is not the one in release.json.")
    return problems


def _readable(path: Path, document: dict[str, Any]) -> list[str]:
    read_folder(path)
    return []


def _check_table(folder: Folder) -> list[str]:
    schema = folder.document["schema"]
    problems = []
    if folder.columns != (*schema["keys"], schema["count"]):
        problems.append("The columns of the table are not those of the schema.")
    if len(folder.counts) != schema["rows"]:
        problems.append(f"The table has {len(folder.counts)} rows, the schema says {schema['rows']}.")
    if folder.measurements is not None and len(folder.measurements) != len(folder.counts):
        problems.append("The measurements have not as many rows as the table.")
    problems += _check_order(folder)
    top = schema["max_count"]
    if top is not None and len(folder.counts) and (folder.counts.min() < 0 or folder.counts.max() > top):
        problems.append(f"The table holds counts outside 0..{top}.")
    return problems


def _check_order(folder: Folder) -> list[str]:
    order = folder.document["schema"]["order"]
    ascending = bool(folder.categories.num_columns) and may_be_ascending(folder.categories)
    if order == SORTED:
        return [] if ascending else ["The rows of the table are not sorted by their keys, or two have the same."]
    if order == AS_GIVEN:
        return ["The rows are sorted by their keys, but their order is said to be another."] if ascending else []
    return [f"The order of the rows is said to be {order!r}, which is none."]


def _check_privacy(folder: Folder) -> list[str]:
    return _route(folder).prove(folder)


def _check_replay(folder: Folder) -> list[str]:
    return _route(folder).replay(folder)


def _route(folder: Folder) -> Any:
    """The checks of the route the release went by."""
    from importlib import import_module

    name = choose(folder.document["mechanism"].get("route", "explicit"), ROUTES, "route")
    return import_module(f"discreet.verify.{name.replace('-', '_')}")


def _check_words(folder: Folder) -> list[str]:
    """The sentences say what the numbers say; a seeded thing must not look like a private one."""
    document, promise = folder.document, folder.document["guarantee"]
    problems = []
    if Guarantee.of_json(promise, document["private"]).as_json() != promise:
        problems.append("The guarantee's sentence does not say what its numbers say.")
    if promise["rho"] is not None and (promise["epsilon"] is not None or Fraction(promise["delta"])):
        problems.append("The guarantee is stated in two ways at once.")
    if promise["grade"] not in GRADES:
        problems.append(f"The guarantee is of the grade {promise['grade']!r}, which is none.")
    if ROWS_ARE_PUBLIC not in promise["remarks"]:
        problems.append("The guarantee does not say that the set of rows is public.")
    top = document["schema"]["max_count"]
    if top is not None and f"Counts above {top} are treated as {top}." not in promise["remarks"]:
        problems.append("The guarantee does not say which counts are treated as the largest one.")
    if document.get("warning") != (None if document["private"] is True else SEED_WARNING):
        problems.append("The release is not private and must say so in its warning, or it is and has one.")
    return problems


def _check_report(folder: Folder) -> list[str]:
    """The page for people states the guarantee that was checked."""
    from html import escape

    page = (folder.path / "report.html").read_text(encoding="utf-8")
    sentence = escape(folder.document["guarantee"]["sentence"], quote=False)
    stated = page.replace("&#39;", "'").replace("&#34;", '"')
    return [] if sentence in stated else ["The report does not state the guarantee of release.json."]


CHECKS: dict[str, Callable[[Folder], list[str]]] = {
    "the table has the rows and columns it claims": _check_table,
    "the mechanism is as private as it claims, proved again in exact arithmetic": _check_privacy,
    "the table follows from the published measurements": _check_replay,
    "the guarantee says in words what it says in numbers": _check_words,
    "the report states the same guarantee": _check_report,
}
