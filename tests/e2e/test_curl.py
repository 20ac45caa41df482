# SPDX-License-Identifier: Apache-2.0
"""curl uses every route of docs/protocol/routes.md, as somebody at a terminal would."""

from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from e2e.test_routes_page import PAGE, read_rows, routes_of
from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

JSON = ("-H", "Content-Type: application/json", "-d")
TENSOR = '{"name":"INPUT0","shape":[2],"datatype":"FP32"'
INFER = '{"inputs":[' + TENSOR + ',"data":[1.5,2]}]}'
BINARY_HEAD = '{"inputs":[' + TENSOR + ',"parameters":{"binary_data_size":8}}]}'
CUDA = '{"raw_handle":{"b64":"AAAA"},"device_id":0,"byte_size":8}'
CHAT = '{"model":"say","messages":[{"role":"user","content":"hi"}]}'
# What makes a model with texts one of OpenAI's routes.
SAY = {
    "openai.text_input": "INPUT0",
    "openai.text_output": "OUTPUT0",
    "openai.chat_template": "plain",
}
REGION = "/nereid_curl_" + str(os.getpid())


@dataclass(frozen=True)
class Case:
    """One call. `answer` is searched for in the body."""

    path: str
    answer: str
    options: Sequence[str] = ()
    status: int = 200
    before: Sequence[Case] = field(default=())

    @property
    def method(self) -> str:
        if "-X" in self.options:
            return self.options[list(self.options).index("-X") + 1]
        return "POST" if {"-d", "--data-binary"} & set(self.options) else "GET"


POST = ("-X", "POST")
REGISTER = Case(
    "/v2/systemsharedmemory/region/R/register",
    "^$",
    (*JSON, json.dumps({"key": REGION, "offset": 0, "byte_size": 64})),
)
LOAD = Case("/v2/repository/models/M/load", "^$", POST)

