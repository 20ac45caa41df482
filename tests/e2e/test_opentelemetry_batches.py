# SPDX-License-Identifier: Apache-2.0
"""Spans of batches, and the status of spans of requests that fail."""

from __future__ import annotations

import threading
from collections.abc import Callable

import grpc
import numpy as np
import pytest
import tritonclient.grpc
from tritonclient.grpc import service_pb2_grpc
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support import raw_http
from support.ensembles import add_ensemble, step_text
from support.infer import echo_document
from support.otlp_collector import OtlpCollector
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.spans import ERROR, UNSET, add_models, children_of, links_of, only, place_of, start
from support.streaming import add_testing, vector_request


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    add_models(model_repository)
    return model_repository


def test_the_batch_a_request_travelled_in(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    models.add_identity(
        "batched",
        "FP32",
        (2,),
        max_batch_size=4,
        extra="dynamic_batching { max_queue_delay_microseconds: 60000000 preferred_batch_size: 2 }",
    )
    server = start(server_factory, models, collector.url)
    document = echo_document()
    document["inputs"][0]["shape"] = [1, 2]
    threads = [
        threading.Thread(
            target=raw_http.post_json,
            args=(server.http_url, "/v2/models/batched/infer", document),
        )
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spans = collector.await_spans(7)
    computed = [one for one in spans if one.name == "compute"]
    assert [one.attributes["nereid.batch.requests"] for one in computed] == [2, 2]
    batch = only(spans, "batch")
    assert batch.attributes["triton.model_name"] == "batched"
    assert batch.attributes["nereid.batch.requests"] == 2
    of_models = [one for one in spans if one.name == "batched"]
    # It leads to both requests, and each request leads to it.
    assert links_of(batch) == {place_of(one) for one in of_models}
    for one in computed:
        assert one.attributes["nereid.batch.id"] == batch.attributes["nereid.batch.id"]
        assert links_of(one) == {place_of(batch)}
    (above,) = [one for one in of_models if one.span.span_id == batch.span.parent_span_id]
    (compute,) = [one for one in children_of(spans, above) if one.name == "compute"]
    assert above.span.trace_id == batch.span.trace_id
    assert batch.span.start_time_unix_nano <= compute.span.start_time_unix_nano
    assert batch.span.end_time_unix_nano == compute.span.end_time_unix_nano


def send_failing(server: ServerProcess, model: str) -> str:
    """Over HTTP; returns what the client was told."""
    document = echo_document(id="mine")
    answer = raw_http.post_json(server.http_url, f"/v2/models/{model}/infer", document)
    assert answer.status >= 400
    return str(answer.json()["error"])


def send_failing_grpc(server: ServerProcess, model: str) -> str:
    client = tritonclient.grpc.InferenceServerClient(server.grpc_url)
    tensor = tritonclient.grpc.InferInput("INPUT0", [2], "FP32")
    tensor.set_data_from_numpy(np.array([1, 2], np.float32))
    with pytest.raises(InferenceServerException) as raised:
        client.infer(model, [tensor])
    return str(raised.value.message())


def send_failing_stream(server: ServerProcess, model: str) -> str:
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        request = vector_request(model, "FP32", [1.0, 2.0])
        (answer,) = stub.ModelStreamInfer(iter([request]), timeout=30)
        return str(answer.error_message)


@pytest.mark.parametrize("send", [send_failing, send_failing_grpc, send_failing_stream])
def test_a_request_that_fails(
    server_factory: ServerFactory,
    models: ModelRepository,
    collector: OtlpCollector,
    send: Callable[[ServerProcess, str], str],
) -> None:
    add_testing(models, "fails", "throws", data_type="FP32")
    server = start(server_factory, models, collector.url)
    told = send(server, "fails")
    spans = collector.await_spans(4)
    for name in ("InferRequest", "fails"):
        status = only(spans, name).span.status
        assert (status.code, status.message) == (ERROR, told)
    for name in ("compute", "batch"):
        assert only(spans, name).span.status.code == UNSET


def test_a_request_that_is_refused(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    server = start(server_factory, models, collector.url)
    document = echo_document()
    document["inputs"][0]["name"] = "other"
    answer = raw_http.post_json(server.http_url, "/v2/models/echo/infer", document)
    assert answer.status == 400
    (root,) = collector.await_spans(1)
    assert root.span.status.code == UNSET, "the mistake is the client's"


def test_a_step_that_fails(
    server_factory: ServerFactory, models: ModelRepository, collector: OtlpCollector
) -> None:
    """The step and the whole are marked, the step before is not."""
    add_testing(models, "fails", "throws", data_type="FP32")
    add_ensemble(
        models,
        "broken",
        [tensor_text("INPUT0", "FP32", (-1,))],
        [tensor_text("OUT", "FP32", (-1,))],
        [
            step_text("echo", {"INPUT0": "INPUT0"}, {"OUTPUT0": "between"}),
            step_text("fails", {"INPUT0": "between"}, {"OUTPUT0": "OUT"}),
        ],
    )
    server = start(server_factory, models, collector.url)
    told = send_failing(server, "broken")
    spans = collector.await_spans(8)
    for name in ("InferRequest", "broken"):
        assert only(spans, name).span.status.message == told
    failed = only(spans, "fails").span.status
    assert failed.code == ERROR
    assert failed.message in told
    assert only(spans, "echo").span.status.code == UNSET
