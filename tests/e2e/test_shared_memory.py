# SPDX-License-Identifier: Apache-2.0
"""System shared memory with the official clients and their utilities, over HTTP and gRPC."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http
import tritonclient.http.aio
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

from conftest import ServerFactory
from support.repository import ModelRepository
from support.server_process import ServerProcess

ALLOW = "--allow-client-shm=true"
DISABLED = (
    "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable."
)
VALUES = np.arange(16, dtype=np.float32)


@dataclass(frozen=True)
class Protocol:
    """One of the official clients, and where it connects."""

    module: ModuleType
    url: Callable[[ServerProcess], str]

    def client(self, server: ServerProcess) -> Any:
        return self.module.InferenceServerClient(self.url(server))


def http_address(server: ServerProcess) -> str:
    return server.http_url.removeprefix("http://")


PROTOCOLS = {
    "http": Protocol(tritonclient.http, http_address),
    "grpc": Protocol(tritonclient.grpc, lambda server: server.grpc_url),
}


@dataclass
class Region:
    """A segment, and a region of the same name that covers it."""

    name: str
    key: str
    handle: Any
    size: int


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("numbers", "FP32", (-1,))
    model_repository.add_identity("texts", "STRING", (-1,))
    return model_repository


@pytest.fixture
def server(server_factory: ServerFactory, models: ModelRepository) -> ServerProcess:
    return server_factory(models, ALLOW)


@pytest.fixture(params=PROTOCOLS)
def protocol(request: pytest.FixtureRequest) -> Protocol:
    return PROTOCOLS[request.param]


@pytest.fixture
def client(protocol: Protocol, server: ServerProcess) -> Iterator[Any]:
    with protocol.client(server) as client:
        yield client


@pytest.fixture
def make_region() -> Iterator[Callable[[str, int], Region]]:
    made: list[Region] = []

    def make(name: str, size: int) -> Region:
        key = f"/nereid-test-{os.getpid()}-{name}"
        made.append(Region(name, key, shm.create_shared_memory_region(name, key, size), size))
        return made[-1]

    yield make
    for region in made:
        shm.destroy_shared_memory_region(region.handle)


def shared_input(protocol: Protocol, region: str, size: int, offset: int = 0) -> Any:
    tensor = protocol.module.InferInput("INPUT0", [size // 4], "FP32")
    tensor.set_shared_memory(region, size, offset)
    return tensor


def shared_output(protocol: Protocol, region: str, size: int, offset: int = 0) -> Any:
    tensor = protocol.module.InferRequestedOutput("OUTPUT0")
    tensor.set_shared_memory(region, size, offset)
    return tensor


def assert_only_named(output: Any) -> None:
    """Checks that the response has the output without its data."""
    if isinstance(output, dict):
        assert output.keys() == {"name", "datatype", "shape"}
    else:
        assert output.name and not output.HasField("contents") and not output.parameters


def test_tensors_go_through_regions(
    client: Any, protocol: Protocol, make_region: Callable[[str, int], Region]
) -> None:
    source, target = make_region("source", 64), make_region("target", 128)
    shm.set_shared_memory_region(source.handle, [VALUES])
    for region in (source, target):
        client.register_system_shared_memory(region.name, region.key, region.size)
    result = client.infer(
        "numbers",
        [shared_input(protocol, "source", 64)],
        outputs=[shared_output(protocol, "target", 64, 64)],
    )
    assert_only_named(result.get_output("OUTPUT0"))
    np.testing.assert_array_equal(
        shm.get_contents_as_numpy(target.handle, np.float32, [32])[16:], VALUES
    )
    # Each side alone, and a part of a region.
    result = client.infer("numbers", [shared_input(protocol, "source", 32, 32)])
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), VALUES[8:])
    plain = protocol.module.InferInput("INPUT0", [4], "FP32")
    plain.set_data_from_numpy(VALUES[:4])
    client.infer("numbers", [plain], outputs=[shared_output(protocol, "target", 16)])
    np.testing.assert_array_equal(
        shm.get_contents_as_numpy(target.handle, np.float32, [4]), VALUES[:4]
    )


def test_texts_go_through_regions(
    client: Any, protocol: Protocol, make_region: Callable[[str, int], Region]
) -> None:
    texts = np.array([b"one", b"", b"three"], dtype=np.object_)
    size = sum(4 + len(text) for text in texts)
    region = make_region("texts", size)
    shm.set_shared_memory_region(region.handle, [serialize_byte_tensor(texts)])
    client.register_system_shared_memory("texts", region.key, size)
    tensor = protocol.module.InferInput("INPUT0", [3], "BYTES")
    tensor.set_shared_memory("texts", size)
    result = client.infer("texts", [tensor], outputs=[shared_output(protocol, "texts", size)])
    assert_only_named(result.get_output("OUTPUT0"))
    found = shm.get_contents_as_numpy(region.handle, np.object_, [3])
    assert list(found) == list(texts)


def names_of(status: Any) -> list[str]:
    if isinstance(status, list):
        return [region["name"] for region in status]
    return sorted(status.regions)


def test_regions_are_listed_and_forgotten(
    client: Any, make_region: Callable[[str, int], Region]
) -> None:
    assert names_of(client.get_system_shared_memory_status()) == []
    for name in ("a", "b", "c"):
        region = make_region(name, 64)
        client.register_system_shared_memory(name, region.key, 48, offset=16)
    assert names_of(client.get_system_shared_memory_status()) == ["a", "b", "c"]
    status = client.get_system_shared_memory_status("b")
    if isinstance(status, list):
        offset, size = status[0]["offset"], status[0]["byte_size"]
    else:
        offset, size = status.regions["b"].offset, status.regions["b"].byte_size
    assert (offset, size) == (16, 48)
    client.unregister_system_shared_memory("b")
    client.unregister_system_shared_memory("unknown")
    assert names_of(client.get_system_shared_memory_status()) == ["a", "c"]
    client.unregister_system_shared_memory()
    assert names_of(client.get_system_shared_memory_status()) == []


@pytest.mark.parametrize(
    "arguments,text",
    [
        (("r", "/nereid-absent", 4), "Unable to open shared memory region: '/nereid-absent'"),
        (("r", "", 4), "cannot register shared memory region 'r' - invalid shm key ''"),
        (("r", "KEY", 65), "failed to register shared memory region 'r': invalid args"),
        (("taken", "KEY", 4), "shared memory region 'taken' already in manager"),
        (
            ("r", "triton_python_backend_shm_region_1", 4),
            "the key contains the reserved prefix 'triton_python_backend_shm_region_'",
        ),
    ],
)
def test_regions_that_are_refused(
    client: Any, make_region: Callable[[str, int], Region], arguments: Any, text: str
) -> None:
    region = make_region("refused", 64)
    client.register_system_shared_memory("taken", region.key, 64)
    name, key, size = arguments
    with pytest.raises(InferenceServerException) as error:
        client.register_system_shared_memory(name, region.key if key == "KEY" else key, size)
    assert text in error.value.message()


@pytest.mark.parametrize(
    "region,size,offset,text",
    [
        ("unknown", 64, 0, "Unable to find shared memory region: 'unknown'"),
        ("r", 4, 64, "Invalid offset for shared memory region: 'r'"),
        ("r", 68, 0, "Invalid offset + byte size for shared memory region: 'r'"),
        ("r", 8, 60, "Invalid offset + byte size for shared memory region: 'r'"),
    ],
)
def test_tensors_outside_a_region(
    client: Any,
    protocol: Protocol,
    make_region: Callable[[str, int], Region],
    region: str,
    size: int,
    offset: int,
    text: str,
) -> None:
    client.register_system_shared_memory("r", make_region("outside", 64).key, 64)
    plain = protocol.module.InferInput("INPUT0", [1], "FP32")
    plain.set_data_from_numpy(VALUES[:1])
    for inputs, outputs in (
        ([shared_input(protocol, region, size, offset)], None),
        ([plain], [shared_output(protocol, region, size, offset)]),
    ):
        with pytest.raises(InferenceServerException) as error:
            client.infer("numbers", inputs, outputs=outputs)
        assert text in error.value.message()


def test_an_output_that_does_not_fit(
    client: Any, protocol: Protocol, make_region: Callable[[str, int], Region]
) -> None:
    region = make_region("small", 64)
    client.register_system_shared_memory("small", region.key, 64)
    with pytest.raises(InferenceServerException) as error:
        client.infer(
            "numbers",
            [shared_input(protocol, "small", 64)],
            outputs=[shared_output(protocol, "small", 60)],
        )
    assert (
        "shared memory size specified with the request for output 'OUTPUT0' (60 bytes) should be at "
        "least 64 bytes to hold the results" in error.value.message()
    )


def test_a_truncated_segment_is_refused_and_others_are_served(
    client: Any, protocol: Protocol, make_region: Callable[[str, int], Region]
) -> None:
    region, other = make_region("truncated", 64), make_region("whole", 64)
    for one in (region, other):
        client.register_system_shared_memory(one.name, one.key, 64)
    os.truncate(f"/dev/shm{region.key}", 0)
    with pytest.raises(InferenceServerException) as error:
        client.infer("numbers", [shared_input(protocol, "truncated", 64)])
    assert "'truncated' was truncated after its registration" in error.value.message()
    client.infer("numbers", [shared_input(protocol, "whole", 64)])


def test_cuda_says_that_there_is_none(client: Any) -> None:
    assert not names_of(client.get_cuda_shared_memory_status())
    with pytest.raises(InferenceServerException) as error:
        client.register_cuda_shared_memory("r", b"A" * 88, 0, 64)
    assert (
        "failed to register CUDA shared memory region: 'r', GPUs not supported"
        in error.value.message()
    )
    client.unregister_cuda_shared_memory()


def test_off_unless_allowed(
    server_factory: ServerFactory, models: ModelRepository, protocol: Protocol
) -> None:
    with protocol.client(server_factory(models)) as client:
        assert names_of(client.get_system_shared_memory_status()) == []
        for call in (
            lambda: client.register_system_shared_memory("r", "/k", 4),
            client.unregister_system_shared_memory,
            lambda: client.register_cuda_shared_memory("r", b"A" * 88, 0, 64),
            client.unregister_cuda_shared_memory,
        ):
            with pytest.raises(InferenceServerException) as error:
                call()
            assert error.value.message() == DISABLED
        with pytest.raises(InferenceServerException) as error:
            client.infer("numbers", [shared_input(protocol, "r", 4)])
        assert "Unable to find shared memory region: 'r'" in error.value.message()


def test_both_protocols_share_their_regions(
    server: ServerProcess, make_region: Callable[[str, int], Region]
) -> None:
    region = make_region("both", 64)
    shm.set_shared_memory_region(region.handle, [VALUES])

    async def ask() -> Any:
        async with tritonclient.http.aio.InferenceServerClient(http_address(server)) as http:
            await http.register_system_shared_memory("both", region.key, 64)
        async with tritonclient.grpc.aio.InferenceServerClient(server.grpc_url) as client:
            tensor = shared_input(PROTOCOLS["grpc"], "both", 64)
            answer = await client.infer("numbers", [tensor])
            await client.unregister_system_shared_memory("both")
            return answer

    np.testing.assert_array_equal(asyncio.run(ask()).as_numpy("OUTPUT0"), VALUES)


def test_streams_use_regions(
    server: ServerProcess, make_region: Callable[[str, int], Region]
) -> None:
    region = make_region("stream", 128)
    shm.set_shared_memory_region(region.handle, [VALUES])
    answers: list[Any] = []
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        client.register_system_shared_memory("stream", region.key, 128)
        client.start_stream(lambda result, error: answers.append((result, error)))
        grpc = PROTOCOLS["grpc"]
        client.async_stream_infer(
            "numbers",
            [shared_input(grpc, "stream", 64)],
            outputs=[shared_output(grpc, "stream", 64, 64)],
        )
        client.stop_stream()
    ((_, error),) = answers
    assert error is None
    found = shm.get_contents_as_numpy(region.handle, np.float32, [32])
    np.testing.assert_array_equal(found[16:], VALUES)
