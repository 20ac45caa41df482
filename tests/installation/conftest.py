# SPDX-License-Identifier: Apache-2.0
"""What tests of installations share: an installation in a folder, and the Debian packages.

`make package KIND=deb` has to have run; tools/run_tests.py sees to it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from support.stage import PROJECT_ROOT

PACKAGES = PROJECT_ROOT / "build" / "packages"


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PREFIX of what `make install` installs."""
    destination = tmp_path_factory.mktemp("installation")
    subprocess.run(
        ["make", "install", f"DESTDIR={destination}", "PREFIX=/opt/nereid"],
        cwd=PROJECT_ROOT,
        env={**os.environ, "MAKEFLAGS": ""},
        check=True,
        capture_output=True,
    )
    return destination / "opt" / "nereid"


@pytest.fixture(scope="session")
def packages() -> dict[str, Path]:
    """The Debian packages by name."""
    found = {path.name.split("_")[0]: path for path in sorted(PACKAGES.glob("*.deb"))}
    assert found, f"there are no packages in {PACKAGES}: run 'make package KIND=deb'"
    return found