CASES = [
    Case("/v2/health/live", '"live":true'),
    Case("/v2/health/ready", '"ready":true'),
    Case("/v2/models/M/ready", '"ready":true'),
    Case("/v2", '"extensions":'),
    Case("/v2/models/M", '"name":"echo"'),
    Case("/v2/models/M/config", '"backend":"identity"'),
    Case("/v2/models/stats", '"model_stats":'),
    Case("/v2/models/M/stats", '"name":"echo"'),
    Case("/v2/models/M/infer", r'"data":\[1.5,2', (*JSON, INFER)),
    Case("/v2/models/M/versions/1/infer", r'"data":\[1.5,2', (*JSON, INFER)),
    Case("/v2/models/M/generate", '"OUTPUT0":', (*JSON, '{"INPUT0":[1,2]}')),
    Case("/v2/models/M/generate_stream", '^data: {.*"OUTPUT0":', ("-N", *JSON, '{"INPUT0":[1,2]}')),
    Case("/v1/models", '"id":"say"'),
    Case("/v1/models/M", '"id":"say"'),
    Case("/v1/completions", '"text":"hi"', (*JSON, '{"model":"say","prompt":"hi"}')),
    Case("/v1/completions", "DONE", (*JSON, '{"model":"say","prompt":"hi","stream":true}')),
    Case("/v1/chat/completions", '"content":"user: hi', (*JSON, CHAT)),
    Case("/v1/embeddings", '"error":', (*JSON, '{"model":"say","input":"hi"}'), status=400),
    Case("/v2/repository/index", '"name":"echo"', POST),
    Case("/v2/repository/index", '"state":"READY"', (*JSON, '{"ready":true}')),
    Case("/v2/repository/NAME/index", '"name":"echo"', POST),
    Case("/v2/repository/NAME/models/M/load", '"error":', POST, status=501),
    Case("/v2/repository/NAME/models/M/unload", '"error":', POST, status=501),
    LOAD,
    Case("/v2/repository/models/M/unload", "^$", POST, before=(LOAD,)),
    Case("/v2/systemsharedmemory/status", r"^\["),
    REGISTER,
    Case("/v2/systemsharedmemory/region/R/status", REGION, before=(REGISTER,)),
    Case("/v2/systemsharedmemory/region/R/unregister", "^$", POST, before=(REGISTER,)),
    Case("/v2/systemsharedmemory/register", '"error":', REGISTER.options, status=400),
    Case("/v2/systemsharedmemory/unregister", "^$", POST),
    Case("/v2/cudasharedmemory/status", r"^\[\]"),
    Case("/v2/cudasharedmemory/region/R/status", '"error":', status=404),
    Case("/v2/cudasharedmemory/region/R/register", '"error":', (*JSON, CUDA), status=400),
    Case("/v2/cudasharedmemory/region/R/unregister", "^$", POST),
    Case("/v2/cudasharedmemory/register", '"error":', (*JSON, CUDA), status=400),
    Case("/v2/cudasharedmemory/unregister", "^$", POST),
    Case("/v2/trace/setting", '"trace_level":'),
    Case("/v2/trace/setting", '"trace_rate":"7"', (*JSON, '{"trace_rate":"7"}')),
    Case("/v2/models/M/trace/setting", '"trace_level":'),
    Case("/v2/models/M/trace/setting", '"trace_rate":"9"', (*JSON, '{"trace_rate":"9"}')),
    Case("/v2/logging", '"log_info":true'),
    Case("/v2/logging", '"log_verbose_level":1', (*JSON, '{"log_verbose_level":1}')),
    Case("/v2/nereid/models", '"echo"'),
    Case("/v2/nereid/live", '"models":'),
    Case("/v2/nereid/log", '"lines":'),
    Case("/v2/nereid/models/M/timeline", '"model":"echo"'),
    Case("/v2/nereid/requests/ID", "ID"),
    Case("/v2/nereid/trace", '"traceEvents":'),
    Case("/v2/openapi.json", '"openapi":"3.1.0"'),
    Case("/", '"name":"nereid"', ("-H", "Accept: application/json")),
    Case("/v2", "^$", ("-X", "OPTIONS")),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    models = ModelRepository(tmp_path_factory.mktemp("curl") / "models")
    models.add_identity("echo")
    models.add_identity("spare")
    models.add_identity("say", "STRING", parameters=SAY)
    region = Path("/dev/shm") / REGION.removeprefix("/")
    region.write_bytes(bytes(64))
    options = ["--allow-client-shm=true", "--allow-nereid-api=true"]
    options += ["--model-control-mode=explicit", "--load-model=echo", "--load-model=say"]
    options += ["--trace-config=triton,file=" + str(models.root.parent / "trace.json")]
    server = start_nereid(models.root, tmp_path_factory.mktemp("curl_server"), options)
    try:
        server.wait_for()
        document = json.loads(INFER) | {"id": "ID"}
        raw_http.post_json(server.http_url, "/v2/models/echo/infer", document)
        yield server
        assert server.is_alive()
    finally:
        server.stop()
        region.unlink()


def curl(url: str, *options: str, body: bytes | None = None) -> tuple[int, bytes]:
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "30", "-w", "%{stderr}%{http_code}", *options, url],
        input=body,
        stdin=None if body is not None else subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stderr), done.stdout


def send(server: ServerProcess, case: Case) -> None:
    # Loads and unloads a model that no other test uses.
    model = "spare" if "/repository/models/" in case.path else "echo"
    model = "say" if case.path.startswith("/v1/") else model
    path = case.path.replace("/M", f"/{model}")
    status, answer = curl(f"http://{server.http_url}{path}", *case.options)
    assert status == case.status, answer
    assert re.search(case.answer, answer.decode()), answer[:1000]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.method} {case.path}")
def test_curl(server: ServerProcess, case: Case) -> None:
    for before in case.before:
        send(server, before)
    send(server, case)
    if REGISTER in (case, *case.before):  # the region is free for the next test
        curl(f"http://{server.http_url}/v2/systemsharedmemory/unregister", *POST)


def test_binary_tensors(server: ServerProcess, tmp_path: Path) -> None:
    body = tmp_path / "body"
    body.write_bytes(BINARY_HEAD.encode() + struct.pack("<2f", 1.5, 2))
    status, answer = curl(
        f"http://{server.http_url}/v2/models/echo/infer",
        *("-H", f"Inference-Header-Content-Length: {len(BINARY_HEAD)}"),
        *("-H", "Content-Type: application/octet-stream", "--data-binary", f"@{body}"),
    )
    assert status == 200, answer
    assert json.loads(answer)["outputs"][0]["data"] == [1.5, 2.0]


def test_metrics(server: ServerProcess) -> None:
    status, page = curl(f"http://{server.metrics_url}/metrics")
    assert status == 200
    assert b"nv_inference_request_success" in page


def test_every_route_of_the_page_is_tried() -> None:
    rows = read_rows(PAGE.read_text(encoding="utf-8"))
    listed = {route for row in rows for route in routes_of(row.rest)}
    assert listed - {(case.method, case.path) for case in CASES} == set()
