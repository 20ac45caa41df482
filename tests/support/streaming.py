# SPDX-License-Identifier: Apache-2.0
"""Models and requests for tests of streams: `repeat` sends one response per element of IN."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import grpc
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from support.repository import ModelRepository, tensor_text

DECOUPLED = "model_transaction_policy { decoupled: true }\n"
CANCELLED_LINE = "repeat backend: a request was cancelled"


def add_repeat(repository: ModelRepository, name: str = "repeat", extra: str = DECOUPLED) -> None:
    inputs = (
        tensor_text("IN", "INT32", (-1,)),
        tensor_text("DELAY", "UINT32", (-1,)),
        tensor_text("WAIT", "UINT32", (1,)),
    )
    outputs = (tensor_text("OUT", "INT32", (1,)), tensor_text("IDX", "UINT32", (1,)))
    repository.add(
        name,
        f'backend: "repeat"\ninput [ {", ".join(inputs)} ]\noutput [ {", ".join(outputs)} ]\n{extra}',
    )


def add_testing(
    repository: ModelRepository,
    name: str,
    behaviour: str,
    extra: str = "",
    data_type: str = "INT32",
    **parameters: str,
) -> None:
    """A model of the testing backend: one input of any length, repeated."""
    repository.add_identity(
        name,
        data_type,
        extra=extra,
        parameters={"behaviour": behaviour, **parameters},
        backend="testing",
    )


def add_raw(
    request: pb.ModelInferRequest, name: str, datatype: str, values: Sequence[float]
) -> None:
    """Adds a vector to `request`, as raw bytes."""
    codes = {"INT32": "i", "UINT32": "I", "FP32": "f"}
    request.inputs.add(name=name, datatype=datatype, shape=[len(values)])
    request.raw_input_contents.append(struct.pack(f"<{len(values)}{codes[datatype]}", *values))


def set_parameters(request: pb.ModelInferRequest, **parameters: Any) -> None:
    for key, value in parameters.items():
        if isinstance(value, bool):
            request.parameters[key].bool_param = value
        elif isinstance(value, int):
            request.parameters[key].int64_param = value
        else:
            request.parameters[key].string_param = value


def repeat_request(
    values: Sequence[int],
    delays: Sequence[int] | None = None,
    id: str = "",
    model: str = "repeat",
    wait: int = 0,
    **parameters: Any,
) -> pb.ModelInferRequest:
    """`delays` are milliseconds before each response; none by default."""
    request = pb.ModelInferRequest(model_name=model, id=id)
    add_raw(request, "IN", "INT32", values)
    add_raw(request, "DELAY", "UINT32", [0] * len(values) if delays is None else delays)
    add_raw(request, "WAIT", "UINT32", [wait])
    set_parameters(request, **parameters)
    return request


def vector_request(
    model: str, datatype: str, values: Sequence[float], id: str = "", **parameters: Any
) -> pb.ModelInferRequest:
    """A request for a model with the one input INPUT0."""
    request = pb.ModelInferRequest(model_name=model, id=id)
    add_raw(request, "INPUT0", datatype, values)
    set_parameters(request, **parameters)
    return request


def first_int(response: pb.ModelStreamInferResponse) -> int:
    """The first number of a response's first output."""
    return struct.unpack_from("<i", response.infer_response.raw_output_contents[0])[0]


def is_final(response: pb.ModelStreamInferResponse) -> bool:
    return response.infer_response.parameters["triton_final_response"].bool_param


def stream_all(grpc_url: str, *requests: pb.ModelInferRequest) -> list[pb.ModelStreamInferResponse]:
    """Everything that a stream of these requests answers."""
    with grpc.insecure_channel(grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        return list(stub.ModelStreamInfer(iter(requests), timeout=60))
