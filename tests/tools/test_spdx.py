# SPDX-License-Identifier: Apache-2.0
"""tools/spdx.py, on small trees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "tools" / "spdx.py"
TAG = "SPDX-License-Identifier: Apache-2.0"


def run(tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, "--root", tree, *options], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.cc", "// What it is.\n", f"// {TAG}\n// What it is.\n"),
        ("a.h", "#pragma once\n", f"// {TAG}\n#pragma once\n"),
        ("a.proto", 'syntax = "proto3";\n', f'// {TAG}\nsyntax = "proto3";\n'),
        ("a.ts", "export {};\n", f"// {TAG}\nexport {{}};\n"),
        ("a.css", "a { }\n", f"/* {TAG} */\na {{ }}\n"),
        ("a.py", '"""What."""\n', f'# {TAG}\n"""What."""\n'),
        ("a.sh", "#!/bin/sh\nls\n", f"#!/bin/sh\n# {TAG}\nls\n"),
        ("tool", "#!/bin/sh\nls\n", f"#!/bin/sh\n# {TAG}\nls\n"),
        ("b/CMakeLists.txt", "project(x)\n", f"# {TAG}\nproject(x)\n"),
    ],
)
def test_the_line_is_missed_and_written_once(tmp_path: Path, name: str, before: str, after: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before)
    checked = run(tmp_path)
    assert checked.returncode == 1
    assert f"{name}:1: has no line {TAG}" in checked.stdout
    assert run(tmp_path, "--write").returncode == 0
    assert path.read_text() == after
    assert run(tmp_path).returncode == 0
    run(tmp_path, "--write")
    assert path.read_text() == after


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "# A\n"),
        ("LICENSE", "Apache License\n"),
        ("empty/__init__.py", ""),
        ("console/dist/console.js", "x\n"),
        ("theirs.h", "// SPDX-License-Identifier: MIT\n"),
    ],
)
def test_what_needs_none(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert run(tmp_path).returncode == 0
    run(tmp_path, "--write")
    assert path.read_text() == text


def test_a_file_stays_executable(tmp_path: Path) -> None:
    path = tmp_path / "a.sh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    run(tmp_path, "--write")
    assert path.stat().st_mode & 0o777 == 0o755
