#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the model file of the level meter, a network without weights.

    make_level_meter.py            writes models/level_meter/1/model.onnx
    make_level_meter.py --check    compares it with the file that is there, byte for byte

Levels are 20 log10(x), where x is the greatest magnitude of the samples (peak) or the root of their
mean square (rms): 0 dB is full scale. Needs: numpy, onnx.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MODEL = Path(__file__).resolve().parent / "models" / "level_meter" / "1" / "model.onnx"
SAMPLES, OLD_SAMPLES = 576, 64
FLOOR_DB = -100.0
# Versions that every ONNX Runtime of the last years supports.
OPSET, IR_VERSION = 17, 8


def decibels(name: str, magnitude: str) -> list[onnx.NodeProto]:
    """Nodes that compute `name` from `magnitude`."""
    return [
        helper.make_node("Max", [magnitude, "floor"], [f"{name}_above_floor"]),
        helper.make_node("Log", [f"{name}_above_floor"], [f"{name}_log"]),
        helper.make_node("Mul", [f"{name}_log", "decibels"], [name]),
    ]


def model() -> bytes:
    constants = {
        "first": np.array([OLD_SAMPLES], np.int64),
        "last": np.array([SAMPLES], np.int64),
        "axis": np.array([1], np.int64),
        "floor": np.array(10 ** (FLOOR_DB / 20), np.float32),
        "decibels": np.array(20 / math.log(10), np.float32),
    }
    nodes = [
        helper.make_node("Slice", ["frame", "first", "last", "axis"], ["new"]),
        helper.make_node("Abs", ["new"], ["magnitudes"]),
        helper.make_node("ReduceMax", ["magnitudes"], ["greatest"], axes=[1], keepdims=1),
        helper.make_node("Mul", ["new", "new"], ["squares"]),
        helper.make_node("ReduceMean", ["squares"], ["mean"], axes=[1], keepdims=1),
        helper.make_node("Sqrt", ["mean"], ["root"]),
        *decibels("peak", "greatest"),
        *decibels("rms", "root"),
    ]
    graph = helper.make_graph(
        nodes,
        "level_meter",
        [helper.make_tensor_value_info("frame", TensorProto.FLOAT, ["N", SAMPLES])],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 1])
            for name in ("peak", "rms")
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    made = helper.make_model(
        graph,
        producer_name="make_level_meter.py",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(made, full_check=True)
    return made.SerializeToString(deterministic=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    if arguments.check:
        same = MODEL.read_bytes() == model()
        print("identical" if same else f"{MODEL} is not what this script writes")
        return 0 if same else 1
    MODEL.parent.mkdir(parents=True, exist_ok=True)
    MODEL.write_bytes(model())
    print(MODEL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
