from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from . import postgresql

NUMBERS = count()


@pytest.fixture(scope="session")
def socket_folder() -> Iterator[str]:
    tools = postgresql.binaries()
    if tools is None:
        pytest.skip(postgresql.INSTALL)
    with postgresql.server(tools) as folder:
        yield folder


@pytest.fixture
def postgresql_url(socket_folder: str) -> str:
    """A database of its own for each test."""
    import psycopg

    name = f"ledger_{os.getpid()}_{next(NUMBERS)}"
    with psycopg.connect(f"host={socket_folder} user=postgres dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://postgres:geheim@/{name}?host={socket_folder}"


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return str(tmp_path / "ledger.db")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(f"{request.param}_url"))
