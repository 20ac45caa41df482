# SPDX-License-Identifier: Apache-2.0
"""Models that their first request loads, and that leave for others (--model-control-mode=ondemand)."""

from __future__ import annotations

import queue
import random
import signal
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
import tritonclient.grpc as grpc_client
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.infer import InBackground, echo, echo_document
from support.metrics import metric
from support.model_control import index
from support.poll import poll_until
from support.raw_http import HttpAnswer
from support.repository import ModelRepository, tensor_text
from support.server_process import LOOPBACK, ServerProcess

ON_DEMAND = "--model-control-mode=ondemand"
BYTES = 1000
NOT_LOADED = "not loaded: its next request loads it"


def add_models(models: ModelRepository, count: int) -> list[str]:
    names = [f"m{number}" for number in range(count)]
    for name in names:
        models.add_identity(name, parameters={"nereid.memory_bytes": str(BYTES)})
    return names


def infer(server: ServerProcess, model: str, value: float = 1.0) -> None:
    """Asks until the model answers, as Retry-After says; the answer has to be right."""
    while True:
        answer = echo(server.http_url, model, [value])
        if answer.status == 200:
            assert answer.json()["outputs"][0]["data"] == [value]
            return
        assert answer.status == 503, answer.body
        assert int(answer.header("Retry-After") or "0") >= 1
        time.sleep(0.01)  # sooner than it says: the test has little time


def loaded(server: ServerProcess) -> set[str]:
    return {name for (name, version), (state, _) in index(server).items() if version and state == "READY"}


def number(server: ServerProcess, name: str) -> float:
    return metric(server.metrics_url, f"nereid_on_demand_{name}")


def infer_is_refused(server: ServerProcess, model: str, text: str = "needs 1000 bytes") -> None:
    def refused() -> bool:
        answer = echo(server.http_url, model)
        return answer.status == 503 and text in answer.error()

    poll_until(f"{model} is refused", refused)


def test_the_first_request_loads(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 3)
    server = server_factory(model_repository, ON_DEMAND)
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
    assert raw_http.get(server.http_url, "/v2/models/m1/ready").status == 200
    assert index(server)["m1", ""] == ("READY", NOT_LOADED)
    first = echo(server.http_url, "m1")
    assert first.status == 503
    assert first.header("Retry-After") == "1"
    assert "model 'm1' is being loaded" in first.error()
    infer(server, "m1")
    assert index(server)["m1", "1"] == ("READY", "")
    assert loaded(server) == {"m1"}
    poll_until("the load is counted", lambda: number(server, "loads") == 1)


def test_over_grpc(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 2)
    server = server_factory(model_repository, ON_DEMAND)
    with grpc_client.InferenceServerClient(server.grpc_url) as client:
        assert client.is_model_ready("m0")
        with pytest.raises(grpc_client.InferenceServerException, match="is being loaded") as error:
            client.get_model_metadata("m0")
        assert error.value.status() == "StatusCode.UNAVAILABLE"
        poll_until("m0 is loaded", lambda: loaded(server) == {"m0"})
        assert client.get_model_metadata("m0").name == "m0"


def test_unknown_models_and_lists_load_nothing(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository, 3)
    server = server_factory(model_repository, ON_DEMAND)
    for name in ("x", "..", "m9"):
        assert echo(server.http_url, name).status == 404
    assert raw_http.get(server.http_url, "/v1/models").json()["data"] == []
    assert raw_http.get(server.http_url, "/v2/models/x/ready").status != 200
    assert number(server, "waiting") == number(server, "loads") == 0


def test_the_least_recently_used_leaves(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository, 4)
    server = server_factory(
        model_repository, ON_DEMAND, f"--memory-budget={2 * BYTES}", "--load-model=m0"
    )
    assert loaded(server) == {"m0"}
    infer(server, "m1")
    infer(server, "m2")
    assert loaded(server) == {"m0", "m2"}
    assert index(server)["m1", ""] == ("READY", f"{NOT_LOADED} ({BYTES} bytes)")
    assert number(server, "evictions") == 1
    # Loaded by name, m2 stays until it is unloaded by name.
    assert raw_http.post(server.http_url, "/v2/repository/models/m2/load").status == 200
    infer_is_refused(server, "m1")
    assert loaded(server) == {"m0", "m2"}
    assert raw_http.post(server.http_url, "/v2/repository/models/m2/unload").status == 200
    infer(server, "m3")
    assert loaded(server) == {"m0", "m3"}


