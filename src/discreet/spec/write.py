"""A release as a file of TOML: only what differs from the defaults, and paths as they are seen from the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import tomli_w

from discreet.errors import BadInput
from discreet.io.files import write_text
from discreet.record.codec import encode, loss_json
from discreet.spec.values import ReleaseSpec, ledger_file
from discreet.ways import WaySpec


def write_spec(spec: ReleaseSpec, path: Path) -> None:
    """Whole or not at all."""
    write_text(path, tomli_w.dumps(_sections(spec, path.absolute().parent)))


def _sections(spec: ReleaseSpec, base: Path) -> dict[str, dict[str, object]]:
    """The file as plain values: only what differs from the defaults."""
    table = replace(
        spec.table, file=_relative(spec.table.file, base) or "", universe=_relative(spec.table.universe, base)
    )
    output = replace(spec.output, folder=_relative(spec.output.folder, base))
    privacy = {name: value for name, value in loss_json(spec.privacy).items() if value not in (None, "0")}
    if "alpha" in privacy:
        del privacy["epsilon"]
    sections: dict[str, object] = {"table": table, "privacy": privacy, spec.way.name: _writable(spec.way, base)}
    if spec.ledger is not None:
        sections["ledger"] = replace(spec.ledger, url=_ledger_url(spec.ledger.url, base))
    sections |= {"output": output, **({} if spec.about is None else {"about": spec.about})}
    plain = {name: value if isinstance(value, dict) else dict(_given(value)) for name, value in sections.items()}
    return {name: value for name, value in plain.items() if value or name == spec.way.name}


def _given(value: Any) -> Iterator[tuple[str, Any]]:
    for item in fields(value):
        held = getattr(value, item.name)
        if held is not None and held != item.default:
            yield item.name, encode(held)


def _writable(way: WaySpec, base: Path) -> dict[str, object]:
    mechanism = getattr(way, "mechanism", None)
    if mechanism is not None and not isinstance(mechanism, str):
        found = "a mechanism of your own cannot be written into it"
        raise BadInput("a release was to be written as a file", found, "Save it to a file, and name that file")
    values = dict(_given(way))
    if getattr(way, "file", False):
        values["mechanism"] = _relative(mechanism, base)
    return values


def _relative(name: str | None, base: Path) -> str | None:
    if name is None:
        return None
    path = Path(name).expanduser().absolute()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else str(path)


def _ledger_url(url: str | None, base: Path) -> str | None:
    file = ledger_file(url)
    if url is None or file is not None:
        return _relative(file, base)
    from discreet.ledger.address import mask

    if mask(url) != url:
        found = "the URL of the ledger holds a password"
        raise BadInput("a release was to be written as a file", found, "Give LedgerSpec(variable=...) instead")
    return url
