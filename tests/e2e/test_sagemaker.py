# SPDX-License-Identifier: Apache-2.0
"""The port for SageMaker, as the platform and its users see it: one model, and many."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.metrics import metric
from support.nereid import FREE_PORTS
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.stage import server_binary

MIME = "application/vnd.sagemaker-triton.binary+json;json-header-size="
PORT = ("--allow-sagemaker=true", "--sagemaker-port=0", "--sagemaker-thread-count=2")
MANY = ("--model-control-mode=explicit",)
TARGET = "X-Amzn-SageMaker-Target-Model"
DEFAULT = "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"


def url_of(server: ServerProcess) -> str:
    return f"127.0.0.1:{server.port('sagemaker')}"


def body_of(value: float, binary: bool = False) -> tuple[bytes, int | None]:
    """The body that the official client makes, and the length of its JSON if the rest is binary."""
    tensor = tritonclient.http.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.array([value], dtype=np.float32), binary_data=binary)
    output = tritonclient.http.InferRequestedOutput("OUTPUT0", binary_data=binary)
    body, length = tritonclient.http.InferenceServerClient.generate_request_body(
        [tensor], outputs=[output]
    )
    return body, length


def result_of(answer: raw_http.HttpAnswer) -> float:
    """The answer as the official client reads it; the length of its JSON is in the content type."""
    assert answer.status == 200, answer.body
    content_type = answer.header("Content-Type") or ""
    length = int(content_type.removeprefix(MIME)) if content_type.startswith(MIME) else None
    result = tritonclient.http.InferenceServerClient.parse_response_body(
        answer.body, header_length=length
    )
    return float(result.as_numpy("OUTPUT0")[0])


def load(url: str, name: str, folder: Path, target: str | None = None) -> raw_http.HttpAnswer:
    headers = [] if target is None else [(TARGET, target)]
    return raw_http.post_json(url, "/models", {"model_name": name, "url": str(folder)}, headers)


def archive(root: Path, **parameters: str) -> Path:
    """A folder with one model, as the platform unpacks an archive."""
    ModelRepository(root).add_identity("inner", "FP32", (-1,), parameters=parameters)
    return root


@pytest.fixture
def one_model(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo", "FP32", (-1,))
    return model_repository


def test_one_model(server_factory: ServerFactory, one_model: ModelRepository) -> None:
    url = url_of(server_factory(one_model, *PORT))
    ping = raw_http.get(url, "/ping")
    assert (ping.status, ping.body) == (200, b"")
    body, _ = body_of(4.0)
    assert result_of(raw_http.post(url, "/invocations", body)) == 4.0
    binary, length = body_of(5.0, binary=True)
    answer = raw_http.post(url, "/invocations", binary, [("Content-Type", f"{MIME}{length}")])
    assert result_of(answer) == 5.0
    assert (answer.header("Content-Type") or "").startswith(MIME)
    for path in ("/", "/v2/health/ready", "/metrics", "/models/a/b/c"):
        refusal = raw_http.get(url, path)
        assert (refusal.status, refusal.body) == (400, b"")


def test_the_environment_names_the_default_model(
    server_factory: ServerFactory, one_model: ModelRepository
) -> None:
    one_model.add_identity("other", "FP32", (-1,))
    body, _ = body_of(4.0)
    unnamed = server_factory(one_model, *PORT)
    assert DEFAULT in raw_http.post(url_of(unnamed), "/invocations", body).error()
    named = server_factory(one_model, *PORT, env={DEFAULT: "other"})
    assert raw_http.post(url_of(named), "/invocations", body).json()["model_name"] == "other"


def test_invocations_of_generate(server_factory: ServerFactory, one_model: ModelRepository) -> None:
    for kind, answer in (("generate", b'{"OUTPUT0":5'), ("generate_stream", b'data: {"OUTPUT0":5')):
        server = server_factory(one_model, *PORT, env={"SAGEMAKER_TRITON_INFERENCE_TYPE": kind})
        got = raw_http.post_json(url_of(server), "/invocations", {"INPUT0": 5})
        assert got.status == 200
        assert got.body.startswith(answer)


def test_many_models_come_and_go(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    url = url_of(server_factory(model_repository, *PORT, *MANY))
    assert raw_http.get(url, "/models").json() == {"models": []}
    folders = {name: archive(tmp_path / name / "model") for name in ("a1", "b2")}
    assert load(url, "a1", folders["a1"], "first.tar.gz").status == 200
    assert load(url, "b2", folders["b2"] / "inner").status == 200
    first = {"modelName": "a1", "modelUrl": str(folders["a1"])}
    second = {"modelName": "b2", "modelUrl": str(folders["b2"] / "inner")}
    assert raw_http.get(url, "/models").json() == {"models": [first, second]}
    assert raw_http.get(url, "/models/a1").json() == first
    body, _ = body_of(7.0)
    invoked = raw_http.post(url, "/models/a1/invoke", body, [(TARGET, "first.tar.gz")])
    assert invoked.json()["model_name"] == "first.tar.gz"
    assert result_of(raw_http.post(url, "/models/b2/invoke", body)) == 7.0
    assert load(url, "a1", folders["a1"]).status == 409
    assert raw_http.request(url, "DELETE", "/models/a1").status == 200
    assert raw_http.request(url, "DELETE", "/models/a1").status == 404
    assert raw_http.get(url, "/models/a1").status == 404
    assert raw_http.post(url, "/models/a1/invoke", body).status == 404
    assert load(url, "a1", folders["a1"]).status == 200


def test_an_unload_waits_for_what_runs(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    server = server_factory(model_repository, *PORT, *MANY)
    url = url_of(server)
    folder = archive(tmp_path / "m" / "model", execute_delay_ms="700")
    assert load(url, "slow", folder).status == 200
    results: list[float] = []
    body, _ = body_of(7.0)

    def invoke() -> None:
        results.append(result_of(raw_http.post(url, "/models/slow/invoke", body)))

    requests = [threading.Thread(target=invoke) for _ in range(2)]
    for request in requests:
        request.start()
    # One runs, and one waits for it.
    poll_until(
        "a request in the queue",
        lambda: metric(server.metrics_url, "nv_inference_pending_request_count") == 1.0,
    )
    assert raw_http.request(url, "DELETE", "/models/slow").status == 200
    for request in requests:
        request.join(timeout=0.5)
    assert results == [7.0, 7.0]


def test_an_archive_with_an_ensemble(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    url = url_of(server_factory(model_repository, *PORT, *MANY))
    models = ModelRepository(tmp_path / "archive" / "model")
    models.add_identity("member", "FP32", (-1,))
    models.add(
        "all",
        f'platform: "ensemble"\n'
        f"input [ {tensor_text('INPUT0', 'FP32', (-1,))} ]\n"
        f"output [ {tensor_text('OUTPUT0', 'FP32', (-1,))} ]\n"
        f"ensemble_scheduling {{ step {{ model_name: 'member' model_version: -1\n"
        f"  input_map {{ key: 'INPUT0' value: 'INPUT0' }}\n"
        f"  output_map {{ key: 'OUTPUT0' value: 'OUTPUT0' }} }} }}\n",
    )
    assert load(url, "m", models.root).status == 200
    body, _ = body_of(7.0)
    assert result_of(raw_http.post(url, "/models/m/invoke", body)) == 7.0
    assert raw_http.request(url, "DELETE", "/models/m").status == 200


def test_bad_loads(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    server = server_factory(model_repository, *PORT, *MANY)
    url = url_of(server)
    for folder in ("/dev/shm", "/proc/self", "relative", str(tmp_path / "missing")):
        assert load(url, "m", Path(folder)).status == 400
    assert raw_http.post(url, "/models", b"{").status == 400
    assert raw_http.post(url, "/models", json.dumps({"url": "x"}).encode()).status == 400
    broken = tmp_path / "broken" / "model"
    ModelRepository(broken).add_identity("inner", "FP32", (-1,), backend="there_is_none")
    assert load(url, "broken", broken).status == 400
    assert raw_http.get(url, "/models/broken").status == 404
    starved = tmp_path / "starved" / "model"
    # The words of a backend that finds no memory; here they are part of another message.
    ModelRepository(starved).add_identity("inner", "FP32", (-1,), backend="OOM")
    assert load(url, "starved", starved).status == 507


def test_without_explicit_control_nothing_is_loaded(
    server_factory: ServerFactory, one_model: ModelRepository, tmp_path: Path
) -> None:
    url = url_of(server_factory(one_model, *PORT))
    answer = load(url, "m", archive(tmp_path / "m" / "model"))
    assert answer.status == 400
    assert "model control mode is not EXPLICIT" in answer.error()


def test_the_rules_of_the_other_ports_hold(
    server_factory: ServerFactory, one_model: ModelRepository
) -> None:
    restricted = "--http-restricted-api=inference,model-repository:tenant=blue"
    url = url_of(server_factory(one_model, *PORT, restricted))
    body, _ = body_of(4.0)
    assert raw_http.get(url, "/ping").status == 200
    assert raw_http.get(url, "/models").status == 403
    assert raw_http.request(url, "DELETE", "/models/m").status == 403
    assert raw_http.post(url, "/invocations", body).status == 403
    assert raw_http.post(url, "/models/m/invoke", body).status == 403
    key = [("tenant", "blue")]
    assert raw_http.get(url, "/models", key).status == 200
    assert result_of(raw_http.post(url, "/invocations", body, key)) == 4.0


@pytest.mark.parametrize(
    ("options", "env", "text"),
    [
        (
            ("--http-port=8765", "--sagemaker-safe-port-range=9000-9100"),
            {},
            "The server cannot listen to HTTP requests at port 8765, allowed port range is "
            "[9000, 9100]",
        ),
        (
            ("--http-port=8765", "--http-address=0.0.0.0", "--sagemaker-port=8765"),
            {},
            "The server cannot listen to HTTP requests and SageMaker requests at the same address "
            "and port 0.0.0.0:8765",
        ),
        ((), {"SAGEMAKER_TRITON_INFERENCE_TYPE": "x"}, "SAGEMAKER_TRITON_INFERENCE_TYPE"),
        ((), {"SAGEMAKER_TRITON_PING_MODE": "x"}, "SAGEMAKER_TRITON_PING_MODE"),
    ],
)
def test_bad_starts(
    one_model: ModelRepository, options: tuple[str, ...], env: dict[str, str], text: str
) -> None:
    command = [server_binary("nereid"), f"--model-repository={one_model.root}"]
    ended = subprocess.run(
        [*command, *FREE_PORTS, *PORT, *options],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert text in ended.stdout + ended.stderr
