"""Who may ask what, by plain HTTP: the rules that keep the page to the person who opened it."""

from __future__ import annotations

import asyncio
import http.client
import io
import os
import re
import shutil
import signal
import socket
import stat
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.web import guard as guards
from discreet.web.guard import Guard, Keys
from tests.web.conftest import Running, csrf, run_page, stopped, workbook

SECRET = 918273
ROWS: list[list[object]] = [[f"county {i}", i % 4] for i in range(60)]


def raw(page: Running, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> tuple[int, Any, str]:
    """A request as it is written, with no header that was not asked for."""
    host, _, port = page.base.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    if "content-length" not in headers and body:
        connection.putheader("content-length", str(len(body)))
    connection.endheaders(body or None)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read().decode(errors="replace")


def cookie(page: Running) -> str:
    return "=".join(page.cookie())


def own(page: Running) -> dict[str, str]:
    return {"host": page.base.removeprefix("http://"), "origin": page.base, "cookie": cookie(page)}


def test_it_listens_on_this_machine_only(page: Running) -> None:
    assert page.base.startswith("http://127.0.0.1:")


def test_two_pages_at_once_do_not_take_each_others_cookie() -> None:
    assert Keys().name != Keys().name, "a browser gives a cookie to every port of a machine"


def test_without_the_cookie_nothing_is_answered(page: Running) -> None:
    host, (name, _) = {"host": page.base.removeprefix("http://")}, page.cookie()
    for path in ("/", "/ledger", "/static/style.css", "/start.json", "/nowhere"):
        for more in ({}, {"cookie": f"{name}=x"}, {"cookie": f"{name}="}, {"cookie": "\x01"}):
            status, _, text = raw(page, "GET", path, {**host, **more})
            assert (status == 403 and "discreet serve printed" in text) or (status == 400 and "\x01" in str(more))
    assert raw(page, "GET", "/", own(page))[0] == 200


def test_the_token_works_once(page: Running) -> None:
    page.client()
    host = {"host": page.base.removeprefix("http://")}
    status, headers, _ = raw(page, "GET", page.address.removeprefix(page.base), host)
    assert status == 403 and "set-cookie" not in headers
    assert raw(page, "GET", "/?token=", host)[0] == 403


def test_another_user_who_saw_the_address_does_not_get_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys, sent = Keys(), []

    async def send(message: Any) -> None:
        sent.append(message.get("status"))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = listening.getsockname()
        with socket.create_connection(server) as connection:
            client = connection.getsockname()
            scope = {
                "type": "http", "method": "GET", "client": client, "server": server, "path": "/",
                "headers": [(b"host", f"127.0.0.1:{server[1]}".encode())],
                "query_string": f"token={keys.token}".encode(),
            }  # fmt: skip
            guard, own = Guard(None, keys, server[1]), guards.CONNECTIONS.read_text()  # type: ignore[arg-type]
            monkeypatch.setattr(guards, "CONNECTIONS", tmp_path / "tcp")
            lines = [line.split() for line in own.splitlines()]
            (mine,) = (line for line in lines if line[1].endswith(f":{client[1]:04X}"))
            assert int(mine[7]) == os.getuid(), "as Linux has it"
            thread = ThreadPoolExecutor(1)
            for user in (str(os.getuid() + 1), str(os.getuid())):
                mine[7] = user
                guards.CONNECTIONS.write_text("\n".join(map(" ".join, lines)))
                asked = guard(scope, None, send)  # type: ignore[arg-type]
                thread.submit(asyncio.run, asked).result()  # a browser of another test may have a loop of its own here
    assert [status for status in sent if status] == [403, 303] and keys.token is None, "what was refused spent nothing"


def test_the_cookie_is_for_this_page_alone(tmp_path: Path) -> None:
    page = run_page(tmp_path)
    try:
        host = {"host": page.base.removeprefix("http://")}
        status, headers, _ = raw(page, "GET", page.address.removeprefix(page.base), host)
        assert status == 303 and headers["location"] == "/"
        assert {"HttpOnly", "SameSite=Strict"} <= set(headers["set-cookie"].split("; "))
    finally:
        out, errors = stopped(page)
    assert out == errors == ""


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "[::1]:{port}", "", "127.0.0.1.evil.example:{port}"]
)
def test_another_name_for_this_machine_is_refused(page: Running, host: str) -> None:
    port = page.base.rpartition(":")[2]
    assert raw(page, "GET", "/", {**own(page), "host": host.format(port=port)})[0] in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1"])
