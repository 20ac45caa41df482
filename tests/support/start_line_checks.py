# SPDX-License-Identifier: Apache-2.0
"""What has to hold of a server that was started with the line of start_line.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

from support import raw_http, trace_files
from support.infer import echo
from support.metrics import metric
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.start_line import ADMIN_KEY, FORWARDED, Places

VALUES = [1.5, -2.0]
REQUESTS = 2  # of each protocol to the model echo, by the check of inference


def add_models(repository: ModelRepository) -> None:
    """Two models of the line, and one that it does not load."""
    instances = """instance_group [ { count: 2 kind: KIND_CPU rate_limiter {
      resources [ { name: "R1" count: 2 }, { name: "R2" count: 1 } ] } } ]"""
    repository.add_identity("echo", extra=instances)
    repository.add_identity("cached", extra="response_cache { enable: true }")
    repository.add_identity("unused")


def http_url(places: Places) -> str:
    return f"{LOOPBACK}:{places.http_port}"


def wait_until_ready(server: ServerProcess, places: Places) -> None:
    """The server logs into a file, so its output does not say when it listens."""

    def ready() -> bool:
        assert server.is_alive(), server.log_text()
        try:
            return raw_http.get(http_url(places), "/v2/health/ready").status == 200
        except OSError:
            return False

    poll_until("the server to be ready", ready, 60, server.log_text)


def _infer_by_grpc(client: Any, model: str, values: list[float]) -> None:
    tensor = tritonclient.grpc.InferInput("INPUT0", [len(values)], "FP32")
    tensor.set_data_from_numpy(np.array(values, dtype=np.float32))
    answer = client.infer(model, [tensor], headers=dict([FORWARDED]))
    assert answer.as_numpy("OUTPUT0").tolist() == values


def check_inference(places: Places) -> None:
    """Also that the cache answers some time: it may keep an answer after the client has it."""
    with tritonclient.grpc.InferenceServerClient(f"{LOOPBACK}:{places.grpc_port}") as client:

        def ask(model: str) -> None:
            answer = echo(http_url(places), model, VALUES)
            assert answer.json()["outputs"][0]["data"] == VALUES
            _infer_by_grpc(client, model, VALUES)

        def is_hit() -> bool:
            ask("cached")
            return metric(metrics_url, "nv_cache_num_hits_per_model", model="cached") > 0

        for _ in range(REQUESTS):
            ask("echo")
        metrics_url = f"{LOOPBACK}:{places.metrics_port}"
        poll_until("a hit of the cache", is_hit)


def check_restrictions(places: Places) -> None:
    http = tritonclient.http.InferenceServerClient(http_url(places))
    grpc = tritonclient.grpc.InferenceServerClient(f"{LOOPBACK}:{places.grpc_port}")
    for client, prefix in ((http, ""), (grpc, "triton-grpc-protocol-")):
        admin = {f"{prefix}admin": ADMIN_KEY}
        operator = {f"{prefix}operator": ADMIN_KEY}
        for call in (client.get_model_repository_index, client.get_system_shared_memory_status):
            with pytest.raises(InferenceServerException, match="restricted"):
                call()
            call(headers=admin)
        with pytest.raises(InferenceServerException, match="restricted"):
            client.get_log_settings(headers=admin)
        client.get_log_settings(headers=operator)
        client.close()


def check_settings(places: Places) -> None:
    """What clients can see of the line."""
    url = http_url(places)
    assert raw_http.get(url, "/v2").json()["name"] == "one-of-many"
    settings = raw_http.get(url, "/v2/logging", [("operator", ADMIN_KEY)]).json()
    assert settings["log_verbose_level"] == 1
    assert settings["log_format"] == "ISO8601"
    settings = raw_http.get(url, "/v2/trace/setting").json()
    assert settings["trace_level"] == ["TIMESTAMPS"]
    assert settings["trace_rate"] == "1"
    assert settings["trace_file"] == str(places.traces)
    assert raw_http.get(url, "/v2/models/unused/ready").status != 200


def check_metrics(places: Places) -> None:
    url = f"{LOOPBACK}:{places.metrics_port}"
    count = metric(url, "nv_inference_request_success", model="echo")
    assert count == 2 * REQUESTS
    quantiles = "nv_inference_request_summary_us"
    assert metric(url, quantiles, model="echo", quantile="0.99") > 0
    assert metric(url, quantiles, model="echo", quantile="0.9") == 0


def check_all(places: Places) -> None:
    for check in (check_inference, check_restrictions, check_settings, check_metrics):
        check(places)


def check_traces(places: Places) -> None:
    """The file is complete when the server has ended."""
    models = [trace.model for trace in trace_files.read(places.traces).values()]
    assert models.count("echo") == 2 * REQUESTS
    assert set(models) == {"echo", "cached"}
