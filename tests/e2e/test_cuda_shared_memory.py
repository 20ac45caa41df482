# SPDX-License-Identifier: Apache-2.0
"""CUDA shared memory on simulated GPUs, with the official clients over HTTP and gRPC."""

from __future__ import annotations

import base64
import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from conftest import ServerFactory
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

from support import raw_http, trace_files
from support.cuda_memory import HANDLE_BYTES, CudaMemory, Machine, simulated_machine
from support.gpus import add_testing, simulated_gpus
from support.metrics import metric
from support.nereid import INTERPRETER, start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

VALUES = np.arange(16, dtype=np.float32)
SIZE = VALUES.nbytes
MODULES = {"http": tritonclient.http, "grpc": tritonclient.grpc}
GPUS = 2

CHAIN = """
name: "chain" platform: "ensemble" max_batch_size: 0
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "SAME" data_type: TYPE_FP32 dims: [ -1 ] }
ensemble_scheduling {
  step {
    model_name: "cpu" model_version: -1
    input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "middle" }
  }
  step {
    model_name: "gpu" model_version: -1
    input_map { key: "INPUT0" value: "middle" } output_map { key: "OUTPUT0" value: "OUTPUT0" }
  }
  step {
    model_name: "cpu" model_version: -1
    input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "SAME" }
  }
}
"""


ECHO = """import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            values = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", values)]))
        return answers
"""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with simulated_machine(GPUS) as machine:
        yield machine


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Ends with nothing left on its GPUs."""
    folder = tmp_path_factory.mktemp("cuda_shared_memory")
    models = ModelRepository(folder / "models")
    models.add_identity("cpu", "FP32", (-1,))
    models.add_identity("cached", "FP32", (-1,), extra="response_cache { enable: true }")
    models.add_identity("texts", "STRING", (-1,))
    add_testing(models, "gpu", "gpu_identity", "instance_group { gpus: [ 0 ] }")
    models.add("chain", CHAIN)
    python = models.add_identity("python", "FP32", (-1,), backend="python")
    (python / "1" / "model.py").write_text(ECHO)
    state = folder / "state"
    server = start_nereid(
        models.root,
        folder / "log",
        ["--allow-client-shm=true", "--cache-config=local,size=1048576", INTERPRETER],
        simulated_gpus(GPUS, state=state, seed="3"),
    )
    try:
        server.wait_for("/v2/health/ready")
        yield server
    finally:
        server.stop()
    left = dict(line.split() for line in state.read_text().splitlines())
    assert (left["alive"], left["early_frees"]) == ("0", "0")


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> Any:
    return MODULES[request.param]


@pytest.fixture
def client(module: Any, server: ServerProcess) -> Iterator[Any]:
    url = server.grpc_url if module is tritonclient.grpc else server.http_url.removeprefix("http://")
    with module.InferenceServerClient(url) as client:
        yield client
        client.unregister_cuda_shared_memory()


@pytest.fixture
def make(machine: Machine, client: Any) -> Iterator[Callable[..., CudaMemory]]:
    """Makes memory on a GPU and registers it; it is freed after the region has been forgotten."""
    made: list[CudaMemory] = []

    def make(name: str, data: bytes, gpu: int = 0) -> CudaMemory:
        memory = CudaMemory(machine, len(data), gpu)
        made.append(memory)
        memory.write(data)
        client.register_cuda_shared_memory(name, memory.handle, gpu, len(data))
        return memory

    yield make
    client.unregister_cuda_shared_memory()
    for memory in made:
        memory.free()


def shared_input(module: Any, region: str, size: int = SIZE, offset: int = 0) -> Any:
    tensor = module.InferInput("INPUT0", [size // 4], "FP32")
    tensor.set_shared_memory(region, size, offset)
    return tensor


def plain_input(module: Any) -> Any:
    tensor = module.InferInput("INPUT0", [len(VALUES)], "FP32")
    tensor.set_data_from_numpy(VALUES)
    return tensor


def shared_output(
    module: Any, region: str, size: int = SIZE, offset: int = 0, name: str = "OUTPUT0"
) -> Any:
    tensor = module.InferRequestedOutput(name)
    tensor.set_shared_memory(region, size, offset)
    return tensor


def parameters(result: Any) -> dict[str, Any]:
    response = result.get_response()
    if isinstance(response, dict):
        return dict(response.get("parameters", {}))
    return {
        name: getattr(value, value.WhichOneof("parameter_choice"))
        for name, value in response.parameters.items()
    }


def regions(client: Any) -> dict[str, tuple[int, int]]:
    status = client.get_cuda_shared_memory_status()
    if isinstance(status, list):
        return {one["name"]: (one["device_id"], one["byte_size"]) for one in status}
    return {name: (one.device_id, one.byte_size) for name, one in status.regions.items()}


def refusal(call: Callable[[], Any]) -> str:
    with pytest.raises(InferenceServerException) as error:
        call()
    return str(error.value.message())


def test_regions_are_listed_and_forgotten(client: Any, make: Callable[..., CudaMemory]) -> None:
    make("a", bytes(64))
    make("b", bytes(128), gpu=1)
    assert regions(client) == {"a": (0, 64), "b": (1, 128)}
    client.unregister_system_shared_memory()
    client.unregister_system_shared_memory("a")
    client.unregister_cuda_shared_memory("unknown")
    assert regions(client) == {"a": (0, 64), "b": (1, 128)}
    assert (
        refusal(lambda: client.get_system_shared_memory_status("a"))
        == "The region named 'a' is registered as CUDA shared memory, not system shared memory"
    )
    assert (
        refusal(lambda: client.get_cuda_shared_memory_status("c"))
        == "Unable to find cuda shared memory region: 'c'"
    )
    client.unregister_cuda_shared_memory("a")
    assert regions(client) == {"b": (1, 128)}
    client.unregister_cuda_shared_memory()
    assert not regions(client)


def test_the_server_names_the_extension(client: Any) -> None:
    metadata = client.get_server_metadata()
    extensions = metadata["extensions"] if isinstance(metadata, dict) else metadata.extensions
    assert "cuda_shared_memory" in extensions


@pytest.mark.parametrize("gpu", range(GPUS))
@pytest.mark.parametrize("model", ["cpu", "gpu", "cached", "python"])
def test_tensors_go_through_regions(
    client: Any, module: Any, make: Callable[..., CudaMemory], model: str, gpu: int
) -> None:
    """Also on another GPU than the instance's, and twice, because an answer could be cached."""
    make("in", VALUES.tobytes(), gpu)
    out = make("out", bytes(2 * SIZE), gpu)
    on_gpu = model == "gpu"
    for _ in range(2):
        out.write(bytes(2 * SIZE))
        result = client.infer(
            model, [shared_input(module, "in")], outputs=[shared_output(module, "out", SIZE, SIZE)]
        )
        assert out.read() == bytes(SIZE) + VALUES.tobytes()
        if on_gpu:
            told = parameters(result)
            assert (told["input_on_gpu"], told["output_on_gpu"]) == (True, True)
    # Each side alone, and a part of a region.
    result = client.infer(model, [shared_input(module, "in", 32, 32)])
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), VALUES[8:])
    if on_gpu:
        assert not parameters(result)["output_on_gpu"]
    out.write(bytes(2 * SIZE))
    client.infer(model, [plain_input(module)], outputs=[shared_output(module, "out")])
    assert out.read() == VALUES.tobytes() + bytes(SIZE)


