# SPDX-License-Identifier: Apache-2.0
"""Messages of gRPC that are long, or that become much once they are parsed, and answers that nobody
takes. Whoever else asks is answered meanwhile."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from hostile.clients import CONSTANT, assert_memory, gauge, wait_until_idle
from hostile.tables import Method, tables
from support.nereid import start_nereid
from support.poll import poll_until
from support.process_memory import MIB, peak_resident, resident
from support.raw_http2 import (
    HEADERS,
    INITIAL_WINDOW_SIZE,
    REFUSED_STREAM,
    RST_STREAM,
    Http2Connection,
    message,
)
from support.repository import ModelRepository
from support.server_process import ServerProcess

SERVICE = "/inference.GRPCInferenceService/"
CHECK = "/grpc.health.v1.Health/Check"
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
# No probe may wait as long as this; it takes a loop several seconds to read what is sent here.
LONGEST_WAIT = 1.0
OWN_LINE = re.compile(r"[EWIV]\d{4} ")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("messages")
    models = ModelRepository(folder / "models")
    models.add_identity("echo")
    models.add_identity("texts", "STRING")
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def connect(server: ServerProcess, number: int = 0) -> grpc.Channel:
    """A connection of its own: others of this process have other numbers."""
    return grpc.insecure_channel(server.grpc_url, options=[*UNLIMITED, ("test.number", number)])


def call_raw(channel: grpc.Channel, path: str, body: bytes) -> bytes:
    return bytes(channel.unary_unary(path)(body, timeout=120))


def refusal(channel: grpc.Channel, path: str, body: bytes) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as error:
        call_raw(channel, path, body)
    return error.value.code().name, error.value.details()


class Probes:
    """Asks ServerLive over four connections, at least one of which is on every event loop, and notes
    how long the longest answer took."""

    CONNECTIONS = 4

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(self.CONNECTIONS)
        self.longest = 0.0
        self.answers = 0

    def __enter__(self) -> Probes:
        self._running = [self._pool.submit(self._ask, i) for i in range(self.CONNECTIONS)]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        for running in self._running:
            waits = running.result(60)
            self.longest = max(self.longest, *waits)
            self.answers += len(waits)
        self._pool.shutdown()

    def _ask(self, number: int) -> list[float]:
        waits = []
        with connect(self._server, 1 + number) as channel:
            while not self._stop.is_set():
                begin = time.monotonic()
                call_raw(channel, SERVICE + "ServerLive", b"")
                waits.append(time.monotonic() - begin)
                time.sleep(0.005)
        return waits


def field(number: int, body: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(body)) + body


def varint(value: int) -> bytes:
    digits = bytearray()
    while value >= 0x80:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(digits) + bytes([value])


def texts_message(count: int, text: bytes = b"x") -> bytes:
    """A request of `count` elements that are typed contents."""
    request = service_pb2.ModelInferRequest(model_name="texts", id="texts")
    tensor = request.inputs.add(name="INPUT0", datatype="BYTES", shape=[count])
    contents = field(8, text) * count
    body = tensor.SerializeToString() + field(5, contents)
    request.ClearField("inputs")
    return request.SerializeToString() + field(5, body)


@pytest.mark.parametrize("path", [SERVICE + "ServerLive", SERVICE + "ServerMetadata", CHECK])
def test_who_answers_at_once_reads_nothing_long(server: ServerProcess, path: str) -> None:
    before = peak_resident(server)
    with Probes(server) as probes, connect(server) as channel:
        for body in (bytes(b"\x78\x01" * (30 * MIB)), field(15, bytes(60 * MIB))):
            code, text = refusal(channel, path, body)
            assert code == "RESOURCE_EXHAUSTED"
            assert f"'{path}' takes messages of at most 65536 bytes" in text
    assert probes.longest < LONGEST_WAIT
    assert peak_resident(server) < before + 32 * MIB


@pytest.mark.parametrize("method", tables().methods, ids=lambda method: method.name)
def test_no_library_writes_what_clients_cause(server: ServerProcess, method: Method) -> None:
    """The project's own log is limited in rate and waits for nobody; stderr would be neither."""
    not_utf8 = b"".join(field(number, b"\xff\xfe") for number in range(1, 5))
    before = server.stderr_text()
    with connect(server) as channel:
        for body in (not_utf8, field(5, not_utf8), b"\xff" * 20):
            try:
                list(channel.stream_stream(method.path)(iter([body]), timeout=20))
            except grpc.RpcError as error:
                assert error.code() not in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
    lines = server.stderr_text().removeprefix(before).splitlines()
    assert all(OWN_LINE.match(line) for line in lines), lines


def test_unknown_fields_are_read_elsewhere(server: ServerProcess) -> None:
    echo = service_pb2.ModelInferRequest(model_name="echo", id="unknown")
    echo.inputs.add(name="INPUT0", datatype="FP32", shape=[1])
    echo.raw_input_contents.append(np.float32(4).tobytes())
    numbers = echo.SerializeToString() + b"\x78\x01" * (15 * MIB)
    texts = echo.SerializeToString() + b"\x7a\x00" * (4 * MIB)
    with Probes(server) as probes, connect(server) as channel:
        for body in (numbers, texts):
            answer = service_pb2.ModelInferResponse.FromString(
                call_raw(channel, SERVICE + "ModelInfer", body)
            )
            assert answer.id == "unknown"
            assert answer.raw_output_contents[0] == np.float32(4).tobytes()
        # The same for a model that is not there.
        code, text = refusal(channel, SERVICE + "ModelInfer", b"\x78\x01" * (15 * MIB))
        assert (code, "unknown model" in text) == ("NOT_FOUND", True)
    assert probes.answers > 10
    assert probes.longest < LONGEST_WAIT
    wait_until_idle(server)


