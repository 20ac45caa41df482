# SPDX-License-Identifier: Apache-2.0
"""The networks of the race, written as ONNX with weights from fixed seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MLP_LAYERS = (64, 256, 256, 10)
WIDE_MLP_LAYERS = (64, 2048, 2048, 10)  # about 0.3 ms, and 0.1 ms for each further row
RESNET_IMAGE = (3, 224, 224)
RESNET_CLASSES = 1000
_RESNET_STAGES = (64, 128, 256, 512)
_BLOCKS = 2  # blocks per stage, as in ResNet-18
LAYER_WIDTH = 64  # of the inputs and the output of a Layer
TOKENS, TOKEN_WIDTH = 16, 64  # of the transformer's input and output
ENCODER_TOKENS = (64, 256)  # the same of the encoder


@dataclass(frozen=True)
class Layer:
    """A dense layer with ReLU, applied to the sum of its inputs: a step of an ensemble."""

    name: str
    inputs: tuple[str, ...]
    output: str
    seed: int


CHAIN = (Layer("chain_head", ("x",), "h", 21), Layer("chain_tail", ("h",), "y", 22))
DIAMOND = (
    Layer("diamond_source", ("x",), "s", 23),
    Layer("diamond_left", ("s",), "l", 24),
    Layer("diamond_right", ("s",), "r", 25),
    Layer("diamond_join", ("l", "r"), "y", 26),
)


def layers(
    name: str, parts: Sequence[Layer], inputs: Sequence[str], output: str
) -> onnx.ModelProto:
    """One network of these layers: a single layer as a separate model, or all layers of an
    ensemble."""
    nodes, weights = [], []
    for part in parts:
        random = np.random.default_rng(part.seed)
        scale = np.sqrt(2 / LAYER_WIDTH)
        matrix = random.standard_normal((LAYER_WIDTH, LAYER_WIDTH)) * scale
        weights.append(numpy_helper.from_array(matrix.astype(np.float32), f"{part.name}_w"))
        value = part.inputs[0]
        if len(part.inputs) > 1:
            value = f"{part.name}_sum"
            nodes.append(helper.make_node("Sum", part.inputs, [value]))
        nodes.append(helper.make_node("MatMul", [value, f"{part.name}_w"], [f"{part.name}_v"]))
        nodes.append(helper.make_node("Relu", [f"{part.name}_v"], [part.output]))
    row = ["batch", LAYER_WIDTH]

    def tensor(tensor_name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(tensor_name, TensorProto.FLOAT, row)

    graph = helper.make_graph(
        nodes, name, [tensor(one) for one in inputs], [tensor(output)], weights
    )
    return _made(graph)


def mlp(layers: Sequence[int] = MLP_LAYERS) -> onnx.ModelProto:
    """Dense layers with ReLU between them."""
    random = np.random.default_rng(4)
    nodes, weights = [], []
    value = "x"
    for layer, (wide, narrow) in enumerate(zip(layers, layers[1:])):
        matrix = random.standard_normal((wide, narrow), dtype=np.float32) / np.sqrt(wide)
        weights.append(numpy_helper.from_array(matrix.astype(np.float32), f"w{layer}"))
        weights.append(numpy_helper.from_array(np.zeros(narrow, np.float32), f"b{layer}"))
        last = layer == len(layers) - 2
        out = "y" if last else f"h{layer}"
        nodes.append(helper.make_node("Gemm", [value, f"w{layer}", f"b{layer}"], [f"g{layer}"]))
        nodes.append(helper.make_node("Identity" if last else "Relu", [f"g{layer}"], [out]))
        value = out
    return _model("mlp", nodes, weights, (layers[0],), (layers[-1],))


def keeper(width: int) -> onnx.ModelProto:
    """The output y and the next state kept_on are x if START is 1, and otherwise the state. So they
    are the first x of the sequence."""
    row = ["batch", width]
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            helper.make_node("Cast", ["START"], ["starts"], to=TensorProto.BOOL),
            helper.make_node("Where", ["starts", "x", "kept"], ["y"]),
            helper.make_node("Identity", ["y"], ["kept_on"]),
        ],
        "keeper",
        [
            tensor("x", TensorProto.FLOAT, row),
            tensor("START", TensorProto.INT32, ["batch", 1]),
            tensor("kept", TensorProto.FLOAT, row),
        ],
        [tensor("y", TensorProto.FLOAT, row), tensor("kept_on", TensorProto.FLOAT, row)],
    )
    return _made(graph)


def resnet18() -> onnx.ModelProto:
    """A network of ResNet-18's size: 11.7 million weights, 1.8 GFLOP per image. The normalisation
    is folded into the convolutions, as is usual for serving."""
    net = _Network(np.random.default_rng(18))
    value = net.relu(net.conv("x", 3, _RESNET_STAGES[0], kernel=7, stride=2))
    value = net.node("MaxPool", [value], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = _RESNET_STAGES[0]
    for stage, width in enumerate(_RESNET_STAGES):
        for block in range(_BLOCKS):
            stride = 2 if stage > 0 and block == 0 else 1
            value = net.block(value, channels, width, stride)
            channels = width
    value = net.node("GlobalAveragePool", [value])
    value = net.node("Flatten", [value])
    # Small logits, because answers are compared by absolute error.
    net.weight("w_classes", (channels, RESNET_CLASSES), 0.1 / np.sqrt(channels))
    net.weight("b_classes", (RESNET_CLASSES,), 0.01)
    net.nodes.append(helper.make_node("Gemm", [value, "w_classes", "b_classes"], ["y"]))
    return _model("resnet18", net.nodes, net.weights, RESNET_IMAGE, (RESNET_CLASSES,))


def encoder() -> onnx.ModelProto:
    """A transformer whose computation takes milliseconds."""
    return transformer(*ENCODER_TOKENS, layers=6)


def transformer(
    tokens: int = TOKENS, width: int = TOKEN_WIDTH, layers: int = 2
) -> onnx.ModelProto:
    """Encoder layers with four heads, which turn x into y, a tensor of the same shape."""
    net = _Network(np.random.default_rng(64))
    heads = 4
    split = net.constant([0, 0, heads, width // heads])
    joined = net.constant([0, 0, width])
    net.weights.append(numpy_helper.from_array(np.ones(width, np.float32), "ones"))
    net.weights.append(numpy_helper.from_array(np.zeros(width, np.float32), "zeros"))
    scale = np.array((width // heads) ** -0.5, np.float32)
    net.weights.append(numpy_helper.from_array(scale, "scale"))

    def head(value: str, order: Sequence[int]) -> str:
        shaped = net.node("Reshape", [net.dense(value, width, width), split])
        return net.node("Transpose", [shaped], perm=list(order))

    def normalised(value: str, addend: str) -> str:
        total = net.node("Add", [value, addend])
        return net.node("LayerNormalization", [total, "ones", "zeros"], axis=-1)

    value = "x"
    for _ in range(layers):
        query, key = head(value, (0, 2, 1, 3)), head(value, (0, 2, 3, 1))
        scores = net.node("Mul", [net.node("MatMul", [query, key]), "scale"])
        weights = net.node("Softmax", [scores], axis=-1)
        mixed = net.node("MatMul", [weights, head(value, (0, 2, 1, 3))])
        merged = net.node("Reshape", [net.node("Transpose", [mixed], perm=[0, 2, 1, 3]), joined])
        value = normalised(value, net.dense(merged, width, width))
        inner = net.relu(net.dense(value, width, 4 * width))
        value = normalised(value, net.dense(inner, 4 * width, width))
    net.nodes.append(helper.make_node("Identity", [value], ["y"]))
    row = (tokens, width)
    return _model("transformer", net.nodes, net.weights, row, row)


class _Network:
    """Nodes and weights of a network under construction; values are named by number."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, name: str, shape: Sequence[int], scale: float) -> str:
        values = self._random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def node(self, operator: str, inputs: Sequence[str], **attributes: object) -> str:
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [out], **attributes))
        return out

    def constant(self, values: Sequence[int]) -> str:
        name = f"k{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(values, np.int64), name))
        return name

    def relu(self, value: str) -> str:
        return self.node("Relu", [value])

    def dense(self, value: str, before: int, after: int) -> str:
        name = f"d{len(self.nodes)}"
        scale = float(np.sqrt(1 / before))
        return self.node("MatMul", [value, self.weight(name, (before, after), scale)])

    def conv(
        self, value: str, channels: int, width: int, kernel: int, stride: int, gain: float = 2.0
    ) -> str:
        """`gain` is the factor for the variance of the layer's output: 2 compensates for a ReLU."""
        name = f"c{len(self.nodes)}"
        scale = float(np.sqrt(gain / (channels * kernel * kernel)))
        return self.node(
            "Conv",
            [
                value,
                self.weight(f"{name}_w", (width, channels, kernel, kernel), scale),
                self.weight(f"{name}_b", (width,), 0.01),
            ],
            kernel_shape=[kernel, kernel],
            strides=[stride, stride],
            pads=[kernel // 2] * 4,
        )

    def block(self, value: str, channels: int, width: int, stride: int) -> str:
        """Two convolutions and the shortcut past them."""
        inner = self.relu(self.conv(value, channels, width, 3, stride))
        inner = self.conv(inner, width, width, 3, 1, gain=0.5)
        past = value
        if stride != 1 or channels != width:
            past = self.conv(value, channels, width, 1, stride, gain=1.0)
        return self.relu(self.node("Add", [inner, past]))


def _model(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    weights: Sequence[onnx.TensorProto],
    input_dims: Sequence[int],
    output_dims: Sequence[int],
) -> onnx.ModelProto:
    """A model with the input `x` and the output `y`, for batches of any size."""
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *input_dims])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", *output_dims])],
        weights,
    )
    return _made(graph)


def _made(graph: onnx.GraphProto) -> onnx.ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
