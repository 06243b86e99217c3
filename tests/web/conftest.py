"""A page that really runs, and a real browser to look at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import openpyxl
import pytest

SOURCE = str(Path(__file__).resolve().parents[2] / "src")
PICTURES = Path(os.environ.get("DISCREET_SCREENSHOTS", "screenshots"))  # kept, to be looked at


@dataclass(frozen=True)
class Running:
    """The page: its process, its address with the token, its folder."""

    process: subprocess.Popen[str]
    address: str
    folder: Path

    @property
    def base(self) -> str:
        return self.address.partition("/?")[0]

    def client(self) -> httpx.Client:
        """Somebody who opened the address."""
        client = httpx.Client(base_url=self.base, headers={"origin": self.base}, follow_redirects=True, timeout=60)
        token = self.address.partition("token=")[2]
        if not hasattr(self.process, "cookie"):
            client.get("/", params={"token": token}).raise_for_status()
            (self.process.cookie,) = client.cookies.items()  # type: ignore[attr-defined]
        client.cookies.set(*self.process.cookie, domain="127.0.0.1")  # type: ignore[attr-defined]
        return client

    def cookie(self) -> tuple[str, str]:
        """Its name and its value."""
        ((name, value),) = set(self.client().cookies.items())
        return name, value


def run_page(folder: Path, **environment: str) -> Running:
    command = [sys.executable, "-m", "discreet", "serve", "--no-browser", "--folder", str(folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": SOURCE, **environment},
    )  # fmt: skip
    assert process.stdout is not None
    return Running(process, process.stdout.readline().strip(), folder)


def stopped(page: Running) -> tuple[str, str]:
    page.process.terminate()
    out, errors = page.process.communicate(timeout=30)
    return out, errors


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = run_page(tmp_path_factory.mktemp("page"))
    yield running
    stopped(running)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    place = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if place is None:
        pytest.skip("there is no Chromium: install it, on Debian with: apt-get install chromium")
    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=place, args=["--no-sandbox"])
        yield opened
        opened.close()


def csrf(text: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', text)
    assert found is not None
    return found[1]


def workbook(path: Path, *rows: list[object]) -> Path:
    made = openpyxl.Workbook()
    assert made.active is not None
    for row in rows:
        made.active.append(row)
    made.save(path)
    return path
