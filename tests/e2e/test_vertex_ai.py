# SPDX-License-Identifier: Apache-2.0
"""The port for Vertex AI, as the platform and its users see it: routes, environment, and limits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading

import numpy as np
import pytest
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.metrics import metric
from support.nereid import FREE_PORTS
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import server_binary

MIME = "application/vnd.vertex-ai-triton.binary+json;json-header-size="
PREDICT = "/v1/endpoints/1/deployedModels/2:predict"
HEALTH = "/v1/endpoints/1/deployedModels/2"
ROUTES = {"AIP_PREDICT_ROUTE": PREDICT, "AIP_HEALTH_ROUTE": HEALTH}
PLATFORM = {"AIP_MODE": "PREDICTION", "AIP_HTTP_PORT": "0", **ROUTES}


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo", "FP32", (-1,))
    return model_repository


def vertex_url(server: ServerProcess) -> str:
    return f"127.0.0.1:{server.port('vertex_ai')}"


def start(
    factory: ServerFactory, models: ModelRepository, *options: str, **env: str
) -> ServerProcess:
    server = factory(models, *options, env={**PLATFORM, **env}, wait_for=None)
    assert raw_http.get(vertex_url(server), HEALTH).status == 200
    return server


def redirect(
    url: str, path: str, body: bytes = b"", headers: raw_http.Headers = ()
) -> raw_http.HttpAnswer:
    return raw_http.post(url, PREDICT, body, [("X-Vertex-Ai-Triton-Redirect", path), *headers])


def body_of(value: float, binary: bool) -> tuple[bytes, int | None]:
    """The body that the official client makes, and the length of its JSON if the rest is binary."""
    tensor = tritonclient.http.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.array([value], dtype=np.float32), binary_data=binary)
    output = tritonclient.http.InferRequestedOutput("OUTPUT0", binary_data=binary)
    body, length = tritonclient.http.InferenceServerClient.generate_request_body(
        [tensor], outputs=[output]
    )
    return body, length


def result_of(answer: raw_http.HttpAnswer) -> float:
    """The answer as the official client reads it."""
    assert answer.status == 200, answer.body
    length = answer.header("Inference-Header-Content-Length")
    result = tritonclient.http.InferenceServerClient.parse_response_body(
        answer.body, header_length=int(length) if length is not None else None
    )
    return float(result.as_numpy("OUTPUT0")[0])


def test_the_platforms_environment_is_all_that_is_needed(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    server = start(server_factory, models)
    url = vertex_url(server)
    body, length = body_of(4.0, binary=False)
    assert length is None
    assert result_of(raw_http.post(url, PREDICT, body)) == 4.0
    binary, length = body_of(5.0, binary=True)
    answer = raw_http.post(url, PREDICT, binary, [("Content-Type", f"{MIME}{length}")])
    assert result_of(answer) == 5.0
    assert answer.header("Content-Type") == "application/octet-stream"
    assert answer.header("Inference-Header-Content-Length") is not None
    # With AIP_MODE=PREDICTION only what was asked for is open besides.
    assert "Started HTTPService" not in server.log_text()
    assert "Started GRPCInferenceService" not in server.log_text()


def test_storage_uri_is_the_repository_if_none_is_given(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    env = {**PLATFORM, "AIP_STORAGE_URI": str(models.root)}
    server = server_factory([], env=env, wait_for=None)
    assert raw_http.get(vertex_url(server), HEALTH).status == 200
    assert redirect(vertex_url(server), "v2/models/echo/ready").status == 200


def test_redirections(server_factory: ServerFactory, models: ModelRepository) -> None:
    models.add_identity("other", "FP32", (-1,))
    server = start(server_factory, models, "--vertex-ai-default-model=echo")
    url = vertex_url(server)
    assert redirect(url, "v2").json()["name"] == "nereid"
    assert redirect(url, "v2/models/other").json()["name"] == "other"
    assert {model["name"] for model in redirect(url, "v2/repository/index").json()} == {
        "echo",
        "other",
    }
    body, _ = body_of(6.0, binary=False)
    assert redirect(url, "v2/models/other/infer", body).json()["model_name"] == "other"
    assert b"nv_inference_request_success" in redirect(url, "metrics").body
    assert redirect(url, "v2/systemsharedmemory/status").json() == []
    for path in ("v2/repository/models/other/unload", "v2/systemsharedmemory/region/r/register"):
        assert redirect(url, path, b"{}").status == 403
    for path in ("v2/logging", "v2/models/other/generate", "nothing"):
        answer = redirect(url, path, b"{}")
        assert (answer.status, answer.body) == (400, b"")
    answer = raw_http.get(url, "/v2/health/ready")
    assert (answer.status, answer.body) == (400, b"")


def test_it_stands_beside_the_other_ports_with_their_rules(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    server = server_factory(
        models,
        "--allow-vertex-ai=true",
        "--vertex-ai-port=0",
        "--vertex-ai-thread-count=2",
        "--http-restricted-api=inference,statistics:tenant=blue",
        env=ROUTES,
    )
    url = vertex_url(server)
    body, _ = body_of(1.0, binary=False)
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
    assert raw_http.post(url, PREDICT, body).status == 403
    assert redirect(url, "metrics").status == 403
    key = [("tenant", "blue")]
    assert result_of(raw_http.post(url, PREDICT, body, key)) == 1.0
    assert redirect(url, "metrics", headers=key).status == 200


def test_a_bad_length_is_refused(server_factory: ServerFactory, models: ModelRepository) -> None:
    url = vertex_url(start(server_factory, models))
    body, length = body_of(5.0, binary=True)
    assert length is not None
    for number, text in (
        ("x", "Unable to parse inference header size, got: x"),
        (str(len(body) + 1), "inference header size should be in range (0, "),
    ):
        answer = raw_http.post(url, PREDICT, body, [("Content-Type", MIME + number)])
        assert answer.status == 400
        assert text in answer.error()
    raw = json.dumps({"inputs": []}).encode()
    assert raw_http.post(url, PREDICT, raw, [("Content-Type", "a " + MIME + "1")]).status == 400


def test_a_prediction_in_flight_is_answered_at_the_end(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("slow", "FP32", (-1,), parameters={"execute_delay_ms": "800"})
    server = start(server_factory, model_repository)
    url = vertex_url(server)
    results: list[float] = []
    body, _ = body_of(7.0, binary=False)

    def predict() -> None:
        results.append(result_of(raw_http.post(url, PREDICT, body)))

    predictions = [threading.Thread(target=predict) for _ in range(2)]
    for prediction in predictions:
        prediction.start()
    # One runs, and one waits for it.
    poll_until(
        "a request in the queue",
        lambda: metric(server.metrics_url, "nv_inference_pending_request_count") == 1.0,
    )
    server.send_signal(signal.SIGTERM)
    poll_until("not ready", lambda: raw_http.get(url, HEALTH).status == 503, 5.0)
    for prediction in predictions:
        prediction.join(timeout=10.0)
    assert results == [7.0, 7.0]
    assert server.wait_exit() == 0


@pytest.mark.parametrize(
    ("options", "env", "text"),
    [
        ((), {"AIP_PREDICT_ROUTE": ""}, "AIP_PREDICT_ROUTE is not defined for Vertex AI endpoint"),
        ((), {"AIP_HEALTH_ROUTE": ""}, "AIP_HEALTH_ROUTE is not defined for Vertex AI endpoint"),
        (
            ("--vertex-ai-default-model=no",),
            {},
            "failed to start Vertex AI service: Invalid argument - "
            "Expect the default model 'no' is loaded",
        ),
        (("--vertex-ai-default-model=",), {}, "contains only a single model"),
        ((), {"AIP_HTTP_PORT": "http"}, 'Bad option: "AIP_HTTP_PORT"'),
        (
            ("--allow-http=true", "--http-address=0.0.0.0", "--http-port=8765"),
            {"AIP_HTTP_PORT": "8765"},
            "The server cannot listen to HTTP requests and Vertex AI requests at the same address "
            "and port 0.0.0.0:8765",
        ),
    ],
)
def test_bad_starts(
    models: ModelRepository, options: tuple[str, ...], env: dict[str, str], text: str
) -> None:
    models.add_identity("second", "FP32", (-1,))
    command = [server_binary("nereid"), f"--model-repository={models.root}", *FREE_PORTS, *options]
    ended = subprocess.run(
        command,
        env={**os.environ, **PLATFORM, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert text in ended.stdout + ended.stderr