def test_forms_of_other_pages_are_refused(page: Running, origin: str) -> None:
    port = page.base.rpartition(":")[2]
    token = csrf(page.client().get("/").text)
    form = {**own(page), "content-type": "application/x-www-form-urlencoded"}
    body = f"csrf={token}".encode()
    for method in ("GET", "POST"):
        assert raw(page, method, "/demo", {**form, "origin": origin.format(port=port)}, body)[0] == 403
    without = {name: value for name, value in form.items() if name != "origin"}
    assert raw(page, "POST", "/demo", without, body)[0] == 403
    assert raw(page, "POST", "/demo", {**form, "sec-fetch-site": "cross-site"}, body)[0] == 403
    assert raw(page, "POST", "/demo", form, body)[0] == 303


def test_every_form_needs_its_token(page: Running) -> None:
    client, before = page.client(), set(page.folder.glob("*-release*"))
    token = csrf(client.get("/").text)
    work = str(client.post("/demo", data={"csrf": token}).url).rpartition("/")[0]
    paths = [
        "/table",
        "/demo",
        "/ledger",
        *(f"{work}/{name}" for name in ("table", "contents", "keep", "plan", "release", "again")),
    ]
    for path in paths:
        for wrong in ({}, {"csrf": ""}, {"csrf": token[:-1]}):
            assert client.post(path, data=wrong).status_code == 403, path
    assert set(page.folder.glob("*-release*")) == before


def test_every_answer_is_kept_by_nobody_and_loads_nothing(page: Running) -> None:
    client = page.client()
    for path in ("/", "/ledger", "/start.json", "/static/style.css", "/nowhere"):
        headers = client.get(path).headers
        assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert "server" not in headers


@pytest.mark.parametrize("method", ["PUT", "DELETE", "TRACE", "OPTIONS", "PATCH"])
def test_other_methods_are_refused(page: Running, method: str) -> None:
    assert raw(page, method, "/", own(page))[0] in (400, 405)


def test_uploads_are_bounded(page: Running) -> None:
    form = {**own(page), "content-type": "multipart/form-data; boundary=x"}
    assert raw(page, "POST", "/table", {**form, "content-length": str(1 << 40)})[0] == 413
    assert raw(page, "POST", "/table", {**form, "content-length": "x"})[0] in (400, 413)


@pytest.mark.parametrize("name", ["../../etc/passwd", "..", "a/b.csv", "nothing.csv"])
def test_only_offered_files_and_folders_are_reached(page: Running, name: str) -> None:
    client = page.client()
    token = csrf(client.get("/").text)
    answer = client.post("/table", data={"csrf": token, "pick": name})
    assert answer.status_code == 422 and "No file was chosen" in answer.text
    assert client.get(f"/folder/{name}/report.html").status_code == 404
    assert client.get(f"/folder/{name}/zip").status_code == 404


def upload(client: httpx.Client, path: Path) -> tuple[str, str]:
    token = csrf(client.get("/").text)
    answer = client.post("/table", data={"csrf": token}, files={"file": (path.name, path.read_bytes())})
    assert answer.status_code == 200, answer.text
    return str(answer.url).rpartition("/")[0], token


