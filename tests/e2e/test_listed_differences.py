# SPDX-License-Identifier: Apache-2.0
"""Differences in docs/protocol/differences.tsv that only tests with separate servers can show."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.metrics import metric
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.stage import backend_directory
from support.streaming import add_raw

FAILURES = "nv_inference_request_failure"
EXPLICIT_OWN = ("--model-control-mode=explicit", "--load-model=own")


def add_ensemble(models: ModelRepository, name: str, member: str, version: int = 1) -> None:
    models.add(
        name,
        f'platform: "ensemble"\n'
        f"input [ {tensor_text('INPUT0', 'INT32', (-1,))} ]\n"
        f"output [ {tensor_text('OUTPUT0', 'INT32', (-1,))} ]\n"
        f"ensemble_scheduling {{ step {{ model_name: '{member}' model_version: -1\n"
        f"  input_map {{ key: 'INPUT0' value: 'INPUT0' }}\n"
        f"  output_map {{ key: 'OUTPUT0' value: 'OUTPUT0' }} }} }}\n",
        versions=(version,),
    )


def infer(url: str, model: str, value: int) -> int:
    tensor = {"name": "INPUT0", "datatype": "INT32", "shape": [1], "data": [value]}
    return raw_http.post_json(url, f"/v2/models/{model}/infer", {"inputs": [tensor]}).status


def test_failures_and_versions_of_ensembles(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    behaviour = {"behaviour": "fails_some"}
    model_repository.add_identity("member", "INT32", parameters=behaviour, backend="testing")
    add_ensemble(model_repository, "ensemble", "member", version=7)
    server = server_factory(model_repository)
    assert infer(server.http_url, "ensemble", 1) == 200
    assert infer(server.http_url, "ensemble", -1) != 200

    def counted(model: str, version: str) -> float:
        return metric(server.metrics_url, FAILURES, model=model, version=version)

    poll_until(
        "both failures", lambda: (counted("ensemble", "7"), counted("member", "1")) == (1, 1)
    )
    assert metric(server.metrics_url, FAILURES, model="ensemble") == 1
    of_ensemble = {"model": "ensemble", "version": "7"}
    assert metric(server.metrics_url, "nv_inference_request_success", **of_ensemble) == 1


def test_a_backend_in_a_model_is_opened_from_a_copy(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("own", "INT32", backend="private")
    staged = backend_directory() / "identity" / "libtriton_identity.so"
    library = Path(shutil.copy(staged, folder / "libtriton_private.so"))
    server = server_factory(model_repository)
    maps = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert str(library) not in maps
    # Overwriting the file does not change the code that runs.
    library.write_bytes(b"\0" * library.stat().st_size)
    assert infer(server.http_url, "own", 5) == 200


def test_without_http_metrics_keep_to_its_address(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    options = ("--allow-http=false", "--http-address=127.0.0.1")
    server = server_factory(model_repository, *options, wait_for=None)
    port = server.port("metrics")
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_a_wrong_option_gets_a_short_answer(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    server = server_factory(model_repository, "--no-such-option", wait_for=None)
    assert server.wait_exit() == 1
    assert len(server.stderr_text().splitlines()) < 5
    assert "--help" in server.stderr_text()


@pytest.mark.parametrize(("scheduler", "loads"), [("", 1), ("sequence_batching { }", 2)])
def test_more_instances_of_a_sequence_model_need_a_load(
    server_factory: ServerFactory, model_repository: ModelRepository, scheduler: str, loads: int
) -> None:
    server = None
    for count in (1, 2):
        group = f"{scheduler}\ninstance_group {{ kind: KIND_CPU count: {count} }}"
        model_repository.add_identity("own", "INT32", extra=group)
        server = server or server_factory(model_repository, *EXPLICIT_OWN)
        load = raw_http.post(server.http_url, "/v2/repository/models/own/load")
        assert load.status == 200, load.body
    assert server is not None
    assert server.log_text().count("loading: own:1") == loads


@pytest.mark.parametrize("path", ["gs://bucket/models", "as://name/models"])
def test_of_cloud_storage_only_s3_is_read(server_factory: ServerFactory, path: str) -> None:
    server = server_factory([], f"--model-repository={path}", wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(f"repository path is not a valid directory: '{path}'")
    server.wait_for_log("of cloud storage only S3 (s3://) is supported: copy or mount it")


# Each instance waits until both have come.
MEETING = """
import pathlib
import time
import uuid

class TritonPythonModel:
    def initialize(self, args):
        folder = pathlib.Path(args["model_repository"]) / "here"
        folder.mkdir(exist_ok=True)
        (folder / uuid.uuid4().hex).touch()
        end = time.monotonic() + 30
        while len(list(folder.iterdir())) < 2:
            if time.monotonic() > end:
                raise RuntimeError("alone")
            time.sleep(0.01)

    def execute(self, requests):
        return []
"""


def test_the_backend_says_whether_instances_start_together(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    group = "instance_group { kind: KIND_CPU count: 2 }"
    folder = model_repository.add_identity("meeting", extra=group, backend="python")
    (folder / "1" / "model.py").write_text(MEETING, encoding="utf-8")
    server_factory(
        model_repository,
        INTERPRETER,
        env={"TRITON_PARALLEL_INSTANCE_LOADING": "0"},
    )


def test_no_variable_delays_grpc(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """With one that did, no answer would come before the deadline."""
    model_repository.add_identity("echo")
    names = ("PROCESS", "RESPONSE", "COMPLETE")
    delays = {f"TRITONSERVER_DELAY_GRPC_{name}": "3600000" for name in names}
    delays["TRITONSERVER_SERVER_DELAY_GRPC_RESPONSE_SEC"] = "3600"
    server = server_factory(model_repository, env=delays)
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        request = service_pb2.ModelInferRequest(model_name="echo")
        add_raw(request, "INPUT0", "FP32", [1.5])
        answer = stub.ModelInfer(request, timeout=30)
        assert answer.raw_output_contents == request.raw_input_contents
        (answer,) = stub.ModelStreamInfer(iter([request]), timeout=30)
        assert answer.infer_response.raw_output_contents == request.raw_input_contents
