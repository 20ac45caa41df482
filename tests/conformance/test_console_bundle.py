# SPDX-License-Identifier: Apache-2.0
"""The console's page in the tree is what its sources give; the tests of the page pass."""

from __future__ import annotations

import subprocess

from support.stage import PROJECT_ROOT


def test_bundle_is_that_of_the_sources() -> None:
    done = subprocess.run(
        ["tools/build_console.sh", "--check"],
        cwd=PROJECT_ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
