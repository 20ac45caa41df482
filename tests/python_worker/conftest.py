# SPDX-License-Identifier: Apache-2.0
"""Fixtures: the process of a Python model, driven by a fake server in Python, in each interpreter.

NEREID_PYTHONS names further interpreters (with numpy) besides the one that runs the tests,
separated by colons.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.stage import backend_directory

from .fake_server import AUTO_COMPLETE, EXECUTE, INITIALIZE, FakeServer
from .values import WireTensor

INSTANCE = "model_0_0"


def interpreters() -> list[str]:
    others = os.environ.get("NEREID_PYTHONS", "")
    return [sys.executable, *(path for path in others.split(":") if path)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests that use `python` with each interpreter, except those marked one_interpreter."""
    if "python" in metafunc.fixturenames:
        every = metafunc.definition.get_closest_marker("one_interpreter") is None
        metafunc.parametrize("python", interpreters() if every else interpreters()[:1])


class Worker(FakeServer):
    """A process with the model of a test."""

    def __init__(self, python: str, folder: Path, model: str = "") -> None:
        self.folder = folder
        version = folder / "1"
        version.mkdir(parents=True, exist_ok=True)
        self.model_file = version / "model.py"
        if model:
            self.model_file.write_text(textwrap.dedent(model))
        super().__init__(python, backend_directory() / "python" / "runtime", folder / "log")

    def what(self, **others: Any) -> dict:
        return {
            "model_file": str(self.model_file),
            "python_path": [str(self.folder / "1"), str(self.folder)],
            "module": "1.model",
            "module_root": str(self.folder),
            "model_dir": str(self.folder / "1"),
            "name": INSTANCE,
            **others,
        }

    def initialize(self, decoupled: bool = False, **others: Any) -> str | bool:
        args = {"model_name": "model", "model_instance_name": INSTANCE, "model_config": "{}"}
        return self.command(
            INITIALIZE, self.what(args=args, decoupled=decoupled, **others)
        )

    def auto_complete(self, config: str) -> tuple:
        return self.command(AUTO_COMPLETE, self.what(name="model", config=config))

    def execute(self, *requests: tuple) -> tuple:
        return self.command(EXECUTE, requests)


def request(
    handle: int = 1,
    *inputs: WireTensor,
    request_id: str = "",
    correlation: int | str = 0,
    flags: int = 0,
    timeout: int = 0,
    parameters: str = "",
    requested: tuple[str, ...] = (),
    trace: tuple[int, str | None] = (0, None),
    priority: int = 0,
    places: tuple[WireTensor, ...] = (),
) -> tuple:
    """A request in the form in which the command Execute contains it."""
    return (
        handle,
        request_id,
        correlation,
        flags,
        timeout,
        parameters,
        requested,
        inputs,
        *trace,
        priority,
        places,
    )


def tensor(name: str, values: Any, dtype: Any = np.float32) -> WireTensor:
    return WireTensor.of(name, np.array(values, dtype))


StartWorker = Callable[..., Worker]


@pytest.fixture
def start(python: str, tmp_path: Path) -> Iterator[StartWorker]:
    """start(model, decoupled=...) returns a Worker whose model is initialized or, with
    `initialize=False`, not initialized yet."""
    started: list[Worker] = []

    def make(model: str = "", initialize: bool = True, decoupled: bool = False) -> Worker:
        worker = Worker(python, tmp_path / f"model-{len(started)}", model)
        started.append(worker)
        if initialize:
            ready = worker.initialize(decoupled)
            assert isinstance(ready, bool), ready
        return worker

    yield make
    for worker in started:
        worker.close()


SESSION = """
    import gc
    import json
    import os
    import sys
    import threading

    import numpy as np
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def initialize(self, args):
            self.names = dict(globals())

        def execute(self, requests):
            return [pb_utils.InferenceResponse(error=self.run(request)) for request in requests]

        def run(self, request):
            self.names["request"] = request
            self.names["result"] = None
            try:
                exec(request.request_id(), self.names)
                text = repr(self.names["result"])
            except BaseException as error:
                text = f"{type(error).__name__}: {error}"
            del self.names["request"]
            return pb_utils.TritonError(text)
"""


class Session:
    """A process that runs pieces of Python, each within execute. A piece finds its request in the
    variable `request`, and stores the value to be checked in `result`."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def run(self, code: str, *inputs: WireTensor, **fields: Any) -> str:
        """Runs a piece; returns repr() of its result, or `Type: text` of the exception."""
        code = textwrap.dedent(code).strip()
        status, responses, _ = self.worker.execute(request(1, *inputs, request_id=code, **fields))
        assert status == "ok"
        ((error, outputs, _),) = responses
        assert outputs == ()
        return error[1]

    def evaluate(self, expression: str, *inputs: WireTensor, **fields: Any) -> str:
        return self.run(f"result = ({expression})", *inputs, **fields)


@pytest.fixture
def session(start: StartWorker) -> Session:
    return Session(start(SESSION))
