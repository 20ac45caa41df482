"""The console's page in Chromium, while a server is under load: console/browser/check.mjs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.stage import PROJECT_ROOT

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
LINK = re.compile(r"^Console: (\S+)$", re.MULTILINE)
SECONDS = 180
DYNAMIC_BATCHING = (
    "dynamic_batching { max_queue_delay_microseconds: 2000 preferred_batch_size: [ 4 ] }\n"
    "instance_group [ { count: 2 kind: KIND_CPU } ]\n"
)

if BROWSER is None:
    pytest.skip("there is no browser: tools/setup.sh --conformance", allow_module_level=True)


def test_page(tmp_path: Path) -> None:
    models = ModelRepository(tmp_path / "models")
    models.add_identity(
        "batched",
        "FP32",
        (4,),
        max_batch_size=8,
        extra=DYNAMIC_BATCHING,
        parameters={"execute_delay_ms": "2-6"},
    )
    models.add_identity("half", "FP16", (2,))
    server = start_nereid(
        models.root,
        tmp_path / "log",
        ["--console-port=0", "--model-control-mode=explicit", "--load-model=*"],
    )
    try:
        link = poll_until(
            "the console's link", lambda: LINK.search(server.stderr_text()), 60, server.log_text
        )
        assert link is not None and BROWSER is not None
        pictures = os.environ.get("NEREID_CONSOLE_PICTURES")
        done = subprocess.run(
            ["tools/build_console.sh", "--drive", link[1], "batched", BROWSER]
            + ([pictures] if pictures else []),
            cwd=PROJECT_ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        server.stop()
