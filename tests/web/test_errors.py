"""What goes wrong is told as a page like the others, with its JSON twin, the right status, and nothing of the data."""

from __future__ import annotations

import http.client
from math import asinh, sinh
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.errors import BadInput
from discreet.web import guard, screens
from discreet.web.curves import LEAST, MOST, ErrorsAt, in_order, size, suggestion
from tests.web.conftest import Running, csrf, run_page, stopped
from tests.web.test_rules import own, raw, upload, wait

SECRET = "918273"


def looks_like_ours(answer: httpx.Response, status: int, said: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert '<main id="main"' in answer.text and said in answer.text and "<h1>" in answer.text


def is_its_twin(answer: httpx.Response, status: int, said: str) -> None:
    assert answer.status_code == status
    view = answer.json()
    assert view["status"] == status and said in view["problem"] and view["screen"] == "problem"


def test_a_page_that_is_not_there(page: Running) -> None:
    client = page.client()
    for path in ("/nowhere", "/table/of-yesterday/plan", "/folder/none", "/folder/none/zip", "/static/none"):
        looks_like_ours(client.get(path), 404, "There is no such page")
    for path in ("/nowhere.json", "/table/of-yesterday/plan.json"):
        is_its_twin(client.get(path), 404, "earlier run")
    looks_like_ours(client.post("/demo", data={"csrf": "old"}), 403, "too old")
    looks_like_ours(client.post("/", data={}), 405, "not done here")


def test_what_nobody_foresaw_says_nothing_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, where the fault can be made."""
    from starlette.testclient import TestClient

    from discreet.web.app import Pages

    def fails(*_: Any) -> Any:
        raise ZeroDivisionError(f"the count of Ash is {SECRET}")

    keys = guard.Keys()
    app = guard.Guard(Pages(keys, tmp_path, tmp_path).app(), keys, 80)
    client = TestClient(app, base_url="http://127.0.0.1:80", headers={"host": "127.0.0.1:80"})
    client.get("/", params={"token": str(keys.token)})
    monkeypatch.setattr(screens, "ledger", fails)
    for path, check in (("/ledger", looks_like_ours), ("/ledger.json", is_its_twin)):
        answer = client.get(path)
        check(answer, 500, "discreet did not foresee")  # type: ignore[arg-type]
        assert SECRET not in answer.text and "ZeroDivision" not in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_ledger_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"no database at all, but a note of somebody " * 100)
    (tmp_path / "t.csv").write_text("county,n\nAsh,3\nElm,4\n")
    page = run_page(tmp_path)
    try:
        client = page.client()
        answer = client.get("/ledger")
        assert answer.status_code == 200 and 'role="alert"' in answer.text and "Give a data set" not in answer.text
        assert client.get("/ledger.json").json()["problem"]
        work, token = upload(client, tmp_path / "t.csv")
        client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
        client.post(f"{work}/keep", data={"csrf": token, "way": "rows"}).raise_for_status()
        view = wait(client, f"{work}/plan.json", "ready")
        assert view["problem"] is None and view["ledger_problem"] and view["datasets"] == []
        assert "cannot be read now" in client.get(f"{work}/plan").text
        made = client.post("/ledger", data={"csrf": token, "dataset": "d", "epsilon": "1"})
        assert made.status_code == 422 and "<h1>Ledger</h1>" in made.text
    finally:
        out, errors = stopped(page)
    assert out == errors == ""


def test_more_than_is_taken_is_told_to_who_sends_it(page: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks, so that nobody knows how much is to come."""
    host, _, port = page.base.removeprefix("http://").partition(":")
    token = csrf(page.client().get("/").text)
    head = f'--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n{token}\r\n--x\r\n'
    head += 'content-disposition: form-data; name="file"; filename="t.csv"\r\n\r\n'

    def sent() -> Any:
        yield head.encode()
        piece = b"a" * (1 << 22)
        for _ in range(guard.LARGEST_BODY // len(piece) + 4):
            yield piece
        yield b"\r\n--x--\r\n"

    connection = http.client.HTTPConnection(host, int(port), timeout=120)
    form = {**own(page), "content-type": "multipart/form-data; boundary=x"}
    connection.request("POST", "/table", sent(), form, encode_chunked=True)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 413 and "at most 256 MiB" in text and "<h1>That file is too large</h1>" in text


def test_a_file_that_cannot_be_read(page: Running, tmp_path: Path) -> None:
    client = page.client()
    for name, content in (("t.xlsx", b"PK\x03\x04 and no more"), ("t.parquet", b"PAR1"), ("t.csv", b"\x00\x01\x02")):
        (tmp_path / name).write_bytes(content + SECRET.encode())
        token = csrf(client.get("/").text)
        answer = client.post("/table", data={"csrf": token}, files={"file": (name, (tmp_path / name).read_bytes())})
        assert answer.status_code in (200, 422) and 'role="alert"' in answer.text, (name, answer.text)
        assert "<h1>" in answer.text and SECRET not in answer.text and "/discreet-" not in answer.text
        assert client.get(f"{answer.url}.json").json()["problem"]


def test_a_file_that_went_away(tmp_path: Path) -> None:
    """Also the copy that the page has of it: somebody cleaned up."""
    (tmp_path / "t.csv").write_text("county,n\nAsh,3\n")
    (tmp_path / "tmp").mkdir()
    page = run_page(tmp_path, TMPDIR=str(tmp_path / "tmp"))
    try:
        client = page.client()
        token = csrf(client.get("/").text)
        work = str(client.post("/table", data={"csrf": token, "pick": "t.csv"}).url).rpartition("/")[0]
        copies = list(tmp_path.rglob("t.csv"))
        assert len(copies) == 2
        for one in copies:
            one.unlink()
        for name in ("table", "contents", "keep", "plan", "release", "result"):
            answer = client.get(f"{work}/{name}")
            assert answer.status_code in (200, 422) and 'role="alert"' in answer.text, name
    finally:
        assert stopped(page) == ("", "")


def test_only_a_person_spends_the_token(tmp_path: Path) -> None:
    page = run_page(tmp_path)
    try:
        host, path = {"host": page.base.removeprefix("http://")}, page.address.removeprefix(page.base)
        assert raw(page, "HEAD", path, host)[0] == 403
        assert raw(page, "GET", path, {**host, "sec-purpose": "prefetch;prerender"})[0] == 403
        assert raw(page, "POST", path, {**host, "origin": page.base})[0] == 403
        status, headers, _ = raw(page, "GET", path, host)
        assert status == 303, "it is there for the person still"
        cookie = headers["set-cookie"].partition(";")[0]
        status, headers, _ = raw(page, "GET", path, {**host, "cookie": cookie})
        assert status == 303 and headers["location"] == "/" and "set-cookie" not in headers, "who is in stays in"
        assert raw(page, "GET", path, host)[0] == 403
    finally:
        stopped(page)


def by_the_law(epsilon: str) -> ErrorsAt:
    """Geometric noise errs by this."""
    return ErrorsAt(epsilon, 1 / sinh(size(epsilon)), 0.0)


@pytest.mark.parametrize("error", [0.0005, 0.01, 0.3, 0.77, 1.0, 2.5, 9.0, 33.0, 90.0])
def test_the_epsilon_for_an_error_is_near_the_least_that_does(error: float) -> None:
    asked: list[str] = []

    def simulate(epsilon: str) -> ErrorsAt:
        asked.append(epsilon)
        return by_the_law(epsilon)

    curve = in_order(map(by_the_law, ("0.1", "0.3", "1", "3")))
    found, curve = suggestion(curve, str(error), simulate)
    assert found.epsilon is not None and by_the_law(found.epsilon).count_error <= error
    assert size(found.epsilon) <= 1.12 * asinh(1 / error), "no more is spent than is needed"
    assert found.at in curve and len(asked) <= 8 and set(asked) <= {one.epsilon for one in curve}


def test_an_error_that_no_epsilon_or_any_epsilon_gives() -> None:
    curve = in_order(map(by_the_law, ("0.1", "0.3", "1", "3")))
    none, drawn = suggestion(curve, "0.000001", by_the_law)
    assert none.epsilon is None and none.at.epsilon == MOST == drawn[-1].epsilon
    any_, drawn = suggestion(curve, "5000", by_the_law)
    assert any_.epsilon == LEAST == drawn[0].epsilon
    for wrong in ("", "much", "-1", "0", "inf", "nan"):
        with pytest.raises(BadInput, match="not a number above 0"):
            suggestion(curve, wrong, by_the_law)


def test_an_error_can_be_accepted_for_every_shape(page: Running, tmp_path: Path) -> None:
    client = page.client()
    (tmp_path / "t.csv").write_text("county,n\n" + "".join(f"county {i},{i % 4}\n" for i in range(300)))
    work, token = upload(client, tmp_path / "t.csv")
    client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
    client.post(f"{work}/keep", data={"csrf": token, "way": "sums", "keep": "total"}).raise_for_status()
    wait(client, f"{work}/plan.json", "ready")
    for shape in ("bell", "mostly-zero"):
        view = wait(client, f"{work}/plan.json?shape={shape}&accepted=50", "suggested")
        assert view["shape"] == shape and 0.02 < float(view["suggested"]["epsilon"]) < 0.1
        assert view["suggested"]["count_error"] <= 50
    text = client.get(f"{work}/plan?shape=bell&accepted=50").text
    assert view["suggested"]["epsilon"] in text and "if the counts are around a middle" in text
    view = wait(client, f"{work}/plan.json?accepted=0.0000001", "suggested")
    assert view["suggested"]["epsilon"] is None
    assert "No epsilon up to 10 does" in client.get(f"{work}/plan?accepted=0.0000001").text
    assert "not a number above 0" in client.get(f"{work}/plan?accepted=some").text
    guess = {"csrf": token, "epsilon": "1", "guess": "60 25; 10, 5"}
    client.post(f"{work}/plan", data=guess).raise_for_status()
    view = wait(client, f"{work}/plan.json", "ready")
    assert view["shape"] == "prior" and view["expected"][0]["shape"] == "your guess" and len(view["expected"]) == 5
    assert client.post(f"{work}/plan", data={**guess, "go": "1"}).url.path.endswith("/release")
    for wrong, why in (("60 b", "not a list of numbers"), ("5", "up to 0"), ("1 -2", "negative")):
        answer = client.post(f"{work}/plan", data={**guess, "guess": wrong})
        assert answer.status_code == 422 and why in answer.text
