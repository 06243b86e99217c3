"""What is handed from memory to memory, to whoever has the ticket and to nobody else."""

from __future__ import annotations

import pickle
import socket
import threading
from contextlib import suppress
from dataclasses import replace

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BadInput
from discreet.io import channel
from discreet.io.channel import PRIME, Ticket, offered

HERE = "127.0.0.1"
SECRET = b"nobody may know this, not even by chance"


def secret(number: int) -> bytes:
    return [SECRET, b"other"][number]


@settings(max_examples=10)
@given(st.binary(max_size=5000))
def test_whoever_has_the_ticket_gets_it_as_often_as_they_ask(content: bytes) -> None:
    with offered(lambda _: content, HERE) as ticket:
        again = pickle.loads(pickle.dumps(ticket))
        assert [again.content() for _ in range(2)] == [content] * 2


def test_the_prime_is_the_one_that_it_is_said_to_be() -> None:
    """And so is half of it: no part of the group is small."""
    flint.ctx.prec, before = 2200, flint.ctx.prec
    try:
        pi = int((flint.arb.pi() * flint.arb(2) ** 1918).floor().unique_fmpz())
    finally:
        flint.ctx.prec = before
    assert 2**2048 - 2**1984 - 1 + 2**64 * (pi + 124476) == PRIME
    assert flint.fmpz(PRIME).is_probable_prime()
    assert flint.fmpz((PRIME - 1) // 2).is_probable_prime()


def test_without_the_token_there_is_nothing() -> None:
    with offered(secret, HERE) as ticket:
        wrong = replace(ticket, token=bytes(32))
        with pytest.raises(BadInput, match="hung up"):
            wrong.content()
        assert ticket.content() == SECRET  # and one who guesses keeps nobody else from it
        assert ticket.token.hex() not in repr(ticket)


def test_everybody_gets_what_they_ask_for() -> None:
    with offered(secret, HERE) as ticket:
        assert [ticket.content(number) for number in (1, 0)] == [b"other", SECRET]
        with pytest.raises(BadInput, match="hung up"):
            ticket.content(2)


def test_an_address_of_somebody_else() -> None:
    with pytest.raises(BadInput, match=r"nobody can be waited for .* Spark\(host="), offered(secret, "192.0.2.77"):
        pass


def test_after_the_offer_a_ticket_opens_nothing() -> None:
    with offered(secret, HERE) as ticket:
        pass
    with pytest.raises(BadInput, match=r"nobody answered at .* Spark\(host="):
        ticket.content()


def overheard(ticket: Ticket, spoil: int | None = None) -> tuple[list[bytes], bytes | None]:
    """Ask through somebody in between, who hears everything and may change a byte of what the driver says."""
    heard: list[bytes] = []
    with socket.create_server((HERE, 0)) as server, socket.create_connection((HERE, ticket.port)) as driver:

        def pass_on(one: socket.socket, other: socket.socket, spoilt: int | None) -> None:
            seen = 0
            while data := one.recv(1 << 16):
                heard.append(data)
                if spoilt is not None and seen <= spoilt < seen + len(data):
                    changed = bytearray(data)
                    changed[spoilt - seen] ^= 1
                    data = bytes(changed)
                seen += len(heard[-1])
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)

        def between() -> None:
            worker, _ = server.accept()
            back = threading.Thread(target=pass_on, args=(driver, worker, spoil))
            back.start()
            with suppress(OSError):
                pass_on(worker, driver, None)
            back.join()
            worker.close()

        thread = threading.Thread(target=between)
        thread.start()
        try:
            found: bytes | None = replace(ticket, port=server.getsockname()[1]).content()
        except BadInput:
            found = None
        thread.join()
    return heard, found


def test_who_listens_hears_nothing() -> None:
    with offered(secret, HERE) as ticket:
        heard, found = overheard(ticket)
        other, _ = overheard(ticket)
    assert found == SECRET
    assert SECRET not in b"".join(heard)
    assert ticket.token not in b"".join(heard)
    assert sorted(heard) != sorted(other)  # every conversation is another one


@pytest.mark.parametrize("place", [0, channel.WIDTH + channel.LENGTH + 3, channel.WIDTH + channel.LENGTH + len(SECRET)])
def test_what_was_changed_on_the_way_is_not_taken(place: int) -> None:
    with offered(secret, HERE) as ticket:
        assert overheard(ticket, spoil=place)[1] is None


def test_numbers_that_would_give_the_secret_away_are_refused() -> None:
    for number in (0, 1, PRIME - 1, PRIME, PRIME + 1):
        assert not channel._is_sound(channel._number(number))
