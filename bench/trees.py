#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trees: the evaluator of the backend fil beside XGBoost, LightGBM, Treelite and ONNX Runtime, each in a loop
with one thread. `tools/dev bench-trees`.

    bench/trees.py [--rounds=N] [--seconds=S] [--tools=BUILD] [--out=DIR]

Needs the target trees_loop, and tools/setup.sh --trees. Trains three models, compares the answers (with the
library that saved the model: bit by bit), and lets all take turns on one core. Writes trees-DATE-HOST.md into
build/bench-results. Exit code 1: at some size another one was faster.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import lightgbm  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
import sklearn.ensemble  # noqa: E402
import treelite  # noqa: E402
import xgboost  # noqa: E402

from racetrack import machine  # noqa: E402
from racetrack.pages import Page  # noqa: E402
from racetrack.results import PROJECT_ROOT, RESULTS  # noqa: E402
from racetrack.table import markdown_table  # noqa: E402

FEATURES = 32
ROWS = 8192
BATCHES = (1, 32, 256, 4096)
NEREID = "Nereid"
# The libraries differ in the order and the type of sums.
CLOSE = 1e-4

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Model:
    """A model, and those who evaluate it: the one that saved it comes first."""

    title: str
    file: Path
    others: Mapping[str, Predict]


def training_data() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    rows = random.standard_normal((20_000, FEATURES)).astype(np.float32)
    return rows, (np.sin(rows[:, :8]).sum(axis=1) + rows[:, 8] * rows[:, 9] > 0).astype(int)


def rounded_down(threshold: float) -> float:
    """ONNX has floats: the greatest that is not above `threshold`, which floats compare with alike."""
    rounded = np.float32(threshold)
    return float(np.nextafter(rounded, np.float32(-np.inf)) if float(rounded) > threshold else rounded)


def as_onnx(model: treelite.Model) -> onnxruntime.InferenceSession:
    """The sums of the leaves as ONNX's TreeEnsembleRegressor, without what is done with them."""
    text = json.loads(model.dump_as_json())
    outputs = text["num_class"][0]
    nodes: dict[str, list[Any]] = {name: [] for name in (
        "treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true"
    )}
    leaves: dict[str, list[Any]] = {name: [] for name in ("treeids", "nodeids", "ids", "weights")}
    for number, tree in enumerate(text["trees"]):
        for node in tree["nodes"]:
            is_leaf = "leaf_value" in node
            mode = "LEAF" if is_leaf else {"<": "BRANCH_LT", "<=": "BRANCH_LEQ"}[node["comparison_op"]]
            nodes["treeids"].append(number)
            nodes["nodeids"].append(node["node_id"])
            nodes["modes"].append(mode)
            nodes["featureids"].append(node.get("split_feature_id", 0))
            nodes["values"].append(rounded_down(node.get("threshold", 0.0)))
            nodes["truenodeids"].append(node.get("left_child", 0))
            nodes["falsenodeids"].append(node.get("right_child", 0))
            nodes["missing_value_tracks_true"].append(int(node.get("default_left", False)))
            for output, weight in enumerate(np.atleast_1d(node["leaf_value"]) if is_leaf else []):
                leaves["treeids"].append(number)
                leaves["nodeids"].append(node["node_id"])
                leaves["ids"].append(output)
                leaves["weights"].append(float(weight))
    attributes = {f"nodes_{name}": values for name, values in nodes.items()}
    attributes |= {f"target_{name}": values for name, values in leaves.items()}
    make = onnx.helper
    operator = make.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=outputs, **attributes
    )
    tensors = [make.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
               for name, shape in (("x", ["n", FEATURES]), ("y", ["n", outputs]))]
    graph = make.make_graph([operator], "trees", tensors[:1], tensors[1:])
    imports = [make.make_opsetid("", 18), make.make_opsetid("ai.onnx.ml", 3)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    bytes_ = make.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()
    return onnxruntime.InferenceSession(bytes_, options, providers=["CPUExecutionProvider"])


def by_onnxruntime(model: treelite.Model, transform: Predict) -> Predict:
    session = as_onnx(model)
    return lambda rows: transform(session.run(None, {"x": rows})[0])


def sigmoid(base: float) -> Predict:
    return lambda sums: 1 / (1 + np.exp(-sums - np.float32(base)))


def by_treelite(model: treelite.Model) -> Predict:
    return lambda rows: treelite.gtil.predict(model, rows, nthread=1)


def xgboost_model(folder: Path) -> Model:
    rows, classes = training_data()
    settings = {"objective": "binary:logistic", "max_depth": 6, "nthread": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(rows, classes), 300)
    file = folder / "xgboost.json"
    booster.save_model(file)
    same = treelite.frontend.from_xgboost(booster)
    base = float(same.get_header_accessor().get_field("base_scores")[0])
    others = {
        "XGBoost": booster.inplace_predict,
        "Treelite": by_treelite(same),
        "ONNX Runtime": by_onnxruntime(same, sigmoid(base)),
    }
    return Model("XGBoost, 300 trees of depth 6", file, others)


def lightgbm_model(folder: Path) -> Model:
    rows, classes = training_data()
    settings = {"objective": "binary", "num_leaves": 63, "num_threads": 1, "verbose": -1}
    booster = lightgbm.train(settings, lightgbm.Dataset(rows, classes), 300)
    file = folder / "model.txt"
    booster.save_model(file)
    same = treelite.frontend.from_lightgbm(booster)
    others = {
        "LightGBM": lambda rows: booster.predict(rows, num_threads=1),
        "Treelite": by_treelite(same),
        "ONNX Runtime": by_onnxruntime(same, sigmoid(0)),
    }
    return Model("LightGBM, 300 trees of 63 leaves", file, others)


def forest_model(folder: Path) -> Model:
    rows, classes = training_data()
    forest = sklearn.ensemble.RandomForestClassifier(100, max_depth=12, n_jobs=1, random_state=1)
    same = treelite.sklearn.import_model(forest.fit(rows[:5000], classes[:5000]))
    file = folder / "checkpoint.tl"
    same.serialize(file)
    others = {
        "Treelite": by_treelite(same),
        "scikit-learn": forest.predict_proba,
        "ONNX Runtime": by_onnxruntime(same, lambda sums: sums / np.float32(100)),
    }
    return Model("scikit-learn, forest of 100 trees of depth 12", file, others)


class Nereid:
    """The program trees_loop, for one model."""

    def __init__(self, tools: Path, model: Model, rows: np.ndarray, folder: Path) -> None:
        self._rows = folder / "rows"
        self._scores = folder / "scores"
        rows.tofile(self._rows)
        self._command = [tools / "bench" / "trees_loop", model.file, self._rows, self._scores]

    def rows_per_second(self, batch: int, seconds: float) -> float:
        command = [*self._command, str(batch), str(seconds)]
        return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)

    def scores(self) -> np.ndarray:
        self.rows_per_second(1, 0)
        return np.fromfile(self._scores, dtype=np.float32)


