"""A release from a file of TOML: all its problems are told at once, and nothing is read from the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.errors import BadInput, called, did_you_mean, short, unread
from discreet.options import options_of, spelt
from discreet.privacy.parse import loss_of
from discreet.privacy.values import Loss
from discreet.spec.values import LedgerSpec, Output, ReleaseSpec, TableSpec, ledger_file
from discreet.ways import PACKAGES, PRIVACY, WaySpec, way_named

Section = Mapping[str, object]  # of a file: whatever was written there, until its types are checked


def sections_of(key: str) -> list[str]:
    """Which sections of a file may have a key."""
    kinds = {"table": TableSpec, "ledger": LedgerSpec, "output": Output}
    ways = {name: way_named(name).spec for name in PACKAGES}
    found = [name for name, kind in {**kinds, **ways}.items() if key in options_of(kind)]
    return found or ["privacy"] * (key in PRIVACY)


@spelt
def read_spec(path: str | Path) -> ReleaseSpec:
    """A release from a TOML file. All problems are told at once; nothing is read from the table."""
    import tomllib

    file = Path(path)
    try:
        document = tomllib.loads(file.read_bytes().decode("utf-8-sig"), parse_float=Decimal)  # some editors sign it
    except OSError as error:
        raise BadInput(f"the file {path} was to be read", error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"the file {path} was to be read as TOML", "it is not text in UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the file {path} was to be read as TOML", unread(error)) from error
    return _Reading(file).spec(document)


class _Reading:
    """One file being read: its folder, and the problems found so far."""

    def __init__(self, file: Path) -> None:
        self.file, self.base = file, file.absolute().parent
        self.problems: list[str] = []

    def spec(self, document: Section) -> ReleaseSpec:
        known = ("table", "privacy", *PACKAGES, "ledger", "output", "about")
        for name in document:
            if not isinstance(document[name], dict) and sections_of(name):
                self.problems.append(f"{name!r} stands in no section. It belongs into [{sections_of(name)[0]}]")
            elif name not in known:
                self.problems.append(f"there is no section [{name}]. {did_you_mean(name, known)}")
            elif not isinstance(document[name], dict):
                self.problems.append(f"{name!r} is not a section")
        sections = {name: dict(value) for name, value in document.items() if isinstance(value, dict) and name in known}
        table = self._value(TableSpec, sections.get("table"), "table", ("file", "count"))
        privacy = self._privacy(sections.get("privacy"))
        way = self._way({name: value for name, value in sections.items() if name in PACKAGES})
        ledger = self._ledger(sections.get("ledger"))
        output = self._value(Output, sections.get("output", {}), "output")
        from discreet.record.release import About

        about = self._value(About, sections.get("about", {}), "about")
        if self.problems:
            found = "; ".join(self.problems)
            raise BadInput(f"a release was to be read from {self.file}", found, problems=tuple(self.problems))
        assert table is not None and privacy is not None and way is not None
        return ReleaseSpec(
            replace(table, file=self._path(table.file), universe=self._maybe_path(table.universe)),
            privacy,
            way,
            ledger if ledger is None else replace(ledger, url=self._ledger_path(ledger.url)),
            replace(output, folder=self._maybe_path(output.folder)),
            None if about == About() else about,
        )

    def _value(self, kind: Any, given: Section | None, section: str, needed: tuple[str, ...] = ()) -> Any:
        """A section as a value; every misspelt or missing key is told."""
        from discreet.errors import Damaged
        from discreet.record.codec import decode_fields, names_of

        values = {} if given is None else given
        names = names_of(kind)
        wrong = [name for name in values if name not in names]
        missing = [name for name in needed if not values.get(name)]
        self.problems += [f"[{section}] has no key {name!r}. {did_you_mean(name, names)}" for name in wrong]
        self.problems += [f"[{section}] lacks {name!r}" for name in missing]
        if wrong or missing:
            return None
        try:
            return decode_fields(kind, values, f"[{section}]")
        except Damaged as problem:
            self.problems.append(f"{problem.where.replace('].', '] ')}: {problem.why}")
            return None

    def _privacy(self, given: Section | None) -> Loss | None:
        if given is None:
            self.problems.append("there is no section [privacy]. Write one with epsilon, alpha or rho")
            return None
        wrong = [name for name in given if name not in PRIVACY]
        self.problems += [f"[privacy] has no key {name!r}. {did_you_mean(name, PRIVACY)}" for name in wrong]
        try:
            known: dict[str, Any] = {name: value for name, value in given.items() if name in PRIVACY}
            return loss_of(known.pop("epsilon", None), **known)
        except BadInput as error:
            self.problems.append(f"[privacy]: {error}")
            return None

    def _way(self, given: Mapping[str, Section]) -> WaySpec | None:
        if len(given) > 1:
            self.problems.append(f"only one way can be gone, not {' and '.join(f'[{name}]' for name in given)}")
            return None
        name, values = next(iter(given.items()), ("keep-distribution", {}))
        kind = way_named(name).spec
        try:
            values = self._with_files(values)
        except BadInput as error:
            self.problems.append(f"[{name}]: {error}")
            return None
        way: WaySpec | None = self._value(kind, values, name)
        return way

    def _with_files(self, values: Section) -> dict[str, object]:
        """What names files, found from where the file is."""
        from discreet.lattice.invariants import parse_keep
        from discreet.lattice.orders import parse_limit
        from discreet.ways.row_by_row.spec import is_file

        out = dict(values)
        for name, parse in (("keep", parse_keep), ("inequalities", parse_limit)):
            if name in out:
                out[name] = [self._parsed(name, one, parse) for one in _listed(out[name])]
        if "measure" in out and out["measure"] != "auto":
            out["measure"] = _listed(out["measure"])
        if isinstance(out.get("levels"), str):
            out["levels"] = [name.strip() for name in str(out["levels"]).split(",")]
        mechanism = out.get("mechanism")
        if isinstance(mechanism, str) and is_file(mechanism):
            out["mechanism"] = self._path(mechanism)
        return out

    def _parsed(self, name: str, one: object, parse: Callable[[str, Path], object]) -> object:
        from discreet.record.codec import encode

        if not isinstance(one, (str, dict)):
            raise BadInput(f"{called(name)} was given as {short(one)}", "it is neither a word nor a table of TOML")
        return encode(parse(one, self.base)) if isinstance(one, str) else one

    def _ledger(self, given: Section | None) -> LedgerSpec | None:
        if given is None:
            return None
        ledger: LedgerSpec | None = self._value(LedgerSpec, given, "ledger", ("dataset",))
        if ledger is None:
            return None
        if ledger.url is None and ledger.variable is None:
            self.problems.append("[ledger] needs 'url', or 'variable' with the name of an environment variable")
        if ledger.url is not None and ledger.variable is not None:
            self.problems.append("[ledger] has both 'url' and 'variable': which of them is meant is not said. Give one")
        if ledger.url is not None:
            from discreet.ledger.address import mask

            if mask(ledger.url) != ledger.url:
                advice = "Put the URL into an environment variable, and its name into 'variable'"
                self.problems.append(f"[ledger] url holds a password, which does not belong into a file. {advice}")
        return ledger

    def _path(self, name: str) -> str:
        try:
            path = Path(name).expanduser()
        except RuntimeError as error:
            raise BadInput(f"the file {name} was named", "there is no such home folder") from error
        if "\0" in name:
            raise BadInput(f"the file {name!r} was named", "no file can have that name")
        return str(self.base / path)

    def _maybe_path(self, name: str | None) -> str | None:
        return None if name is None else self._path(name)

    def _ledger_path(self, url: str | None) -> str | None:
        file = ledger_file(url)
        return url if file is None else self._path(file)


def _listed(given: object) -> list[object]:
    return given if isinstance(given, list) else [given]
