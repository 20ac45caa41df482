# SPDX-License-Identifier: Apache-2.0
"""Makes the TensorFlow models of the tests and the benchmark, with TensorFlow itself.

    python tensorflow_networks.py FOLDER [NAME...]

needs TensorFlow's Python package (build/deps/tensorflow and build/deps/tensorflow-python in
PYTHONPATH). For each model FOLDER/NAME/model.savedmodel or model.graphdef; where TensorFlow alone
is asked for answers, too, FOLDER/NAME/examples.npz with arrays in.NAME and out.NAME.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1

TYPES = {
    "BOOL": tf.bool,
    "UINT8": tf.uint8,
    "UINT16": tf.uint16,
    "UINT32": tf.uint32,
    "UINT64": tf.uint64,
    "INT8": tf.int8,
    "INT16": tf.int16,
    "INT32": tf.int32,
    "INT64": tf.int64,
    "FP16": tf.float16,
    "BF16": tf.bfloat16,
    "FP32": tf.float32,
    "FP64": tf.float64,
    "STRING": tf.string,
}


class Weights:
    """Random numbers that are the same each time."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def variable(self, *shape: int, scale: float | None = None) -> tf.Variable:
        spread = scale if scale is not None else float(np.prod(shape[:-1])) ** -0.5
        return tf.Variable((self._random.standard_normal(shape) * spread).astype(np.float32))

    def input(self, *shape: int) -> np.ndarray:
        return self._random.standard_normal(shape).astype(np.float32)


def save(folder: Path, module: tf.Module, signatures: dict[str, Callable]) -> None:
    tf.saved_model.save(module, str(folder / "model.savedmodel"), signatures=signatures)


def save_examples(folder: Path, function: Callable, inputs: dict[str, np.ndarray]) -> None:
    """Saves TensorFlow's own answers. BF16 is stored as its bits, strings as bytes."""
    outputs = function(**{name: tf.constant(value) for name, value in inputs.items()})
    arrays = {f"in.{name}": value for name, value in inputs.items()}
    arrays |= {f"out.{name}": value.numpy() for name, value in outputs.items()}
    for name, value in arrays.items():
        if value.dtype == ml_dtypes.bfloat16:
            arrays[name] = value.view(np.uint16)
        elif value.dtype == object:
            arrays[name] = np.char.array(value)  # elements in these tests end in no NUL
    np.savez(folder / "examples.npz", **arrays)


def spec(name: str, shape: list[int | None], dtype: tf.DType = tf.float32) -> tf.TensorSpec:
    return tf.TensorSpec(shape, dtype, name=name)


def make_mlp(folder: Path) -> None:
    weights, module = Weights(1), tf.Module()
    module.layers = [(weights.variable(a, b), weights.variable(b)) for a, b in ((64, 256), (256, 256), (256, 10))]

    @tf.function(input_signature=[spec("x", [None, 64])])
    def run(x: tf.Tensor) -> dict[str, tf.Tensor]:
        for matrix, bias in module.layers[:-1]:
            x = tf.nn.relu(tf.matmul(x, matrix) + bias)
        matrix, bias = module.layers[-1]
        return {"y": tf.matmul(x, matrix) + bias}

    save(folder, module, {"serving_default": run})
    save_examples(folder, run, {"x": weights.input(7, 64)})


def make_resnet18(folder: Path) -> None:
    weights, module = Weights(2), tf.Module()
    module.parameters = []

    def convolution(size: int, channels: int, filters: int) -> tuple:
        layer = (
            weights.variable(size, size, channels, filters),
            tf.Variable(np.ones(filters, np.float32)),
            weights.variable(filters, scale=0.1),
        )
        module.parameters.append(layer)
        return layer

    def apply(x: tf.Tensor, layer: tuple, stride: int) -> tf.Tensor:
        kernel, scale, offset = layer
        return tf.nn.conv2d(x, kernel, stride, "SAME") * scale + offset

    stem = convolution(7, 3, 64)
    blocks, channels = [], 64
    for filters in (64, 128, 256, 512):
        for stride in (1 if filters == 64 else 2, 1):
            shortcut = convolution(1, channels, filters) if channels != filters else None
            blocks.append((convolution(3, channels, filters), convolution(3, filters, filters), shortcut, stride))
            channels = filters
    module.head = weights.variable(512, 1000)

    @tf.function(input_signature=[spec("image", [None, 224, 224, 3])])
    def run(image: tf.Tensor) -> dict[str, tf.Tensor]:
        x = tf.nn.max_pool2d(tf.nn.relu(apply(image, stem, 2)), 3, 2, "SAME")
        for first, second, shortcut, stride in blocks:
            inner = apply(tf.nn.relu(apply(x, first, stride)), second, 1)
            x = tf.nn.relu(inner + (x if shortcut is None else apply(x, shortcut, stride)))
        return {"logits": tf.matmul(tf.reduce_mean(x, [1, 2]), module.head)}

    save(folder, module, {"serving_default": run})
    save_examples(folder, run, {"image": weights.input(2, 224, 224, 3)})