def test_what_cannot_fit_is_refused(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 1)
    server = server_factory(model_repository, ON_DEMAND, f"--memory-budget={BYTES - 1}")
    infer_is_refused(server, "m0", "needs 1000 bytes, and at most 999")
    assert not raw_http.get(server.http_url, "/v2/models/m0/ready").status == 200


def test_idle_models_leave(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 1)
    server = server_factory(model_repository, ON_DEMAND, "--idle-unload-secs=1")
    infer(server, "m0")
    poll_until("m0 is unloaded", lambda: loaded(server) == set())
    assert number(server, "idle_unloads") == 1
    infer(server, "m0")


def test_many_clients_and_models(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    names = add_models(model_repository, 30)
    server = server_factory(model_repository, ON_DEMAND, f"--memory-budget={6 * BYTES}")

    def run(client: int) -> None:
        chosen = random.Random(client)
        for turn in range(12):
            skewed = min(chosen.randrange(30), chosen.randrange(30))
            model = names[skewed] if client % 2 else names[(client + turn) % 30]
            infer(server, model, float(client * 100 + turn))

    with ThreadPoolExecutor(32) as clients:
        for done in [clients.submit(run, client) for client in range(32)]:
            done.result()
    assert number(server, "evictions") > 0
    assert number(server, "failed_loads") == 0
    assert number(server, "bytes") <= 7 * BYTES
    log = server.stderr_text()
    assert "failed to" not in log


def test_requests_wait_for_their_model(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    names = add_models(model_repository, 6)
    server = server_factory(model_repository, ON_DEMAND, "--load-wait-secs=60", "--tfs-http-port=0")
    answer = echo(server.http_url, names[0], [4.0])
    assert answer.status == 200, answer.body
    assert answer.json()["outputs"][0]["data"] == [4.0]
    assert raw_http.get(server.http_url, f"/v2/models/{names[1]}").json()["name"] == names[1]
    tensor = grpc_client.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.array([5], dtype=np.float32))
    with grpc_client.InferenceServerClient(server.grpc_url) as client:
        result = client.infer(names[2], [tensor], client_timeout=60)
        assert result.as_numpy("OUTPUT0").tolist() == [5]
        answers: queue.Queue[Any] = queue.Queue()
        client.start_stream(lambda result, error: answers.put((result, error)))
        for name in (names[3], names[0], names[3]):
            client.async_stream_infer(name, [tensor], request_id=name)
        for name in (names[3], names[0], names[3]):  # in their order
            result, error = answers.get(timeout=60)
            assert error is None
            assert result.get_response().id == name
        client.stop_stream()
    tfs = f"{LOOPBACK}:{server.port('tfs_http')}"
    predicted = raw_http.post_json(tfs, f"/v1/models/{names[4]}:predict", {"inputs": [6.0]})
    assert predicted.json() == {"outputs": [6.0]}
    generated = raw_http.post_json(
        server.http_url, f"/v2/models/{names[5]}/generate", {"INPUT0": [7.0]}
    )
    assert generated.json()["OUTPUT0"] in (7.0, [7.0])
    assert number(server, "loads") == len(names)


def test_who_waits_too_long_is_refused(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    slow = {"behaviour": "slow_load", "delay_ms": "6000"}
    model_repository.add_identity("slow", "INT32", parameters=slow, backend="testing")
    server = server_factory(model_repository, ON_DEMAND, "--load-wait-secs=1")
    answer = echo(server.http_url, "slow")
    assert answer.status == 503
    assert "is being loaded" in answer.error()
    assert answer.header("Retry-After") == "1"


def test_who_leaves_waits_no_longer(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    slow = {"behaviour": "slow_load", "delay_ms": "6000"}
    model_repository.add_identity("slow", "INT32", parameters=slow, backend="testing")
    server = server_factory(model_repository, ON_DEMAND, "--load-wait-secs=60")
    request = service_pb2.ModelInferRequest(model_name="slow")
    channel = grpc.insecure_channel(server.grpc_url)
    call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(request)
    host, port = server.http_url.split(":")
    with socket.create_connection((host, int(port))) as client:
        body = b"{}"
        head = f"POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        poll_until("both wait", lambda: number(server, "waiting_requests") == 2)
        assert metric(server.metrics_url, "nereid_in_flight_requests") == 2
    call.cancel()
    channel.close()
    poll_until("none is open", lambda: metric(server.metrics_url, "nereid_in_flight_requests") == 0)


def test_the_end_of_the_server_ends_the_waiting(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    slow = {"behaviour": "slow_load", "delay_ms": "3000"}
    model_repository.add_identity("slow", "INT32", parameters=slow, backend="testing")
    server = server_factory(model_repository, ON_DEMAND, "--load-wait-secs=60")
    waiting = InBackground(server.http_url, "slow")
    poll_until("it waits", lambda: number(server, "waiting_requests") == 1)
    server.send_signal(signal.SIGTERM)
    assert waiting.answer().status == 503
    assert server.wait_exit() == 0


def test_large_requests_wait_too(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """Their bodies are read on other threads than small ones."""
    names = add_models(model_repository, 2)
    server = server_factory(model_repository, ON_DEMAND, "--load-wait-secs=60")
    values = [float(number % 1000) for number in range(300_000)]
    answer = echo(server.http_url, names[0], values)
    assert answer.status == 200
    assert answer.json()["outputs"][0]["data"] == values
    request = service_pb2.ModelInferRequest(model_name=names[1])
    tensor = request.inputs.add(name="INPUT0", datatype="FP32", shape=[len(values)])
    tensor.contents.fp32_contents.extend(values)
    with grpc.insecure_channel(server.grpc_url) as channel:
        got = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer(request, timeout=60)
    assert struct.unpack(f"<{len(values)}f", got.raw_output_contents[0]) == tuple(values)


def test_an_ensemble_comes_and_goes_with_its_members(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository, 2)
    model_repository.add(
        "all",
        f'platform: "ensemble"\n'
        f"input [ {tensor_text('INPUT0', 'FP32', (-1,))} ]\n"
        f"output [ {tensor_text('OUTPUT0', 'FP32', (-1,))} ]\n"
        f"ensemble_scheduling {{ step {{ model_name: 'm0' model_version: -1\n"
        f"  input_map {{ key: 'INPUT0' value: 'INPUT0' }}\n"
        f"  output_map {{ key: 'OUTPUT0' value: 'OUTPUT0' }} }} }}\n"
        f'parameters {{ key: "nereid.memory_bytes" value {{ string_value: "{BYTES}" }} }}\n',
    )
    server = server_factory(model_repository, ON_DEMAND, f"--memory-budget={BYTES}")
    infer(server, "all")
    assert loaded(server) == {"all", "m0"}
    infer(server, "m1")
    assert loaded(server) == {"m1"}


def test_a_live_sequence_keeps_its_model(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository, 1)
    model_repository.add_identity(
        "talk",
        parameters={"nereid.memory_bytes": str(BYTES)},
        extra="sequence_batching { max_sequence_idle_microseconds: 600000000 }",
    )
    server = server_factory(model_repository, ON_DEMAND, f"--memory-budget={BYTES}")

    def say(**parameters: bool) -> HttpAnswer:
        document = echo_document([1.0], parameters={"sequence_id": 7, **parameters})
        return raw_http.post_json(server.http_url, "/v2/models/talk/infer", document)

    poll_until("the sequence begins", lambda: say(sequence_start=True).status == 200)
    # Longer than a model stays that nobody has used.
    for _ in range(30):
        assert echo(server.http_url, "m0").status == 503
        time.sleep(0.1)
    assert say().status == 200
    assert say(sequence_end=True).status == 200
    infer(server, "m0")
    assert loaded(server) == {"m0"}


def test_footprints_outlive_the_server(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    """What is known to be too large is refused without a load, until its files change."""
    add_models(model_repository, 1)
    file = tmp_path / "footprints"
    keeps = f"--footprints-file={file}"
    first = server_factory(model_repository, ON_DEMAND, keeps)
    infer(first, "m0")
    first.send_signal(signal.SIGTERM)
    assert first.wait_exit() == 0
    second = server_factory(model_repository, ON_DEMAND, keeps, f"--memory-budget={BYTES - 1}")
    assert index(second)["m0", ""] == ("READY", f"{NOT_LOADED} ({BYTES} bytes)")
    infer_is_refused(second, "m0", f"needs {BYTES} bytes, and at most {BYTES - 1}")
    assert number(second, "failed_loads") == number(second, "loads") == 0
    model_repository.add_identity("m0", parameters={"nereid.memory_bytes": str(BYTES // 2)})
    poll_until("m0 is served", lambda: echo(second.http_url, "m0").status == 200)
    second.send_signal(signal.SIGTERM)
    assert second.wait_exit() == 0
    file.write_bytes(file.read_bytes()[:-1])
    third = server_factory(model_repository, ON_DEMAND, keeps)
    assert index(third)["m0", ""] == ("READY", NOT_LOADED)
    assert f"file {file} is damaged" in third.stderr_text()