@pytest.mark.parametrize("model", ["cpu", "python"])
def test_large_tensors_go_through_regions(
    client: Any, module: Any, make: Callable[..., CudaMemory], model: str
) -> None:
    """So large that other ones go to models' processes and back without a copy."""
    data = np.arange(1 << 18, dtype=np.float32).tobytes()
    make("in", data)
    out = make("out", bytes(len(data)), 1)
    client.infer(
        model,
        [shared_input(module, "in", len(data))],
        outputs=[shared_output(module, "out", len(data))],
    )
    assert out.read() == data


def test_an_ensemble_reads_and_writes_regions(
    client: Any, module: Any, make: Callable[..., CudaMemory]
) -> None:
    make("in", VALUES.tobytes(), 1)
    out = make("out", bytes(2 * SIZE))
    outputs = [
        shared_output(module, "out", SIZE, 0),
        shared_output(module, "out", SIZE, SIZE, name="SAME"),
    ]
    client.infer("chain", [shared_input(module, "in")], outputs=outputs)
    assert out.read() == 2 * VALUES.tobytes()
    out.write(bytes(2 * SIZE))
    client.infer("chain", [plain_input(module)], outputs=outputs)
    assert out.read() == 2 * VALUES.tobytes()
    result = client.infer("chain", [shared_input(module, "in")])
    for name in ("OUTPUT0", "SAME"):
        np.testing.assert_array_equal(result.as_numpy(name), VALUES)


def test_backends_get_the_handles_of_regions(
    client: Any, module: Any, make: Callable[..., CudaMemory]
) -> None:
    """Those with which their owners registered them, wherever in a region the tensors lie."""
    given = make("in", bytes(SIZE) + VALUES.tobytes(), 1)
    taken = make("out", bytes(2 * SIZE))
    result = client.infer(
        "gpu",
        [shared_input(module, "in", SIZE, SIZE)],
        outputs=[shared_output(module, "out", SIZE, SIZE)],
    )
    told = parameters(result)
    assert told["input_ipc_handle"] == given.raw_handle.hex()
    assert told["output_ipc_handle"] == taken.raw_handle.hex()
    told = parameters(client.infer("gpu", [plain_input(module)]))
    assert not {"input_ipc_handle", "output_ipc_handle"} & told.keys()


