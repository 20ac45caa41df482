# SPDX-License-Identifier: Apache-2.0
"""Traces sent to a collector of OpenTelemetry, read by OpenTelemetry's own classes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import grpc
import httpx
import numpy as np
import pytest
import tritonclient.grpc
from tritonclient.grpc import service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.infer import echo, echo_document
from support.metrics import metric
from support.nereid import INTERPRETER
from support.otlp_collector import OtlpCollector
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.spans import UNSET, add_models, children_of, only, start
from support.streaming import add_repeat, add_testing, vector_request

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PARENT_ID = "b7ad6b7169242424"
PARENT = f"00-{TRACE_ID}-{PARENT_ID}-01"
SERVER_KIND, INTERNAL_KIND = 2, 1


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    add_models(model_repository)
    return model_repository


def test_an_ensemble_has_a_span_for_each_step(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    server = start(
        server_factory, models, collector.url, "opentelemetry,resource=zone=north"
    )
    before = time.time_ns()
    document = echo_document((1.0, 2.0), id="mine")
    document["inputs"][0]["name"] = "IN"
    answer = raw_http.post_json(server.http_url, "/v2/models/chain/infer", document)
    assert answer.status == 200, answer.body
    spans = collector.await_spans(8)
    assert len(spans) == 8
    after = time.time_ns()

    root = only(spans, "InferRequest")
    assert root.span.parent_span_id == b""
    assert root.span.kind == SERVER_KIND
    assert set(root.events) == {
        "HTTP_RECV_START",
        "HTTP_RECV_END",
        "INFER_RESPONSE_COMPLETE",
        "HTTP_SEND_START",
        "HTTP_SEND_END",
    }
    (chain,) = children_of(spans, root)
    assert (chain.name, chain.span.kind) == ("chain", INTERNAL_KIND)
    assert chain.attributes["triton.model_name"] == "chain"
    assert chain.attributes["triton.model_version"] == 1
    assert chain.attributes["triton.request_id"] == "mine"
    assert chain.attributes["triton.trace_parent_id"] == 0
    assert set(chain.events) == {"REQUEST_START", "QUEUE_START", "REQUEST_END"}
    steps = children_of(spans, chain)
    assert [step.name for step in steps] == ["echo", "echo"]
    for step in steps:
        assert step.attributes["triton.trace_parent_id"] == chain.attributes["triton.trace_id"]
        assert sorted(one.name for one in children_of(spans, step)) == ["batch", "compute"]
        compute = only(children_of(spans, step), "compute")
        assert set(compute.events) == {
            "COMPUTE_START",
            "COMPUTE_INPUT_END",
            "COMPUTE_OUTPUT_START",
            "COMPUTE_END",
        }
        assert compute.attributes["nereid.batch.requests"] == 1
    assert len({span.span.trace_id for span in spans}) == 1
    assert len({span.span.span_id for span in spans}) == 8
    slack = 50_000_000
    assert {one.span.status.code for one in spans} == {UNSET}
    for one in spans:
        assert before - slack <= one.span.start_time_unix_nano <= one.span.end_time_unix_nano
        assert one.span.end_time_unix_nano <= after + slack
        assert root.span.start_time_unix_nano <= one.span.start_time_unix_nano
        for event in one.span.events:
            assert one.span.start_time_unix_nano <= event.time_unix_nano
            assert event.time_unix_nano <= one.span.end_time_unix_nano
        assert one.resource["service.name"] == "triton-inference-server"
        assert one.resource["zone"] == "north"
    (message,) = collector.messages()
    assert message.path == "/v1/traces"
    assert message.headers["content-type"] == "application/x-protobuf"


def test_the_callers_span_over_http(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    """With a rate of 0 only requests are traced whose callers are."""
    server = start(server_factory, models, collector.url, "rate=0")
    headers = [("traceparent", PARENT), ("tracestate", "vendor=1")]
    unsampled = [("traceparent", PARENT[:-2] + "00")]
    for sent in ([], unsampled, [("traceparent", "nonsense")], headers):
        answer = raw_http.post_json(
            server.http_url, "/v2/models/echo/infer", echo_document(), headers=sent
        )
        assert answer.status == 200, answer.body
    spans = collector.await_spans(4)
    server.stop()
    assert len(collector.spans()) == 4
    root = only(spans, "InferRequest")
    assert root.span.trace_id.hex() == TRACE_ID
    assert root.span.parent_span_id.hex() == PARENT_ID
    assert {span.span.trace_state for span in spans} == {"vendor=1"}
    assert {span.span.trace_id.hex() for span in spans} == {TRACE_ID}


def test_the_callers_span_over_grpc(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    server = start(server_factory, models, collector.url, "rate=0")
    client = tritonclient.grpc.InferenceServerClient(server.grpc_url)
    tensor = tritonclient.grpc.InferInput("INPUT0", [2], "FP32")
    tensor.set_data_from_numpy(np.array([1, 2], np.float32))
    client.infer("echo", [tensor], headers={"traceparent": PARENT})
    client.infer("echo", [tensor])
    spans = collector.await_spans(4)
    root = only(spans, "InferRequest")
    assert root.span.parent_span_id.hex() == PARENT_ID
    assert set(root.events) == {
        "GRPC_WAITREAD_START",
        "GRPC_WAITREAD_END",
        "INFER_RESPONSE_COMPLETE",
        "GRPC_SEND_START",
        "GRPC_SEND_END",
    }
    server.stop()
    assert len(collector.spans()) == 4


Send = Callable[[ServerProcess], None]


def send_stream(server: ServerProcess) -> None:
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        request = vector_request("echo", "FP32", [1.0, 2.0])
        for metadata in ((), (("traceparent", PARENT),)):
            (answer,) = stub.ModelStreamInfer(iter([request]), metadata=metadata, timeout=30)
            assert answer.error_message == ""


def send_generate_stream(server: ServerProcess) -> None:
    document = {"IN": [3, 4], "DELAY": [0, 0], "WAIT": 0}
    for headers in ([], [("traceparent", PARENT)]):
        path = "/v2/models/repeat/generate_stream"
        answer = raw_http.post_json(server.http_url, path, document, headers=headers)
        assert answer.body.count(b"data: ") == 2


def send_http2(server: ServerProcess) -> None:
    with httpx.Client(http1=False, http2=True, timeout=30) as client:
        for headers in ({}, {"traceparent": PARENT}):
            url = f"http://{server.http_url}/v2/models/echo/infer"
            answer = client.post(url, json=echo_document(), headers=headers)
            assert (answer.status_code, answer.http_version) == (200, "HTTP/2")


@pytest.mark.parametrize("send", [send_stream, send_generate_stream, send_http2])
def test_the_callers_span_over_other_ways(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector, send: Send
) -> None:
    """Each way sends a request without a caller's span first, which is not traced."""
    add_repeat(models)
    server = start(server_factory, models, collector.url, "rate=0")
    send(server)
    spans = collector.await_spans(4)
    server.stop()
    assert len(collector.spans()) == 4
    assert {span.span.trace_id.hex() for span in spans} == {TRACE_ID}
    assert only(spans, "InferRequest").span.parent_span_id.hex() == PARENT_ID


