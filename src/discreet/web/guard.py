"""Who may ask: the person who was told the address, from pages of this server, and nobody else.

Whatever a browser can be made to do by another page is refused: a name that leads here but is not ours (DNS rebinding),
a form posted from elsewhere, a page put into a frame. What is answered is kept by no cache.
"""

from __future__ import annotations

import hmac
import os
import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from discreet.sample.bits import unguessable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 256 << 20  # bytes of an upload: a table of ten million rows
MOST_DRAINED = 8 << 30  # bytes of what is too large that are let pass: a browser hears no answer while it sends
TOO_LARGE = f"A file may have at most {LARGEST_BODY >> 20} MiB here. Use discreet release in a terminal."
UNKNOWN = (
    "Something went wrong that discreet did not foresee. Nothing of your data is shown here; the same release can be "
    "made in a terminal, with discreet release."
)
USED = "This address was used before. If it was not by you, stop discreet serve. Start it again for a new address."
CONNECTIONS = Path("/proc/net/tcp")  # of Linux: a line for each, with the user who made it
ROOT = 0  # who can do anything, and through whom connections from outside of a virtual machine come
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# of the same origin, or the browser would take a click in it for one from elsewhere; it runs and sends nothing
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "sandbox allow-same-origin allow-downloads"
)
HEADERS = {
    "cache-control": "no-store", "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
    "x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}  # fmt: skip


class Keys:
    """The secrets of one run: a token that opens the page once, what the cookie holds, what every form holds."""

    def __init__(self) -> None:
        self.token: str | None = unguessable()
        self.cookie, self.form = unguessable(), unguessable()
        self.name = f"discreet-{unguessable()[:8]}"  # of the cookie: browsers give one to every port of a machine

    def spend(self, token: str) -> bool:
        """Whether it is the token; it works once."""
        if self.token is None or not hmac.compare_digest(token.encode(), self.token.encode()):
            return False
        self.token = None
        return True


class Guard:
    """Around the whole page: nothing behind it sees a request that is not from its own pages."""

    def __init__(self, app: App, keys: Keys, port: int) -> None:
        self.app, self.keys = app, keys
        self.hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] != "http":
            return None  # no other kind of connection is answered
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        wrong = self._wrong(scope, headers)
        if wrong is not None:
            return await refuse(send, *wrong)
        known = self._known(headers)
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        if "token" in asked and scope["method"] == "GET" and not _is_only_looking(headers):
            if known:
                return await _answer(send, 303, b"", [(b"location", b"/")])  # who is in already spends nothing
            if _is_somebody_else(scope):
                return await refuse(send, 403, "Another user of this machine started discreet serve.")
            if self.keys.spend(asked["token"][0]):
                return await self._let_in(send)
            return await refuse(send, 403, USED)
        if not known:
            return await refuse(send, 403, "Open the address that discreet serve printed.")
        return await self._answered(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What goes wrong behind this is told to nobody, since it may quote the data: neither a page nor a log. The
        pages have answered it by then, in words of their own."""
        with suppress(Exception):
            await self.app(scope, bounded(receive), _with_headers(send))

    def _wrong(self, scope: Scope, headers: MutableMapping[str, str]) -> tuple[int, str] | None:
        origins = [f"http://{host}" for host in self.hosts]
        names = [name for name, _ in scope["headers"]]
        if headers.get("host") not in self.hosts or names.count(b"host") != 1:
            return 421, "This page is at 127.0.0.1 only."
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405, "That is not done here."
        origin = headers.get("origin")
        if (origin is not None and origin not in origins) or (origin is None and scope["method"] == "POST"):
            return 403, "That came from another page."
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return 403, "That came from another page."
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return 400, "That is no length."
        if int(length[:20]) > MOST_DRAINED:
            return 413, TOO_LARGE
        return None

    def _known(self, headers: MutableMapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.keys.name)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self.keys.cookie.encode())

    async def _let_in(self, send: Send) -> None:
        cookie = f"{self.keys.name}={self.keys.cookie}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, b"", [(b"location", b"/"), (b"set-cookie", cookie.encode())])


def _is_only_looking(headers: MutableMapping[str, str]) -> bool:
    """Whether a browser asks before its person does: what it is answered may never be seen."""
    return any("prefetch" in headers.get(name, "") for name in ("sec-purpose", "purpose", "x-moz"))


def _is_somebody_else(scope: Scope) -> bool:
    """Whether another user made this connection: whoever starts a browser with an address shows it to all users of the
    machine, in its list of processes. Where the system does not say, nobody is refused."""
    client, server = scope.get("client"), scope.get("server")
    if client is None or server is None or not hasattr(os, "getuid"):
        return False
    try:
        lines, ends = CONNECTIONS.read_text().splitlines(), [_end_of(*client), _end_of(*server)]
    except OSError:  # another system, or no connection by an address of the old kind
        return False
    owners = {int(words[7]) for words in map(str.split, lines) if words[1:3] == ends}
    return bool(owners) and not owners <= {os.getuid(), ROOT}


def _end_of(host: str, port: int) -> str:
    """One end of a connection, as Linux lists it."""
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"


class TooLarge(Exception):
    """More came than is taken."""


def bounded(receive: Receive) -> Receive:
    """What comes in, as far as it may. The rest is let pass, up to a bound, and kept nowhere: who is refused while
    still sending hears of a broken connection, and not why."""
    taken = 0

    async def received() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        while LARGEST_BODY < taken < MOST_DRAINED and message.get("more_body"):
            message = await receive()
            taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise TooLarge
        return message

    return received


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            more = {**HEADERS, "content-security-policy": POLICY}
            message["headers"] = [
                *message["headers"],
                *((name.encode(), value.encode()) for name, value in more.items() if name.encode() not in own),
            ]
        await send(message)

    return sent


async def refuse(send: Send, status: int, why: str) -> None:
    await _answer(send, status, why.encode(), [(b"content-type", b"text/plain; charset=utf-8")])


async def _answer(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    guarded = _with_headers(send)
    await guarded({"type": "http.response.start", "status": status, "headers": headers})
    await guarded({"type": "http.response.body", "body": body})
