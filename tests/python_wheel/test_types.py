# SPDX-License-Identifier: Apache-2.0
"""The types of the package `nereid_server`, as a type checker of its users sees them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from support.stage import PROJECT_ROOT, python_package

CHECKER = PROJECT_ROOT / "build" / "deps" / "wheel"
SETTINGS = PROJECT_ROOT / "python" / "pyproject.toml"
EXAMPLE = PROJECT_ROOT / "examples" / "embedding" / "python" / "in_process.py"


def run(folder: Path, *words: str | Path) -> str:
    """Runs a module of the type checker; returns what it finds."""
    places = (CHECKER, python_package(), sysconfig.get_path("purelib"))
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "MYPYPATH": str(python_package()),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_package_is_typed(tmp_path: Path) -> None:
    """Strictly: each function has types, and they agree."""
    assert run(tmp_path, "mypy", "--config-file", SETTINGS, "--package=nereid_server") == ""


def test_a_program_of_a_user_is_typed(tmp_path: Path) -> None:
    assert run(tmp_path, "mypy", "--strict", EXAMPLE) == ""


def test_wrong_types_are_found(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import nereid_server\nnereid_server.Server(models='m').model(1).infer('x')\n")
    found = run(tmp_path, "mypy", "--strict", program)
    assert 'Argument 1 to "model" of "Server" has incompatible type "int"; expected "str"' in found
    assert 'Argument 1 to "infer" of "Model" has incompatible type "str"' in found


def test_the_native_module_is_as_its_types_say(tmp_path: Path) -> None:
    """Disjoint bases: a type of C that cannot be combined with others; final says more."""
    assert run(tmp_path, "mypy.stubtest", "--ignore-disjoint-bases", "nereid_server._native") == ""