def wait(client: httpx.Client, address: str, done: str) -> dict[str, Any]:
    for _ in range(600):
        view: dict[str, Any] = client.get(address).json()
        if view[done] or view["problem"]:
            return view
        time.sleep(0.2)
    raise AssertionError("it does not end")


def up_to_the_plan(client: httpx.Client, path: Path) -> list[str]:
    """Every page up to the plan, without the name of the work."""
    work, token = upload(client, path)
    pages = [client.get(f"{work}/table").text, client.get(f"{work}/contents").text]
    for name, form in (
        ("table", {}), ("contents", {"count": "n", "keys": ["county", "sex"], "contributions": "2"}),
        ("keep", {"way": "sums", "keep": ["margin:sex"]}), ("plan", {"epsilon": "1/2"}),
    ):  # fmt: skip
        answer = client.post(f"{work}/{name}", data={"csrf": token, **form})
        assert answer.status_code == 200, answer.text
        if name in ("table", "contents"):  # later pages are drawn while the plan is made
            pages += [answer.text, client.get(f"{work}/contents.json").text]
        if name == "contents":
            look = {"csrf": token, "way": "sums", "keep": ["margin:sex"], "look": "1"}
            pages += [client.post(f"{work}/keep", data=look).text, client.get(f"{work}/keep.json").text]
    wait(client, f"{work}/plan.json", "ready")
    pages += [client.get(f"{work}/plan").text, client.get(f"{work}/plan.json").text, client.get(f"{work}/release").text]
    bare = [re.sub('name="confirms" value="[0-9a-f]+"', "", page) for page in pages]  # it knows where the upload is
    return [page.replace(work.rpartition("/")[2], "KEY") for page in bare]


def test_pages_up_to_the_plan_do_not_depend_on_the_counts(page: Running, tmp_path: Path) -> None:
    rows = [["county", "sex", "n"], *([f"county {i}", sex, SECRET + i] for i in range(6) for sex in ("f", "m"))]
    other = [[*row[:2], row[2] if row[2] == "n" else 17] for row in rows]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = up_to_the_plan(page.client(), workbook(tmp_path / "a" / "t.xlsx", *rows))
    two = up_to_the_plan(page.client(), workbook(tmp_path / "b" / "t.xlsx", *other))
    assert one == two
    assert not any(str(SECRET)[:5] in text for text in one)


