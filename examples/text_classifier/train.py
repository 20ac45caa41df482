#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network that says what a message to a help desk is about, and writes its files.

    train.py [FOLDER]        default: examples/text_classifier/models

Writes the vocabulary of the tokenizer, and the network as ONNX. Needs scikit-learn and onnx; serving
needs neither.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

TOKENS = 32  # of a message; shorter ones are filled up
PADDING, UNKNOWN = 0, 1
WORDS = r"[a-z']+"

# Each line: beginnings, middles, ends. Every combination is a message.
MESSAGES = {
    "billing": [
        "my invoice|the last bill|the receipt|my credit card",
        "was charged twice|shows the wrong amount|has not been refunded|costs too much",
        "please return the money|why do i pay this|i want a refund|cancel the payment",
    ],
    "delivery": [
        "my parcel|the package|my order|the shipment",
        "has not arrived|is late|was left at the wrong address|is lost on its way",
        "where is it|when will the courier come|track it please|send it again",
    ],
    "technical": [
        "the app|your website|my account|the device",
        "crashes at the start|shows an error|does not let me log in|is very slow",
        "how do i fix this|i have reset the password|please help me install it|i tried a restart",
    ],
}


def messages():
    """All messages, and the number of the topic of each."""
    texts, topics = [], []
    for topic, parts in enumerate(MESSAGES.values()):
        for words in itertools.product(*(part.split("|") for part in parts)):
            texts.append(", ".join(words))
            topics.append(topic)
    return texts, topics


def make_network(weights, bias):
    """Sums a row of `weights` for each token, and makes probabilities of the sums."""
    nodes = [
        helper.make_node("Gather", ["weights", "TOKENS"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axes"], ["sums"], keepdims=0),
        helper.make_node("Add", ["sums", "bias"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["TOPICS"], axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "ticket_network",
        [helper.make_tensor_value_info("TOKENS", TensorProto.INT64, ["batch", TOKENS])],
        [helper.make_tensor_value_info("TOPICS", TensorProto.FLOAT, ["batch", len(bias)])],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(bias, "bias"),
            numpy_helper.from_array(np.array([1], np.int64), "axes"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    default = Path(__file__).resolve().parent / "models"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    texts, topics = messages()
    counter = CountVectorizer(token_pattern=WORDS)
    counts = counter.fit_transform(texts)
    trained = LogisticRegression(C=10, max_iter=1000).fit(counts, topics)
    vocabulary = list(counter.get_feature_names_out())
    # Rows 0 and 1 are padding and words that nobody knows: they count for nothing.
    weights = np.concatenate([np.zeros((2, len(MESSAGES))), trained.coef_.T])
    model = make_network(weights.round(3).astype(np.float32), trained.intercept_.astype(np.float32))

    for name in ("ticket_tokenizer", "ticket_network"):
        (folder / name / "1").mkdir(parents=True, exist_ok=True)
    words = ["<padding>", "<unknown>", *vocabulary]
    (folder / "ticket_tokenizer" / "vocabulary.txt").write_text("\n".join(words) + "\n")
    (folder / "ticket_network" / "labels.txt").write_text("\n".join(MESSAGES) + "\n")
    (folder / "ticket_network" / "1" / "model.onnx").write_bytes(model.SerializeToString())
    print(f"{len(texts)} messages, {len(words)} words, wrote {folder}")


if __name__ == "__main__":
    main()
