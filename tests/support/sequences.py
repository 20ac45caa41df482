# SPDX-License-Identifier: Apache-2.0
"""Models that keep a state, and requests of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from tritonclient.grpc import service_pb2 as pb

from support.onnx_models import INT32, save_model
from support.repository import ModelRepository, tensor_text

START_CONTROL = (
    'control_input { name: "START" '
    "control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } }\n"
)
OLDEST = "oldest { max_candidate_sequences: 64 }\n"
DIRECT = "direct { }\n"


def state_text(
    input_name: str = "INPUT_STATE",
    output_name: str = "OUTPUT_STATE",
    dims: Sequence[int] = (1,),
    extra: str = "",
    data_type: str = "INT32",
) -> str:
    numbers = ", ".join(str(dim) for dim in dims)
    return (
        f'state {{ input_name: "{input_name}" output_name: "{output_name}" '
        f"data_type: TYPE_{data_type} dims: [ {numbers} ] {extra} }}\n"
    )


def initial_text(dims: Sequence[int], data: str, data_type: str = "INT32") -> str:
    numbers = ", ".join(str(dim) for dim in dims)
    return (
        f'initial_state {{ name: "initial state" data_type: TYPE_{data_type} '
        f"dims: [ {numbers} ] {data} }} "
    )


def accumulator_config(
    scheduling: str, max_batch_size: int = 4, outputs: Sequence[str] = ("OUTPUT",), extra: str = ""
) -> str:
    listed = ", ".join(tensor_text(output, "INT32", (1,)) for output in outputs)
    if "max_sequence_idle" not in scheduling:  # longer than any test pauses
        scheduling += "max_sequence_idle_microseconds: 30000000\n"
    return (
        'backend: "onnxruntime"\n'
        f"max_batch_size: {max_batch_size}\n"
        f"input [ {tensor_text('INPUT', 'INT32', (1,))} ]\n"
        f"output [ {listed} ]\n"
        f"sequence_batching {{ {scheduling} }}\n{extra}\n"
    )


def save_accumulator(folder: Path, batched: bool = True, start: bool = True) -> None:
    """OUTPUT = OUTPUT_STATE = INPUT + INPUT_STATE, or only INPUT if START is 1."""
    shape: tuple[int | str, ...] = ("batch", 1) if batched else (1,)
    nodes = [helper.make_node("Add", ["INPUT", "INPUT_STATE"], ["sum"])]
    total = "sum"
    inputs = [("INPUT", INT32, shape), ("INPUT_STATE", INT32, shape)]
    if start:
        inputs.append(("START", INT32, shape))
        nodes += [
            helper.make_node("Cast", ["START"], ["starts"], to=onnx.TensorProto.BOOL),
            helper.make_node("Where", ["starts", "INPUT", "sum"], ["total"]),
        ]
        total = "total"
    outputs = ("OUTPUT", "OUTPUT_STATE")
    nodes += [helper.make_node("Identity", [total], [output]) for output in outputs]
    save_model(folder, nodes, inputs, [(output, INT32, shape) for output in outputs])


def save_two_states(folder: Path) -> None:
    """SUM_OUT = SUM_IN + INPUT (2 elements, INPUT added to both), COUNT_OUT = COUNT_IN + 1.

    OUTPUT is the sums and the count.
    """
    one = numpy_helper.from_array(np.ones((1, 1), np.int32), "one")
    nodes = [
        helper.make_node("Add", ["SUM_IN", "INPUT"], ["sum"]),
        helper.make_node("Add", ["COUNT_IN", "one"], ["count"]),
        helper.make_node("Identity", ["sum"], ["SUM_OUT"]),
        helper.make_node("Identity", ["count"], ["COUNT_OUT"]),
        helper.make_node("Concat", ["sum", "count"], ["OUTPUT"], axis=1),
    ]
    tensors = {"INPUT": 1, "SUM_IN": 2, "COUNT_IN": 1, "OUTPUT": 3, "SUM_OUT": 2, "COUNT_OUT": 1}
    described = [(name, INT32, ("batch", size)) for name, size in tensors.items()]
    save_model(folder, nodes, described[:3], described[3:], [one])


def save_history(folder: Path) -> None:
    """OUTPUT = HISTORY_OUT = HISTORY_IN with INPUT appended."""
    nodes = [
        helper.make_node("Concat", ["HISTORY_IN", "INPUT"], ["history"], axis=1),
        helper.make_node("Identity", ["history"], ["HISTORY_OUT"]),
        helper.make_node("Identity", ["history"], ["OUTPUT"]),
    ]
    save_model(
        folder,
        nodes,
        [("INPUT", INT32, ("batch", 1)), ("HISTORY_IN", INT32, ("batch", "length"))],
        [("HISTORY_OUT", INT32, ("batch", "longer")), ("OUTPUT", INT32, ("batch", "longer"))],
    )


def add_accumulator(
    repository: ModelRepository,
    name: str,
    scheduling: str,
    max_batch_size: int = 4,
    outputs: Sequence[str] = ("OUTPUT",),
    extra: str = "",
) -> Path:
    """Adds an accumulator. The model has the input START if `scheduling` has that control."""
    folder = repository.add(name, accumulator_config(scheduling, max_batch_size, outputs, extra))
    save_accumulator(folder, max_batch_size > 0, "START" in scheduling)
    return folder


def sequence_request(
    model: str,
    value: int,
    sequence: int | str,
    start: bool = False,
    end: bool = False,
    batched: bool = True,
    outputs: Sequence[str] = (),
) -> pb.ModelInferRequest:
    """One request of a sequence, with the only input INPUT."""
    request = pb.ModelInferRequest(model_name=model, id=str(sequence))
    request.inputs.add(name="INPUT", datatype="INT32", shape=[1, 1] if batched else [1])
    request.raw_input_contents.append(np.int32(value).tobytes())
    for output in outputs:
        request.outputs.add(name=output)
    if isinstance(sequence, int):
        request.parameters["sequence_id"].int64_param = sequence
    else:
        request.parameters["sequence_id"].string_param = sequence
    request.parameters["sequence_start"].bool_param = start
    request.parameters["sequence_end"].bool_param = end
    return request


def numbers(response: pb.ModelInferResponse, output: str = "OUTPUT") -> list[int]:
    names = [tensor.name for tensor in response.outputs]
    raw = response.raw_output_contents[names.index(output)]
    return np.frombuffer(raw, np.int32).tolist()
