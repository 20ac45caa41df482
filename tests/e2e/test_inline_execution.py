# SPDX-License-Identifier: Apache-2.0
"""Short models are executed by the I/O thread that has read the request; long ones are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from support.metrics import metric
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess

# The number of executions that the server measures before it decides.
MEASURED = 100
REQUESTS = MEASURED + 60


@contextmanager
def running(folder: Path, options: Sequence[str] = ()) -> Iterator[ServerProcess]:
    models = ModelRepository(folder / "models")
    models.add_identity("short")
    models.add_identity("batched", max_batch_size=8, extra="dynamic_batching { }")
    models.add_identity("off", parameters={"nereid.inline_execution": "false"})
    models.add_identity("slow", parameters={"execute_delay_ms": "2"})
    server = start_nereid(models.root, folder / "log", options)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def ask(module, address: str, model: str, shape: tuple[int, ...], count: int) -> None:
    """Sends `count` requests one after the other, each with different values."""
    with module.InferenceServerClient(address) as client:
        tensor = module.InferInput("INPUT0", list(shape), "FP32")
        for i in range(count):
            values = np.full(shape, i, np.float32)
            tensor.set_data_from_numpy(values)
            result = client.infer(model, [tensor])
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)


def executed_inline(server: ServerProcess, model: str) -> int:
    return int(metric(server.metrics_url, "nereid_inline_execution_count", model=model))


@pytest.mark.parametrize("model, shape", [("short", (3,)), ("batched", (1, 3))])
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_short_model_is_executed_by_the_io_thread(
    tmp_path: Path, protocol: str, model: str, shape: tuple[int, ...]
) -> None:
    with running(tmp_path, ["--inline-execution-max-us=10000"]) as server:
        if protocol == "http":
            ask(tritonclient.http, server.http_url, model, shape, REQUESTS)
        else:
            ask(tritonclient.grpc, server.grpc_url, model, shape, REQUESTS)
        inline = executed_inline(server, model)
        reasons = {
            reason: metric(server.metrics_url, "nereid_batch_count", model=model, reason=reason)
            for reason in ("end_of_turn", "idle_instance", "not_batched")
        }
    assert 0 < inline <= REQUESTS - MEASURED
    if model == "batched":
        assert reasons == {
            "end_of_turn": inline,
            "idle_instance": REQUESTS - inline,
            "not_batched": 0,
        }
    else:
        assert reasons == {"end_of_turn": 0, "idle_instance": 0, "not_batched": REQUESTS}


@pytest.mark.parametrize("model", ["off", "slow"])
def test_not_one_that_is_long_or_says_no(tmp_path: Path, model: str) -> None:
    with running(tmp_path) as server:
        ask(tritonclient.http, server.http_url, model, (3,), REQUESTS)
        assert executed_inline(server, model) == 0


def test_an_option_switches_it_off(tmp_path: Path) -> None:
    with running(tmp_path, ["--inline-execution-max-us=0"]) as server:
        ask(tritonclient.http, server.http_url, "short", (3,), REQUESTS)
        assert executed_inline(server, "short") == 0
