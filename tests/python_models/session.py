# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of cases against one server, with the official clients."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import ml_dtypes
import numpy as np
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.grpc._utils import _get_inference_request
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

from python_models import steps
from python_models.normal import (
    Normaliser,
    error_answer,
    grpc_answer,
    http_answer,
    message_answer,
    shortened,
)
from support import raw_http
from support.poll import poll_until
from support.server_process import ServerProcess

SECONDS = 20.0  # for one answer
PATIENCE = 4.0  # for events that may never occur


def _array(tensor: steps.Tensor) -> np.ndarray:
    dtype: Any = triton_to_np_dtype(tensor.datatype)
    if tensor.datatype == "BF16":
        dtype = ml_dtypes.bfloat16
    return np.array(tensor.values, dtype=dtype).reshape(tensor.shape)


class Session:
    """Connections to a server, which the session does not stop. `close` ends them. Not
    thread-safe."""

    def __init__(self, server: ServerProcess, repository: Path, folders: dict[str, Path]) -> None:
        self._server = server
        self._normal = Normaliser({"models": repository, **folders})
        self._grpc = grpc_client.InferenceServerClient(server.grpc_url)
        self._http = http_client.InferenceServerClient(server.http_url, network_timeout=SECONDS)
        self._channel = grpc.insecure_channel(server.grpc_url)
        self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)

    def close(self) -> None:
        self._grpc.close()
        self._http.close()
        self._channel.close()

    def answers(self, case: steps.Case) -> list[Any]:
        """One answer per step, as plain values without parts that differ between runs."""
        return [self._normal.apply(self._take(step)) for step in case.steps]

    def _take(self, step: steps.Step) -> Any:
        return getattr(self, f"_{type(step).__name__.lower()}")(step)

    # -- requests ----------------------------------------------------------------------------------

    def _infer(self, step: steps.Infer) -> Any:
        if step.protocol == steps.HTTP:
            return self._infer_http(step)
        try:
            result = self._grpc.infer(
                step.model, client_timeout=SECONDS, **self._arguments(step, grpc_client)
            )
        except InferenceServerException as error:
            return error_answer(error)
        try:
            return grpc_answer(result.get_response())
        except ValueError as error:  # the answer is invalid
            return {"not understood": str(error)}

    def _infer_http(self, step: steps.Infer) -> Any:
        try:
            return http_answer(self._http.infer(step.model, **self._arguments(step, http_client)))
        except InferenceServerException as error:
            return error_answer(error)

    def _arguments(self, step: steps.Infer, client: Any) -> dict[str, Any]:
        inputs = []
        for tensor in step.inputs:
            made = client.InferInput(tensor.name, list(tensor.shape), tensor.datatype)
            made.set_data_from_numpy(_array(tensor))
            inputs.append(made)
        return {
            "inputs": inputs,
            "outputs": [client.InferRequestedOutput(name) for name in step.outputs] or None,
            "model_version": step.version,
            "request_id": step.id,
            "sequence_id": step.sequence,
            "sequence_start": step.start,
            "sequence_end": step.end,
            "priority": step.priority,
            "timeout": step.timeout,
            "parameters": dict(step.parameters) or None,
        }

    def _together(self, step: steps.Together) -> list[Any]:
        with ThreadPoolExecutor(len(step.requests)) as pool:
            return list(pool.map(self._infer, step.requests))

    # -- streams -----------------------------------------------------------------------------------

    def _message(self, step: steps.Infer) -> service_pb2.ModelInferRequest:
        """The message that the official client would send on a stream."""
        arguments = self._arguments(step, grpc_client)
        message = _get_inference_request(
            model_name=step.model, **{**arguments, "outputs": arguments["outputs"] or []}
        )
        message.parameters["triton_enable_empty_final_response"].bool_param = True
        return message

    def _stream(self, step: steps.Stream) -> list[Any]:
        found: list[Any] = []
        with _Call(self._stub, self._message(step.request)) as call:
            try:
                for message in call.messages:
                    found.append(message_answer(message))
                    if found[-1].get("final") or len(found) == step.only:
                        break
                else:
                    found.append({"end": "of the stream"})
            except grpc.RpcError as error:
                found.append({"end": error.code().name})
        return shortened(found)

    def _streamstogether(self, step: steps.StreamsTogether) -> list[Any]:
        with ThreadPoolExecutor(len(step.requests)) as pool:
            return list(pool.map(lambda one: self._stream(steps.Stream(one)), step.requests))

    def _cancel(self, step: steps.Cancel) -> Any:
        message = self._message(step.request)
        if step.stream:
            with _Call(self._stub, message) as call:
                first = message_answer(next(call.messages))
            return {"first": first}
        del message.parameters["triton_enable_empty_final_response"]
        future = self._stub.ModelInfer.future(message, timeout=SECONDS)
        poll_until(step.when, lambda: step.when in self._server.log_text(), SECONDS)
        future.cancel()
        return {"cancelled": future.cancelled()}

    # -- models ------------------------------------------------------------------------------------

    def _load(self, step: steps.Load) -> Any:
        document = {"parameters": {"config": step.config}} if step.config else {}
        path = f"/v2/repository/models/{step.model}/load"
        return self._told(raw_http.post_json(self._server.http_url, path, document))

    def _unload(self, step: steps.Unload) -> Any:
        url = self._server.http_url
        answer = raw_http.post(url, f"/v2/repository/models/{step.model}/unload")
        ready = f"/v2/models/{step.model}/ready"
        poll_until(f"{step.model} unloaded", lambda: self._is_gone(step.model), SECONDS)
        return [self._told(answer), raw_http.get(url, ready).status == 200]

    def _is_gone(self, model: str) -> bool:
        index = raw_http.post(self._server.http_url, "/v2/repository/index").json()
        return any(one["name"] == model and one.get("reason") == "unloaded" for one in index)

    def _told(self, answer: raw_http.HttpAnswer) -> Any:
        if answer.status == 200:
            return "done"
        return {"status": answer.status, "error": answer.error()}

    def _config(self, step: steps.Config) -> Any:
        answer = raw_http.get(self._server.http_url, f"/v2/models/{step.model}/config")
        document = answer.json()
        return {member: document.get(member) for member in step.members}

    def _ready(self, step: steps.Ready) -> bool:
        path = f"/v2/models/{step.model}/ready"
        end = time.monotonic() + PATIENCE
        while True:
            ready = raw_http.get(self._server.http_url, path).status == 200
            if ready == step.wanted or time.monotonic() > end:
                return ready
            time.sleep(0.05)

    # -- what the server tells -----------------------------------------------------------------------

    def _log(self, step: steps.Log) -> list[str]:
        def lines() -> list[str]:
            return [line for line in self._server.log_text().splitlines() if step.marker in line]

        end = time.monotonic() + PATIENCE
        while len(lines()) < step.count and time.monotonic() < end:
            time.sleep(0.02)
        found = [
            line[line.index(step.marker) :].rstrip('"') if step.bare else self._normal.log_line(line)
            for line in lines()[: step.count]
        ]
        return found if step.ordered else sorted(found)

    def _metrics(self, step: steps.Metrics) -> list[str]:
        body = raw_http.get(self._server.metrics_url, "/metrics").body.decode()
        return sorted(
            line
            for line in body.splitlines()
            if line.removeprefix("# HELP ").removeprefix("# TYPE ").startswith(step.prefix)
        )


class _Call:
    """A stream with one request on it, which stays open until the block ends."""

    def __init__(self, stub: Any, message: service_pb2.ModelInferRequest) -> None:
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._requests.put(message)
        self._call = stub.ModelStreamInfer(self._feed(), timeout=SECONDS)
        self.messages: Iterator[Any] = iter(self._call)

    def _feed(self) -> Iterator[Any]:
        while (message := self._requests.get()) is not None:
            yield message

    def __enter__(self) -> _Call:
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.put(None)
        self._call.cancel()
