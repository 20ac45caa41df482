# SPDX-License-Identifier: Apache-2.0
"""Writes TensorFlow and TFLite files byte by byte, so that tests do not need TensorFlow for
them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import flatbuffers
import numpy as np

FLOAT = 1  # DT_FLOAT


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, data: bytes | str) -> bytes:
    raw = data.encode() if isinstance(data, str) else data
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _shape(dims: Sequence[int]) -> bytes:
    return b"".join(_field(2, _number(1, dim)) for dim in dims)


def _attribute(key: str, value: bytes) -> bytes:
    return _field(5, _field(1, key) + _field(2, value))


def _node(name: str, kind: str, inputs: Sequence[str], attributes: bytes) -> bytes:
    listed = b"".join(_field(3, one) for one in inputs)
    return _field(1, _field(1, name) + _field(2, kind) + listed + attributes)


def _constant(name: str, value: np.ndarray) -> bytes:
    tensor = _number(1, FLOAT) + _field(2, _shape(value.shape)) + _field(4, value.tobytes())
    of_type = _attribute("dtype", _number(6, FLOAT))
    return _node(name, "Const", [], of_type + _attribute("value", _field(8, tensor)))


def _linear_graph(weight: np.ndarray, bias: np.ndarray) -> bytes:
    of_type = _attribute("T", _number(6, FLOAT))
    placeholder = _attribute("dtype", _number(6, FLOAT)) + _attribute(
        "shape", _field(7, _shape([-1, weight.shape[0]]))
    )
    return (
        _node("x", "Placeholder", [], placeholder)
        + _constant("weight", weight)
        + _constant("bias", bias)
        + _node("product", "MatMul", ["x", "weight"], of_type)
        + _node("sum", "AddV2", ["product", "bias"], of_type)
        + _field(4, _number(1, 1882))
    )


def save_savedmodel(folder: Path, weight: np.ndarray, bias: np.ndarray) -> None:
    """A SavedModel with the signature serving_default: result = input @ weight + bias."""

    def tensor(name: str, width: int) -> bytes:
        return _field(1, name) + _number(2, FLOAT) + _field(3, _shape([-1, width]))

    signature = (
        _field(1, _field(1, "input") + _field(2, tensor("x:0", weight.shape[0])))
        + _field(2, _field(1, "result") + _field(2, tensor("sum:0", weight.shape[1])))
        + _field(3, "tensorflow/serving/predict")
    )
    meta = (
        _field(1, _field(4, "serve"))
        + _field(2, _linear_graph(weight, bias))
        + _field(5, _field(1, "serving_default") + _field(2, signature))
    )
    (folder / "variables").mkdir(parents=True, exist_ok=True)
    (folder / "saved_model.pb").write_bytes(_number(1, 1) + _field(2, meta))


def save_tflite(path: Path, addend: np.ndarray) -> None:
    """y = x + addend, FP32 [batch, len(addend)]."""
    builder = flatbuffers.Builder(1024)

    def table(fields: Sequence[tuple[int, str, int]]) -> int:
        """`fields`: index, kind of slot, value; offsets were made before."""
        builder.StartObject(8)
        for index, kind, value in fields:
            getattr(builder, f"Prepend{kind}Slot")(index, value, 0)
        return builder.EndObject()

    def ints(values: Sequence[int]) -> int:
        return builder.CreateNumpyVector(np.array(values, np.int32))

    def offsets(values: Sequence[int]) -> int:
        builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            builder.PrependUOffsetTRelative(value)
        return builder.EndVector()

    def tensor(name: str, buffer: int, variable: bool) -> int:
        size = len(addend)
        shape = ints([1, size] if variable else [size])
        fields = [(0, "UOffsetTRelative", shape), (2, "Uint32", buffer)]
        fields.append((3, "UOffsetTRelative", builder.CreateString(name)))
        if variable:
            fields.append((7, "UOffsetTRelative", ints([-1, size])))
        return table(fields)

    data = builder.CreateNumpyVector(np.frombuffer(addend.astype(np.float32).tobytes(), np.uint8))
    buffers = offsets([table([]), table([(0, "UOffsetTRelative", data)])])
    tensors = offsets([tensor("x", 0, True), tensor("addend", 1, False), tensor("y", 0, True)])
    step_in, step_out, options = ints([0, 1]), ints([2]), table([])
    add_options = 11
    operator = table(
        [
            (1, "UOffsetTRelative", step_in),
            (2, "UOffsetTRelative", step_out),
            (3, "Uint8", add_options),
            (4, "UOffsetTRelative", options),
        ]
    )
    inputs, outputs, operators = ints([0]), ints([2]), offsets([operator])
    subgraph = table(
        [
            (0, "UOffsetTRelative", tensors),
            (1, "UOffsetTRelative", inputs),
            (2, "UOffsetTRelative", outputs),
            (3, "UOffsetTRelative", operators),
        ]
    )
    codes, subgraphs = offsets([table([(2, "Int32", 1)])]), offsets([subgraph])
    model = table(
        [
            (0, "Uint32", 3),
            (1, "UOffsetTRelative", codes),
            (2, "UOffsetTRelative", subgraphs),
            (4, "UOffsetTRelative", buffers),
        ]
    )
    builder.Finish(model, file_identifier=b"TFL3")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(builder.Output()))