def make_encoder(folder: Path) -> None:
    """Of the race: large enough that what computes is what counts."""
    make_transformer(folder, width=256, length=64, layers=6)


def make_transformer(folder: Path, width: int = 64, length: int = 16, layers: int = 2) -> None:
    heads = 4
    weights, module = Weights(3), tf.Module()
    shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
    module.layers = [{name: weights.variable(*shape) for name, shape in shapes.items()} for _ in range(layers)]

    def normalise(x: tf.Tensor) -> tf.Tensor:
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-5)

    def attend(x: tf.Tensor, layer: dict[str, tf.Variable]) -> tf.Tensor:
        joined = tf.reshape(tf.einsum("blw,wv->blv", x, layer["qkv"]), [-1, length, 3, heads, width // heads])
        query, key, value = tf.unstack(tf.transpose(joined, [2, 0, 3, 1, 4]))
        scores = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * (width // heads) ** -0.5)
        mixed = tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3])
        return tf.einsum("blw,wv->blv", tf.reshape(mixed, [-1, length, width]), layer["out"])

    @tf.function(input_signature=[spec("tokens", [None, length, width])])
    def run(tokens: tf.Tensor) -> dict[str, tf.Tensor]:
        x = tokens
        for layer in module.layers:
            x = x + attend(normalise(x), layer)
            up = tf.nn.gelu(tf.einsum("blw,wv->blv", normalise(x), layer["up"]))
            x = x + tf.einsum("blw,wv->blv", up, layer["down"])
        return {"encoded": normalise(x)}

    save(folder, module, {"serving_default": run})
    save_examples(folder, run, {"tokens": weights.input(3, length, width)})


def make_lstm(folder: Path) -> None:
    weights, module = Weights(4), tf.Module()
    module.matrix, module.bias = weights.variable(8 + 16, 64), weights.variable(64, scale=0.1)

    @tf.function(input_signature=[spec("x", [None, 8]), spec("h", [None, 16]), spec("c", [None, 16])])
    def step(x: tf.Tensor, h: tf.Tensor, c: tf.Tensor) -> dict[str, tf.Tensor]:
        gates = tf.matmul(tf.concat([x, h], 1), module.matrix) + module.bias
        enter, forget, leave, new = tf.split(gates, 4, 1)
        c = tf.sigmoid(forget) * c + tf.sigmoid(enter) * tf.tanh(new)
        h = tf.sigmoid(leave) * tf.tanh(c)
        return {"y": tf.identity(h), "h_next": tf.identity(h), "c_next": c}

    save(folder, module, {"serving_default": step})
    # Five steps of two sequences, from zeros.
    xs = weights.input(5, 2, 8)
    h = c = np.zeros((2, 16), np.float32)
    ys = []
    for x in xs:
        outputs = step(x=tf.constant(x), h=tf.constant(h), c=tf.constant(c))
        h, c = outputs["h_next"].numpy(), outputs["c_next"].numpy()
        ys.append(outputs["y"].numpy())
    np.savez(folder / "examples.npz", xs=xs, ys=np.array(ys))


def make_text(folder: Path) -> None:
    """Strings in and out, and a table that has to be initialised."""
    module = tf.Module()
    keys = tf.constant(["red", "green", "blue"])
    module.table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2, 3], tf.int64)), default_value=-1
    )

    @tf.function(input_signature=[spec("text", [None, None], tf.string)])
    def run(text: tf.Tensor) -> dict[str, tf.Tensor]:
        return {
            "upper": tf.strings.upper(text),
            "id": module.table.lookup(text),
            "joined": tf.strings.reduce_join(text, 1, separator="+"),
        }

    save(folder, module, {"serving_default": run})
    text = np.array([["red", "", "x" * 100], ["blue", "gr\u00fcn", "green"]])
    save_examples(folder, run, {"text": np.char.encode(text, "utf-8").astype(object)})


def make_identity(folder: Path, dtype: tf.DType) -> None:
    @tf.function(input_signature=[spec("INPUT0", [None, 3], dtype)])
    def run(INPUT0: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"OUTPUT0": tf.identity(INPUT0)}

    save(folder, tf.Module(), {"serving_default": run})


def make_counter(folder: Path) -> None:
    """A resource variable that requests change."""
    module = tf.Module()
    module.total = tf.Variable(tf.zeros([2]))

    @tf.function(input_signature=[spec("add", [2])])
    def run(add: tf.Tensor) -> dict[str, tf.Tensor]:
        return {"total": module.total.assign_add(add)}

    save(folder, module, {"serving_default": run})