def test_a_log_as_json_names_the_trace(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    """Lines about a request, here on answers that are refused, lead to its spans."""
    add_testing(models, "twice", "answers_twice", data_type="FP32")
    add_testing(models, "several", "decoupled", data_type="FP32", responses="2")
    server = start(server_factory, models, collector.url, options=["--log-format=json"])
    for number in range(2):
        document = echo_document(id=f"r{number}")
        raw_http.post_json(server.http_url, "/v2/models/twice/infer", document)
    request = vector_request("several", "FP32", [1.0])
    request.id = "r2"
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        (answer,) = stub.ModelStreamInfer(iter([request]), timeout=30)
        assert answer.error_message != ""
    spans = [one for one in collector.await_spans(12) if one.name in ("twice", "several")]
    server.stop()
    traces = {one.attributes["triton.request_id"]: one.span.trace_id.hex() for one in spans}
    assert len(set(traces.values())) == 3
    lines = [json.loads(line) for line in server.log_text().splitlines()]
    about = [line for line in lines if "request_id" in line]
    assert {line["request_id"] for line in about} == {"r0", "r1", "r2"}
    for line in about:
        assert line["trace_id"] == traces[line["request_id"]]


CALLER = """
import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            call = pb_utils.InferenceRequest(
                model_name="echo",
                requested_output_names=["OUTPUT0"],
                inputs=[pb_utils.Tensor("INPUT0", np.ones(2, np.float32))],
                trace=request.trace(),
            )
            assert not call.exec().has_error()
            untraced = pb_utils.InferenceRequest(
                model_name="echo",
                requested_output_names=["OUTPUT0"],
                inputs=[pb_utils.Tensor("INPUT0", np.ones(2, np.float32))],
            )
            assert not untraced.exec().has_error()
            context = request.trace().get_context() or "none"
            text = np.array([context.encode()], np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", text)]))
        return responses
"""


def test_requests_of_python_models(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    folder = models.add_identity("caller", "STRING", backend="python")
    (folder / "1" / "model.py").write_text(CALLER, encoding="utf-8")
    python = INTERPRETER
    server = start(server_factory, models, collector.url, "rate=0", options=[python])
    document = {
        "inputs": [{"name": "INPUT0", "shape": [1], "datatype": "BYTES", "data": ["x"]}],
    }
    path = "/v2/models/caller/infer"
    untraced = raw_http.post_json(server.http_url, path, document).json()
    assert untraced["outputs"][0]["data"] == ["none"]
    headers = [("traceparent", PARENT), ("tracestate", "vendor=1")]
    answer = raw_http.post_json(server.http_url, path, document, headers=headers).json()
    spans = collector.await_spans(7)
    server.stop()
    assert len(collector.spans()) == 7
    root = only(spans, "InferRequest")
    caller = only(children_of(spans, root), "caller")
    below = children_of(spans, caller)
    assert sorted(one.name for one in below) == ["batch", "compute", "echo"]
    assert only(children_of(spans, only(below, "echo")), "compute").events
    # What the model is told leads to its own span.
    context = json.loads(answer["outputs"][0]["data"][0])
    assert context == {
        "traceparent": f"00-{TRACE_ID}-{caller.span.span_id.hex()}-01",
        "tracestate": "vendor=1",
    }


def test_settings(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    server = start(
        server_factory,
        models,
        collector.url,
        "opentelemetry,resource=zone=north",
        env={"OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_SCHEDULE_DELAY": "1"},
    )
    assert raw_http.get(server.http_url, "/v2/trace/setting").json() == {
        "trace_level": ["TIMESTAMPS"],
        "trace_rate": "1",
        "trace_count": "-1",
        "trace_mode": "opentelemetry",
        "url": f"{collector.url}/v1/traces",
        "resource": "zone=north",
        "bsp_max_export_batch_size": "512",
        "bsp_schedule_delay": "50",
        "bsp_max_queue_size": "100",
    }


def test_portions(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    server = start(
        server_factory,
        models,
        collector.url,
        "opentelemetry,bsp_max_export_batch_size=5",
        "opentelemetry,bsp_schedule_delay=60000",
    )
    for _ in range(3):
        assert echo(server.http_url).status == 200
    poll_until("two full messages", lambda: len(collector.spans()) == 10)
    server.stop()
    assert [len(message.spans) for message in collector.messages()] == [5, 5, 2]


def test_a_collector_that_is_down(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    collector.status = 503
    server = start(
        server_factory,
        models,
        collector.url,
        "opentelemetry,bsp_max_queue_size=30",
        env={"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20secret"},
    )
    for _ in range(40):
        assert echo(server.http_url).status == 200
    poll_until("an attempt", lambda: len(collector.messages()) > 0)
    poll_until(
        "dropped traces", lambda: metric(server.metrics_url, "nereid_dropped_traces") > 0
    )
    collector.status = 200
    poll_until(
        "the log's word", lambda: "traces are sent to" in server.log_text()
    )
    assert collector.messages()[0].headers["authorization"] == "Bearer secret"
    assert "secret" not in server.log_text()


def test_an_address_without_a_scheme_is_http(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    server = start(server_factory, models, collector.url.removeprefix("http://"))
    assert echo(server.http_url).status == 200
    assert only(collector.await_spans(4), "InferRequest")


def test_addresses_that_cannot_be(server_factory: ServerFactory, models: ModelRepository) -> None:
    server = server_factory(
        models,
        "--trace-config=mode=opentelemetry",
        "--trace-config=opentelemetry,url=ftp://nobody",
        wait_for=None,
    )
    assert server.wait_exit() == 1
    server.wait_for_log("begins with http:// or https://")
    bad = server_factory(
        models,
        "--trace-config=mode=opentelemetry",
        env={"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "x"},
        wait_for=None,
    )
    assert bad.wait_exit() == 1
    assert 'Bad option: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"' in bad.log_text()
