# SPDX-License-Identifier: Apache-2.0
"""More requests than the server may hold, over both protocols at once: those that fit are answered,
the others are refused at once with the name of the limit, nothing hangs, and the memory is
freed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from support import raw_http
from support.infer import assert_serving
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

MIB = 1 << 20
QUEUE = 3
BYTE_LIMIT = 12 * MIB
BULKY_FLOATS = MIB // 4  # a request is 1 MiB, its answer as well
CLIENTS = 24  # per protocol, each with one request at a time
REQUESTS = 12  # per client

QUEUE_IS_FULL = "Exceeds maximum queue size"
BYTES_ARE_USED_UP = f"server limit 'in-flight bytes' of {BYTE_LIMIT} is exhausted: "


def delayed(milliseconds: int) -> dict[str, str]:
    return {"execute_delay_ms": str(milliseconds), "nereid.inline_execution": "false"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("overload")
    models = ModelRepository(folder / "models")
    models.add_identity("echo")
    narrow = f"dynamic_batching {{ default_queue_policy {{ max_queue_size: {QUEUE} }} }}"
    models.add_identity("narrow", extra=narrow, parameters=delayed(20))
    models.add_identity("bulky", parameters=delayed(10))
    server = start_nereid(models.root, folder / "log", [f"--max-in-flight-bytes={BYTE_LIMIT}"])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@dataclass(frozen=True)
class Ending:
    """How one request ended."""

    protocol: str
    model: str
    seconds: float
    refusal: str | None  # the error text; None: the right answer


def over_http(server: ServerProcess, model: str, values: np.ndarray) -> str | None:
    size = {"binary_data_size": values.nbytes}
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [len(values)], "parameters": size}
    outputs = [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]
    document = {"inputs": [tensor], "outputs": outputs}
    answer = raw_http.binary_infer(server.http_url, model, document, values.tobytes())
    if answer.status == 200:
        assert answer.body.endswith(values.tobytes())
        return None
    assert answer.status == 503, answer.body
    return answer.error()


def over_grpc(
    stub: service_pb2_grpc.GRPCInferenceServiceStub, model: str, values: np.ndarray
) -> str | None:
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="INPUT0", datatype="FP32", shape=values.shape)
    request.raw_input_contents.append(values.tobytes())
    try:
        answer = stub.ModelInfer(request, timeout=60)
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNAVAILABLE, error
        return str(error.details())
    assert answer.raw_output_contents[0] == values.tobytes()
    return None


def flood(server: ServerProcess) -> list[Ending]:
    """Runs all clients of both protocols at once, until the last request has ended."""

    def client(number: int) -> list[Ending]:
        protocol = "http" if number % 2 else "grpc"
        endings = []
        with grpc.insecure_channel(server.grpc_url) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            for turn in range(REQUESTS):
                model = "narrow" if turn % 3 == 0 else "bulky"
                values = np.full(4 if model == "narrow" else BULKY_FLOATS, number, np.float32)
                start = time.monotonic()
                if protocol == "http":
                    refusal = over_http(server, model, values)
                else:
                    refusal = over_grpc(stub, model, values)
                endings.append(Ending(protocol, model, time.monotonic() - start, refusal))
        return endings

    with ThreadPoolExecutor(2 * CLIENTS) as pool:
        return [ending for endings in pool.map(client, range(2 * CLIENTS)) for ending in endings]


def memory(server: ServerProcess, field: str = "VmRSS") -> int:
    """Bytes of resident memory."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def test_what_does_not_fit_is_refused_at_once_and_leaves_nothing(server: ServerProcess) -> None:
    # A first flood fills pools and arenas, which are not a leak.
    assert flood(server)
    poll_until("nothing in flight", lambda: in_flight(server) == 0)
    base = memory(server)

    over = threading.Event()
    health: list[int] = []

    def watch() -> None:
        while not over.wait(0.05):
            health.append(raw_http.get(server.http_url, "/v2/health/ready").status)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        endings = [ending for _ in range(3) for ending in flood(server)]
    finally:
        over.set()
        watcher.join()
    assert len(endings) == 3 * 2 * CLIENTS * REQUESTS
    assert health
    assert set(health) == {200}

    told = {(ending.protocol, ending.model): set[str]() for ending in endings}
    for ending in endings:
        if ending.refusal is not None:
            told[ending.protocol, ending.model].add(ending.refusal)
    for protocol in ("http", "grpc"):
        assert any(QUEUE_IS_FULL in text for text in told[protocol, "narrow"])
        assert any(BYTES_ARE_USED_UP in text for text in told[protocol, "bulky"])
        answered = [e for e in endings if e.protocol == protocol and e.refusal is None]
        assert {ending.model for ending in answered} == {"narrow", "bulky"}
    for texts in told.values():
        assert all(QUEUE_IS_FULL in text or BYTES_ARE_USED_UP in text for text in texts), texts
    # Far less than if requests waited for room. On a busy machine the client is slow, too.
    assert max(ending.seconds for ending in endings if ending.refusal is not None) < 10

    poll_until("nothing in flight", lambda: in_flight(server) == 0)
    assert_serving(server.http_url)
    assert over_http(server, "bulky", np.ones(BULKY_FLOATS, np.float32)) is None
    bound = base + base // 4 + 16 * MIB
    poll_until(
        "the memory comes back",
        lambda: memory(server) <= bound,
        explain=lambda: f"{memory(server) >> 20} MiB, before {base >> 20} MiB",
    )
    # Memory for twice all requests that the clients send at a time, which the limit must prevent.
    assert memory(server, "VmHWM") < base + 2 * 2 * CLIENTS * MIB


def in_flight(server: ServerProcess) -> float:
    return metric(server.metrics_url, "nereid_in_flight_bytes")
