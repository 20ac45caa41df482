#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the example model and writes it into examples/models.

The data are the 1,797 handwritten digits bundled with scikit-learn: 8x8 grey-scale images with
whole pixel values from 0 (paper) to 16 (ink). A small network (64 -> 32 -> 10) is trained on four
fifths of them and measured on the rest.

    train.py            train, print the accuracy, write the two model files
    train.py --check    train again and compare with the files that are there, byte for byte

The result has the same bytes on every machine, whatever its processor, BLAS library and number of
threads. Floating-point results usually differ, because a matrix product adds its terms in an order
that the library chooses. Here both operands of every product are first rounded to a grid (multiples
of 2**-20). The grid is so coarse that a double holds every partial sum exactly, so the order does
not matter. The rest are single additions, multiplications and divisions, which IEEE 754 defines to
the last bit, and random numbers from a stream that numpy keeps stable.

The exported weights are on a grid too, for the same reason: for an image with whole pixel values
the float32 logits are exact. So they are the same for a single image, in a batch, and with any
number of threads.

Needs: numpy, scikit-learn, onnx.
"""

import argparse
import pathlib
import sys
from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

PIXELS, HIDDEN, CLASSES = 64, 32, 10
MAX_PIXEL = 16
SEED = 3
EPOCHS, BATCH = 60, 32
LEARNING_RATE, MOMENTUM, WEIGHT_DECAY = 0.05, 0.9, 1e-3
REQUIRED_ACCURACY = 0.96

TRAINING_GRID = 2.0**20  # steps per unit while training
LAYER1_GRID = 2.0**9  # steps per unit in the exported weights; hidden values: multiples of 1/512
LAYER2_GRID = 2.0**6
LOGIT_GRID = LAYER1_GRID * LAYER2_GRID
EXACT_INTEGERS = 2.0**24  # float32 holds every whole number up to this one

# Versions that every ONNX Runtime of the last years supports.
OPSET, IR_VERSION = 17, 8

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
MODEL_FILES = (
    MODELS / "digits" / "1" / "model.onnx",
    MODELS / "digits_batched" / "1" / "model.onnx",
)


class Network(NamedTuple):
    """Weights and biases: hidden = relu(image @ w1 + b1), logits = hidden @ w2 + b2."""

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray


def on_grid(values: np.ndarray, grid: float = TRAINING_GRID) -> np.ndarray:
    """Rounds to multiples of 1/grid (a power of two, so that scaling itself is exact)."""
    return np.round(values * grid) / grid


def exact_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b, with the same bits for any order in which the terms are added.

    The terms are multiples of 2**-40, so a double holds every partial sum below 2**13.
    """
    a, b = on_grid(a), on_grid(b)
    assert np.max(np.abs(a) @ np.abs(b)) < 2.0**13, "the sums outgrow what a double holds exactly"
    return a @ b


def softmax(logits: np.ndarray) -> np.ndarray:
    """Softmax over rows from exactly rounded operations, with exp(x) ~ (1 + x/1024) ** 1024."""
    shifted = np.maximum(logits - logits.max(axis=1, keepdims=True), -512.0)
    powers = 1.0 + shifted / 1024.0
    for _ in range(10):
        powers = powers * powers
    powers = on_grid(powers)
    return powers / powers.sum(axis=1, keepdims=True)


