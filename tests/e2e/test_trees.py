# SPDX-License-Identifier: Apache-2.0
"""Models of XGBoost, LightGBM and Treelite give the answers of their libraries, which golden.jsonl records."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository, parameters_text, tensor_text
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

TESTDATA = PROJECT_ROOT / "backends" / "fil" / "testdata"
ROWS, *MODELS = (json.loads(line) for line in (TESTDATA / "golden.jsonl").read_text().splitlines())
INPUT = np.array(ROWS["rows"], dtype=np.float32)  # None becomes NaN
EXPECTED = {model["file"]: np.array(model["predicted"], dtype=np.float32) for model in MODELS}
# Models without a configuration.
BARE = {
    "json": ("xgb_logistic.json", "xgboost.json"),
    "ubj": ("xgb_softprob.ubj", "xgboost.ubj"),
    "text": ("lgb_multiclass.txt", "model.txt"),
    "dart": ("xgb_dart.json", "xgboost.json"),
    "vectors": ("xgb_vectors.json", "xgboost.json"),
    "checkpoint": ("tl_forest.tl", "checkpoint.tl"),
    "isolation": ("tl_isolation.tl", "checkpoint.tl"),
}


def add(models: ModelRepository, name: str, file: str, as_file: str, config: str | None) -> None:
    shutil.copy(TESTDATA / file, models.add(name, config) / "1" / as_file)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("trees")
    models = ModelRepository(folder / "models")
    for name, (file, as_file) in BARE.items():
        add(models, name, file, as_file, None)
    config = (
        'backend: "fil"\nmax_batch_size: 64\n'
        f"input [ {tensor_text('input__0', 'FP32', [5])} ]\n"
        f"output [ {tensor_text('output__0', 'FP32', [1])} ]\n"
    )
    parameters = {"model_type": "xgboost_json", "output_class": "true", "threshold": "0.4"}
    drop_in = config + parameters_text(parameters | {"storage_type": "AUTO"})
    add(models, "drop_in", "xgb_logistic.json", "xgboost.json", drop_in)
    other = config + parameters_text({"model_type": "xgboost_ubj"})
    other += 'default_model_filename: "xgboost.json"\n'
    add(models, "broken", "xgb_logistic.json", "xgboost.json", other)
    checkpoint = config + parameters_text({"model_type": "treelite_checkpoint"})
    add(models, "no_checkpoint", "lgb_l2.txt", "checkpoint.tl", checkpoint)
    process = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        process.wait_for("/v2/health/live")
        yield process
    finally:
        process.stop()


def ask_http(server: ServerProcess, model: str, rows: np.ndarray) -> np.ndarray:
    with tritonclient.http.InferenceServerClient(server.http_url.removeprefix("http://")) as client:
        tensor = tritonclient.http.InferInput("input__0", list(rows.shape), "FP32")
        tensor.set_data_from_numpy(rows)
        return client.infer(model, [tensor]).as_numpy("output__0")


@pytest.mark.parametrize("model", BARE)
def test_answers_are_those_of_the_library(server: ServerProcess, model: str) -> None:
    expected = EXPECTED[BARE[model][0]]
    for size in (1, 4):
        for first in range(0, len(INPUT), size):
            answer = ask_http(server, model, INPUT[first : first + size])
            np.testing.assert_array_equal(answer, expected[first : first + size])


def test_parameters_of_triton_choose_the_class(server: ServerProcess) -> None:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        tensor = tritonclient.grpc.InferInput("input__0", list(INPUT.shape), "FP32")
        tensor.set_data_from_numpy(INPUT)
        answer = client.infer("drop_in", [tensor]).as_numpy("output__0")
    np.testing.assert_array_equal(answer, EXPECTED["xgb_logistic.json"] > np.float32(0.4))


def test_the_file_completes_the_configuration(server: ServerProcess) -> None:
    config = raw_http.get(server.http_url, "/v2/models/ubj/config").json()
    assert config["backend"] == "fil"
    assert [(tensor["name"], tensor["dims"]) for tensor in config["input"]] == [("input__0", [5])]
    assert [(tensor["name"], tensor["dims"]) for tensor in config["output"]] == [
        ("output__0", [3])
    ]


def test_a_file_of_another_kind_is_refused(server: ServerProcess) -> None:
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    reasons = {entry["name"]: entry.get("reason", "") for entry in index}
    assert "it is not UBJSON of XGBoost" in reasons["broken"]
    assert "it does not begin with the version 4" in reasons["no_checkpoint"]
    assert not any(reasons[name] for name in (*BARE, "drop_in"))
