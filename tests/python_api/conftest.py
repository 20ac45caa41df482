# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the package `nereid_server` of the stage, and a server in this process on models of all kinds.

NEREID_PYTHONS names further interpreters (with numpy) besides the one that runs the tests,
separated by colons.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.repository import ModelRepository, tensor_text
from support.stage import python_package
from support.streaming import add_repeat

PACKAGE_FOLDER = python_package()
sys.path.insert(0, str(PACKAGE_FOLDER))

import nereid_server  # noqa: E402

SCALARS = "BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 FP32 FP64 BYTES BF16".split()


def interpreters() -> list[str]:
    others = os.environ.get("NEREID_PYTHONS", "")
    return [sys.executable, *(path for path in others.split(":") if path)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests that use `python` with each interpreter."""
    if "python" in metafunc.fixturenames:
        metafunc.parametrize("python", interpreters())


def add_testing(repository: ModelRepository, name: str, behaviour: str, **parameters: str) -> None:
    """A model of the backend `testing`, with one INT32 tensor."""
    repository.add_identity(
        name,
        "INT32",
        backend="testing",
        parameters={"behaviour": behaviour, **parameters},
        extra="model_transaction_policy { decoupled: true }" if behaviour == "decoupled" else "",
    )


def fill(repository: ModelRepository) -> None:
    """Adds the models of these tests."""
    for data_type in SCALARS:
        in_config = "STRING" if data_type == "BYTES" else data_type
        repository.add_identity(f"identity_{data_type.lower()}", in_config)
    repository.add_identity("batched", "FP32", max_batch_size=8)
    repository.add_identity("two", "FP32", tensors=2)
    add_testing(repository, "slow", "slow", delay_ms="300")
    add_testing(repository, "fails_some", "fails_some")
    add_testing(repository, "wait_for_cancel", "wait_for_cancel", delay_ms="20000")
    add_testing(repository, "decoupled", "decoupled", responses="input")
    add_testing(repository, "silent", "decoupled", responses="0")
    add_repeat(repository)
    int32 = tensor_text("INPUT0", "INT32", [1]), tensor_text("OUTPUT0", "INT32", [1])
    repository.add(
        "sums",
        f'backend: "testing"\nmax_batch_size: 4\ninput [ {int32[0]} ]\noutput [ {int32[1]} ]\n'
        'parameters { key: "behaviour" value: { string_value: "accumulate_state" } }\n'
        'sequence_batching { state [ { input_name: "STATE_IN" output_name: "STATE_OUT" '
        "data_type: TYPE_INT32 dims: [ 1 ] "
        'initial_state { name: "zero" data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } } ] }\n',
    )


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the models."""
    repository = ModelRepository(tmp_path_factory.mktemp("python_api") / "models")
    fill(repository)
    return repository.root


@pytest.fixture(scope="session")
def server(models: Path) -> Iterator[nereid_server.Server]:
    """One server on all models. Tests must not change its state."""
    with nereid_server.Server(models) as running:
        yield running


RunScript = Callable[..., subprocess.CompletedProcess]


@pytest.fixture
def run_script(python: str, tmp_path: Path) -> RunScript:
    """run_script(code, *arguments) runs a program in a Python of its own, which finds the package."""

    def run(code: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess:
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(code), encoding="utf-8")
        done = subprocess.run(
            [python, script, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if check:
            assert done.returncode == 0, f"{done.returncode}: {done.stdout}\n{done.stderr}"
        return done

    return run