def test_many_elements_are_read_elsewhere(server: ServerProcess) -> None:
    count = 3_000_000
    with Probes(server) as probes, connect(server) as channel:
        answer = call_raw(channel, SERVICE + "ModelInfer", texts_message(count))
    response = service_pb2.ModelInferResponse.FromString(answer)
    assert response.id == "texts"
    assert response.raw_output_contents[0] == b"\1\0\0\0x" * count
    assert probes.longest < LONGEST_WAIT
    wait_until_idle(server)


def test_a_stream_keeps_its_order(server: ServerProcess) -> None:
    """Long typed messages are read elsewhere, and short ones behind them wait."""
    rng = np.random.default_rng(5)
    requests = []
    for i, size in enumerate([400_000, 2, 700_000, 300_000, 1, 3, 500_000]):
        values = rng.standard_normal(size).astype(np.float32)
        request = service_pb2.ModelInferRequest(model_name="echo", id=str(i))
        tensor = request.inputs.add(name="INPUT0", datatype="FP32", shape=[size])
        if size == 2:
            request.raw_input_contents.append(values.tobytes())
        else:
            tensor.contents.fp32_contents.extend(values)
        requests.append((request, values))
    with connect(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        answers = list(stub.ModelStreamInfer(iter([r for r, _ in requests]), timeout=120))
        for (request, values), answer in zip(requests, answers, strict=True):
            assert answer.error_message == ""
            assert answer.infer_response.id == request.id
            assert answer.infer_response.raw_output_contents[0] == values.tobytes()
        request, values = requests[2]
        assert stub.ModelInfer(request).raw_output_contents[0] == values.tobytes()


def test_administration_takes_little(server: ServerProcess) -> None:
    before = peak_resident(server)
    entry = field(1, b"trace_level") + field(2, b"\x0a\x00" * 10_000_000)
    with connect(server) as channel:
        code, text = refusal(channel, SERVICE + "TraceSetting", field(1, entry))
        assert code == "RESOURCE_EXHAUSTED"
        assert f"'{SERVICE}TraceSetting' takes messages of at most {MIB} bytes" in text
        assert "--max-admin-body-bytes" in text
        # A load may be long: it carries files.
        long = service_pb2.RepositoryModelLoadRequest(model_name="echo")
        long.parameters["file:1/model"].bytes_param = bytes(4 * MIB)
        code, text = refusal(channel, SERVICE + "RepositoryModelLoad", long.SerializeToString())
        assert "larger than max" not in text
    assert peak_resident(server) < before + 64 * MIB


def test_the_limit_of_administration_is_an_option(tmp_path: Path) -> None:
    models = ModelRepository(tmp_path / "models")
    models.add_identity("echo")
    server = start_nereid(models.root, tmp_path / "log", ["--max-admin-body-bytes=5000"])
    try:
        server.wait_for()
        with connect(server) as channel:
            metadata = service_pb2.ModelMetadataRequest(name="echo").SerializeToString()
            assert call_raw(channel, SERVICE + "ModelMetadata", metadata)
            long = service_pb2.ModelMetadataRequest(name="x" * 5000).SerializeToString()
            code, text = refusal(channel, SERVICE + "ModelMetadata", long)
        assert code == "RESOURCE_EXHAUSTED"
        assert "at most 5000 bytes, which --max-admin-body-bytes sets" in text
    finally:
        server.stop()


def test_answers_that_nobody_takes_are_paid_for(tmp_path: Path) -> None:
    """The windows of a client stay closed, so that the answers of administration wait."""
    limit = 64 * MIB
    models = ModelRepository(tmp_path / "models")
    models.add_identity("wordy", parameters={"text": "x" * 400_000})
    server = start_nereid(models.root, tmp_path / "log", [f"--max-in-flight-bytes={limit}"])
    try:
        server.wait_for()
        at_rest = resident(server)
        ask = message(service_pb2.ModelConfigRequest(name="wordy").SerializeToString())
        with Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 0}) as client:
            calls = 0
            refused = 0
            while refused == 0:
                for _ in range(20):
                    client.call(SERVICE + "ModelConfig", ask, end=True)
                calls += 20
                assert calls <= 2000, "nothing is refused"
                while client.readable(0.05):
                    got = client.read_frame()
                    assert got is not None
                    if got.kind == HEADERS:
                        text = client.decode(got).get("grpc-message")
                        assert text is None or "in-flight bytes" in text
                        refused += text is not None
                    elif got.kind == RST_STREAM:  # many at a time are not told why
                        assert got.error_code() == REFUSED_STREAM
            assert limit / 2 < gauge(server, "nereid_in_flight_bytes") <= limit
            with connect(server) as channel:  # who needs little is served
                stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
                assert stub.ModelReady(service_pb2.ModelReadyRequest(name="wordy")).ready
        wait_until_idle(server)
        assert_memory(server, at_rest, limit)
    finally:
        server.stop()


def test_open_calls_are_paid_for(server: ServerProcess) -> None:
    """Of every kind, from their message to their end, however little they do."""
    wait_until_idle(server)
    with Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 0}) as client:
        paths = ("ServerLive", "ModelReady", "RepositoryIndex", "ModelStreamInfer")
        for _ in range(50):
            for path in paths:
                client.call(SERVICE + path, message(b""), end=True)
            client.call("/grpc.health.v1.Health/Watch", message(b""), end=True)
        at_least = 5 * 50 * 8192
        poll_until("they are charged", lambda: gauge(server, IN_FLIGHT) >= at_least)
        assert gauge(server, IN_FLIGHT) < CONSTANT
    wait_until_idle(server)


IN_FLIGHT = "nereid_in_flight_bytes"
