# SPDX-License-Identifier: Apache-2.0
"""The ports for Vertex AI and SageMaker of both servers, by the same requests
(docs/operate/cloud_platforms.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from differential.original_server import prepare, start_original
from support import raw_http
from support.nereid import start_nereid
from support.poll import poll_until
from support.ports import free_ports
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.stage import backend_directory

VERTEX_MIME = "application/vnd.vertex-ai-triton.binary+json;json-header-size="
SAGEMAKER_MIME = "application/vnd.sagemaker-triton.binary+json;json-header-size="
ENVIRONMENT = {
    "AIP_PREDICT_ROUTE": "/predict",
    "AIP_HEALTH_ROUTE": "/health",
    "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "echo",
}
JSON = json.dumps(
    {
        "inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [1], "data": [7]}],
        "outputs": [{"name": "OUTPUT0"}],
    }
).encode()
BINARY_HEAD = json.dumps(
    {
        "inputs": [
            {
                "name": "INPUT0",
                "datatype": "INT32",
                "shape": [1],
                "parameters": {"binary_data_size": 4},
            }
        ],
        "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}],
    }
).encode()
BINARY = BINARY_HEAD + b"\7\0\0\0"


@dataclass(frozen=True)
class Port:
    """The two ports of one server."""

    vertex: str
    sagemaker: str


def start(ours: bool, folder: Path) -> tuple[ServerProcess, Port]:
    models = ModelRepository(folder / "models")
    models.add_identity("echo", "INT32", (-1,))
    models.add_identity("other", "INT32", (-1,))
    http, grpc, metrics, vertex, sagemaker = free_ports(5)
    options = (
        "--allow-vertex-ai=true",
        f"--vertex-ai-port={vertex}",
        "--vertex-ai-default-model=echo",
        "--allow-sagemaker=true",
        f"--sagemaker-port={sagemaker}",
        "--model-control-mode=explicit",
        "--load-model=echo",
        "--load-model=other",
    )
    if ours:
        server = start_nereid(models.root, folder / "log", options, ENVIRONMENT)
    else:
        server = start_original(
            prepare(folder / "original"),
            models.root,
            folder / "log",
            backend_directory(),
            (http, grpc, metrics),
            options,
            ENVIRONMENT,
        )
    port = Port(f"{LOOPBACK}:{vertex}", f"{LOOPBACK}:{sagemaker}")
    server.wait_for()

    def answers() -> bool:
        try:
            return raw_http.get(port.vertex, "/health").status == 200
        except OSError:
            return False

    poll_until("the port of Vertex AI", answers)
    return server, port


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Port]]:
    started = []
    ports = {}
    try:
        for name in ("ours", "original"):
            server, ports[name] = start(name == "ours", tmp_path_factory.mktemp(name))
            started.append(server)
        yield ports
    finally:
        for server in started:
            server.kill()


def seen(answer: raw_http.HttpAnswer) -> tuple[int, list[str | None], bytes]:
    """What is compared: the status, and of good answers the form and the body."""
    if answer.status != 200:
        return (answer.status, [], b"")
    names = ("Content-Type", "Content-Encoding", "Inference-Header-Content-Length")
    return (answer.status, [answer.header(name) for name in names], answer.body)


def redirect(path: str) -> list[tuple[str, str]]:
    return [("X-Vertex-Ai-Triton-Redirect", path)]


# Method, path, body and headers.
Case = tuple[str, str, bytes | None, list[tuple[str, str]]]

VERTEX: dict[str, Case] = {
    "predict": ("POST", "/predict", JSON, []),
    "predict-binary": (
        "POST",
        "/predict",
        BINARY,
        [("Content-Type", f"{VERTEX_MIME}{len(BINARY_HEAD)}")],
    ),
    "length-in-header": ("POST", "/predict", JSON, [("Inference-Header-Content-Length", "5")]),
    "compressed": ("POST", "/predict", JSON, [("Accept-Encoding", "gzip")]),
    "no-number": ("POST", "/predict", BINARY, [("Content-Type", f"{VERTEX_MIME}x")]),
    "negative": ("POST", "/predict", BINARY, [("Content-Type", f"{VERTEX_MIME}-1")]),
    "too-long": ("POST", "/predict", BINARY, [("Content-Type", f"{VERTEX_MIME}{9999}")]),
    "not-first": ("POST", "/predict", BINARY, [("Content-Type", f"a;{VERTEX_MIME}5")]),
    "get": ("GET", "/predict", None, []),
    "health-post": ("POST", "/health", b"", []),
    "unknown": ("GET", "/v2/health/ready", None, []),
    "metadata": ("POST", "/predict", b"", redirect("v2/models/other")),
    "stats": ("POST", "/predict", b"", redirect("v2/models/none/stats")),
    "infer": ("POST", "/predict", JSON, redirect("v2/models/other/infer")),
    "version": ("POST", "/predict", JSON, redirect("v2/models/other/versions/1/infer")),
    "generate": ("POST", "/predict", b"{}", redirect("v2/models/other/generate")),
    "logging": ("POST", "/predict", b"{}", redirect("v2/logging")),
    "slash": ("POST", "/predict", b"{}", redirect("/v2")),
    "get-redirect": ("GET", "/predict", None, redirect("v2")),
    "shared-memory": ("POST", "/predict", b"", redirect("v2/systemsharedmemory/status")),
}
SAGEMAKER: dict[str, Case] = {
    "invocations": ("POST", "/invocations", JSON, []),
    "invocations-binary": (
        "POST",
        "/invocations",
        BINARY,
        [("Content-Type", f"{SAGEMAKER_MIME}{len(BINARY_HEAD)}")],
    ),
    "length-in-header": ("POST", "/invocations", JSON, [("Inference-Header-Content-Length", "5")]),
    "compressed": ("POST", "/invocations", JSON, [("Accept-Encoding", "gzip")]),
    "too-long": ("POST", "/invocations", BINARY, [("Content-Type", f"{SAGEMAKER_MIME}{9999}")]),
    "get": ("GET", "/invocations", None, []),
    "ping-post": ("POST", "/ping", b"", []),
    "get-unknown": ("GET", "/models/m", None, []),
    "invoke-unknown": ("POST", "/models/m/invoke", JSON, []),
    "unload-unknown": ("DELETE", "/models/m", None, []),
    "unknown": ("GET", "/v2", None, []),
}


@pytest.mark.parametrize("case", VERTEX)
def test_vertex_ai(both: Mapping[str, Port], case: str) -> None:
    answers = {name: raw_http.request(port.vertex, *VERTEX[case]) for name, port in both.items()}
    assert seen(answers["ours"]) == seen(answers["original"])


@pytest.mark.parametrize("case", SAGEMAKER)
def test_sagemaker(both: Mapping[str, Port], case: str) -> None:
    answers = {
        name: raw_http.request(port.sagemaker, *SAGEMAKER[case]) for name, port in both.items()
    }
    assert seen(answers["ours"]) == seen(answers["original"])


def test_the_list_of_models(both: Mapping[str, Port]) -> None:
    answers = {name: raw_http.get(port.sagemaker, "/models") for name, port in both.items()}
    assert answers["ours"].body == answers["original"].body == b'{"models":[]}'
    types = {name: answer.header("Content-Type") for name, answer in answers.items()}
    assert types == {"ours": "application/json", "original": "text/plain"}


def test_health_has_no_body(both: Mapping[str, Port]) -> None:
    for port in both.values():
        for url, path in ((port.vertex, "/health"), (port.sagemaker, "/ping")):
            answer = raw_http.get(url, path)
            assert (answer.status, answer.body) == (200, b"")


def test_the_life_of_a_model(both: Mapping[str, Port], tmp_path: Path) -> None:
    documents = {}
    for name, port in both.items():
        folder = tmp_path / name / "model"
        ModelRepository(folder).add_identity("inner", "INT32", (-1,))
        body = json.dumps({"model_name": "m", "url": str(folder)}).encode()
        url = port.sagemaker
        steps = [
            raw_http.post(url, "/models", body, [("X-Amzn-SageMaker-Target-Model", "m")]),
            raw_http.post(url, "/models", body, [("X-Amzn-SageMaker-Target-Model", "m")]),
            raw_http.get(url, "/models"),
            raw_http.get(url, "/models/m"),
            raw_http.post(url, "/models/m/invoke", JSON),
            raw_http.request(url, "DELETE", "/models/m"),
            raw_http.get(url, "/models/m"),
        ]
        documents[name] = [
            (step.status, step.body.replace(str(folder).encode(), b"FOLDER"))
            if step.status == 200
            else (step.status, b"")
            for step in steps
        ]
    assert documents["ours"] == documents["original"]
