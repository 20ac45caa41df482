# SPDX-License-Identifier: Apache-2.0
"""Every route with the official asyncio clients: each coroutine that they have is called once."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc.aio
import tritonclient.http.aio
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support.repository import ModelRepository
from support.server_process import ServerProcess

VALUES = np.arange(4, dtype=np.float32)
OPTIONS = [
    "--model-control-mode=explicit",
    "--load-model=numbers",
    "--allow-client-shm=true",
]
# What these clients have besides coroutines that ask the server.
NO_ROUTES = {"close", "plugin", "register_plugin", "unregister_plugin"}


class Recorder:
    """Passes calls on to a client, asks gRPC clients for JSON, and remembers what was called."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        self.called.add(name)
        if "as_json" not in inspect.signature(method).parameters:
            return method
        return lambda *args, **kwargs: method(*args, **kwargs, as_json=True)


@pytest.fixture
def server(server_factory: ServerFactory, model_repository: ModelRepository) -> ServerProcess:
    model_repository.add_identity("numbers", "FP32", (-1,))
    model_repository.add_identity("later", "FP32", (-1,))
    return server_factory(model_repository, *OPTIONS)


def an_input(module: ModuleType) -> Any:
    tensor = module.InferInput("INPUT0", [4], "FP32")
    tensor.set_data_from_numpy(VALUES)
    return tensor


async def look_around(client: Recorder) -> None:
    assert await client.is_server_live()
    assert await client.is_server_ready()
    assert await client.is_model_ready("numbers")
    assert not await client.is_model_ready("later")
    assert (await client.get_server_metadata())["name"] == "nereid"
    assert (await client.get_model_metadata("numbers"))["name"] == "numbers"
    config = await client.get_model_config("numbers")
    assert config.get("config", config)["name"] == "numbers"
    statistics = await client.get_inference_statistics("numbers")
    assert statistics["model_stats"][0]["name"] == "numbers"


async def control_models(client: Recorder) -> None:
    index = await client.get_model_repository_index()
    models = index["models"] if isinstance(index, dict) else index
    names = {entry["name"] for entry in models}
    assert names == {"numbers", "later"}
    await client.load_model("later")
    assert await client.is_model_ready("later")
    await client.unload_model("later")
    with pytest.raises(InferenceServerException, match="nobody"):
        await client.load_model("nobody")


async def change_settings(client: Recorder) -> None:
    await client.update_trace_settings(settings={"trace_rate": "7"})
    assert "7" in str((await client.get_trace_settings()))
    await client.update_trace_settings("numbers", {"trace_rate": "9"})
    assert "9" in str((await client.get_trace_settings("numbers")))
    await client.update_log_settings({"log_verbose_level": 2})
    assert "2" in str((await client.get_log_settings()))


async def use_regions(client: Recorder, module: ModuleType) -> None:
    key = f"/nereid_aio_{os.getpid()}"
    handle = shm.create_shared_memory_region("aio", key, 32)
    try:
        shm.set_shared_memory_region(handle, [VALUES])
        await client.register_system_shared_memory("aio", key, 32)
        assert "aio" in str(await client.get_system_shared_memory_status())
        tensor = module.InferInput("INPUT0", [4], "FP32")
        tensor.set_shared_memory("aio", 16)
        output = module.InferRequestedOutput("OUTPUT0")
        output.set_shared_memory("aio", 16, offset=16)
        await client.infer("numbers", [tensor], outputs=[output])
        echoed = shm.get_contents_as_numpy(handle, np.float32, [4], offset=16)
        np.testing.assert_array_equal(echoed, VALUES)
        await client.unregister_system_shared_memory("aio")
        assert "aio" not in str(await client.get_system_shared_memory_status())
    finally:
        shm.destroy_shared_memory_region(handle)


async def meet_no_cuda(client: Recorder) -> None:
    assert "gpu" not in str(await client.get_cuda_shared_memory_status())
    with pytest.raises(InferenceServerException, match="GPUs not supported"):
        await client.register_cuda_shared_memory("gpu", b"A" * 88, 0, 64)
    await client.unregister_cuda_shared_memory()


async def infer(client: Recorder, module: ModuleType) -> None:
    compression = {"compression_algorithm", "request_compression_algorithm"} & set(
        inspect.signature(module.InferenceServerClient.infer).parameters
    )
    answer = await client.infer(
        "numbers", [an_input(module)], request_id="r1", **dict.fromkeys(compression, "gzip")
    )
    np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), VALUES)
    # Many at a time over one client.
    answers = await asyncio.gather(
        *(client.infer("numbers", [an_input(module)]) for _ in range(32))
    )
    for answer in answers:
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), VALUES)
    with pytest.raises(InferenceServerException, match="nobody"):
        await client.infer("nobody", [an_input(module)])


async def stream(client: Recorder, module: ModuleType) -> None:
    async def requests() -> Any:
        for number in range(3):
            yield {
                "model_name": "numbers",
                "inputs": [an_input(module)],
                "request_id": str(number),
            }

    ids = []
    async for result, error in client.stream_infer(requests()):
        assert error is None
        ids.append(result.get_response().id)
    assert ids == ["0", "1", "2"]


async def all_routes(client: Recorder, module: ModuleType) -> None:
    await look_around(client)
    await control_models(client)
    await change_settings(client)
    await use_regions(client, module)
    await meet_no_cuda(client)
    await infer(client, module)
    if hasattr(module.InferenceServerClient, "stream_infer"):
        await stream(client, module)


@pytest.mark.parametrize(
    "module, url",
    [
        (tritonclient.http.aio, lambda server: server.http_url.removeprefix("http://")),
        (tritonclient.grpc.aio, lambda server: server.grpc_url),
    ],
    ids=["http", "grpc"],
)
def test_every_coroutine_of_the_client(
    server: ServerProcess, module: ModuleType, url: Callable[[ServerProcess], str]
) -> None:
    async def run() -> set[str]:
        async with module.InferenceServerClient(url(server)) as client:
            recorder = Recorder(client)
            await all_routes(recorder, module)
            return recorder.called

    called = asyncio.run(run())
    offered = {
        name
        for name, method in inspect.getmembers(module.InferenceServerClient)
        if (inspect.iscoroutinefunction(method) or name == "stream_infer")
        and not name.startswith("_")
    }
    assert called >= offered - NO_ROUTES


def test_a_cancelled_coroutine_leaves_the_server_unharmed(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("slow", parameters={"execute_delay_ms": "500"})
    server = server_factory(model_repository)

    async def run() -> Any:
        async with tritonclient.grpc.aio.InferenceServerClient(server.grpc_url) as client:
            tensor = an_input(tritonclient.grpc.aio)
            task = asyncio.ensure_future(client.infer("slow", [tensor]))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await client.infer("slow", [tensor])

    np.testing.assert_array_equal(asyncio.run(run()).as_numpy("OUTPUT0"), VALUES)
