# SPDX-License-Identifier: Apache-2.0
"""Networks for the OpenVINO backend, with fixed random weights, so that no download is needed.

As a program, it writes the model files, for a benchmark or for experiments.

    python -m frameworks.openvino_networks FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.stage import PROJECT_ROOT  # noqa: E402

WHEEL = PROJECT_ROOT / "build" / "deps" / "openvino"
FLOAT = TensorProto.FLOAT


def import_openvino() -> Any:
    """The Python package of the wheel that the backend is built from."""
    if str(WHEEL) not in sys.path:
        sys.path.append(str(WHEEL))
    import openvino

    return openvino


class Graph:
    """An ONNX graph under construction; weights come from one generator with a fixed seed."""

    def __init__(self, seed: int) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._random = np.random.default_rng(seed)

    def name(self, stem: str) -> str:
        return f"{stem}_{len(self.nodes)}_{len(self.constants)}"

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        name = self.name("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape: int, scale: float | None = None) -> str:
        fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        spread = (2.0 / fan_in) ** 0.5 if scale is None else scale
        return self.constant(self._random.standard_normal(shape) * spread)

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        result = output or self.name(kind)
        self.nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def save(self, path: Path, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        graph = helper.make_graph(
            self.nodes,
            path.stem,
            [helper.make_tensor_value_info(*tensor) for tensor in inputs],
            [helper.make_tensor_value_info(*tensor) for tensor in outputs],
            self.constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(model, str(path))


def save_mlp(path: Path, seed: int = 1, batch: int | str = "batch") -> None:
    """X [batch, 64] -> 256 -> 256 -> Y [batch, 10]."""
    graph = Graph(seed)
    flow = "X"
    for before, after in ((64, 256), (256, 256)):
        product = graph.add("MatMul", flow, graph.weight(before, after))
        flow = graph.add("Relu", graph.add("Add", product, graph.weight(after, scale=0.1)))
    product = graph.add("MatMul", flow, graph.weight(256, 10))
    graph.add("Add", product, graph.weight(10, scale=0.1), output="Y")
    graph.save(path, [("X", FLOAT, (batch, 64))], [("Y", FLOAT, (batch, 10))])


def save_resnet18(path: Path, seed: int = 2) -> None:
    """IMAGE [batch, 3, 224, 224] -> LOGITS [batch, 1000]; the batch norms are in the weights."""
    graph = Graph(seed)

    def convolve(flow: str, size: tuple[int, int, int], stride: int, scale: float = 1.0) -> str:
        before, after, kernel = size
        weight = graph.weight(
            after, before, kernel, kernel, scale=scale * (2.0 / (before * kernel**2)) ** 0.5
        )
        pad = kernel // 2
        return graph.add(
            "Conv",
            flow,
            weight,
            graph.weight(after, scale=0.05),
            strides=[stride, stride],
            pads=[pad] * 4,
        )

    flow = graph.add("Relu", convolve("IMAGE", (3, 64, 7), 2))
    flow = graph.add("MaxPool", flow, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = 64
    for after, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        inner = graph.add("Relu", convolve(flow, (before, after, 3), stride))
        inner = convolve(inner, (after, after, 3), 1, 0.5)
        same = before == after and stride == 1
        skip = flow if same else convolve(flow, (before, after, 1), stride, 0.7)
        flow = graph.add("Relu", graph.add("Add", inner, skip))
        before = after
    flow = graph.add("Flatten", graph.add("GlobalAveragePool", flow))
    product = graph.add("MatMul", flow, graph.weight(512, 1000, scale=0.04))
    graph.add("Add", product, graph.weight(1000, scale=0.1), output="LOGITS")
    graph.save(
        path,
        [("IMAGE", FLOAT, ("batch", 3, 224, 224))],
        [("LOGITS", FLOAT, ("batch", 1000))],
    )


def save_transformer(path: Path, seed: int = 3, width: int = 64, layers: int = 2) -> None:
    """TOKENS INT64 [batch, length] -> ENCODED [batch, length, width]; four heads."""
    graph = Graph(seed)
    heads = 4
    split = graph.constant([0, 0, heads, width // heads], np.int64)
    joined = graph.constant([0, 0, width], np.int64)

    def normalise(flow: str) -> str:
        ones = graph.constant(np.ones(width))
        zeros = graph.constant(np.zeros(width))
        return graph.add("LayerNormalization", flow, ones, zeros, axis=-1)

    def head(flow: str, order: Sequence[int]) -> str:
        shaped = graph.add("Reshape", graph.add("MatMul", flow, graph.weight(width, width)), split)
        return graph.add("Transpose", shaped, perm=list(order))

    flow = graph.add("Gather", graph.weight(100, width, scale=1.0), "TOKENS", axis=0)
    for _ in range(layers):
        query, value = head(flow, (0, 2, 1, 3)), head(flow, (0, 2, 1, 3))
        scores = graph.add("MatMul", query, head(flow, (0, 2, 3, 1)))
        scaled = graph.add("Mul", scores, graph.constant((width // heads) ** -0.5))
        mixed = graph.add("MatMul", graph.add("Softmax", scaled, axis=-1), value)
        merged = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
        attended = graph.add("MatMul", merged, graph.weight(width, width))
        flow = normalise(graph.add("Add", flow, attended))
        inner = graph.add("Relu", graph.add("MatMul", flow, graph.weight(width, 4 * width)))
        flow = normalise(
            graph.add("Add", flow, graph.add("MatMul", inner, graph.weight(4 * width, width)))
        )
    graph.add("Identity", flow, output="ENCODED")
    graph.save(
        path,
        [("TOKENS", TensorProto.INT64, ("batch", "length"))],
        [("ENCODED", FLOAT, ("batch", "length", width))],
    )


def save_lstm(path: Path, seed: int = 4, inputs: int = 8, hidden: int = 16) -> None:
    """One step: X, H_IN, C_IN -> Y (the new H), H_OUT, C_OUT; the state is in the tensors."""
    graph = Graph(seed)
    x = graph.add("MatMul", "X", graph.weight(inputs, 4 * hidden, scale=0.3))
    h = graph.add("MatMul", "H_IN", graph.weight(hidden, 4 * hidden, scale=0.3))
    gates = graph.add("Add", x, h)
    parts = [graph.name(f"gate{i}") for i in range(4)]
    graph.nodes.append(helper.make_node("Split", [gates], parts, axis=1))
    keep, take, give = (graph.add("Sigmoid", part) for part in parts[:3])
    kept = graph.add("Mul", keep, "C_IN")
    taken = graph.add("Mul", take, graph.add("Tanh", parts[3]))
    graph.add("Add", kept, taken, output="C_OUT")
    graph.add("Mul", give, graph.add("Tanh", "C_OUT"), output="H_OUT")
    graph.add("Mul", "H_OUT", graph.constant(1.0), output="Y")
    state = ("batch", hidden)
    graph.save(
        path,
        [("X", FLOAT, ("batch", inputs)), ("H_IN", FLOAT, state), ("C_IN", FLOAT, state)],
        [("Y", FLOAT, state), ("H_OUT", FLOAT, state), ("C_OUT", FLOAT, state)],
    )


def save_ir(model: Any, path: Path) -> None:
    """Writes an openvino.Model as PATH.xml and .bin, weights as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    import_openvino().serialize(model, str(path))


