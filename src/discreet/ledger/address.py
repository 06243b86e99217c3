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
FORGOTTEN = "a ledger in memory would be forgotten"
SECRET_OPTIONS = ("password", "passwd", "sslpassword", "passfile")
NO_TEXT = re.compile("[\0\ud800-\udfff]")


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
    if "://" not in given or given.startswith("file:"):
        if given.startswith("file:") or given == ":memory:":
            return _located(given, "rw", mask(given), f"the ledger {mask(given)} was asked for")
        return _file(_home(given))
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


def _home(given: str) -> Path:
    try:
        return Path(given).expanduser()
    except RuntimeError as error:
        raise BadInput(f"the ledger {mask(given)} was asked for", "there is no such home folder") from error


def mask(url: str) -> str:
    """A URL, even a malformed one, without its passwords."""
    url = re.sub(r"(://[^:/@]*|^[^:/@\\]+(?!://|:\\)):.*@", rf"\1:{HIDDEN}@", url)  # the scheme may have been forgotten
    return re.sub(rf"(?i)\b({'|'.join(SECRET_OPTIONS)})=[^&\s]*", rf"\1={HIDDEN}", url)


def _sqlite(parsed: URL, given: str) -> Address:
    asked = f"the ledger {mask(given)} was asked for"
    if parsed.drivername not in ("sqlite", "sqlite+pysqlite"):
        raise BadInput(asked, f"the driver {parsed.drivername!r} is not used for ledgers", "Write sqlite:///path")
    mode = parsed.query.get("mode", "rw")
    if mode == "memory":
        raise BadInput(asked, FORGOTTEN, "Give a path")
    odd = [name for name in parsed.query if name not in ("mode", "uri")]
    if odd or mode not in ("rw", "ro") or str(parsed.query.get("uri", "true")).lower() not in ("true", "1"):
        found = f"{odd[0] if odd else 'mode or uri'!r} could open it without the locks that keep writers apart"
        raise BadInput(asked, found, "Give a path, or a URL with mode=ro or mode=rw alone")
    return _located(parsed.database or "", str(mode), mask(given), asked)


def _located(database: str, mode: str, given: str, asked: str) -> Address:
    """The file that SQLite would open, found by ourselves, so that no name can mean memory or switch off locks."""
    if database.startswith("file:"):
        database, _, hidden = database.removeprefix("file:").partition("?")
        if hidden or "#" in database:
            raise BadInput(asked, "it holds settings of its own", "Give a path")
        if database.startswith("//"):
            host, _, database = database.removeprefix("//").partition("/")
            database = f"/{database}"
            if host not in ("", "localhost"):
                raise BadInput(asked, f"it is on the machine {host!r}", "Give a path")
        database = unquote(database)
    if database in ("", ":memory:"):
        raise BadInput(asked, FORGOTTEN, "Give a path")
    return _file(Path(database), mode, given)


def _file(path: Path, mode: str = "rw", shown: str | None = None) -> Address:
    from sqlalchemy import URL

    if not path.name.strip():
        raise BadInput("a ledger was asked for", "an empty path was given", "Give the path of an SQLite file")
    if NO_TEXT.search(str(path)):
        raise BadInput("a ledger was asked for", "no file can have that name", "Give the path of an SQLite file")
    location = f"file:{quote(str(path.absolute()))}"
    url = URL.create("sqlite", database=location, query={"mode": mode, "uri": "true"})
    return Address(url, mask(str(path)) if shown is None else shown, file=path)


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
