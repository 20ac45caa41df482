# SPDX-License-Identifier: Apache-2.0
"""Trace settings and trace files, with the official clients over HTTP and gRPC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support import raw_http, trace_files
from support.ensembles import add_ensemble, step_text
from support.infer import echo, echo_document
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.streaming import add_repeat

HTTP = tritonclient.http
GRPC = tritonclient.grpc
FRONTEND = {
    HTTP: {"HTTP_RECV_START", "HTTP_RECV_END", "HTTP_SEND_START", "HTTP_SEND_END"},
    GRPC: {"GRPC_WAITREAD_START", "GRPC_WAITREAD_END", "GRPC_SEND_START", "GRPC_SEND_END"},
}
COMMON = {"INFER_RESPONSE_COMPLETE", "REQUEST_START", "QUEUE_START", "REQUEST_END"}
COMPUTE = {"COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"}


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    model_repository.add_identity("text", "STRING")
    add_repeat(model_repository)
    add_ensemble(
        model_repository,
        "chain",
        [tensor_text("IN", "FP32", (-1,))],
        [tensor_text("OUT", "FP32", (-1,))],
        [
            step_text("echo", {"INPUT0": "IN"}, {"OUTPUT0": "between"}),
            step_text("echo", {"INPUT0": "between"}, {"OUTPUT0": "OUT"}),
        ],
    )
    return model_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "traces"
    made.mkdir()
    return made


def config(*settings: str) -> list[str]:
    return [f"--trace-config={setting}" for setting in settings]


def address(module: Any, server: ServerProcess) -> str:
    return server.http_url if module is HTTP else server.grpc_url


def client_of(module: Any, server: ServerProcess) -> Any:
    return module.InferenceServerClient(address(module, server))


def infer(module: Any, client: Any, model: str = "echo", name: str = "INPUT0", id: str = "") -> Any:
    tensor = module.InferInput(name, [2], "FP32")
    tensor.set_data_from_numpy(np.array([1.5, 2], np.float32))
    return client.infer(model, [tensor], request_id=id)


def settings_of(module: Any, client: Any, model: str = "") -> dict[str, Any]:
    """The settings as strings; a list where there are several values."""
    settings = client.get_trace_settings(model_name=model or None)
    if module is HTTP:
        return dict(settings)
    plain = {}
    for key, value in settings.settings.items():
        values = list(value.value)
        plain[key] = values if key == "trace_level" else values[0]
    return plain


# ---- Files


@pytest.mark.parametrize("module", [HTTP, GRPC], ids=["http", "grpc"])
def test_a_trace_tells_what_happened(
    server_factory: ServerFactory, models: ModelRepository, folder: Path, module: Any
) -> None:
    server = server_factory(
        models, *config("level=TIMESTAMPS", "rate=1", f"triton,file={folder}/log")
    )
    client = client_of(module, server)
    infer(module, client, id="mine")
    infer(module, client, "chain", "IN")
    client.close()
    server.stop()
    traces = trace_files.read(folder / "log")
    first, chain, *steps = (traces[id] for id in sorted(traces))
    assert (first.model, first.version, first.request_id, first.parent) == ("echo", 1, "mine", 0)
    assert first.activities == FRONTEND[module] | COMMON | COMPUTE
    order = [
        *sorted(FRONTEND[module] - {name for name in FRONTEND[module] if "SEND" in name})[::-1],
        "REQUEST_START",
        "QUEUE_START",
        "COMPUTE_START",
        "COMPUTE_INPUT_END",
        "COMPUTE_OUTPUT_START",
    ]
    stamps = [first.times[name][0] for name in order]
    assert stamps == sorted(stamps), first.times
    send = "HTTP_SEND" if module is HTTP else "GRPC_SEND"
    assert first.times["COMPUTE_OUTPUT_START"][0] <= first.times[f"{send}_START"][0]
    assert first.times[f"{send}_START"][0] <= first.times[f"{send}_END"][0]
    assert (chain.model, chain.parent) == ("chain", 0)
    assert chain.activities == FRONTEND[module] | COMMON
    assert [(step.model, step.parent) for step in steps] == [("echo", chain.id)] * 2
    for step in steps:
        assert step.activities == (COMMON | COMPUTE) - {"INFER_RESPONSE_COMPLETE"}


def test_tensors(server_factory: ServerFactory, models: ModelRepository, folder: Path) -> None:
    server = server_factory(models, *config("level=TENSORS", "rate=1", f"triton,file={folder}/log"))
    client = client_of(HTTP, server)
    infer(HTTP, client)
    words = HTTP.InferInput("INPUT0", [2], "BYTES")
    words.set_data_from_numpy(np.array([b'a"b', b"c"], np.object_))
    client.infer("text", [words])
    server.stop()
    numbers, texts = trace_files.read(folder / "log").values()
    assert not numbers.times
    assert [activity for activity, _ in numbers.tensors] == [
        "TENSOR_QUEUE_INPUT",
        "TENSOR_BACKEND_INPUT",
        "TENSOR_BACKEND_OUTPUT",
    ]
    for _, tensor in numbers.tensors:
        assert (tensor["shape"], tensor["dtype"]) == ("2", "FP32")
        assert list(trace_files.numbers(tensor["data"])) == [1.5, 2]
    assert texts.tensors[0][1]["data"] == '"a"b","c"'


def test_streams_and_generated_answers(
    server_factory: ServerFactory, models: ModelRepository, folder: Path
) -> None:
    server = server_factory(
        models, *config("level=TIMESTAMPS", "rate=1", f"triton,file={folder}/log")
    )
    client = client_of(GRPC, server)
    answers: list[Any] = []
    client.start_stream(lambda result, error: answers.append((result, error)))
    inputs = []
    for name, kind, values in (
        ("IN", np.int32, [4, 2, 0]),
        ("DELAY", np.uint32, [0, 0, 0]),
        ("WAIT", np.uint32, [0]),
    ):
        tensor = GRPC.InferInput(name, [len(values)], "INT32" if kind is np.int32 else "UINT32")
        tensor.set_data_from_numpy(np.array(values, kind))
        inputs.append(tensor)
    client.async_stream_infer("repeat", inputs)
    poll_until("three answers", lambda: len(answers) == 3)
    client.stop_stream()
    generated = raw_http.post_json(
        server.http_url, "/v2/models/repeat/generate_stream", {"IN": [7], "DELAY": [0], "WAIT": [0]}
    )
    assert generated.status == 200, generated.body
    server.stop()
    stream, generate = trace_files.read(folder / "log").values()
    assert len(stream.times["INFER_RESPONSE_COMPLETE"]) == 3
    assert len(stream.times["GRPC_SEND_START"]) == len(stream.times["GRPC_SEND_END"]) == 3
    assert FRONTEND[HTTP] <= generate.activities
    assert len(generate.times["INFER_RESPONSE_COMPLETE"]) == 1


def test_one_in_so_many_until_the_count_is_used_up(
    server_factory: ServerFactory, models: ModelRepository, folder: Path
) -> None:
    server = server_factory(
        models, *config("level=TIMESTAMPS", "rate=6", "count=2", f"triton,file={folder}/log")
    )
    client = client_of(HTTP, server)
    for _ in range(20):
        infer(HTTP, client)
    assert settings_of(HTTP, client)["trace_count"] == "0"
    poll_until("the file", lambda: (folder / "log.0").exists())
    server.stop()
    assert trace_files.counts(folder) == {"log.0": 2}


def test_numbered_files(
    server_factory: ServerFactory, models: ModelRepository, folder: Path
) -> None:
    server = server_factory(
        models,
        *config(
            "level=TIMESTAMPS", "rate=1", f"triton,file={folder}/log", "triton,log-frequency=2"
        ),
    )
    client = client_of(HTTP, server)
    for _ in range(5):
        infer(HTTP, client)
    poll_until("two files", lambda: (folder / "log.1").exists())
    assert trace_files.counts(folder) == {"log.0": 2, "log.1": 2}
    client.update_trace_settings(settings={"log_frequency": "9"})
    poll_until("what was left", lambda: (folder / "log.2").exists())
    infer(HTTP, client)
    server.stop()
    assert trace_files.counts(folder) == {"log.0": 2, "log.1": 2, "log.2": 1, "log.3": 1}


def test_the_file_is_whole_while_the_server_runs(
    server_factory: ServerFactory, models: ModelRepository, folder: Path
) -> None:
    server = server_factory(
        models, *config("level=TIMESTAMPS", "rate=1", f"triton,file={folder}/log")
    )
    for expected in (1, 2, 3):
        assert echo(server.http_url).status == 200
        poll_until(
            "the trace",
            lambda count=expected: trace_files.counts(folder) == {"log": count},
        )


def test_old_options(server_factory: ServerFactory, models: ModelRepository, folder: Path) -> None:
    server = server_factory(
        models,
        f"--trace-file={folder}/log",
        "--trace-level=TIMESTAMPS",
        "--trace-level=TENSORS",
        "--trace-rate=1",
        "--trace-count=9",
        "--trace-log-frequency=4",
    )
    assert raw_http.get(server.http_url, "/v2/trace/setting").json() == {
        "trace_level": ["TIMESTAMPS", "TENSORS"],
        "trace_rate": "1",
        "trace_count": "9",
        "log_frequency": "4",
        "trace_file": f"{folder}/log",
        "trace_mode": "triton",
    }
    for option in ("file", "level", "rate", "count", "log-frequency"):
        warning = f"Warning: '--trace-{option}' has been deprecated"
        assert server.log_text().count(warning) == 1, server.log_text()


def test_a_file_that_cannot_be_written(
    server_factory: ServerFactory, models: ModelRepository, folder: Path
) -> None:
    server = server_factory(
        models, *config("level=TIMESTAMPS", "rate=1", f"triton,file={folder}/no/log")
    )
    assert echo(server.http_url).status == 200
    poll_until("the reason", lambda: "cannot write trace file" in server.log_text())
    assert echo(server.http_url).status == 200


# ---- Settings


@pytest.mark.parametrize("module", [HTTP, GRPC], ids=["http", "grpc"])
def test_models_follow_the_global_settings(
    server_factory: ServerFactory, models: ModelRepository, folder: Path, module: Any
) -> None:
    server = server_factory(models, *config("level=TIMESTAMPS", f"triton,file={folder}/log"))
    client = client_of(module, server)
    begin = {
        "trace_level": ["TIMESTAMPS"],
        "trace_rate": "1000",
        "trace_count": "-1",
        "log_frequency": "0",
        "trace_file": f"{folder}/log",
        "trace_mode": "triton",
    }
    assert settings_of(module, client) == begin
    assert settings_of(module, client, "echo") == begin
    client.update_trace_settings(model_name="echo", settings={"trace_rate": "1"})
    client.update_trace_settings(settings={"trace_level": ["TENSORS"], "trace_rate": "7"})
    assert settings_of(module, client) == begin | {"trace_level": ["TENSORS"], "trace_rate": "7"}
    assert settings_of(module, client, "text") == settings_of(module, client)
    assert settings_of(module, client, "echo") == begin | {
        "trace_level": ["TENSORS"],
        "trace_rate": "1",
    }
    infer(module, client)
    client.update_trace_settings(model_name="echo", settings={"trace_rate": None})
    assert settings_of(module, client, "echo") == settings_of(module, client)
    client.update_trace_settings(settings={"trace_level": None, "trace_rate": None})
    assert settings_of(module, client) == begin
    server.stop()
    assert trace_files.counts(folder) == {"log": 1}


@pytest.mark.parametrize("module", [HTTP, GRPC], ids=["http", "grpc"])
@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"trace_rate": "x"}, "Unable to parse 'trace_rate', got: x"),
        ({"trace_rate": "0"}, "Attempting to set invalid trace setting :sample rate must be non"),
        ({"trace_count": "-2"}, "Unable to parse 'trace_count'. Expecting value >= -1, got:-2"),
        ({"log_frequency": "2147483648"}, "value is out of range [ 0, 4294967295 ]"),
        ({"trace_level": ["OFF", "TENSORS"]}, "Expect only one trace level 'OFF' is specified"),
        ({"trace_level": ["ALL"]}, "invalid value for trace level option: ALL"),
        ({"trace_file": "x"}, "trace file location can not be updated through network protocol"),
    ],
)
def test_settings_that_are_refused(
    server_factory: ServerFactory,
    models: ModelRepository,
    folder: Path,
    module: Any,
    settings: dict[str, Any],
    error: str,
) -> None:
    server = server_factory(models, *config("level=TIMESTAMPS", f"triton,file={folder}/log"))
    client = client_of(module, server)
    before = settings_of(module, client)
    with pytest.raises(InferenceServerException) as refused:
        client.update_trace_settings(settings=settings)
    assert error in str(refused.value)
    assert settings_of(module, client) == before


@pytest.mark.parametrize("module", [HTTP, GRPC], ids=["http", "grpc"])
def test_unknown_models(server_factory: ServerFactory, models: ModelRepository, module: Any) -> None:
    server = server_factory(models)
    assert "trace" in raw_http.get(server.http_url, "/v2").json()["extensions"]
    client = client_of(module, server)
    with pytest.raises(InferenceServerException, match="Request for unknown model : nobody"):
        client.get_trace_settings("nobody")
    with pytest.raises(InferenceServerException, match="trace file name is not given"):
        client.update_trace_settings(settings={"trace_level": ["TIMESTAMPS"]})


def test_requests_that_are_refused_are_traced_too(
    server_factory: ServerFactory, models: ModelRepository, folder: Path
) -> None:
    server = server_factory(
        models, *config("level=TIMESTAMPS", "rate=1", f"triton,file={folder}/log")
    )
    document = echo_document()
    document["inputs"][0]["shape"] = [99]
    assert raw_http.post_json(server.http_url, "/v2/models/echo/infer", document).status == 400
    server.stop()
    (trace,) = trace_files.read(folder / "log").values()
    assert trace.activities == FRONTEND[HTTP]
