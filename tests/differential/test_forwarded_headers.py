# SPDX-License-Identifier: Apache-2.0
"""Forwarded headers: models of both servers see the same parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from differential.original_server import prepare, start_original
from python_models.servers import ENVIRONMENT, ORIGINAL, OUR_ENVIRONMENT, why_not
from support import raw_http
from support.nereid import start_nereid
from support.parameters_model import add_parameters_model
from support.repository import ModelRepository
from support.server_process import ServerProcess, ready

PATTERN = "(?i)(my_|x-tenant)"
OPTIONS = [f"--http-header-forward-pattern={PATTERN}", f"--grpc-header-forward-pattern={PATTERN}"]
# Names as HTTP and as gRPC, which knows small letters only, can have them.
HEADERS: list[Mapping[str, str]] = [
    {},
    {"other": "x"},
    {"my_header": "one"},
    {"my_header": "one", "x-tenant": "two words", "x-my_other": "3", "other": "three"},
    {"x-tenant-id": "1", "x-other-tenant": "2", "my_": '"quoted" \\ and more'},
]

Servers = Mapping[str, ServerProcess]

if reason := why_not(ORIGINAL):
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("forwarded")
    models = ModelRepository(folder / "models")
    add_parameters_model(models)
    layout = prepare(folder / "original")
    started = {
        "original": start_original(
            layout,
            models.root,
            folder / "log-original",
            options=OPTIONS,
            environment=ENVIRONMENT,
        ),
        "nereid": start_nereid(models.root, folder / "log-nereid", OPTIONS, OUR_ENVIRONMENT),
    }
    with ready(started.values()):
        yield started


def seen_by_model(server: ServerProcess, protocol: str, headers: Mapping[str, str]) -> Any:
    module: Any = tritonclient.http if protocol == "http" else tritonclient.grpc
    url = server.http_url if protocol == "http" else server.grpc_url
    tensor = module.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.ones(1, dtype=np.float32))
    with module.InferenceServerClient(url) as client:
        answer = client.infer(
            "parameters", [tensor], headers=dict(headers), parameters={"from_body": 4}
        )
    return json.loads(answer.as_numpy("PARAMETERS")[0])


@pytest.mark.parametrize("headers", HEADERS, ids=lambda headers: ",".join(headers) or "none")
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_models_see_the_same(servers: Servers, protocol: str, headers: Mapping[str, str]) -> None:
    seen = {name: seen_by_model(server, protocol, headers) for name, server in servers.items()}
    assert seen["nereid"] == seen["original"]
    expected = {name for name in headers if "my_" in name or "x-tenant" in name}
    assert set(seen["nereid"]) == expected | {"from_body"}


def test_an_empty_value(servers: Servers) -> None:
    headers = {"my_header": ""}
    for protocol, original in (("http", " "), ("grpc", "")):
        assert seen_by_model(servers["nereid"], protocol, headers)["my_header"] == ""
        assert seen_by_model(servers["original"], protocol, headers)["my_header"] == original


def test_generate(servers: Servers) -> None:
    """Triton does not forward them."""

    def ask(server: ServerProcess) -> Any:
        path = "/v2/models/parameters/generate"
        answer = raw_http.post_json(
            server.http_url, path, {"INPUT0": 1.0}, headers=[("My_Header", "one")]
        )
        assert answer.status == 200, answer.body
        return json.loads(answer.json()["PARAMETERS"])

    assert ask(servers["nereid"]) == {"My_Header": "one"}
    assert ask(servers["original"]) == {}
