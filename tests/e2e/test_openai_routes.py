# SPDX-License-Identifier: Apache-2.0
"""OpenAI's routes byte by byte: errors, limits, keys, logs, and clients that do not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from support import raw_http
from support.metrics import metric
from support.nereid import INTERPRETER, start_nereid
from support.openai_models import LEFT_LINE, add_openai_models
from support.poll import poll_until
from support.raw_http import HttpAnswer, RawConnection
from support.repository import ModelRepository
from support.server_process import ServerProcess

MOST_WAITING = 1_000_000
KEY = "0123456789abcdef"
AUTHORIZATION = ("Authorization", f"Bearer {KEY}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("openai_routes")
    models = ModelRepository(folder / "models")
    add_openai_models(models)
    keys = folder / "keys"
    keys.write_text(f"metadata,inference {KEY}\nhealth,statistics *\n", encoding="utf-8")
    keys.chmod(0o600)
    options = [
        INTERPRETER,
        f"--api-key-file={keys}",
        "--http-max-input-size=1000000",
        f"--max-waiting-stream-bytes={MOST_WAITING}",
        f"--access-log={folder / 'access.log'}",
    ]
    server = start_nereid(models.root, folder / "log", options)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture
def url(server: ServerProcess) -> Iterator[str]:
    yield server.http_url
    assert server.is_alive(), server.log_text()[-2000:]
    poll_until(
        "all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0
    )


def post(url: str, route: str, body: bytes, *headers: tuple[str, str]) -> HttpAnswer:
    return raw_http.request(
        url, "POST", f"/v1/{route}", body, [("Content-Length", str(len(body))), *headers]
    )


def complete(url: str, **fields: Any) -> HttpAnswer:
    return post(url, "completions", json.dumps(fields).encode(), AUTHORIZATION)


def error_of(answer: HttpAnswer) -> dict[str, Any]:
    """The error, which has OpenAI's form."""
    assert answer.header("Content-Type") == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return dict(error)


def test_an_answer(url: str) -> None:
    answer = complete(url, model="parrot", prompt="a \u00e9")
    assert answer.status == 200
    assert answer.header("Content-Type") == "application/json"
    assert answer.json()["choices"][0]["text"] == "a \u00e9"


def test_a_stream_ends_with_done(url: str) -> None:
    answer = complete(url, model="parrot", prompt="a b", stream=True)
    assert answer.header("Content-Type") == "text/event-stream; charset=utf-8"
    events = answer.body.decode().split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert [json.loads(event.removeprefix("data: "))["choices"][0]["text"] for event in events[:-2]]


def test_a_stream_over_http2(url: str) -> None:
    with httpx.Client(http1=False, http2=True) as client:
        answer = client.post(
            f"http://{url}/v1/completions",
            json={"model": "parrot", "prompt": "a b", "stream": True},
            headers=[AUTHORIZATION],
        )
    assert (answer.http_version, answer.status_code) == ("HTTP/2", 200)
    assert answer.text.endswith("data: [DONE]\n\n")


def test_keys(url: str) -> None:
    answer = post(url, "completions", b"{}")
    assert answer.status == 401
    assert error_of(answer)["code"] == "invalid_api_key"
    assert answer.header("WWW-Authenticate") == "Bearer"
    answer = post(url, "completions", b"{}", ("Authorization", "Bearer nothing-like-a-key"))
    assert answer.status in (401, 403)
    assert error_of(answer)["message"]
    assert raw_http.request(url, "GET", "/v1/models", None, [AUTHORIZATION]).status == 200
    assert error_of(raw_http.request(url, "GET", "/v1/models"))["type"] == "authentication_error"


@pytest.mark.parametrize(
    ("route", "body", "param"),
    [
        ("completions", b"", None),
        ("completions", b"[]", None),
        ("completions", b'{"model":', None),
        ("completions", b"{}", "model"),
        ("completions", b'{"model":7}', "model"),
        ("completions", b'{"model":"parrot"}', "prompt"),
        ("completions", b'{"model":"parrot","prompt":"x","prompt":"y"}', "prompt"),
        ("completions", b'{"model":"parrot","prompt":"x","temperature":NaN}', None),
        ("completions", b'{"model":"parrot","prompt":"x","\\u0000":1}', "\0"),
        ("chat/completions", b'{"model":"parrot","messages":{}}', "messages"),
        ("chat/completions", b'{"model":"parrot","messages":' + b"[" * 5000, None),
        ("embeddings", b'{"model":"letters","input":[[1]]}', "input"),
    ],
)
def test_hostile_bodies(url: str, route: str, body: bytes, param: str | None) -> None:
    answer = post(url, route, body, AUTHORIZATION)
    assert answer.status == 400
    error = error_of(answer)
    assert (error["type"], error["param"]) == ("invalid_request_error", param)


def test_other_errors_have_the_form_too(url: str) -> None:
    too_long = post(url, "completions", b" " * 1_000_001, AUTHORIZATION)
    assert too_long.status == 400
    assert "--http-max-input-size" in error_of(too_long)["message"]
    wrong_method = raw_http.request(url, "GET", "/v1/completions", None, [AUTHORIZATION])
    assert wrong_method.status == 405
    assert error_of(wrong_method)["message"] == "Method Not Allowed"
    nowhere = raw_http.request(url, "GET", "/v1/nowhere", None, [AUTHORIZATION])
    assert nowhere.status == 404
    assert error_of(nowhere)
    packed = post(url, "completions", b"x", AUTHORIZATION, ("Content-Encoding", "gzip"))
    assert packed.status == 400
    assert "Content-Encoding" in error_of(packed)["message"]


def test_a_large_body_is_read_elsewhere(url: str) -> None:
    words = " ".join(["word"] * 100_000)
    answer = complete(url, model="parrot", prompt=words, max_tokens=3)
    assert answer.json()["choices"][0]["text"] == "word word word"
    got = complete(url, model="tells", prompt=words).json()["choices"][0]["text"]
    assert json.loads(got)["text_input"] == words


def test_the_access_log_names_model_and_id(url: str, server: ServerProcess) -> None:
    answer = complete(url, model="parrot", prompt="x").json()
    log = server.stdout_path.parent.parent / "access.log"
    line = poll_until(
        "the line is there",
        lambda: next((one for one in log.read_text().splitlines() if answer["id"] in one), None),
    )
    assert '"parrot"' in line


def test_a_client_that_does_not_read_holds_the_model_back(url: str, server: ServerProcess) -> None:
    before = server.log_text().count(LEFT_LINE)
    body = b'{"model":"endless","prompt":"x","stream":true}'
    head = (
        f"POST /v1/completions HTTP/1.1\r\nHost: x\r\n{AUTHORIZATION[0]}: {AUTHORIZATION[1]}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with RawConnection(url) as connection:
        connection.send(head.encode() + body)
        for _ in range(20):  # others are served, and what waits is bounded
            assert complete(url, model="parrot", prompt="x").status == 200
            assert metric(server.metrics_url, "nereid_in_flight_bytes") < 20 * MOST_WAITING
    poll_until("the model noticed", lambda: server.log_text().count(LEFT_LINE) > before)


def test_the_server_still_serves(url: str) -> None:
    assert raw_http.get(url, "/v2/health/ready").status == 200