def test_errors_name_places_and_no_value(page: Running, tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", ["county", "n"], ["Ash", f"about {SECRET}"], ["Elm", -SECRET], ["Elm", 3])
    client = page.client()
    work, token = upload(client, path)
    answer = client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"})
    assert answer.status_code == 422
    for part in ("row 2, column", "row 3, column", "rows 3 and 4 have the same keys"):
        assert part in answer.text.replace("&#39;", "'"), answer.text
    assert str(SECRET) not in answer.text and tempfile.gettempdir() + "/discreet-" not in answer.text
    assert client.get(f"{work}/keep").status_code == 422  # nothing goes on with such a file


def test_a_preview_of_half_an_answer_is_no_error(page: Running) -> None:
    client = page.client()
    token = csrf(client.get("/").text)
    work = str(client.post("/demo", data={"csrf": token}).url).rpartition("/")[0]
    for form, published in (
        ({}, ["county"]),
        ({"count": "murders"}, []),
        ({"count": "murders", "keys": "county"}, ["county"]),
    ):
        answer = client.post(f"{work}/contents", data={"csrf": token, "preview": "1", **form})
        assert answer.status_code == 200 and answer.json()["published"] == published


def test_a_release_is_made_once_whatever_is_clicked(page: Running, tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    client = page.client()
    token = csrf(client.get("/ledger").text)
    name = tmp_path.name
    assert client.post("/ledger", data={"csrf": token, "dataset": name, "epsilon": "3"}).status_code == 200
    work, _ = upload(client, workbook(tmp_path / f"{name}.xlsx", ["county", "n"], *ROWS))
    client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
    client.post(f"{work}/keep", data={"csrf": token, "way": "rows", "mechanism": "geometric"}).raise_for_status()
    client.post(f"{work}/plan", data={"csrf": token, "epsilon": "1", "dataset": name}).raise_for_status()
    assert wait(client, f"{work}/plan.json", "ready")["problem"] is None
    assert client.post(
        f"{work}/plan", data={"csrf": token, "epsilon": "1", "dataset": name, "go": "1"}
    ).url.path.endswith("/release")

    view = client.get(f"{work}/release.json").json()
    confirms = view["confirms"]
    assert view["charged"] == "epsilon 1"
    for wrong in ({}, {"confirms": "x"}):  # drawn from other answers
        assert client.post(f"{work}/release", data={"csrf": token, **wrong}).status_code == 422

    def click(_: int) -> int:
        return page.client().post(f"{work}/release", data={"csrf": token, "confirms": confirms}).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(click, range(8))) == {200}
    assert wait(client, f"{work}/release.json", "done")["problem"] is None
    assert [click(0), client.get(f"{work}/release").status_code] == [200, 200]
    (entry,) = [one for one in client.get("/ledger.json").json()["history"] if one["dataset"] == name]
    assert entry["charged"] == "epsilon 1" and entry["released"]
    assert len(list(page.folder.glob(f"{name}-release*"))) == 1
    changed = client.post(f"{work}/plan", data={"csrf": token, "epsilon": "2"})
    assert changed.status_code == 422 and "released already" in changed.text
    view = client.get(f"{work}/result.json").json()
    assert view["valid"] and "table.xlsx" in view["files"] and str(page.folder) not in view["toml"]
    assert client.get(f"/folder/{view['folder']}/zip").content[:2] == b"PK"
    report = client.get(f"/folder/{view['folder']}/report.html")
    assert report.status_code == 200 and "script-src" not in report.headers["content-security-policy"]


def test_a_refused_charge_is_told_and_can_be_mended(page: Running, tmp_path: Path) -> None:
    client = page.client()
    token = csrf(client.get("/ledger").text)
    name = tmp_path.name
    client.post("/ledger", data={"csrf": token, "dataset": name, "epsilon": "1/2"}).raise_for_status()
    work, _ = upload(client, workbook(tmp_path / f"{name}.xlsx", ["county", "n"], *ROWS))
    client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": "county"}).raise_for_status()
    client.post(f"{work}/keep", data={"csrf": token, "way": "rows"}).raise_for_status()
    for epsilon, fits in (("1", False), ("1/2", True)):
        form = {"csrf": token, "epsilon": epsilon, "dataset": name}
        client.post(f"{work}/plan", data=form).raise_for_status()
        assert wait(client, f"{work}/plan.json", "ready")["problem"] is None
        client.post(f"{work}/plan", data={**form, "go": "1"}).raise_for_status()
        confirms = client.get(f"{work}/release.json").json()["confirms"]
        client.post(f"{work}/release", data={"csrf": token, "confirms": confirms}).raise_for_status()
        view = wait(client, f"{work}/release.json", "done")
        assert view["done"] is fits and (view["problem"] is None) is fits
    assert len(list(page.folder.glob(f"{name}-release*"))) == 1


def test_sums_that_give_rows_away_are_refused_and_the_entry_can_be_found_again(page: Running, tmp_path: Path) -> None:
    client = page.client()
    token = csrf(client.get("/ledger").text)
    name = tmp_path.name
    client.post("/ledger", data={"csrf": token, "dataset": name, "epsilon": "3"}).raise_for_status()
    rows = [["Ash", "f", SECRET], ["Ash", "m", 0], ["Elm", "f", 3], ["Elm", "m", 4]]
    work, _ = upload(client, workbook(tmp_path / f"{name}.xlsx", ["county", "sex", "n"], *rows))
    client.post(f"{work}/contents", data={"csrf": token, "count": "n", "keys": ["county", "sex"]}).raise_for_status()

    def history() -> list[dict[str, str]]:
        return [one for one in client.get("/ledger.json").json()["history"] if one["dataset"] == name]

    for kept, fits in (("sum:county=Ash,sex=f", False), ("margin:county", True)):
        client.post(f"{work}/keep", data={"csrf": token, "way": "sums", "more": kept}).raise_for_status()
        form = {"csrf": token, "epsilon": "1", "dataset": name, "note": "<yearly report>", "who": "Ann"}
        client.post(f"{work}/plan", data=form).raise_for_status()
        assert wait(client, f"{work}/plan.json", "ready")["problem"] is None
        client.post(f"{work}/plan", data={**form, "go": "1"}).raise_for_status()
        confirms = client.get(f"{work}/release.json").json()["confirms"]
        client.post(f"{work}/release", data={"csrf": token, "confirms": confirms}).raise_for_status()
        view = wait(client, f"{work}/release.json", "done")
        assert view["done"] is fits, view["problem"]
        if not fits:
            for part in (
                "county = Ash, sex = f",
                "Nothing was drawn or recorded",
                "“I accept that this is given away”",
            ):
                assert part in view["problem"]
            assert str(SECRET) not in view["problem"] and history() == []
    (entry,) = history()
    assert (entry["note"], entry["who"], entry["released"]) == ("<yearly report>", "Ann", True)
    assert "&lt;yearly report&gt;" in client.get("/ledger").text
    assert len(list(page.folder.glob(f"{name}-release*"))) == 1


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_uploads_are_for_their_owner_and_go_with_the_page(tmp_path: Path, how: signal.Signals) -> None:
    (tmp_path / "tmp").mkdir()
    page = run_page(tmp_path, TMPDIR=str(tmp_path / "tmp"))
    (kept,) = (tmp_path / "tmp").glob("discreet-*")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    (tmp_path / "t.csv").write_text("county,n\nAsh,3\n")
    client = page.client()
    upload(client, tmp_path / "t.csv")
    client.close()
    assert list(kept.rglob("t.csv"))
    os.kill(page.process.pid, how)
    page.process.communicate(timeout=60)
    for _ in range(600):
        if not kept.exists():
            break
        time.sleep(0.1)
    assert not kept.exists()


def test_every_folder_has_its_values_and_a_damaged_one_is_told(page: Running) -> None:
    client = page.client()
    for name, record in (("damaged", "{}"), ("of-nothing", ""), ("a.json", "[]")):
        (page.folder / name).mkdir()
        (page.folder / name / "release.json").write_text(record)
        view = client.get(f"/folder/{name}.json").json()
        assert view["folder"] == name and view["valid"] is False and view["problems"]
        assert "does not verify" in client.get(f"/folder/{name}").text or name == "a.json"
        assert client.get(f"/folder/{name}/report.html").status_code == 404
        assert client.get(f"/folder/{name}/explore.html").status_code == 422
    (page.folder / "damaged" / "report.html").symlink_to("/etc/hostname")
    assert client.get("/folder/damaged/report.html").status_code == 404
    packed = zipfile.ZipFile(io.BytesIO(client.get("/folder/damaged/zip").content))
    assert packed.namelist() == ["damaged/release.json"], "a link leads elsewhere"
    for name in ("damaged", "of-nothing", "a.json"):
        shutil.rmtree(page.folder / name)


def test_a_zip_has_the_parts_of_a_release_too(tmp_path: Path) -> None:
    from discreet.web.app import _zip

    (tmp_path / "out" / "table").mkdir(parents=True)
    for name in ("release.json", "table/part-00000.parquet"):
        (tmp_path / "out" / name).write_bytes(b"as it is")
    packed = zipfile.ZipFile(io.BytesIO(_zip(tmp_path / "out")))
    assert packed.namelist() == ["out/release.json", "out/table/part-00000.parquet"]
    assert packed.read("out/table/part-00000.parquet") == b"as it is"
