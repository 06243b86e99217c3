"""Processes for the tests: writers that spend together until refused, two that publish sums which together give rows
away, and one whose children are killed at random."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from fractions import Fraction
from multiprocessing import Queue, get_context
from multiprocessing.synchronize import Barrier

import pyarrow as pa

import discreet as dc
from discreet.errors import Discloses, OverBudget
from discreet.ledger import Spending, ledger
from discreet.privacy import Pure

WARM_UP = 5


def spend_all(url: str, start: Barrier, accepted: Queue[int]) -> None:
    """Spends until it is refused; says how often it was not."""
    book, spent = ledger(url), 0
    start.wait()
    try:
        while True:
            book.spend("people", Spending(Pure(Fraction(1, 7)), note=f"{os.getpid()} {spent}"))
            spent += 1
    except OverBudget:
        accepted.put(spent)


def spend_together(url: str, number: int) -> None:
    """Prints how many spendings of each writer were accepted; they start at the same moment."""
    together = get_context("fork")
    start, accepted = together.Barrier(number), together.Queue()
    writers = [together.Process(target=spend_all, args=(url, start, accepted)) for _ in range(number)]
    for writer in writers:
        writer.start()
    print(*(accepted.get(timeout=120) for _ in writers))
    for writer in writers:
        writer.join()


def draw(url: str, row: list[int], start: Barrier, said: Queue[str]) -> None:
    """Draws a release that keeps the sum of some rows, and saves nothing."""
    book, table = ledger(url), dc.table(pa.table({"town": list("abcd"), "n": [0, 0, 4, 3]}), "n", ["town"])
    start.wait()
    try:
        dc.release(table, epsilon=1, keep=[dc.sums([row])], ledger=book, dataset="people")
        said.put("drawn")
    except Discloses as refusal:
        said.put(str(refusal))


def draw_together(url: str) -> None:
    """Prints what each of two is told that start at the same moment: 7 people in all, of whom 7 are in two towns."""
    together = get_context("fork")
    start, said = together.Barrier(2), together.Queue()
    rows = ([1, 1, 1, 1], [0, 0, 1, 1])
    writers = [together.Process(target=draw, args=(url, row, start, said)) for row in rows]
    for writer in writers:
        writer.start()
    print(*(said.get(timeout=120) for _ in writers), sep="\n")
    for writer in writers:
        writer.join()


def release_forever(url: str, released: str) -> None:
    """Records, then 'releases' by adding a line to a file."""
    book = ledger(url)
    for number in range(10**6):
        name = f"{os.getpid()} {number}"
        book.spend("people", Spending(Pure(Fraction(1, 1000)), note=name))
        with open(released, "a") as file:
            file.write(name + "\n")


def kill_children(url: str, released: str, kills: int, seed: int) -> None:
    """Prints how many children died by our hand."""
    ledger(url).status()
    start = time.perf_counter()
    for number in range(WARM_UP):
        ledger(url).spend("people", Spending(Pure(Fraction(1, 1000)), note=f"warm-up {number}"))
    longest = 2 * (time.perf_counter() - start) / WARM_UP
    chance, killed = random.Random(seed), 0
    for _ in range(kills):
        child = os.fork()
        if child == 0:
            release_forever(url, released)
            os._exit(1)
        time.sleep(chance.uniform(0.0, longest))
        os.kill(child, signal.SIGKILL)
        killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        if not os.path.exists(released):  # a slow machine: give the next child more time to get that far
            longest = min(10.0, 1.2 * longest)
    print(killed)


if __name__ == "__main__":
    if sys.argv[1] == "spend":
        spend_together(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "draw":
        draw_together(sys.argv[2])
    else:
        kill_children(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