def make_slow(folder: Path) -> None:
    """Computes for as long as its input says."""

    @tf.function(input_signature=[spec("rounds", [1], tf.int64)])
    def run(rounds: tf.Tensor) -> dict[str, tf.Tensor]:
        _, last = tf.while_loop(
            lambda i, x: i < rounds[0],
            lambda i, x: (i + 1, tf.sin(tf.matmul(x, x))),
            (tf.constant(0, tf.int64), tf.ones([64, 64])),
        )
        return {"last": last}

    save(folder, tf.Module(), {"serving_default": run})


def make_unsigned(folder: Path) -> None:
    """No signature."""
    module = tf.Module()
    module.weight = tf.Variable(1.0)
    tf.saved_model.save(module, str(folder / "model.savedmodel"))


def make_signatures(folder: Path) -> None:
    """Two signatures, none of them the default."""

    def times(factor: float) -> Callable:
        @tf.function(input_signature=[spec("x", [None, 2])])
        def run(x: tf.Tensor) -> dict[str, tf.Tensor]:
            return {"y": x * factor}

        return run

    save(folder, tf.Module(), {"double": times(2.0), "triple": times(3.0)})


def save_v1(folder: Path, tag: str, build: Callable[[], tuple[dict, dict]]) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        inputs, outputs = build()
        session.run(v1.global_variables_initializer())
        definition = v1.saved_model.signature_def_utils.predict_signature_def(inputs, outputs)
        builder = v1.saved_model.Builder(str(folder / "model.savedmodel"))
        builder.add_meta_graph_and_variables(session, [tag], signature_def_map={"only": definition})
        builder.save()


def make_tagged(folder: Path) -> None:
    """Another tag than "serve", a signature with a name of its own, and an input of unknown
    rank."""

    def build() -> tuple[dict, dict]:
        x = v1.placeholder(tf.float32, None, "any")
        return {"x": x}, {"y": x + 1.0}

    save_v1(folder, "mine", build)


def make_bad_types(folder: Path) -> None:
    def build() -> tuple[dict, dict]:
        x = v1.placeholder(tf.complex64, [None, 2], "x")
        return {"x": x}, {"y": tf.math.real(x)}

    save_v1(folder, "serve", build)


def make_sparse(folder: Path) -> None:
    def build() -> tuple[dict, dict]:
        x = v1.sparse_placeholder(tf.float32, [None, 4], "x")
        return {"x": x}, {"y": v1.sparse_tensor_to_dense(x)}

    save_v1(folder, "serve", build)


def save_graph(folder: Path, build: Callable[[], None]) -> None:
    with tf.Graph().as_default() as graph:
        build()
        (folder / "model.graphdef").write_bytes(graph.as_graph_def().SerializeToString())


def make_graph(folder: Path) -> None:
    def build() -> None:
        a = v1.placeholder(tf.float32, [None, 3], "a")
        b = v1.placeholder(tf.float32, [None, 3], "b")
        scale = v1.placeholder_with_default(np.float32(10), [], "scale")
        total = tf.add(a, b, "total")
        tf.multiply(total, scale, "scaled")
        tf.subtract(a, b, "difference")

    save_graph(folder, build)


def make_graph_table(folder: Path) -> None:
    """A table that an op of the graph initialises: TF_INIT_OPS_FILE."""

    def build() -> None:
        keys = tf.constant(["one", "two"])
        values = tf.constant([1, 2], tf.int32)
        table = v1.lookup.StaticHashTable(v1.lookup.KeyValueTensorInitializer(keys, values), -1)
        word = v1.placeholder(tf.string, [None, 1], "word")
        tf.identity(table.lookup(word), "number")
        print("init op:", table.initializer.name)
        (folder / "init_ops.json").write_text('{"init_ops": ["%s"]}' % table.initializer.name)

    save_graph(folder, build)


def make_queue(folder: Path) -> None:
    """Keeps its inputs for later requests."""

    def build() -> None:
        x = v1.placeholder(tf.float32, [4], "x")
        queue = tf.queue.FIFOQueue(100, [tf.float32], [[4]], shared_name="kept", name="kept")
        with tf.control_dependencies([queue.enqueue(x)]):
            tf.identity(queue.size(), "kept_count")
        tf.identity(queue.dequeue(), "oldest")

    save_graph(folder, build)


def makers() -> dict[str, Callable[[Path], None]]:
    found: dict[str, Callable[[Path], None]] = {
        name.removeprefix("make_"): value
        for name, value in globals().items()
        if name.startswith("make_") and name != "make_identity"
    }
    for name, dtype in TYPES.items():
        found[f"identity_{name.lower()}"] = lambda folder, dtype=dtype: make_identity(folder, dtype)
    return found


def main(words: list[str]) -> None:
    known = makers()
    for name in words[1:] or known:
        folder = Path(words[0]) / name
        folder.mkdir(parents=True)
        known[name](folder)


if __name__ == "__main__":
    main(sys.argv[1:])