def onnx_to_ir(source: Path, path: Path) -> None:
    save_ir(import_openvino().Core().read_model(str(source)), path)


def stateful_lstm(seed: int = 4, inputs: int = 8, hidden: int = 16, batch: int = -1) -> Any:
    """The step of save_lstm, with the state in the network: X -> Y. H begins with 0.5, C with 0."""
    ov = import_openvino()
    from openvino import opset15 as op
    from openvino.op.util import Variable, VariableInfo

    random = np.random.default_rng(seed)
    x = op.parameter([batch, inputs], ov.Type.f32, name="X")
    x.output(0).set_names({"X"})
    rows = op.gather(op.shape_of(x), op.constant([0]), op.constant(0))
    shape = op.concat([rows, op.constant(np.array([hidden], np.int64))], 0)
    variables, reads = [], []
    for name, initial in (("H", 0.5), ("C", 0.0)):
        info = VariableInfo()
        info.data_shape = ov.PartialShape([batch, hidden])
        info.data_type = ov.Type.f32
        info.variable_id = name
        variables.append(Variable(info))
        start = op.broadcast(op.constant(np.float32(initial)), shape)
        reads.append(op.read_value(start, variables[-1]))
    weights = [
        op.constant((random.standard_normal((size, 4 * hidden)) * 0.3).astype(np.float32))
        for size in (inputs, hidden)
    ]
    gates = op.add(op.matmul(x, weights[0], False, False), op.matmul(reads[0], weights[1], False, False))
    parts = op.split(gates, op.constant(1), 4)
    keep, take, give = (op.sigmoid(parts.output(i)) for i in range(3))
    new_c = op.add(op.multiply(keep, reads[1]), op.multiply(take, op.tanh(parts.output(3))))
    new_h = op.multiply(give, op.tanh(new_c))
    result = op.result(new_h)
    result.output(0).set_names({"Y"})
    sinks = [op.assign(new_h, variables[0]), op.assign(new_c, variables[1])]
    return ov.Model([result], sinks, [x], "lstm")


