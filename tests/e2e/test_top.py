# SPDX-License-Identifier: Apache-2.0
"""What a server does at present: /v2/nereid/live, the log's tail and `nereid top`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.stage import server_binary
from support.terminal import CTRL_C, Terminal

OPEN = "--allow-nereid-api=true"
QUICK = "--interval=0.5"
ENTERED = "\x1b[?1049h"
LEFT = "\x1b[?1049l"


def infer(server: ServerProcess, count: int = 1, request_id: str = "") -> None:
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        tensor = tritonclient.http.InferInput("INPUT0", [1], "FP32")
        tensor.set_data_from_numpy(np.ones([1], dtype=np.float32))
        for _ in range(count):
            client.infer("echo", [tensor], request_id=request_id)


def get(server: ServerProcess, path: str) -> Any:
    answer = raw_http.get(server.http_url, path)
    assert answer.status == 200, answer
    return answer.json()


def top(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), "top", *arguments]
    env = {**os.environ, "COLUMNS": ""}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


def url_of(server: ServerProcess) -> str:
    return f"--url=http://{server.http_url}"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    repository = ModelRepository(tmp_path_factory.mktemp("models"))
    repository.add_identity("echo", "FP32", [1])
    repository.add_identity("other", "FP32", [1])
    return repository


@pytest.fixture(scope="module")
def server(
    models: ModelRepository, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    started = start_nereid(models.root, tmp_path_factory.mktemp("logs"), [OPEN])
    started.wait_for("/v2/health/ready")
    yield started
    started.stop()


# -- The answers -----------------------------------------------------------------------------------


def test_live(server: ServerProcess) -> None:
    before = get(server, "/v2/nereid/live?model=echo")["models"][0]["succeeded"]
    infer(server, 3)

    def look() -> Any:
        (model,) = get(server, "/v2/nereid/live?model=echo")["models"]
        enough = model["succeeded"] >= before + 3 and model["recent"]["requests"] >= 3
        return model if enough else None

    model = poll_until("the counters", look)
    assert (model["name"], model["version"], model["state"]) == ("echo", "1", "READY")
    assert model["instances"] == len(model["recent"]["instances"])
    assert sum(model["failed"].values()) == 0
    assert sum(model["batch_sizes"].values()) == model["executions"]
    assert sum(model["recent"]["reasons"].values()) == model["recent"]["executions"]
    assert set(model["recent"]["latency_ns"]) == {"p50", "p90", "p99"}
    whole = get(server, "/v2/nereid/live")
    assert [model["name"] for model in whole["models"]] == ["echo", "other"]
    assert whole["server"]["states"] == {"READY": 2}
    assert 0 < whole["server"]["uptime_ns"] <= whole["now_ns"]


def test_many_watchers_cost_one_answer(server: ServerProcess) -> None:
    with ThreadPoolExecutor(8) as pool:
        start = time.monotonic()
        answers = list(pool.map(lambda _: get(server, "/v2/nereid/live")["now_ns"], range(200)))
        took = time.monotonic() - start
    assert len(set(answers)) <= took / 0.25 + 1


def test_the_log(server: ServerProcess) -> None:
    first = get(server, "/v2/nereid/log?since=0&limit=2")["lines"]
    assert [line["number"] for line in first] == [1, 2]
    newest = get(server, "/v2/nereid/log?limit=1")["lines"]
    assert len(newest) == 1
    log = get(server, "/v2/nereid/log?limit=1000")["lines"]
    assert [line["number"] for line in log] == list(range(1, len(log) + 1))
    assert any("Started HTTPService" in line["message"] for line in log)
    assert get(server, f"/v2/nereid/log?since={log[-1]['number']}")["dropped"] == 0


@pytest.mark.parametrize(
    "path, status, text",
    [
        ("/v2/nereid/live?model=nobody", 404, "there is no model 'nobody'"),
        (
            "/v2/nereid/log?limit=1001",
            400,
            "parameter 'limit' of the query is '1001': it must be a whole number up to 1000",
        ),
        (
            "/v2/nereid/live?models=echo",
            400,
            "unknown parameter 'models' in the query: this route has model",
        ),
    ],
)
def test_wrong_parameters(server: ServerProcess, path: str, status: int, text: str) -> None:
    answer = raw_http.get(server.http_url, path)
    assert (answer.status, answer.error()) == (status, text)


# -- nereid top ------------------------------------------------------------------------------------


def test_one_table(server: ServerProcess) -> None:
    with ThreadPoolExecutor(1) as pool:
        load = pool.submit(infer, server, 300)
        done = top("--once", QUICK, url_of(server))
        load.result()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"http://{server.http_url}  ")
    assert lines[2].split()[:5] == ["MODEL", "VERSION", "STATE", "REQ/S", "FAIL/S"]
    assert lines[3].split()[:3] == ["echo", "1", "READY"]
    assert float(lines[3].split()[3]) > 0
    assert lines[4].split()[:4] == ["other", "1", "READY", "0.0"]
    assert "\x1b" not in done.stdout, "no terminal, no colours"
    as_json = json.loads(top("--once", "--json", "--model=other", url_of(server)).stdout)
    assert [model["name"] for model in as_json["models"]] == ["other"]


def test_a_table_each_interval(server: ServerProcess) -> None:
    command = [str(server_binary()), "top", QUICK, url_of(server)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        titles = [line for line in (next(process.stdout) for _ in range(9)) if "REQ/S" in line]
        process.stdout.close()  # and it ends, since nobody reads on
        process.wait(timeout=60)
    assert len(titles) == 2


def test_why_it_shows_nothing(server_factory: ServerFactory, models: ModelRepository) -> None:
    closed = server_factory(models, "--owner-socket=false")
    done = top("--once", url_of(closed))
    assert (done.returncode, done.stdout) == (1, "")
    assert "start the server with --allow-nereid-api=true" in done.stderr
    terminal = Terminal([str(server_binary()), "top", url_of(closed)], models.root)
    assert terminal.exit_code() == 1
    assert "start the server with --allow-nereid-api=true" in terminal.text.split(LEFT)[1]
    nobody = top("--once", f"--url=http://{LOOPBACK}:1")
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert nobody.stderr.startswith(f"nereid top: http://{LOOPBACK}:1: ")


def shown_at(server: ServerProcess, folder: Path, **options: Any) -> Terminal:
    terminal = Terminal([str(server_binary()), "top", QUICK, url_of(server)], folder, **options)
    terminal.read_until(r"echo +1 +\S*READY")
    return terminal


@pytest.mark.parametrize("end", ["q", "Ctrl-C", "SIGTERM"])
def test_the_screen_comes_back(server: ServerProcess, tmp_path: Path, end: str) -> None:
    terminal = shown_at(server, tmp_path)
    assert terminal.text.count(ENTERED) == 1
    assert not terminal.echoes()
    if end == "SIGTERM":
        terminal.terminate()
    else:
        terminal.type(CTRL_C if end == "Ctrl-C" else b"q")
    terminal.read_until(re.escape(LEFT))
    assert terminal.exit_code() == 0
    assert terminal.text.endswith(LEFT)


def test_keys_colours_and_size(server: ServerProcess, tmp_path: Path) -> None:
    terminal = shown_at(server, tmp_path, columns=160, env={"NO_COLOR": ""})
    terminal.read_until("\x1b\\[1mMODEL.*BECAUSE")
    terminal.text = ""
    terminal.resize(40, 24)
    terminal.read_until(r"MODEL +REQ/S +FAIL/S +QUEUED +BUSY\x1b")
    terminal.type(b"m")
    terminal.type(b"q")
    assert terminal.exit_code() == 0
    plain = shown_at(server, tmp_path, env={"NO_COLOR": "1"})
    plain.type(b"q")
    assert plain.exit_code() == 0
    assert "\x1b[1m" not in plain.text


def test_a_server_that_goes_and_comes_again(models: ModelRepository, tmp_path: Path) -> None:
    first = start_nereid(models.root, tmp_path / "first", [OPEN])
    first.wait_for("/v2/health/ready")
    port = first.http_url.rsplit(":", 1)[1]
    terminal = shown_at(first, tmp_path, columns=160)
    first.stop()
    terminal.read_until("asking again")
    terminal.text = ""
    second = start_nereid(models.root, tmp_path / "second", [OPEN, f"--http-port={port}"])
    try:
        terminal.read_until(r"it was started anew")
        assert not re.search(r"-\d", terminal.text.replace(f"{LOOPBACK}:{port}", ""))
        terminal.type(b"q")
        assert terminal.exit_code() == 0
    finally:
        second.stop()
