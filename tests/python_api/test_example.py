# SPDX-License-Identifier: Apache-2.0
"""The example of examples/embedding/python, in each interpreter."""

from __future__ import annotations

import os
import subprocess

from support.stage import PROJECT_ROOT

from .conftest import PACKAGE_FOLDER

EXPECTED = """\
digit: 3
of 100 answers right: 100
countdown: [3, 2, 1]
running total: 6.0
refused: """


def test_the_example_says_what_it_should(python: str) -> None:
    done = subprocess.run(
        [python, PROJECT_ROOT / "examples/embedding/python/in_process.py"],
        env={**os.environ, "PYTHONPATH": str(PACKAGE_FOLDER)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(EXPECTED)
    assert done.stdout.endswith("\nimages that digits_batched has seen: 100\n")