def texts_input(module: Any, size: int, count: int = 3) -> Any:
    tensor = module.InferInput("INPUT0", [count], "BYTES")
    tensor.set_shared_memory("texts", size)
    return tensor


def test_texts_are_checked_when_they_are_read(
    client: Any, module: Any, make: Callable[..., CudaMemory]
) -> None:
    texts = np.array([b"one", b"", b"three"], dtype=np.object_)
    data = bytes(serialize_byte_tensor(texts).item())
    memory = make("texts", data)
    result = client.infer("texts", [texts_input(module, len(data))])
    assert list(result.as_numpy("OUTPUT0")) == list(texts)
    memory.write(b"\xff" * len(data))
    assert "incomplete string data for inference input 'INPUT0' for model 'texts'" in refusal(
        lambda: client.infer("texts", [texts_input(module, len(data))])
    )


def test_places_that_are_refused(
    client: Any, module: Any, make: Callable[..., CudaMemory]
) -> None:
    make("r", VALUES.tobytes())
    for size, offset, text in (
        (4, SIZE, "Invalid offset for shared memory region: 'r'"),
        (SIZE, 4, "Invalid offset + byte size for shared memory region: 'r'"),
    ):
        assert text in refusal(
            lambda: client.infer("cpu", [shared_input(module, "r", size, offset)])
        )
        assert text in refusal(
            lambda: client.infer(
                "cpu", [plain_input(module)], outputs=[shared_output(module, "r", size, offset)]
            )
        )
    for model in ("cpu", "gpu"):
        assert (
            "shared memory size specified with the request for output 'OUTPUT0' (32 bytes) should "
            "be at least 64 bytes to hold the results"
            in refusal(
                lambda: client.infer(
                    model, [shared_input(module, "r")], outputs=[shared_output(module, "r", 32)]
                )
            )
        )


def test_registrations_that_are_refused(
    client: Any, machine: Machine, make: Callable[..., CudaMemory]
) -> None:
    """And nothing of them stays open: the fixture of the server looks."""
    memory = make("r", bytes(64))
    other = base64.b64encode(b"A" * HANDLE_BYTES)

    def text(name: str, handle: bytes, gpu: int, size: int) -> str:
        return refusal(lambda: client.register_cuda_shared_memory(name, handle, gpu, size))

    assert "shared memory region 'r' already in manager" in text("r", memory.handle, 0, 64)
    assert "failed to register shared memory region 'big': invalid args: it must have 1 to 64" in (
        text("big", memory.handle, 0, 65)
    )
    assert "failed to register shared memory region 'none': invalid args" in (
        text("none", memory.handle, 0, 0)
    )
    refused = "failed to register shared memory region: invalid args for"
    assert f"{refused} 'far': this server uses no GPU 9, but these: 0, 1" in (
        text("far", memory.handle, 9, 64)
    )
    assert f"{refused} 'bad': GPU 0 cannot open a region of another process" in (
        text("bad", other, 0, 64)
    )
    client.register_cuda_shared_memory("again", memory.handle, 0, 32)
    assert regions(client) == {"r": (0, 64), "again": (0, 32)}


REGISTER = "/v2/cudasharedmemory/region/r/register"
HANDLE = {"b64": base64.b64encode(b"A" * HANDLE_BYTES).decode()}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "Shared memory register request has no 'raw_handle' field"),
        ({"raw_handle": {}}, "Shared memory register request has no 'b64' field"),
        ({"raw_handle": HANDLE, "byte_size": 4}, "has no 'device_id' field"),
        ({"raw_handle": HANDLE, "device_id": 0}, "has no 'byte_size' field"),
        ({"raw_handle": HANDLE, "device_id": -1, "byte_size": 4}, "Unable to parse 'device_id'"),
        *(
            (
                {"raw_handle": {"b64": given}, "device_id": 0, "byte_size": 4},
                "'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t",
            )
            for given in ("!!!", HANDLE["b64"][:40])
        ),
    ],
)
def test_bodies_that_are_refused(server: ServerProcess, body: Any, text: str) -> None:
    answer = raw_http.post(server.http_url, REGISTER, body=json.dumps(body).encode())
    assert (answer.status, text in answer.error()) == (400, True), answer.body


def test_a_handle_of_another_length_is_refused_over_grpc(server: ServerProcess) -> None:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        short = base64.b64encode(b"A" * 63)
        assert "the handle of a region of GPU memory has 63 bytes: it must have 64" in refusal(
            lambda: client.register_cuda_shared_memory("r", short, 0, 4)
        )


