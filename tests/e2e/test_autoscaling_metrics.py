# SPDX-License-Identifier: Apache-2.0
"""The gauges that autoscalers use: queue depth, use of the instances, pressure against a target."""

from __future__ import annotations

from conftest import ServerFactory
from support import raw_http
from support.infer import InBackground, echo
from support.metrics import metric
from support.poll import poll_until
from support.repository import ModelRepository

FAST_READINGS = "--metrics-interval-ms=1"


def test_a_busy_model_is_seen_as_such(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    two = "instance_group { kind: KIND_CPU count: 2 }"
    model_repository.add_identity("echo", extra=two)
    model_repository.add_identity("slow", parameters={"execute_delay_ms": "1500"})
    server = server_factory(model_repository, FAST_READINGS)

    def of(name: str, model: str = "slow") -> float:
        return metric(server.metrics_url, name, model=model)

    assert of("nereid_instance_count", "echo") == 2
    assert of("nereid_instance_count") == 1
    assert of("nereid_instance_busy_seconds_total") == 0
    requests = [InBackground(server.http_url, "slow") for _ in range(3)]
    poll_until("two of three wait", lambda: of("nv_inference_pending_request_count") == 2)
    # An execution counts before it has ended.
    of("nereid_instance_utilization")
    assert of("nereid_instance_utilization") > 0.5
    assert 0 < of("nereid_instance_busy_seconds_total")
    for request in requests:
        assert request.answer().status == 200
    assert of("nv_inference_pending_request_count") == 0
    poll_until("idle again", lambda: of("nereid_instance_utilization") == 0)
    assert 4.5 <= of("nereid_instance_busy_seconds_total") < 30
    assert of("nereid_instance_utilization", "echo") == 0


def test_pressure_against_a_target(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    model_repository.add_identity(
        "late",
        max_batch_size=4,
        extra="dynamic_batching { }",
        parameters={"execute_delay_ms": "60", "nereid.target_p99_us": "30000"},
    )
    server = server_factory(model_repository)
    assert metric(server.metrics_url, "nereid_target_pressure", model="late") == 0
    assert echo_row(server.http_url) == 200
    assert 1.9 < metric(server.metrics_url, "nereid_target_pressure", model="late") < 100
    assert metric(server.metrics_url, "nereid_target_missed_count", model="late") == 1
    assert echo(server.http_url).status == 200
    assert metric(server.metrics_url, "nereid_target_missed_count", model="echo") == 0


def echo_row(url: str) -> int:
    tensor = {"name": "INPUT0", "shape": [1, 2], "datatype": "FP32", "data": [1.0, 2.0]}
    return raw_http.post_json(url, "/v2/models/late/infer", {"inputs": [tensor]}).status
