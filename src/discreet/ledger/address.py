"""Where a ledger lives, and how to say so without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from discreet.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from sqlalchemy import URL

HIDDEN = "***"
SECRET_OPTIONS = ("password", "passwd", "sslpassword", "passfile")
NO_TEXT = re.compile("[\0\ud800-\udfff]")
PLAIN_OPTIONS = ({"mode": "rw", "uri": "true"}, {"mode": "ro", "uri": "true"})  # of an SQLite file that is there


@dataclass(frozen=True)
class Address:
    """`url` may hold a password and is never shown; `shown` is what people see."""

    url: URL = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(repr=False, default=())
    file: Path | None = None

    def scrub(self, message: str) -> str:
        """`message` without any password of this address."""
        for secret in self.secrets:
            message = message.replace(secret, HIDDEN)
        return message


def address_of(url: str | Path) -> Address:
    """A bare path or a sqlite URL: a file. A postgresql URL: a server."""
    given = str(url)
    if NO_TEXT.search(given):
        raise BadInput("a ledger was asked for", "its address holds bytes that are no text", "Give a path or a URL")
    if "://" not in given:
        return _file(Path(given))
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(given)
    except (ArgumentError, ValueError):
        raise BadInput(f"the ledger {mask(given)} was asked for", "that is not a path or a database URL") from None
    kind = parsed.get_backend_name()
    if kind == "sqlite":
        return _sqlite(parsed, given)
    if kind in ("postgresql", "postgres"):
        return _postgresql(parsed)
    raise BadInput(
        f"the ledger {mask(given)} was asked for",
        f"a ledger cannot be kept in {kind!r}",
        "Give the path of an SQLite file, or a URL postgresql://user:password@host/database",
    )


def mask(url: str) -> str:
    """A URL, even a malformed one, without its passwords."""
    url = re.sub(r"(://[^:/@]*|^[^:/@\\]+(?!://|:\\)):.*@", rf"\1:{HIDDEN}@", url)  # the scheme may have been forgotten
    return re.sub(rf"(?i)\b({'|'.join(SECRET_OPTIONS)})=[^&\s]*", rf"\1={HIDDEN}", url)


def _sqlite(parsed: URL, given: str) -> Address:
    database = parsed.database or ""
    if database in ("", ":memory:"):
        found = "a ledger in memory would be forgotten"
        raise BadInput(f"the ledger {mask(given)} was asked for", found, "Give a path")
    if not database.startswith("file:") and not parsed.query:
        return _file(Path(database))
    if dict(parsed.query) not in PLAIN_OPTIONS:
        found = "its options could keep it in memory, make a new one, or turn off its locks"
        raise BadInput(f"the ledger {mask(given)} was asked for", found, "Give the path of the file alone")
    return Address(parsed, mask(given), file=Path(unquote(database.removeprefix("file:"))))


def _file(path: Path) -> Address:
    from sqlalchemy import URL

    if not path.name:
        raise BadInput("a ledger was asked for", "an empty path was given", "Give the path of an SQLite file")
    try:
        location = f"file:{quote(str(path.expanduser().absolute()))}"
    except RuntimeError as error:
        raise BadInput(f"the ledger {mask(str(path))} was asked for", "there is no such home folder") from error
    url = URL.create("sqlite", database=location, query={"mode": "rw", "uri": "true"})
    return Address(url, mask(str(path)), file=path.expanduser())


def _postgresql(parsed: URL) -> Address:
    from importlib.util import find_spec

    if find_spec("psycopg") is None:
        raise MissingExtra(
            "a ledger on PostgreSQL was asked for",
            "its driver is not installed",
            "Run: pip install 'discreet[postgresql]'",
        )
    options = [value for name, value in parsed.query.items() if name.lower() in SECRET_OPTIONS]
    hidden = [str(parsed.password or ""), *(str(value) for value in options)]
    secrets = {form for secret in hidden for form in (secret, quote(secret, safe="")) if secret}
    shown = mask(parsed.set(drivername="postgresql").render_as_string(hide_password=True))
    longest_first = tuple(sorted(secrets, key=len, reverse=True))
    return Address(parsed.set(drivername="postgresql+psycopg"), shown, longest_first)
