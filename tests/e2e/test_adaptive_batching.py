# SPDX-License-Identifier: Apache-2.0
"""Models with a latency target: they serve, report the chosen plan, and are refused on
conflicts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.metrics import metric, read_metrics
from support.repository import ModelRepository

TARGET = "nereid.target_p99_us"
CLIENTS, REQUESTS = 8, 40


def test_a_model_with_a_target(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity(
        "adaptive",
        max_batch_size=8,
        extra="dynamic_batching { }",
        parameters={TARGET: "20000", "execute_delay_ms": "2"},
    )
    model_repository.add_identity("plain", max_batch_size=8, extra="dynamic_batching { }")
    server = server_factory(model_repository)

    def ask(client_number: int) -> None:
        with tritonclient.http.InferenceServerClient(server.http_url) as client:
            tensor = tritonclient.http.InferInput("INPUT0", [1, 3], "FP32")
            for i in range(REQUESTS):
                values = np.full((1, 3), 1000 * client_number + i, np.float32)
                tensor.set_data_from_numpy(values)
                result = client.infer("adaptive", [tensor])
                np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), values)

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(ask, range(CLIENTS)))

    requests = metric(server.metrics_url, "nv_inference_count", model="adaptive")
    executions = metric(server.metrics_url, "nv_inference_exec_count", model="adaptive")
    assert requests == CLIENTS * REQUESTS
    assert executions < requests
    assert metric(server.metrics_url, "nereid_inline_execution_count", model="adaptive") == 0
    assert 1 <= metric(server.metrics_url, "nereid_adaptive_batch_size", model="adaptive") <= 8
    delay = metric(server.metrics_url, "nereid_adaptive_batch_delay_us", model="adaptive")
    assert 0 <= delay <= 10000
    named = {
        dict(labels)["model"]
        for name, labels in read_metrics(server.metrics_url)
        if name.startswith("nereid_adaptive")
    }
    assert named == {"adaptive"}


@pytest.mark.parametrize(
    ("value", "batching", "why"),
    [
        ("fast", "dynamic_batching { }", "is 'fast'; it must be a whole number of microseconds"),
        ("0", "dynamic_batching { }", "is '0'; it must be a whole number of microseconds"),
        ("5000", "", "needs dynamic_batching and a max_batch_size of 2 or more"),
        (
            "5000",
            "dynamic_batching { max_queue_delay_microseconds: 100 }",
            "cannot be combined with preferred_batch_size or max_queue_delay_microseconds",
        ),
        (
            "5000",
            "dynamic_batching { preferred_batch_size: [ 4 ] }",
            "cannot be combined with preferred_batch_size or max_queue_delay_microseconds",
        ),
    ],
)
def test_a_target_that_cannot_be(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    value: str,
    batching: str,
    why: str,
) -> None:
    model_repository.add_identity(
        "m", max_batch_size=8, extra=batching, parameters={TARGET: value}
    )
    server = server_factory(
        model_repository, "--exit-on-error=false", wait_for="/v2/health/live"
    )
    (entry,) = raw_http.post(server.http_url, "/v2/repository/index").json()
    assert entry["state"] == "UNAVAILABLE"
    assert f"parameter '{TARGET}' of model 'm' {why}" in entry["reason"]


def test_a_model_that_waits_for_each_row(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """The model that stands for an accelerator in bench/adaptive.py."""
    model_repository.add_identity(
        "m", max_batch_size=8, parameters={"execute_delay_row_us": "20000"}
    )
    server = server_factory(model_repository)
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        tensor = tritonclient.http.InferInput("INPUT0", [5, 1], "FP32")
        tensor.set_data_from_numpy(np.ones((5, 1), np.float32))
        client.infer("m", [tensor])
    computed = metric(server.metrics_url, "nv_inference_compute_infer_duration_us", model="m")
    assert computed >= 100_000