def accumulator(batch: int = -1, initial: int = 100) -> Any:
    """OUTPUT = the sum of all INPUTs of the sequence, from `initial` on, INT32 [batch, 1]."""
    ov = import_openvino()
    from openvino import opset15 as op
    from openvino.op.util import Variable, VariableInfo

    x = op.parameter([batch, 1], ov.Type.i32, name="INPUT")
    x.output(0).set_names({"INPUT"})
    info = VariableInfo()
    info.data_shape = ov.PartialShape([batch, 1])
    info.data_type = ov.Type.i32
    info.variable_id = "SUM"
    variable = Variable(info)
    start = op.broadcast(op.constant(np.array([[initial]], np.int32)), op.shape_of(x))
    total = op.add(x, op.read_value(start, variable))
    result = op.result(total)
    result.output(0).set_names({"OUTPUT"})
    return ov.Model([result], [op.assign(total, variable)], [x], "accumulator")


def text_lengths() -> Any:
    """TEXT strings [batch, 2] -> SAME, the strings unpacked and packed again, and LENGTH INT32."""
    ov = import_openvino()
    from openvino import opset15 as op

    text = op.parameter([-1, 2], ov.Type.string, name="TEXT")
    text.output(0).set_names({"TEXT"})
    unpacked = op.string_tensor_unpack(text)
    begins, ends, symbols = (unpacked.output(i) for i in range(3))
    same = op.result(op.string_tensor_pack(begins, ends, symbols))
    same.output(0).set_names({"SAME"})
    length = op.result(op.subtract(ends, begins))
    length.output(0).set_names({"LENGTH"})
    return ov.Model([same, length], [text], "text")


def identity(type_name: str, shape: Sequence[int] = (-1, 3)) -> Any:
    """OUTPUT = INPUT, with OpenVINO's type of the given name."""
    ov = import_openvino()
    from openvino import opset15 as op

    x = op.parameter(list(shape), getattr(ov.Type, type_name), name="INPUT")
    x.output(0).set_names({"INPUT"})
    result = op.result(x)
    result.output(0).set_names({"OUTPUT"})
    return ov.Model([result], [x], "identity")


def main() -> int:
    folder = Path(sys.argv[1])
    for name, save in (
        ("mlp", save_mlp),
        ("resnet18", save_resnet18),
        ("transformer", save_transformer),
        ("lstm", save_lstm),
    ):
        save(folder / f"{name}.onnx")
        onnx_to_ir(folder / f"{name}.onnx", folder / f"{name}.xml")
    save_ir(stateful_lstm(), folder / "lstm_stateful.xml")
    save_ir(text_lengths(), folder / "text.xml")
    return 0


if __name__ == "__main__":
    sys.exit(main())