def split(count: int, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the training part (four fifths) and of the held-out part."""
    order = random.permutation(count)
    held_out = count // 5
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def gradients(net: Network, images: np.ndarray, labels: np.ndarray) -> Network:
    """Mean gradient of the cross-entropy over a batch, by back-propagation."""
    hidden = np.maximum(exact_product(images, net.w1) + net.b1, 0.0)
    probabilities = softmax(exact_product(hidden, net.w2) + net.b2)
    at_logits = on_grid((probabilities - np.eye(CLASSES)[labels]) / len(images))
    at_hidden = on_grid(exact_product(at_logits, net.w2.T) * (hidden > 0.0))
    return Network(
        exact_product(images.T, at_hidden),
        at_hidden.sum(axis=0),
        exact_product(hidden.T, at_logits),
        at_logits.sum(axis=0),
    )


def train(images: np.ndarray, labels: np.ndarray, random: np.random.RandomState) -> Network:
    """Stochastic gradient descent with momentum; pixel values are first scaled to 0..1."""
    images = images / MAX_PIXEL
    net = Network(
        (random.random_sample((PIXELS, HIDDEN)) - 0.5) / 2,
        np.zeros(HIDDEN),
        (random.random_sample((HIDDEN, CLASSES)) - 0.5) / 2,
        np.zeros(CLASSES),
    )
    speed = Network(*(np.zeros_like(part) for part in net))
    for epoch in range(EPOCHS):
        rate = LEARNING_RATE * (1.0 - epoch / EPOCHS)
        order = random.permutation(len(images))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            slope = gradients(net, images[chosen], labels[chosen])
            speed = Network(
                *(
                    MOMENTUM * v - rate * (g + WEIGHT_DECAY * p)
                    for v, g, p in zip(speed, slope, net)
                )
            )
            net = Network(*(p + v for p, v in zip(net, speed)))
    return net


def for_export(net: Network) -> Network:
    """The float32 network that takes pixel values 0..16, its weights rounded to their grids."""
    parts = (
        on_grid(net.w1 / MAX_PIXEL, LAYER1_GRID),
        on_grid(net.b1, LAYER1_GRID),
        on_grid(net.w2, LAYER2_GRID),
        on_grid(net.b2, LOGIT_GRID),
    )
    return Network(*(part.astype(np.float32) for part in parts))


def exactness_bound(net: Network) -> float:
    """The largest sum that any image can cause, in steps of its grid.

    If it is below EXACT_INTEGERS, float32 arithmetic computes the logits without rounding.
    """
    w1, b1, w2, b2 = (part.astype(np.float64) for part in net)
    hidden_sums = MAX_PIXEL * np.abs(w1).sum(axis=0) + np.abs(b1)
    # The values after the ReLU are smaller, because only positive weights increase them.
    hidden = np.maximum(MAX_PIXEL * np.maximum(w1, 0.0).sum(axis=0) + b1, 0.0)
    logit_sums = hidden @ np.abs(w2) + np.abs(b2)
    return max(hidden_sums.max() * LAYER1_GRID, logit_sums.max() * LOGIT_GRID)


def accuracy(net: Network, images: np.ndarray, labels: np.ndarray) -> float:
    """Share of images whose largest logit is that of the true digit."""
    w1, b1, w2, b2 = (part.astype(np.float64) for part in net)
    logits = np.maximum(images @ w1 + b1, 0.0) @ w2 + b2
    return float(np.mean(logits.argmax(axis=1) == labels))


def to_onnx(net: Network) -> bytes:
    """The ONNX file: image [-1,64] -> probabilities [-1,10] and digit [-1,1], batch first."""
    nodes = [
        helper.make_node("MatMul", ["image", "w1"], ["sum1"], "layer1"),
        helper.make_node("Add", ["sum1", "b1"], ["biased1"], "bias1"),
        helper.make_node("Relu", ["biased1"], ["hidden"], "relu"),
        helper.make_node("MatMul", ["hidden", "w2"], ["sum2"], "layer2"),
        helper.make_node("Add", ["sum2", "b2"], ["logits"], "bias2"),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
        helper.make_node("ArgMax", ["logits"], ["digit"], "argmax", axis=1, keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", PIXELS])],
        [
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", CLASSES]),
            helper.make_tensor_value_info("digit", TensorProto.INT64, ["batch", 1]),
        ],
        [numpy_helper.from_array(part, name) for name, part in net._asdict().items()],
        doc_string="Handwritten digits: 64 pixel values from 0 (paper) to 16 (ink), row by row.",
    )
    model = helper.make_model(
        graph,
        producer_name="examples/digits/train.py",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString(deterministic=True)


def build() -> tuple[bytes, float]:
    """Trains and exports; returns the ONNX file and the accuracy on the held-out part."""
    data = load_digits()
    images, labels = data.data, data.target
    random = np.random.RandomState(SEED)
    training, held_out = split(len(images), random)
    net = for_export(train(images[training], labels[training], random))
    reached = accuracy(net, images[held_out], labels[held_out])
    print(f"trained on {len(training)} images, held out {len(held_out)}")
    print(f"accuracy on the training part: {accuracy(net, images[training], labels[training]):.2%}")
    print(f"accuracy on the held-out part: {reached:.2%} (required: {REQUIRED_ACCURACY:.0%})")
    bound = exactness_bound(net)
    print(f"largest possible sum: {bound / EXACT_INTEGERS:.0%} of what float32 holds exactly")
    if bound >= EXACT_INTEGERS:
        sys.exit("error: the logits would not be exact; choose coarser grids")
    return to_onnx(net), reached


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check",
        action="store_true",
        help="train again and compare with the committed files instead of writing them",
    )
    args = parser.parse_args()

    content, reached = build()
    if reached < REQUIRED_ACCURACY:
        print("error: the accuracy is too low", file=sys.stderr)
        return 1
    differing = 0
    for path in MODEL_FILES:
        name = path.relative_to(MODELS.parent)
        if not args.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            print(f"wrote {name} ({len(content):,} bytes)")
        elif path.exists() and path.read_bytes() == content:
            print(f"{name}: identical")
        else:
            print(f"{name}: missing or different", file=sys.stderr)
            differing += 1
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
