# SPDX-License-Identifier: Apache-2.0
"""The evaluation of the bench's group "python"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from racetrack import python_models, python_page


def run(throughput: float, errors: int = 0) -> dict[str, Any]:
    latency = {"p50": 1e6 / throughput, "p99": 2e6 / throughput}
    return {
        "throughput": throughput,
        "latency_us": latency,
        "client_cpu": 0.5,
        "errors": errors,
    }


def row(
    model: str, ratio: float = 4.0, errors: int = 0, over: str = ""
) -> dict[str, Any]:
    return {
        "key": f"{model}/grpc{over}",
        "model": model,
        "title": model,
        "protocol": "grpc",
        "concurrency": 1,
        "runs": {"nereid": [run(1000 * ratio, errors)] * 2, "original": [run(1000)] * 2},
    }


def result(*rows: dict[str, Any], start: float = 0.5, memory: float = 0.5) -> dict[str, Any]:
    return {
        "commit": "0",
        "when": "2026-01-01",
        "turns": 2,
        "host": {"cores": 2, "processor": "p", "system": "s", "load_average_before": [0.0]},
        "rows": list(rows),
        "starts": {"as usual": {"nereid": [start], "original": [1.0]}},
        "memory_mib": {
            "nereid": {"none": 10.0, "ten": 100 * memory},
            "original": {"none": 20.0, "ten": 100.0},
        },
    }


def test_all_aims_are_met() -> None:
    found = result(*(row(model, aim) for model, aim in python_models.AIMS.items()))
    assert python_page.failures(found) == []
    assert "**All aims are met.**" in python_page.render(found)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (result(row("py_add_sub", 2.9)), "2.90× Triton's throughput, 3 are wanted"),
        (result(row("py_bls", 1.9)), "1.90× Triton's throughput, 2 are wanted"),
        (result(row("py_identity", errors=1)), "requests failed"),
        (
            result(row("py_identity", 4.9, over="/shared")),
            "4.90× Triton's throughput, 5 are wanted",
        ),
        (result(row("py_repeat"), start=0.8), "0.80× Triton's time"),
        (result(row("py_repeat"), memory=0.7), "0.70× Triton's, 0.6 are allowed"),
    ],
)
def test_what_falls_short_is_told(made: dict[str, Any], words: str) -> None:
    assert any(words in sentence for sentence in python_page.failures(made))
    assert words in python_page.render(made)


def test_what_a_model_in_native_code_reaches_is_shown() -> None:
    bounded = row("py_add_sub")
    bounded["runs"][python_models.BOUND] = [run(2500)] * 2
    page = python_page.render(result(bounded, row("py_bls")))
    assert "| GRPC py_add_sub | 1 | 2,500 | 400 | 2.50× | ≥ 3 |" in page
    assert "model in C++" not in python_page.render(result(row("py_bls")))


def test_every_row_has_an_aim_and_a_request(tmp_path: Path) -> None:
    for one in python_models.ROWS:
        assert one.model.name in python_models.AIMS
    for one in (*python_models.ROWS, *python_models.BOUNDS.values()):
        files = python_models.write_files(tmp_path, one)
        if files.segments is None:
            assert files.body.stat().st_size > files.tensor_bytes
        else:
            segment = files.segments.answer_file.with_name(files.segments.input)
            assert segment.read_bytes() == files.expect.read_bytes()
            assert files.segments.input.encode() in files.body.read_bytes()
        assert np.frombuffer(files.expect.read_bytes(), np.float32).nbytes == files.tensor_bytes


def test_the_repository_has_a_source_for_each_model(tmp_path: Path) -> None:
    root = python_models.write_repository(tmp_path / "models")
    for name in (*python_models.SERVED, python_models.STARTED, python_models.TEN):
        assert (root / name / "config.pbtxt").exists()
        native = any(name == model.name for model in python_models.NATIVE.values())
        assert native or (root / name / "1" / "model.py").exists()