def test_many_at_a_time(
    client: Any, module: Any, server: ServerProcess, make: Callable[..., CudaMemory]
) -> None:
    """Every answer is the one to its own input, on instances that I/O threads would run otherwise."""
    count = 32
    data = np.arange(count * 16, dtype=np.float32)
    make("in", data.tobytes())
    out = make("out", bytes(data.nbytes), 1)

    def one(i: int) -> None:
        result = raw_http.post(
            server.http_url,
            f"/v2/models/{('cpu', 'gpu')[i % 2]}/infer",
            body=json.dumps(
                {
                    "inputs": [
                        {
                            "name": "INPUT0",
                            "shape": [16],
                            "datatype": "FP32",
                            "parameters": {
                                "shared_memory_region": "in",
                                "shared_memory_byte_size": 64,
                                "shared_memory_offset": 64 * i,
                            },
                        }
                    ],
                    "outputs": [
                        {
                            "name": "OUTPUT0",
                            "parameters": {
                                "shared_memory_region": "out",
                                "shared_memory_byte_size": 64,
                                "shared_memory_offset": 64 * i,
                            },
                        }
                    ],
                }
            ).encode(),
        )
        assert result.status == 200, result.body

    # More than as many as it takes until a model counts as short.
    before = metric(server.metrics_url, "nereid_inline_execution_count", model="cpu") or 0
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, itertools.chain(*[range(count)] * 8)))
    assert out.read() == data.tobytes()
    assert (metric(server.metrics_url, "nereid_inline_execution_count", model="cpu") or 0) == before
    poll_until(
        "no memory in use",
        lambda: metric(server.metrics_url, "nereid_gpu_memory_pool_used_bytes") == 0,
    )


def test_bytes_on_gpus_count_as_in_flight(
    tmp_path: Path, machine: Machine, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("cpu", "FP32", (-1,))
    server = start_nereid(
        model_repository.root,
        tmp_path / "log",
        ["--allow-client-shm=true", "--max-in-flight-bytes=65536"],
        simulated_gpus(GPUS),
    )
    memory = CudaMemory(machine, 1 << 20)
    memory.write(bytes(1 << 20))
    try:
        server.wait_for("/v2/health/ready")
        with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
            client.register_cuda_shared_memory("in", memory.handle, 0, 1 << 20)
            client.infer("cpu", [shared_input(tritonclient.grpc, "in", 1024)])
            text = refusal(
                lambda: client.infer("cpu", [shared_input(tritonclient.grpc, "in", 1 << 20)])
            )
            assert "bytes" in text and "65536" in text
            text = refusal(
                lambda: client.infer(
                    "cpu",
                    [shared_input(tritonclient.grpc, "in", 60000)],
                    outputs=[shared_output(tritonclient.grpc, "in", 60000)],
                )
            )
            assert "65536" in text
            client.unregister_cuda_shared_memory()
    finally:
        server.stop()
        memory.free()


def test_traces_hold_tensors_on_gpus(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    machine: Machine,
    tmp_path: Path,
) -> None:
    """Wherever the model computes, and although nobody can read them where they are."""
    model_repository.add_identity("cpu", "FP32", (-1,))
    add_testing(model_repository, "gpu", "gpu_identity", "instance_group { gpus: [ 0 ] }")
    file = tmp_path / "trace.json"
    server = server_factory(
        model_repository,
        "--allow-client-shm=true",
        "--trace-config=level=TENSORS",
        "--trace-config=rate=1",
        f"--trace-config=triton,file={file}",
        env=simulated_gpus(GPUS, state=tmp_path / "state"),
    )
    memory, out = CudaMemory(machine, SIZE, 1), CudaMemory(machine, SIZE)
    memory.write(VALUES.tobytes())
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        client.register_cuda_shared_memory("in", memory.handle, 1, SIZE)
        client.register_cuda_shared_memory("out", out.handle, 0, SIZE)
        for model in ("cpu", "gpu"):
            client.infer(
                model,
                [shared_input(tritonclient.grpc, "in")],
                outputs=[shared_output(tritonclient.grpc, "out")],
            )
        client.unregister_cuda_shared_memory()
    server.stop()
    memory.free()
    out.free()
    told = trace_files.read(file)
    assert len(told) == 2
    for trace in told.values():
        assert [activity for activity, _ in trace.tensors] == [
            "TENSOR_QUEUE_INPUT",
            "TENSOR_BACKEND_INPUT",
            "TENSOR_BACKEND_OUTPUT",
        ]
        for _, tensor in trace.tensors:
            assert list(trace_files.numbers(tensor["data"])) == list(VALUES)
    left = dict(line.split() for line in (tmp_path / "state").read_text().splitlines())
    assert (left["alive"], left["early_frees"]) == ("0", "0")
