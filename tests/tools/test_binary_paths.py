# SPDX-License-Identifier: Apache-2.0
"""No staged binary of ours holds a path of the checkout that it was built in, once it is stripped: packages are the
same wherever they are made, and say nothing of the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
# The libraries of frameworks are larger, and come as others have built them.
MOST_BYTES = 128 << 20

pytestmark = pytest.mark.skipif(
    "NEREID_STAGE" not in os.environ
    or Path(os.environ["NEREID_STAGE"]).resolve() != PROJECT_ROOT / "build" / "stage",
    reason="runs in `make test`, which has just staged the server",
)


def binaries() -> list[Path]:
    """ELF files of the stage, but for those that a test of the installation is just writing."""
    files = (path for path in (PROJECT_ROOT / "build" / "stage").rglob("*") if path.suffix != ".new")
    found = [p for p in files if not p.is_symlink() and p.is_file() and p.stat().st_size < MOST_BYTES]
    return [path for path in found if path.open("rb").read(4) == b"\x7fELF"]


def test_no_path_of_the_checkout(tmp_path: Path) -> None:
    names = {path.name for path in binaries()}
    assert {"nereid", "libtritonserver.so", "libtriton_python.so", "_native.abi3.so"} <= names
    holding = []
    for path in binaries():
        stripped = tmp_path / path.name
        subprocess.run(["strip", "-o", stripped, path], check=True)
        if bytes(PROJECT_ROOT) in stripped.read_bytes():
            holding.append(path.name)
        stripped.unlink()
    assert holding == []
