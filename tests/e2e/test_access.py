# SPDX-License-Identifier: Apache-2.0
"""Restricted APIs, keys and forwarded headers, with the official clients over HTTP and gRPC."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support.nereid import INTERPRETER
from support.parameters_model import add_parameters_model
from support.poll import poll_until
from support.raw_http import request
from support.repository import ModelRepository
from support.server_process import ServerProcess

SHOP_KEY = "key-of-the-shop-012345"
ADMIN_KEY = "key-of-the-admin-012345"


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo", "FP32", (1,))
    return model_repository


@pytest.fixture(params=["http", "grpc"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def connect(server: ServerProcess, protocol: str) -> Any:
    if protocol == "http":
        return tritonclient.http.InferenceServerClient(server.http_url)
    return tritonclient.grpc.InferenceServerClient(server.grpc_url)


def infer(client: Any, protocol: str, model: str = "echo", **more: Any) -> Any:
    module = tritonclient.http if protocol == "http" else tritonclient.grpc
    tensor = module.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.ones(1, dtype=np.float32))
    return client.infer(model, [tensor], **more)


def refusal(call: Any) -> tuple[str, str]:
    """Status and message of an error."""
    with pytest.raises(InferenceServerException) as caught:
        call()
    return str(caught.value.status()), str(caught.value.message())


# -- --http-restricted-api, --grpc-restricted-protocol ---------------------------------------------


def test_a_restricted_group_needs_its_header(
    server_factory: ServerFactory, models: ModelRepository, protocol: str
) -> None:
    server = server_factory(
        models,
        "--http-restricted-api=model-config,metadata:admin-key=let=me:in",
        "--http-restricted-api=inference:infer-key=run",
        "--grpc-restricted-protocol=model-config,metadata:admin-key=let=me:in",
        "--grpc-restricted-protocol=inference:infer-key=run",
    )
    prefix = "triton-grpc-protocol-" if protocol == "grpc" else ""
    with connect(server, protocol) as client:
        assert client.is_server_live()
        for headers in (None, {f"{prefix}admin-key": "let=me"}):
            code, text = refusal(lambda: client.get_model_config("echo", headers=headers))
            if protocol == "http":
                assert code == "403"
                assert text == "This API is restricted, expecting header 'admin-key'"
            else:
                assert code == "StatusCode.UNAVAILABLE"
                assert text == (
                    "This protocol is restricted, expecting header 'triton-grpc-protocol-admin-key'"
                )
        admin = {f"{prefix}admin-key": "let=me:in"}
        assert client.get_model_config("echo", headers=admin)
        assert client.get_model_metadata("echo", headers=admin)
        assert client.get_inference_statistics("echo")
        refusal(lambda: infer(client, protocol, headers=admin))
        result = infer(client, protocol, headers={f"{prefix}infer-key": "run"})
        assert result.as_numpy("OUTPUT0") == [1]


def test_the_restriction_comes_before_the_method(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    server = server_factory(models, "--http-restricted-api=statistics:key=value")
    assert request(server.http_url, "POST", "/v2/models/stats").status == 403
    opened = request(server.http_url, "POST", "/v2/models/stats", headers=[("KEY", "value")])
    assert opened.status == 405
    assert request(server.http_url, "GET", "/v2/models/stats/nothing").status == 404


def test_a_restricted_stream_ends_with_the_refusal(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    server = server_factory(models, "--grpc-restricted-protocol=inference:key=value")
    answers: list[Any] = []
    tensor = tritonclient.grpc.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.ones(1, dtype=np.float32))
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        # The refusal comes before any request.
        client.start_stream(callback=lambda result, error: answers.append(error or result))
        poll_until("an answer", lambda: answers)
        client.stop_stream()
        assert "This protocol is restricted" in str(answers[0])
        answers.clear()
        headers = {"triton-grpc-protocol-key": "value"}
        client.start_stream(
            callback=lambda result, error: answers.append(error or result), headers=headers
        )
        client.async_stream_infer("echo", [tensor])
        poll_until("an answer", lambda: answers)
        assert answers[0].as_numpy("OUTPUT0") == [1]


def test_rest_is_no_way_around_a_restricted_protocol(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    httpx = pytest.importorskip("httpx")
    url = "http://{}/v2"
    with httpx.Client(http1=False, http2=True) as client:
        open_server = server_factory(models)
        assert client.get(url.format(open_server.grpc_url)).status_code == 200
        restricted = server_factory(models, "--grpc-restricted-protocol=metadata:key=value")
        answer = client.get(url.format(restricted.grpc_url))
        assert answer.status_code in (405, 415)
        assert "REST is not served on this port" in answer.text


# -- pages in browsers -----------------------------------------------------------------------------


PORTS_OF_PLATFORMS = {
    "vertex_ai": ("--allow-vertex-ai=true", "--vertex-ai-port=0"),
    "sagemaker": ("--allow-sagemaker=true", "--sagemaker-port=0"),
}
LOAD_PYTHON = {
    "parameters": {"config": '{"backend": "python"}', "file:1/model.py": "cHJpbnQoMSk="},
}
CHANGES = {
    "vertex_ai": ("/predict", {"inputs": []}),
    "sagemaker": ("/models", {"model_name": "evil", "url": "/tmp"}),
}


@pytest.mark.parametrize(
    "port", ["http", "http, HTTP/2", "grpc", "metrics", "vertex_ai", "sagemaker"]
)
def test_pages_of_other_origins(
    server_factory: ServerFactory, models: ModelRepository, port: str
) -> None:
    """A page must not load a model: simple requests, for which browsers do not ask before."""
    httpx = pytest.importorskip("httpx")
    options = ("--model-control-mode=explicit", "--load-model=echo")
    routes = {"AIP_PREDICT_ROUTE": "/predict", "AIP_HEALTH_ROUTE": "/health"}
    server = server_factory(
        models, *options, *PORTS_OF_PLATFORMS.get(port, ()), env=dict(os.environ, **routes)
    )
    number = server.port(port.split(",")[0])
    path, body = CHANGES.get(port, ("/v2/repository/models/evil/load", LOAD_PYTHON))
    http2 = port in ("http, HTTP/2", "grpc")
    with httpx.Client(http1=not http2, http2=http2, base_url=f"http://127.0.0.1:{number}") as page:
        for origin, host in (
            ("http://evil.example", f"127.0.0.1:{number}"),
            ("null", f"127.0.0.1:{number}"),
            (f"http://localhost:{number}", f"127.0.0.1:{number}"),
            (f"http://rebound.example:{number}", f"rebound.example:{number}"),
        ):
            headers = {"Origin": origin, "Host": host, "Content-Type": "text/plain"}
            answer = page.post(path, content=json.dumps(body), headers=headers)
            assert answer.status_code == 403, (origin, answer.text)
            assert f"--http-allow-origin={origin}" in answer.json()["error"]
            assert "access-control-allow-origin" not in answer.headers
            asked = page.options(path, headers={"Access-Control-Request-Method": "POST", **headers})
            assert asked.status_code == 403
        own = page.post(path, content=b"{}", headers={"Origin": f"http://127.0.0.1:{number}"})
        assert own.status_code != 403
    index = request(server.http_url, "POST", "/v2/repository/index", b"").json()
    assert [model["name"] for model in index if model.get("state") == "READY"] == ["echo"]
    assert "evil" not in [model["name"] for model in index]


# -- --api-key-file --------------------------------------------------------------------------------


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    file = tmp_path / "keys"
    file.write_text(f"health *\ninference {SHOP_KEY}\nall {ADMIN_KEY}\n")
    return file


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_keys_open_their_groups(
    server_factory: ServerFactory, models: ModelRepository, key_file: Path, protocol: str
) -> None:
    server = server_factory(models, f"--api-key-file={key_file}")
    with connect(server, protocol) as client:
        assert client.is_server_ready()
        code, text = refusal(lambda: infer(client, protocol))
        assert code == ("401" if protocol == "http" else "StatusCode.UNAUTHENTICATED")
        assert "needs a key" in text
        assert infer(client, protocol, headers=bearer(SHOP_KEY)).as_numpy("OUTPUT0") == [1]
        code, text = refusal(lambda: client.get_model_config("echo", headers=bearer(SHOP_KEY)))
        assert code == ("403" if protocol == "http" else "StatusCode.PERMISSION_DENIED")
        assert text == "the key of the request does not open the API group 'model-config'"
        assert client.get_model_config("echo", headers=bearer(ADMIN_KEY))
    server.stop()
    assert SHOP_KEY not in server.log_text()


def test_keys_come_and_go_without_a_restart(
    server_factory: ServerFactory, models: ModelRepository, key_file: Path
) -> None:
    server = server_factory(models, f"--api-key-file={key_file}")

    def status(key: str) -> int:
        return int(request(server.http_url, "GET", "/v2", headers=list(bearer(key).items())).status)

    new_key = "a-new-key-0123456789"
    assert (status(ADMIN_KEY), status(new_key)) == (200, 401)
    key_file.write_text(f"all {new_key}\n")
    poll_until("the new key", lambda: status(new_key) == 200)
    assert status(ADMIN_KEY) == 401
    server.wait_for_log("keys in")


def test_without_a_key_the_answer_says_how(
    server_factory: ServerFactory, models: ModelRepository, key_file: Path
) -> None:
    server = server_factory(models, f"--api-key-file={key_file}")
    answer = request(server.http_url, "GET", "/v2/models/echo")
    assert answer.status == 401
    assert answer.header("www-authenticate") == "Bearer"
    assert answer.error() == (
        "the API group 'metadata' needs a key: send it as header 'Authorization: Bearer <key>'"
    )


# -- --http-header-forward-pattern, --grpc-header-forward-pattern ----------------------------------


@pytest.fixture
def forwarding_server(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> Iterator[ServerProcess]:
    add_parameters_model(model_repository)
    yield server_factory(
        model_repository,
        "--http-header-forward-pattern=(my_|triton_)",
        "--grpc-header-forward-pattern=(my_|triton_)",
        INTERPRETER,
    )


def test_matching_headers_become_parameters(
    forwarding_server: ServerProcess, protocol: str
) -> None:
    headers = {"my_header": "one", "x-my_other": "two", "other": "three"}
    with connect(forwarding_server, protocol) as client:
        result = infer(
            client, protocol, "parameters", headers=headers, parameters={"from_body": 4}
        )
        seen = json.loads(result.as_numpy("PARAMETERS")[0])
    assert seen == {"my_header": "one", "x-my_other": "two", "from_body": 4}


def test_a_reserved_header_is_refused(forwarding_server: ServerProcess, protocol: str) -> None:
    with connect(forwarding_server, protocol) as client:
        _, text = refusal(
            lambda: infer(client, protocol, "parameters", headers={"triton_x": "1"})
        )
    assert text == "Header 'triton_x' is reserved for Triton usage and cannot be forwarded."


def test_headers_of_generate_are_forwarded(forwarding_server: ServerProcess) -> None:
    answer = request(
        forwarding_server.http_url,
        "POST",
        "/v2/models/parameters/generate",
        json.dumps({"INPUT0": 1.0}).encode(),
        [("My_Header", "one")],
    )
    assert answer.status == 200, answer.body
    assert json.loads(json.loads(answer.body)["PARAMETERS"]) == {"My_Header": "one"}


def test_metadata_of_a_stream_is_forwarded_with_each_request(
    forwarding_server: ServerProcess,
) -> None:
    answers: list[Any] = []
    tensor = tritonclient.grpc.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.ones(1, dtype=np.float32))
    with tritonclient.grpc.InferenceServerClient(forwarding_server.grpc_url) as client:
        client.start_stream(
            callback=lambda result, error: answers.append(error or result),
            headers={"my_header": "one"},
        )
        for _ in range(2):
            client.async_stream_infer("parameters", [tensor])
        poll_until("two answers", lambda: len(answers) == 2)
    for answer in answers:
        assert json.loads(answer.as_numpy("PARAMETERS")[0]) == {"my_header": "one"}


@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("--http-restricted-api=nothing:a=b", "unknown restricted api 'nothing'"),
        ("--grpc-restricted-protocol=health", "--grpc-restricted-protocol option format is"),
        ("--http-header-forward-pattern=(", "'(' is no regular expression"),
        ("--api-key-file=/nowhere", "cannot read the API keys from '/nowhere'"),
    ],
)
def test_wrong_options_end_the_start(
    server_factory: ServerFactory, models: ModelRepository, option: str, why: str
) -> None:
    server = server_factory(models, option, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(why)
