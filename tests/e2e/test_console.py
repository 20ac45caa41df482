# SPDX-License-Identifier: Apache-2.0
"""The console: its page, whom its port answers, and the API behind it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.console import Console, request
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.stage import PROJECT_ROOT

DIST = PROJECT_ROOT / "console" / "dist"
INFER = "/v2/models/echo/infer"
REQUEST = {
    "id": "by-console",
    "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [2.5]}],
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    models = ModelRepository(tmp_path_factory.mktemp("models"))
    models.add_identity("echo", "FP32", [1])
    return models


@pytest.fixture(scope="module")
def console(
    repository: ModelRepository, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Console]:
    options = [
        "--console-port=0",
        "--model-control-mode=explicit",
        "--load-model=echo",
        # The token stands for other keys, too.
        "--http-restricted-api=inference:shop=secret",
        "--http-restricted-api=nereid,trace:admin-key=of the console",
    ]
    server = start_nereid(repository.root, tmp_path_factory.mktemp("logs"), options)
    yield Console(server)
    server.stop()


def test_history(console: Console) -> None:
    assert console.ask_without_token("/console/history").status == 401
    assert console.ask("POST", INFER, json.dumps({**REQUEST, "id": "noted"}).encode()).status == 200

    def counted() -> bool:
        answer = console.ask("GET", "/console/history")
        assert answer.status == 200, answer.body
        samples = json.loads(answer.body)["samples"]
        models = samples[-1]["models"] if samples else []
        return [m["name"] for m in models if m["succeeded"] > 0 and m["batches"] > 0] == ["echo"]

    poll_until("a sample with the request", counted, 60, console.server.log_text)


def test_problems(console: Console, repository: ModelRepository) -> None:
    assert console.ask_without_token("/console/problems").status == 401
    answer = console.ask("GET", "/console/problems")
    assert json.loads(answer.body) == {"checked": 1, "problems": []}
    bad = repository.add_identity("bad", "FP32", [1], max_batch_size=-1)
    try:
        found = json.loads(console.ask("GET", "/console/problems").body)
    finally:
        shutil.rmtree(bad)
    assert found["checked"] == 2
    assert [(p["model"], p["kind"]) for p in found["problems"]] == [("bad", "problem")]
    assert "config.pbtxt:2: 'max_batch_size' must be non-negative" in found["problems"][0]["text"]


def test_page(console: Console) -> None:
    for path, name, kind in (
        ("/", "index.html", "text/html; charset=utf-8"),
        ("/console.js", "console.js", "text/javascript; charset=utf-8"),
        ("/console.css", "console.css", "text/css; charset=utf-8"),
        ("/favicon.svg", "favicon.svg", "image/svg+xml"),
    ):
        answer = console.ask_without_token(path)
        assert (answer.status, answer.header("Content-Type")) == (200, kind)
        assert answer.body == (DIST / name).read_bytes()
        head = console.ask("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        assert head.header("Content-Length") == str(len(answer.body))


def test_headers_of_every_answer(console: Console) -> None:
    for answer in (
        console.ask_without_token("/"),
        console.ask_without_token("/v2"),
        console.ask("GET", "/v2/nereid/live"),
        console.ask("GET", "/nothing"),
    ):
        policy = answer.header("Content-Security-Policy") or ""
        assert "default-src 'none'" in policy and "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.header("X-Content-Type-Options") == "nosniff"
        assert answer.header("X-Frame-Options") == "DENY"
        assert answer.header("Referrer-Policy") == "no-referrer"


def test_there_are_no_other_files(console: Console) -> None:
    for path in ("/../etc/passwd", "/%2e%2e/console.js", "/console.js/..", "/dist/console.js"):
        assert console.ask_without_token(path).status == 401
        assert console.ask("GET", path).status == 404


def test_api_needs_the_token(console: Console) -> None:
    for path in ("/v2", "/v2/health/live", "/v2/nereid/live", "/metrics", "/console/settings"):
        assert console.ask_without_token(path).status == 401
        assert console.ask("GET", path, token="0" * 64).status == 401
        assert console.ask("GET", path).status == 200
    assert console.ask("POST", INFER, b"{}", token="x").status == 401
    assert "Authorization: Bearer" in console.ask_without_token("/v2").error()


def ask_with(console: Console, path: str, *, body: bytes | None = None, **keys: str) -> int:
    headers = {"Host": console.url, **{name.replace("_", "-"): v for name, v in keys.items()}}
    return request(console.url, "GET" if body is None else "POST", path, body, headers).status


def test_key_of_the_restricted_api(console: Console) -> None:
    key = {"admin_key": "of the console"}
    for path in ("/v2", "/v2/nereid/live", "/v2/models/echo", "/metrics", "/console/settings"):
        assert ask_with(console, path, **key) == 200, path
        assert ask_with(console, path, admin_key="of another") == 401, path
        assert ask_with(console, path, admin_key="secret") == 401, path
        assert ask_with(console, path, shop="secret") == 401, path
    # Groups with another key need that, too, and those that the page does not need are closed.
    body = json.dumps({**REQUEST, "id": "by-key"}).encode()
    assert ask_with(console, INFER, body=body, **key) == 403
    assert ask_with(console, INFER, body=body, **key, shop="secret") == 200
    assert ask_with(console, "/v2/trace/setting", **key) == 403
    assert ask_with(console, "/v2/nereid/live", **key, Origin="http://evil.example") == 403
    assert "'admin-key'" in console.ask_without_token("/v2").error()


def test_requests_through_the_console(console: Console) -> None:
    body = json.dumps(REQUEST).encode()
    answer = console.ask("POST", INFER, body, Origin=f"http://{console.url}")
    assert answer.status == 200, answer
    assert answer.json()["outputs"][0]["data"] == [2.5]
    # Records are written when request and execution have ended, which may be after the answer.
    found = poll_until(
        "the record",
        lambda: console.ask("GET", "/v2/nereid/requests/by-console").json()["requests"],
    )
    assert [request["model"] for request in found] == ["echo"]
    assert 'model="echo"' in console.ask("GET", "/metrics").body.decode()
    # The same on the port for clients is closed.
    client_port = console.server.http_url
    assert raw_http.post(client_port, INFER, body).status == 403
    assert raw_http.get(client_port, "/v2/nereid/live").status == 403


def test_other_hosts_and_origins(console: Console) -> None:
    port = console.url.split(":")[1]
    for host in ("evil.example", f"evil.example:{port}", f"localhost.evil.example:{port}"):
        answer = console.ask("GET", "/v2/nereid/live", Host=host)
        assert answer.status == 403
        assert host in answer.error()
        assert console.ask("GET", "/", Host=host).status == 403
    for host in (f"localhost:{port}", "localhost:9000", f"127.0.0.1:{port}", "[::1]:9000"):
        assert console.ask("GET", "/v2", Host=host).status == 200
    for origin in ("http://evil.example", "null", f"http://localhost:{port}"):
        answer = console.ask("POST", "/v2/repository/models/echo/unload", b"{}", Origin=origin)
        assert answer.status == 403
        assert answer.header("Access-Control-Allow-Origin") is None
    assert raw_http.get(console.server.http_url, "/v2/models/echo/ready").status == 200


def test_groups_that_the_page_does_not_need(console: Console) -> None:
    for path in ("/v2/systemsharedmemory/status", "/v2/trace/setting", "/v2/logging"):
        answer = console.ask("GET", path)
        assert answer.status == 403
        assert "the console does not offer it" in answer.error()


def test_settings(console: Console) -> None:
    assert console.ask("GET", "/console/settings").json() == {
        "model_control": "explicit",
        "http_port": console.server.port("http"),
        "http_tls": False,
    }


def test_models_are_unloaded_and_loaded(console: Console) -> None:
    assert console.ask("POST", "/v2/repository/models/echo/unload", b"{}").status == 200
    poll_until(
        "the end of the model",
        lambda: console.ask("GET", "/v2/models/echo/ready").status != 200,
        30,
        console.server.log_text,
    )
    assert console.ask("POST", "/v2/repository/models/echo/load", b"{}").status == 200
    assert console.ask("GET", "/v2/models/echo/ready").status == 200


def test_log_does_not_tell_the_token(console: Console) -> None:
    tail = console.ask("GET", "/v2/nereid/log?limit=1000").body.decode()
    assert "Started Console at" in tail
    assert console.token not in tail


def test_without_the_option_there_is_no_console(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    server = server_factory(repository.root)
    server.wait_for()
    assert "Console" not in server.log_text()


def test_all_addresses(console: Console, repository: ModelRepository, tmp_path: Path) -> None:
    options = ["--console-port=0", "--console-address=0.0.0.0"]
    other = start_nereid(repository.root, tmp_path, options)
    link = re.compile(r"^Console: http://localhost:(\d+)/#token=([0-9a-f]{64})$", re.MULTILINE)
    try:
        found = poll_until(
            "the link", lambda: link.search(other.stderr_text()), 60, other.log_text
        )
        assert found is not None
        assert found[2] != console.token, "each start has a token of its own"
        other.wait_for_log("other machines can reach the console")
        assert "other machines" not in console.server.log_text()
        assert raw_http.get(f"127.0.0.1:{found[1]}", "/").status == 200
    finally:
        other.stop()
