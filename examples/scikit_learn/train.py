#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a pipeline of scikit-learn on a table with texts and numbers, and writes it as ONNX.

    train.py [FOLDER]        default: examples/scikit_learn/models

The table is made up: parcels, and whether they arrived late. Needs scikit-learn and skl2onnx
(pip install skl2onnx==1.20.0); serving needs neither.
"""

import sys
from pathlib import Path

import numpy as np
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

ROWS = 4000
CARRIERS = np.array(["bike", "ship", "train", "truck"])
WEEKDAYS = np.array(["fri", "mon", "sat", "sun", "thu", "tue", "wed"])
# What makes parcels late, in this made-up world.
CARRIER_DELAY = np.array([-1.0, 2.0, -0.5, 0.0])
WEEKDAY_DELAY = np.array([0.5, 0.0, 1.5, 2.0, 0.0, -0.5, -0.5])


def make_table():
    """Texts [rows, 2], numbers [rows, 2] and labels of parcels. The same at every call."""
    random = np.random.RandomState(7)
    carrier = random.randint(0, len(CARRIERS), ROWS)
    weekday = random.randint(0, len(WEEKDAYS), ROWS)
    numbers = np.stack([random.uniform(1, 1000, ROWS), random.uniform(0.1, 30, ROWS)], axis=1)
    score = CARRIER_DELAY[carrier] + WEEKDAY_DELAY[weekday] + numbers[:, 0] / 400 - 2
    labels = np.where(score + random.logistic(size=ROWS) > 0, "late", "on time")
    texts = np.stack([CARRIERS[carrier], WEEKDAYS[weekday]], axis=1).astype(object)
    return texts, numbers, labels


def make_pipeline():
    columns = ColumnTransformer(
        [
            ("texts", OneHotEncoder(handle_unknown="ignore"), [0, 1]),
            ("numbers", StandardScaler(), [2, 3]),
        ]
    )
    return Pipeline([("columns", columns), ("late", LogisticRegression())])


def main():
    default = Path(__file__).resolve().parent / "models"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    texts, numbers, labels = make_table()
    pipeline = make_pipeline()
    half = ROWS // 2
    table = np.concatenate([texts, numbers.astype(object)], axis=1)
    pipeline.fit(table[:half], labels[:half])
    print(f"right for {pipeline.score(table[half:], labels[half:]):.1%} of the other half")
    model = to_onnx(
        pipeline,
        initial_types=[
            ("texts", StringTensorType([None, 2])),
            ("numbers", FloatTensorType([None, 2])),
        ],
        # Plain tensors in place of a list of dictionaries, which no client could read.
        options={id(pipeline): {"zipmap": False}},
        target_opset=17,
    )
    path = folder / "parcels" / "1" / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    print(f"wrote {path} ({path.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
