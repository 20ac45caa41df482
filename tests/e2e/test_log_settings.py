# SPDX-License-Identifier: Apache-2.0
"""Log settings at run time with the official clients, and the log as JSON."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support import raw_http
from support.infer import echo
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import add_testing

DEFAULTS = {
    "log_info": True,
    "log_warning": True,
    "log_error": True,
    "log_verbose_level": 0,
    "log_format": "default",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("log_settings")
    models = ModelRepository(folder / "models")
    models.add_identity("echo")
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["http", "grpc"])
def client(request: pytest.FixtureRequest, server: ServerProcess) -> Iterator[Any]:
    """The official client of each protocol. The settings are the defaults again afterwards."""
    if request.param == "http":
        client = tritonclient.http.InferenceServerClient(server.http_url)
    else:
        client = tritonclient.grpc.InferenceServerClient(server.grpc_url)
    yield client
    client.update_log_settings(DEFAULTS)
    client.close()


def settings_of(answer: Any) -> dict[str, Any]:
    """The settings of an answer of either client."""
    if isinstance(answer, dict):
        return answer
    return {
        name: getattr(value, value.WhichOneof("parameter_choice"))
        for name, value in answer.settings.items()
    }


def test_settings_are_read_and_changed(client: Any) -> None:
    assert settings_of(client.get_log_settings()) == {"log_file": "", **DEFAULTS}
    changed = client.update_log_settings({"log_verbose_level": 2, "log_info": False})
    expected = {"log_file": "", **DEFAULTS, "log_verbose_level": 2, "log_info": False}
    assert settings_of(changed) == expected
    assert settings_of(client.get_log_settings()) == expected
    for name in ("json", "ISO8601"):
        assert settings_of(client.update_log_settings({"log_format": name}))["log_format"] == name


def test_changes_are_seen_in_the_log(client: Any, server: ServerProcess) -> None:
    client.update_log_settings({"log_format": "json", "log_verbose_level": 1})
    before = len(server.log_text())
    assert echo(server.http_url).status == 200
    client.update_log_settings(DEFAULTS)
    for line in server.log_text()[before:].splitlines():
        assert {"time", "level", "file", "line", "message"} <= json.loads(line).keys()


def test_the_file_cannot_be_changed(client: Any) -> None:
    with pytest.raises(InferenceServerException, match="log file location can not be updated"):
        client.update_log_settings({"log_file": "other.log"})
    with pytest.raises(InferenceServerException, match="log_format, got: nice"):
        client.update_log_settings({"log_format": "nice"})


def test_the_extension_is_named(client: Any) -> None:
    metadata = client.get_server_metadata()
    extensions = metadata["extensions"] if isinstance(metadata, dict) else metadata.extensions
    assert "logging" in extensions


def test_a_json_log_has_an_object_per_line(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    add_testing(model_repository, "twice", "answers_twice", data_type="FP32")
    server = server_factory(model_repository, "--log-format=json", "--log-verbose=1")
    document = {
        "id": 'the "id"',
        "inputs": [{"name": "INPUT0", "shape": [1], "datatype": "FP32", "data": [1.0]}],
    }
    raw_http.post_json(server.http_url, "/v2/models/twice/infer", document)
    server.stop()
    lines = [json.loads(line) for line in server.log_text().splitlines()]
    assert all(line["level"] in {"INFO", "WARNING", "ERROR", "VERBOSE"} for line in lines)
    about = [line for line in lines if line.get("request_id") == 'the "id"']
    assert about, "no line is about the request"
    assert {line["model"] for line in about} == {"twice"}


def test_a_log_file_is_opened_again(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    model_repository.add_identity("echo")
    file = tmp_path / "server.log"
    server = server_factory(model_repository, f"--log-file={file}", wait_for=None)
    poll_until("it serves", lambda: file.exists() and "Started Metrics" in file.read_text())
    file.rename(tmp_path / "server.log.1")
    server.send_signal(signal.SIGHUP)
    poll_until("a new file", file.exists)
    server.stop()
    assert "signal 15 received" in file.read_text()
    assert "signal 15 received" not in (tmp_path / "server.log.1").read_text()


def test_verbose_says_what_was_asked_and_why_it_failed(server: ServerProcess, client: Any) -> None:
    """Over both protocols; and nothing unless it was asked for."""
    over_http = isinstance(client, tritonclient.http.InferenceServerClient)
    module = tritonclient.http if over_http else tritonclient.grpc
    tensor = module.InferInput("WRONG", [1], "FP32")
    tensor.set_data_from_numpy(np.array([1], np.float32))
    lines = ("HTTP request: ", "gRPC request: ", "Infer failed: ")

    def count() -> list[int]:
        return [server.log_text().count(line) for line in lines]

    def infer(model: str) -> str:
        with pytest.raises(InferenceServerException) as error:
            client.infer(model, [tensor])
        return error.value.message()

    before = count()
    infer("echo")
    assert count() == before
    client.update_log_settings({"log_verbose_level": 1})
    texts = [infer("echo"), infer("nobody")]
    for text in texts:
        poll_until("why", lambda text=text: f"Infer failed: {text}" in server.log_text())
    asked = (
        [f"HTTP request: POST /v2/models/{model}/infer" for model in ("echo", "nobody")]
        if over_http
        else ["gRPC request: /inference.GRPCInferenceService/ModelInfer"]
    )
    for line in asked:
        assert f'"{line}"' in server.log_text()


def test_verbose_lines_are_bounded_and_escaped(server: ServerProcess, client: Any) -> None:
    client.update_log_settings({"log_verbose_level": 1})
    raw_http.get(server.http_url, "/v2/" + "x" * 5000)
    body = json.dumps({"id": "a\nI0101 forged", "inputs": []}).encode()
    raw_http.post(server.http_url, "/v2/models/echo/infer", body)
    poll_until("the reason", lambda: "forged" in server.log_text())
    assert "x" * 1000 in server.log_text()
    assert "x" * 1025 not in server.log_text()
    assert "\nI0101 forged" not in server.log_text()
