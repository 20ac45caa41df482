# SPDX-License-Identifier: Apache-2.0
"""The console's page in Chromium, while a server is under load: console/browser/check.mjs. And the
requests for other clients that its playground shows: they run as they are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.stage import PROJECT_ROOT

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
INSTALLED_GO = PROJECT_ROOT / "build" / "deps" / "conformance" / "toolchain" / "go" / "bin" / "go"
GO = shutil.which("go") or (str(INSTALLED_GO) if INSTALLED_GO.exists() else None)
LINK = re.compile(r"^Console: (\S+)$", re.MULTILINE)
SECONDS = 180
DYNAMIC_BATCHING = (
    "dynamic_batching { max_queue_delay_microseconds: 2000 preferred_batch_size: [ 4 ] }\n"
    "instance_group [ { count: 2 kind: KIND_CPU } ]\n"
)
MODELS = ("batched", "half", "words")

if BROWSER is None:
    pytest.skip("there is no browser: tools/setup.sh --conformance", allow_module_level=True)


class DrivenPage:
    """What a run of check.mjs has left. The server still serves."""

    def __init__(self, done: subprocess.CompletedProcess[str], samples: Path) -> None:
        self.done = done
        self.samples = samples

    def run(self, model: str, *command: str) -> str:
        """The output of a client that runs among the samples of a model."""
        done = subprocess.run(
            command,
            cwd=self.samples / model,
            env={**os.environ, "GO111MODULE": "off"},
            capture_output=True,
            text=True,
            errors="replace",  # tensors of half precision are bytes
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def outputs(self, model: str) -> Any:
        """Those that the page itself has got."""
        return json.loads((self.samples / model / "answer.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DrivenPage]:
    folder = tmp_path_factory.mktemp("console")
    models = ModelRepository(folder / "models")
    models.add_identity(
        "batched",
        "FP32",
        (4,),
        max_batch_size=8,
        extra=DYNAMIC_BATCHING,
        parameters={"execute_delay_ms": "2-6"},
    )
    models.add_identity("half", "FP16", (2,))
    models.add_identity("words", "STRING")
    models.add_identity("talk", "FP32", (1,), max_batch_size=2, extra="sequence_batching { direct { } }")
    server = start_nereid(
        models.root,
        folder / "log",
        [
            "--console-port=0",
            "--model-control-mode=explicit",
            "--load-model=*",
            "--http-restricted-api=nereid:console-key=opens it",
        ],
    )
    try:
        link = poll_until(
            "the console's link", lambda: LINK.search(server.stderr_text()), 60, server.log_text
        )
        assert link is not None and BROWSER is not None
        pictures = os.environ.get("NEREID_CONSOLE_PICTURES")
        samples = folder / "samples"
        done = subprocess.run(
            ["tools/build_console.sh", "--drive", link[1], "batched", BROWSER, str(samples)]
            + ([pictures] if pictures else []),
            cwd=PROJECT_ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        yield DrivenPage(done, samples)
    finally:
        server.stop()


def test_page(page: DrivenPage) -> None:
    assert page.done.returncode == 0, page.done.stdout + page.done.stderr


@pytest.mark.parametrize("model", MODELS)
def test_curl(page: DrivenPage, model: str) -> None:
    answer = page.run(model, "sh", "curl.sh")
    if model == "half":
        # Bytes, which no terminal should see.
        raw = (page.samples / model / "answer.bin").read_bytes()
        (output,) = page.outputs(model)
        assert raw.endswith(np.array(output["data"], dtype=np.float16).tobytes())
        return
    assert json.loads(answer)["outputs"] == page.outputs(model)


@pytest.mark.parametrize("model", MODELS)
def test_python(page: DrivenPage, model: str) -> None:
    types = {"FP32": np.float32, "FP16": np.float16}
    expected = []
    for output in page.outputs(model):
        if output["datatype"] == "BYTES":
            values = np.array([text.encode() for text in output["data"]], dtype=np.object_)
        else:
            values = np.array(output["data"], dtype=types[output["datatype"]])
        expected.append(f"{output['name']} {values.reshape(output['shape'])}\n")
    assert page.run(model, sys.executable, "python.py") == "".join(expected)


@pytest.mark.skipif(GO is None, reason="there is no Go: tools/setup.sh --conformance")
@pytest.mark.parametrize("model", MODELS)
def test_go(page: DrivenPage, model: str) -> None:
    assert GO is not None
    status, _, answer = page.run(model, GO, "run", "go.go").partition("\n")
    assert status == "200 OK"
    if model == "half":
        assert answer.startswith("{") and '"binary_data_size":4' in answer
        return
    assert json.loads(answer)["outputs"] == page.outputs(model)
