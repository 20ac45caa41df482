# SPDX-License-Identifier: Apache-2.0
"""`nereid run-model DIR`: tries one model without a running server."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

from support.repository import ModelRepository
from support.stage import server_binary


def run_model(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), "run-model", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def without_times(text: str) -> str:
    return re.sub(r"after \S+ ms", "after N ms", text)


def test_a_request_is_made_up(model_repository: ModelRepository) -> None:
    folder = model_repository.add_identity("echo", "FP32", (-1, 2), max_batch_size=4)
    ran = run_model(folder)
    assert ran.returncode == 0, ran.stderr
    assert without_times(ran.stdout) == (
        "request, made up:\n"
        "  INPUT0  FP32 [1,1,2]  [1.0,1.0]\n"
        "response after N ms:\n"
        "  OUTPUT0  FP32 [1,1,2]  [1.0,1.0]\n"
    )


def test_answers_and_log_may_go_to_one_file(
    model_repository: ModelRepository, tmp_path: Path
) -> None:
    folder = model_repository.add_identity("echo", "FP32")
    file = tmp_path / "both.txt"
    with file.open("wb") as both:
        command = [server_binary(), "run-model", folder]
        subprocess.run(command, stdout=both, stderr=both, timeout=120)
    text = file.read_text(encoding="utf-8")
    parts = ("loading: echo:1", "request, made up", "OUTPUT0", "Waiting")
    places = [text.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), text


def test_every_type_can_be_made_up(model_repository: ModelRepository) -> None:
    for data_type, value in (("STRING", '["sample"]'), ("FP16", "[1.0]"), ("BOOL", "[true]")):
        folder = model_repository.add_identity(data_type.lower(), data_type)
        ran = run_model(folder)
        assert ran.returncode == 0, ran.stderr
        assert f"[1]  {value}\n" in ran.stdout


def test_a_request_can_be_given(model_repository: ModelRepository, tmp_path: Path) -> None:
    folder = model_repository.add_identity("echo", "INT32")
    request = {"inputs": [{"name": "INPUT0", "shape": [3], "datatype": "INT32", "data": [1, 2, 3]}]}
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    ran = run_model(f"--input={file}", "--count=2", folder)
    assert ran.returncode == 0, ran.stderr
    assert without_times(ran.stdout) == (
        "request 1 of 2:\nresponse after N ms:\n  OUTPUT0  INT32 [3]  [1,2,3]\n"
        "request 2 of 2:\nresponse after N ms:\n  OUTPUT0  INT32 [3]  [1,2,3]\n"
    )


def test_all_responses_are_printed(model_repository: ModelRepository, tmp_path: Path) -> None:
    folder = model_repository.add(
        "repeat",
        """
        backend: "repeat"
        model_transaction_policy { decoupled: true }
        input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },
                { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
                { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
        output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },
                 { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
        """,
    )
    inputs = [
        {"name": "IN", "shape": [3], "datatype": "INT32", "data": [7, 8, 9]},
        {"name": "DELAY", "shape": [3], "datatype": "UINT32", "data": [0, 0, 0]},
        {"name": "WAIT", "shape": [1], "datatype": "UINT32", "data": [0]},
    ]
    file = tmp_path / "request.json"
    file.write_text(json.dumps({"inputs": inputs}), encoding="utf-8")
    ran = run_model(f"--input={file}", folder)
    assert ran.returncode == 0, ran.stderr
    assert re.findall(r"OUT  INT32 \[1\]  \[(\d)\]", ran.stdout) == ["7", "8", "9"]


def test_a_model_that_does_not_load(model_repository: ModelRepository) -> None:
    folder = model_repository.add_identity("lost", backend="nowhere")
    ran = run_model(folder)
    assert ran.returncode == 1
    assert "'lost' is UNAVAILABLE: " in ran.stderr
    assert "unable to find backend library for backend 'nowhere'" in ran.stderr
    assert ran.stdout == ""


def test_a_request_that_does_not_fit(model_repository: ModelRepository, tmp_path: Path) -> None:
    folder = model_repository.add_identity("echo", "INT32")
    file = tmp_path / "request.json"
    file.write_text('{"inputs": []}', encoding="utf-8")
    ran = run_model(f"--input={file}", folder)
    assert ran.returncode == 1
    assert "expected 1 inputs but got 0 inputs for model 'echo'" in ran.stderr


def test_a_model_of_another_is_not_loaded_unless_asked_for(
    model_repository: ModelRepository,
) -> None:
    folder = model_repository.add_identity("echo")
    model_repository.add_identity("lost", backend="nowhere")
    assert run_model(folder).returncode == 0
    ran = run_model("--load-model=lost", folder)
    assert ran.returncode == 1
    assert "'lost' is UNAVAILABLE" in ran.stderr


def test_a_repository_and_a_version_are_no_models(model_repository: ModelRepository) -> None:
    folder = model_repository.add_identity("echo")
    ran = run_model(model_repository.root)
    assert ran.returncode == 2
    assert f"is a repository; the folder of one model in it is '{folder}'" in ran.stderr
    version = folder / "1"
    version.mkdir(exist_ok=True)
    (version / "model.onnx").touch()
    ran = run_model(version)
    assert ran.returncode == 2
    assert f"is the folder of a version, with 'model.onnx'; the model's folder is '{folder}'" in ran.stderr


def test_arguments_are_looked_at(tmp_path: Path) -> None:
    assert run_model("--help").returncode == 0
    for arguments, text in (
        ([], "the folder DIR of the model is missing"),
        (["--nonsense", tmp_path], "unknown option --nonsense"),
        (["--count=none", tmp_path], "--count is 'none'"),
        ([tmp_path / "missing"], "there is no folder '"),
        ([f"--input={tmp_path / 'missing'}", tmp_path], "cannot be read"),
    ):
        ran = run_model(*arguments)
        assert ran.returncode == 2, (arguments, ran.stderr)
        assert text in ran.stderr
