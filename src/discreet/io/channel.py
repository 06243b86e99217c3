"""Something secret, handed from memory to memory: for workers of a cluster, which must not be told by way of a disk.

What a cluster sends to its workers it may also write down: plans, tasks, logs. So a task holds a ticket: where to ask,
and a token. Whoever shows that they have the token gets the content, enciphered for this one conversation
(Diffie-Hellman with numbers that both forget afterwards). When the offer ends, nobody answers any more: a ticket that
is found later opens nothing, not even a recording of the conversation.
"""

from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import shake_256

import numpy as np

from discreet.errors import BadInput
from discreet.sample.bits import secure

PRIME = int(  # the 2048-bit group of RFC 3526: 2^2048 - 2^1984 - 1 + 2^64 * (floor(2^1918 pi) + 124476)
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF0598DA48361C55D39A69163FA8FD24CF5F"
    "83655D23DCA3AD961C62F356208552BB9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B"
    "E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF6955817183995497CEA956AE515D2261898FA0510"
    "15728E5A8AACAA68FFFFFFFFFFFFFFFF",
    16,
)
BASE = 2  # the generator that belongs to the group
WIDTH = 256  # bytes of a number below the prime
EXPONENT = 512  # bits of a secret exponent: twice what the group is worth
TOKEN, TAG, LENGTH = 32, 32, 8  # bytes
PATIENCE = 60  # seconds that either side waits for the other
MOST = 1 << 30  # bytes of content
REACHED = "Workers must be able to reach this process: say which address they see, Spark(host=..., port=...)"

Contents = Callable[[int], bytes]


@dataclass(frozen=True)
class Ticket:
    """Where to ask, and the token to show. It may be written down: it is worth nothing once the offer has ended."""

    host: str
    port: int
    token: bytes = field(repr=False)

    def content(self, number: int = 0) -> bytes:
        """Ask for what has that number."""
        try:
            with socket.create_connection((self.host, self.port), timeout=PATIENCE) as line:
                return _asked(line, self.token, number.to_bytes(LENGTH, "big"))
        except (OSError, EOFError) as error:
            found = f"nobody answered at {self.host}:{self.port} ({error})"
            raise BadInput("a worker asked the driver for its work", found, REACHED) from error


@contextmanager
def offered(content: Contents, host: str, bind: str | None = None, port: int = 0) -> Iterator[Ticket]:
    """Hand what has a number to whoever has the ticket and asks for it, as often as they ask, until the block ends."""
    token = secure().bytes(TOKEN)
    try:
        waiting = socket.create_server((bind or host, port), backlog=128)
    except OSError as error:
        found = f"nobody can be waited for at {bind or host}:{port} ({error})"
        raise BadInput("workers were to be told their work", found, REACHED) from error
    with waiting as server:
        ended = threading.Event()
        answering = threading.Thread(target=_answering, args=(server, content, token, ended), daemon=True)
        answering.start()
        try:
            yield Ticket(host, server.getsockname()[1], token)
        finally:
            ended.set()
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for someone to come
            answering.join(PATIENCE)


def _answering(server: socket.socket, content: Contents, token: bytes, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            line, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(line, content, token), daemon=True).start()


def _answer(line: socket.socket, content: Contents, token: bytes) -> None:
    """A number for a number; then, if the other knows the token, what was asked for."""
    with suppress(OSError, EOFError, LookupError), line:
        line.settimeout(PATIENCE)
        own = secure().integer(EXPONENT)
        ours = _number(pow(BASE, own, PRIME))
        line.sendall(ours)
        theirs, place, proof = _read(line, WIDTH), _read(line, LENGTH), _read(line, TAG)
        if not hmac.compare_digest(proof, _tag(token, b"worker", ours, theirs, place)) or not _is_sound(theirs):
            return
        shared = _shared(theirs, own)
        hidden = _under_pad(content(int.from_bytes(place, "big")), token, ours, theirs, shared)
        line.sendall(len(hidden).to_bytes(LENGTH, "big"))
        line.sendall(hidden)
        line.sendall(_tag(token, b"driver", ours, theirs, place, shared, hidden))


def _asked(line: socket.socket, token: bytes, place: bytes) -> bytes:
    theirs = _read(line, WIDTH)
    if not _is_sound(theirs):
        raise EOFError("it is not the driver")
    own = secure().integer(EXPONENT)
    ours = _number(pow(BASE, own, PRIME))
    line.sendall(ours + place + _tag(token, b"worker", theirs, ours, place))
    size = int.from_bytes(_read(line, LENGTH), "big")
    if size > MOST:
        raise EOFError("it is not the driver")
    hidden, proof = _read(line, size), _read(line, TAG)
    shared = _shared(theirs, own)
    if not hmac.compare_digest(proof, _tag(token, b"driver", theirs, ours, place, shared, hidden)):
        raise EOFError("it is not the driver")
    return _under_pad(hidden, token, theirs, ours, shared)


def _number(value: int) -> bytes:
    return value.to_bytes(WIDTH, "big")


def _is_sound(number: bytes) -> bool:
    """Of no small order: 0, 1 and -1 would make the shared number known to everybody."""
    return 1 < int.from_bytes(number, "big") < PRIME - 1


def _shared(theirs: bytes, own: int) -> bytes:
    return _number(pow(int.from_bytes(theirs, "big"), own, PRIME))


def _joined(*items: bytes) -> bytes:
    return b"".join(len(item).to_bytes(LENGTH, "big") + item for item in items)


def _tag(token: bytes, *items: bytes) -> bytes:
    return hmac.digest(token, _joined(*items), "sha256")


def _under_pad(content: bytes, token: bytes, *numbers: bytes) -> bytes:
    """Under a pad that only the two know; the same again takes it off."""
    pad = shake_256(_joined(b"discreet: pad of a conversation", token, *numbers)).digest(len(content))
    return (np.frombuffer(content, dtype=np.uint8) ^ np.frombuffer(pad, dtype=np.uint8)).tobytes()


def _read(line: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        more = line.recv(min(size - len(found), 1 << 20))
        if not more:
            raise EOFError("the other side hung up")
        found += more
    return bytes(found)
