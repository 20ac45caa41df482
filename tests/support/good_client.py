# SPDX-License-Identifier: Apache-2.0
"""A well-behaved client, which must be served while others misbehave."""

from __future__ import annotations

import struct
import threading
from types import TracebackType

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

from support.infer import echo


class GoodClient:
    """Sends one small request after the other during the block; each needs the right answer.

    Leaving the block waits for the current answer, and fails if any answer was wrong.
    """

    def __init__(self, url: str, model: str = "echo") -> None:
        self._url = url
        self._model = model
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self.answers = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> GoodClient:
        self._ask()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(60)
        if error is not None:
            return
        assert not self._thread.is_alive(), "a request of the client that behaves has no answer"
        if self._error is not None:
            raise self._error
        self._ask()

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._ask()
                self.answers += 1
        except BaseException as error:  # handed to the test's thread
            self._error = error

    def _ask(self) -> None:
        answer = echo(self._url, self._model)
        assert answer.status == 200, answer.body
        assert answer.json()["outputs"][0]["data"] == [1.0, 2.0]


class GoodGrpcClient(GoodClient):
    """The same over gRPC, on one connection."""

    def __enter__(self) -> GoodGrpcClient:
        options = [("grpc.use_local_subchannel_pool", 1)]
        self._channel = grpc.insecure_channel(self._url, options=options)
        self._stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)
        super().__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        finally:
            self._channel.close()

    def _ask(self) -> None:
        request = service_pb2.ModelInferRequest(model_name=self._model)
        request.inputs.add(name="INPUT0", datatype="FP32", shape=[2])
        content = struct.pack("<2f", 1, 2)
        request.raw_input_contents.append(content)
        answer = self._stub.ModelInfer(request, timeout=30)
        assert answer.raw_output_contents[0] == content