def rows_per_second(predict: Predict, rows: np.ndarray, batch: int, seconds: float) -> float:
    first = done = 0
    start = time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        predict(rows[first : first + batch])
        done += batch
        first = first + batch if first + 2 * batch <= len(rows) else 0
    return done / passed


def check_answers(model: Model, ours: np.ndarray, rows: np.ndarray) -> None:
    """Raises RuntimeError if the answers differ by more than they may."""
    for number, (name, predict) in enumerate(model.others.items()):
        theirs = np.asarray(predict(rows)).reshape(-1).astype(np.float32)
        if number == 0 and not np.array_equal(ours, theirs):
            raise RuntimeError(f"{model.title}: {np.sum(ours != theirs)} answers are not those of {name}")
        if np.abs(ours - theirs).max() > CLOSE:
            raise RuntimeError(f"{model.title}: {name} differs by {np.abs(ours - theirs).max()}")


def race(model: Model, ours: Nereid, rows: np.ndarray, rounds: int, seconds: float) -> dict[str, dict[int, float]]:
    """Rows per second by contestant and batch: medians of rounds in which all take turns."""
    runs: dict[str, dict[int, list[float]]] = {name: {batch: [] for batch in BATCHES} for name in (NEREID, *model.others)}
    for batch in BATCHES:
        for _ in range(rounds):
            runs[NEREID][batch].append(ours.rows_per_second(batch, seconds))
            for name, predict in model.others.items():
                runs[name][batch].append(rows_per_second(predict, rows, batch, seconds))
    return {name: {batch: statistics.median(values) for batch, values in of.items()} for name, of in runs.items()}


def lead(speeds: Mapping[str, Mapping[int, float]], batch: int) -> float:
    """Nereid's speed as times of the fastest other's."""
    return speeds[NEREID][batch] / max(of[batch] for name, of in speeds.items() if name != NEREID)


def table(title: str, speeds: Mapping[str, Mapping[int, float]]) -> str:
    lines = [[name, *(f"{of[batch]:,.0f}" for batch in BATCHES), f"{1e6 / of[1]:.1f}"] for name, of in speeds.items()]
    lines.append(["times the fastest other", *(f"{lead(speeds, batch):.1f}" for batch in BATCHES), ""])
    sizes = [f"{batch:,} row{'s'[: batch > 1]}" for batch in BATCHES]
    head = f"| {title} | {' | '.join(sizes)} | one row, µs |"
    return markdown_table(head, lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3, help="for each run (default 0.3)")
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    page = Page("trees", "Trees")
    rows = np.random.default_rng(2).standard_normal((ROWS, FEATURES)).astype(np.float32)
    tables, misses = [], []
    with tempfile.TemporaryDirectory(prefix="nereid-trees-") as temporary:
        folder = Path(temporary)
        with machine.on_cores(machine.placements()["pinned"].server):
            for make in (xgboost_model, lightgbm_model, forest_model):
                model = make(folder)
                ours = Nereid(arguments.tools, model, rows, folder)
                check_answers(model, ours.scores(), rows)
                speeds = race(model, ours, rows, arguments.rounds, arguments.seconds)
                tables.append(table(model.title, speeds))
                misses += [f"{model.title}, {batch} rows: {lead(speeds, batch):.2f} times the fastest other"
                           for batch in BATCHES if lead(speeds, batch) < 1]
    about = (
        f"Rows per second by the size of a batch; {FEATURES} features, one core and one thread. Nereid is the evaluator of the "
        "backend fil called from C++, the others are called from Python, whose cost is part of a small batch. "
        f"Medians of {arguments.rounds} rounds of {arguments.seconds} s, in which all take turns. Answers are those of "
        "the library that saved the model, bit by bit."
    )
    page.write(page.text(about, *tables, misses=misses), arguments.out)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
