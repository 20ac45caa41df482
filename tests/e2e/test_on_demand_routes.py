# SPDX-License-Identifier: Apache-2.0
"""Every route and method that needs a model has it loaded on demand, and waits for it where
--load-wait-secs says so, and no other does: the tables of the hostile tests say which there are, so that a new one has to find its place here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from google.protobuf.message_factory import GetMessageClass

from hostile.tables import Method, Route, tables
from support import raw_http
from support.model_control import index
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess

TABLES = tables()
OPTIONS = ["--model-control-mode=ondemand", "--tfs-http-port=0", "--tfs-grpc-port=0", "--allow-nereid-api=true"]
# With a model in the path, or in the body, that they only tell about.
TELL = re.compile(r"/(ready|stats|setting)$|^/v2/nereid/")
ROUTES = [
    route
    for route in TABLES.routes
    if route.port in ("http", "tfs_http") and ("{model}" in route.pattern or route.schema.startswith("OpenAi"))
]
# TensorFlow Serving's states of a model; a label is one of a model that is there.
STATE_BY_LABEL = ("tfs_http", "/v1/models/{model}/labels/{label}")  # loads the model, and does not wait
TFS_STATES = {"/v1/models/{model}", "/v1/models/{model}/versions/{version}"}


def loads(route: Route) -> bool:
    return not TELL.search(route.pattern) and (route.port, route.pattern) not in {
        ("tfs_http", pattern) for pattern in TFS_STATES
    }


def model_of(number: int) -> str:
    return f"m{number}"


@contextmanager
def server_with(folder: Path, *options: str) -> Iterator[ServerProcess]:
    """A model for each test."""
    assert not TABLES.failure, TABLES.failure
    models = ModelRepository(folder / "models")
    for number in range(len(ROUTES) + len(TABLES.methods)):
        models.add_identity(model_of(number), parameters={"tfs.version_labels": "stable=1"})
    server = start_nereid(models.root, folder / "log", [*OPTIONS, *options])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server_with(tmp_path_factory.mktemp("on_demand_routes")) as server:
        yield server


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server whose requests wait for their model."""
    with server_with(tmp_path_factory.mktemp("patient_routes"), "--load-wait-secs=60") as server:
        yield server


def is_loaded(server: ServerProcess, model: str) -> bool:
    return (model, "1") in index(server)


def call(server: ServerProcess, route: Route, model: str) -> raw_http.HttpAnswer:
    names = {"model": model, "version": "1", "label": "stable"}
    path = re.sub(r"\{(\w+)\}", lambda one: names.get(one[1], "nothing"), route.pattern)
    url = server.http_url if route.port == "http" else f"{LOOPBACK}:{server.port(route.port)}"
    body = b"" if route.method == "GET" else json.dumps({"model": model}).encode()
    return raw_http.request(url, route.method, path, body)


@pytest.mark.parametrize("number", range(len(ROUTES)), ids=lambda number: ROUTES[number].name)
def test_routes(server: ServerProcess, number: int) -> None:
    route, model = ROUTES[number], model_of(number)
    if "/repository/" in route.pattern:
        return  # loads and unloads by name
    answer = call(server, route, model)
    if not loads(route):
        assert answer.status != 503, answer.body
        assert not is_loaded(server, model)
        return
    assert answer.status == 503, answer.body
    assert b"is being loaded" in answer.body
    assert answer.header("Retry-After") == "1"
    poll_until(f"{model} is loaded", lambda: is_loaded(server, model))
    assert b"is being loaded" not in call(server, route, model).body


@pytest.mark.parametrize("number", range(len(ROUTES)), ids=lambda number: ROUTES[number].name)
def test_routes_that_wait(patient: ServerProcess, number: int) -> None:
    route, model = ROUTES[number], model_of(number)
    if "/repository/" in route.pattern:
        return  # loads and unloads by name
    answer = call(patient, route, model)
    if (route.port, route.pattern) == STATE_BY_LABEL:
        assert answer.status == 503, answer.body
        return
    assert answer.status != 503, answer.body
    assert is_loaded(patient, model) == loads(route)


def request_of(method: Method, model: str) -> bytes:
    message = GetMessageClass(method.request)()
    for field in method.request.fields:
        if field.name in ("name", "model_name"):
            setattr(message, field.name, model)
        elif field.name == "model_spec":
            message.model_spec.name = model
        elif field.name == "metadata_field":
            message.metadata_field.append("signature_def")
    return bytes(message.SerializeToString())


METHODS_THAT_LOAD = {
    "ModelInfer",
    "ModelStreamInfer",
    "ModelMetadata",
    "ModelConfig",
    "Predict",
    "Classify",
    "Regress",
    "GetModelMetadata",
}
NAMED = [
    method
    for method in TABLES.methods
    if {field.name for field in method.request.fields} & {"name", "model_name", "model_spec"}
    and "Memory" not in method.method
    and not method.method.startswith("Repository")
]


def say(server: ServerProcess, number: int) -> str:
    """The answer to a method, or the error."""
    method, model = NAMED[number], model_of(len(ROUTES) + number)
    url = server.grpc_url if method.port == "grpc" else f"{LOOPBACK}:{server.port(method.port)}"
    with grpc.insecure_channel(url) as channel:
        kind = channel.stream_stream if method.client_streams else channel.unary_unary
        request = request_of(method, model)
        try:
            answer = kind(method.path)(iter([request]) if method.client_streams else request)
            return str(list(answer) if method.client_streams else answer)
        except grpc.RpcError as error:
            return f"{error.code()} {error.details()}"


@pytest.mark.parametrize("number", range(len(NAMED)), ids=lambda number: NAMED[number].name)
def test_methods(server: ServerProcess, number: int) -> None:
    method, model = NAMED[number], model_of(len(ROUTES) + number)
    first = say(server, number)
    assert ("is being loaded" in first) == (method.method in METHODS_THAT_LOAD), first
    if method.method not in METHODS_THAT_LOAD:
        assert not is_loaded(server, model)
        return
    assert method.client_streams or "UNAVAILABLE" in first
    poll_until(f"{model} is loaded", lambda: is_loaded(server, model))
    assert "is being loaded" not in say(server, number)


@pytest.mark.parametrize("number", range(len(NAMED)), ids=lambda number: NAMED[number].name)
def test_methods_that_wait(patient: ServerProcess, number: int) -> None:
    answer = say(patient, number)
    assert "is being loaded" not in answer
    assert is_loaded(patient, model_of(len(ROUTES) + number)) == (NAMED[number].method in METHODS_THAT_LOAD)
