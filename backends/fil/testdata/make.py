# SPDX-License-Identifier: Apache-2.0
"""Trains the small models in this folder and records what their libraries predict.

    pip install xgboost-cpu==3.2.0 lightgbm==4.7.0 treelite==4.8.1 scikit-learn==1.9.1
    python make.py

Writes one file per model, and golden.jsonl: a line per model with rows and predictions. None stands
for NaN. Run it again only to add models: other versions train other trees.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import sklearn.ensemble
import treelite
import treelite.model_builder as builder
import xgboost as xgb

HERE = Path(__file__).resolve().parent
FEATURES = 5
CATEGORIES = 40


def rows(count: int, seed: int) -> np.ndarray:
    """Rows of floats with missing values, zeros and, in the last column, categories."""
    random = np.random.default_rng(seed)
    values = random.standard_normal((count, FEATURES)).astype(np.float32)
    values[:, -1] = random.integers(0, CATEGORIES, count)
    values[random.random(values.shape) < 0.1] = np.nan
    values[random.random(values.shape) < 0.1] = 0
    return values


def targets(values: np.ndarray) -> dict[str, np.ndarray]:
    score = np.nansum(values[:, :3], axis=1) + np.sin(np.nan_to_num(values[:, -1]))
    return {
        "number": score,
        "binary": (score > 0).astype(int),
        "classes": np.digitize(score, [-1, 1]),
        "positive": np.exp(score / 4),
        "rank": np.digitize(score, [-1, 0, 1]),
        "fraction": 1 / (1 + np.exp(-score)),
        "targets": np.stack([score, -2 * score], axis=1),
    }


XGBOOST: dict[str, tuple[str, str, dict[str, Any]]] = {
    "xgb_squared": ("reg:squarederror", "number", {}),
    "xgb_absolute": ("reg:absoluteerror", "number", {}),
    "xgb_logistic": ("binary:logistic", "binary", {}),
    "xgb_logitraw": ("binary:logitraw", "binary", {}),
    "xgb_hinge": ("binary:hinge", "binary", {}),
    "xgb_softprob": ("multi:softprob", "classes", {"num_class": 3}),
    "xgb_softmax": ("multi:softmax", "classes", {"num_class": 3}),
    "xgb_poisson": ("count:poisson", "positive", {}),
    "xgb_gamma": ("reg:gamma", "positive", {}),
    "xgb_tweedie": ("reg:tweedie", "positive", {}),
    "xgb_rank": ("rank:ndcg", "rank", {}),
    "xgb_forest": (
        "binary:logistic",
        "binary",
        {"num_parallel_tree": 4, "subsample": 0.5, "learning_rate": 1},
    ),
    "xgb_categories": ("binary:logistic", "binary", {"max_cat_to_onehot": 1}),
    "xgb_onehot": ("reg:squarederror", "number", {"max_cat_to_onehot": 100}),
    "xgb_dart": ("binary:logistic", "binary", {"booster": "dart", "rate_drop": 0.5, "one_drop": 1}),
    "xgb_targets": ("reg:squarederror", "targets", {}),
    "xgb_vectors": ("reg:squarederror", "targets", {"multi_strategy": "multi_output_tree"}),
}

LIGHTGBM: dict[str, tuple[str, str, dict[str, Any]]] = {
    "lgb_l2": ("regression", "number", {}),
    "lgb_sqrt": ("regression", "number", {"reg_sqrt": True}),
    "lgb_binary": ("binary", "binary", {"sigmoid": 1.5}),
    "lgb_zero": ("binary", "binary", {"zero_as_missing": True}),
    "lgb_nothing_missing": ("binary", "binary", {"use_missing": False}),
    "lgb_multiclass": ("multiclass", "classes", {"num_class": 3}),
    "lgb_ova": ("multiclassova", "classes", {"num_class": 3}),
    "lgb_poisson": ("poisson", "positive", {}),
    "lgb_rank": ("lambdarank", "rank", {}),
    "lgb_cross_entropy": ("cross_entropy", "fraction", {}),
    "lgb_cross_entropy_lambda": ("cross_entropy_lambda", "fraction", {}),
    "lgb_forest": (
        "binary",
        "binary",
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
    ),
    "lgb_categories": ("regression", "number", {"min_data_per_group": 5, "cat_smooth": 1}),
}


# Estimators of scikit-learn, which Treelite imports: the class, the target, its parameters.
SKLEARN: dict[str, tuple[type, str, dict[str, Any]]] = {
    "tl_forest": (sklearn.ensemble.RandomForestClassifier, "classes", {}),
    "tl_two_classes": (sklearn.ensemble.ExtraTreesClassifier, "binary", {}),
    "tl_targets": (sklearn.ensemble.RandomForestRegressor, "targets", {}),
    "tl_boosted": (
        sklearn.ensemble.HistGradientBoostingClassifier,
        "classes",
        {"categorical_features": [FEATURES - 1]},
    ),
    "tl_isolation": (sklearn.ensemble.IsolationForest, "number", {"max_samples": 20}),
}


def train_sklearn(name: str, values: np.ndarray, count: int, depth: int) -> treelite.Model:
    kind, target, more = SKLEARN[name]
    size = {"max_iter": count} if name == "tl_boosted" else {"n_estimators": count}
    if name != "tl_isolation":
        size["max_depth"] = depth
    estimator = kind(**size, **more, random_state=1)
    return treelite.sklearn.import_model(estimator.fit(values, targets(values)[target]))


def all_comparisons() -> treelite.Model:
    """Two trees with each comparison of numbers, and categories that go left and right."""
    model = builder.ModelBuilder(
        threshold_type="float32",
        leaf_output_type="float32",
        metadata=builder.Metadata(FEATURES, "kRegressor", True, 1, [1], (1, 1)),
        tree_annotation=builder.TreeAnnotation(2, [0, 0], [0, 0]),
        postprocessor=builder.PostProcessorFunc("exponential_standard_ratio", ratio_c=1.5),
        base_scores=[0.25],
    )
    comparisons = [["<", "<=", ">"], [">=", "left", "right"]]
    for tree, splits in enumerate(comparisons):
        model.start_tree()
        for node, split in enumerate(splits):
            model.start_node(node)
            children = {"left_child_key": 2 * node + 1, "right_child_key": 2 * node + 2}
            if split in ("left", "right"):
                listed = [0, 1, 5, 17, 33]
                model.categorical_test(
                    4, default_left=True, category_list=listed, category_list_right_child=split == "right", **children
                )
            else:
                threshold = 0.0 if node else 0.125
                model.numerical_test(
                    node, threshold, default_left=node == 1, opname=split, **children
                )
            model.end_node()
        for node in range(len(splits), 2 * len(splits) + 1):
            model.start_node(node)
            model.leaf((node - 4.5) / (3 + tree))
            model.end_node()
        model.end_tree()
    return model.commit()


def train_treelite(values: np.ndarray, count: int, depth: int) -> dict[str, treelite.Model]:
    models = {name: train_sklearn(name, values, count, depth) for name in SKLEARN}
    booster = train_xgboost("xgb_logistic", values, count, depth)
    models["tl_xgboost"] = treelite.frontend.from_xgboost(booster)
    models["tl_comparisons"] = all_comparisons()
    return models


def train_xgboost(name: str, values: np.ndarray, count: int, depth: int) -> xgb.Booster:
    objective, target, more = XGBOOST[name]
    by_category = "max_cat_to_onehot" in more
    types = ["q"] * (FEATURES - 1) + ["c" if by_category else "q"]
    data = xgb.DMatrix(
        values, targets(values)[target], feature_types=types, enable_categorical=by_category
    )
    if target == "rank":
        data.set_group([10] * (len(values) // 10))
    parameters = {"objective": objective, "max_depth": depth, "nthread": 1, "seed": 1, **more}
    return xgb.train(parameters, data, count)


def predict_xgboost(name: str, booster: xgb.Booster, values: np.ndarray) -> np.ndarray:
    by_category = "max_cat_to_onehot" in XGBOOST[name][2]
    types = ["q"] * (FEATURES - 1) + ["c" if by_category else "q"]
    data = xgb.DMatrix(values, feature_types=types, enable_categorical=by_category)
    return booster.predict(data).reshape(len(values), -1)


def train_lightgbm(name: str, values: np.ndarray, count: int, leaves: int) -> lgb.Booster:
    objective, target, more = LIGHTGBM[name]
    data = lgb.Dataset(
        values,
        targets(values)[target],
        categorical_feature=[FEATURES - 1] if name == "lgb_categories" else [],
        group=[10] * (len(values) // 10) if target == "rank" else None,
    )
    parameters = {
        "objective": objective,
        "num_leaves": leaves,
        "num_threads": 1,
        "verbose": -1,
        "seed": 1,
        **more,
    }
    return lgb.train(parameters, data, count)


def as_json(values: np.ndarray) -> list[list[float | None]]:
    """Shortest texts of floats."""
    return [
        [None if np.isnan(value) else float(str(value)) for value in row]
        for row in values.astype(np.float32)
    ]


def main(folder: Path, trees: int, depth: int, row_count: int) -> None:
    training, asked = rows(400, seed=1), rows(row_count, seed=2)
    with (folder / "golden.jsonl").open("w") as golden:
        golden.write(json.dumps({"rows": as_json(asked)}) + "\n")
        for name in XGBOOST:
            booster = train_xgboost(name, training, trees, depth)
            files = [f"{name}.json"] + ([f"{name}.ubj"] if name in ("xgb_softprob", "xgb_categories") else [])
            predicted = as_json(predict_xgboost(name, booster, asked))
            for file in files:
                booster.save_model(folder / file)
                golden.write(json.dumps({"file": file, "predicted": predicted}) + "\n")
        for name in LIGHTGBM:
            model = train_lightgbm(name, training, trees, 2**depth)
            model.save_model(folder / f"{name}.txt")
            predicted = as_json(model.predict(asked).reshape(len(asked), -1))
            golden.write(json.dumps({"file": f"{name}.txt", "predicted": predicted}) + "\n")
        for name, model in train_treelite(training, trees, depth).items():
            model.serialize(folder / f"{name}.tl")
            scores = treelite.gtil.predict(model, asked, nthread=1)
            predicted = as_json(scores.reshape(len(asked), -1))
            golden.write(json.dumps({"file": f"{name}.tl", "predicted": predicted}) + "\n")


if __name__ == "__main__":
    if len(sys.argv) == 5:
        main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
    else:
        main(HERE, trees=3, depth=3, row_count=40)
