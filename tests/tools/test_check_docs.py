# SPDX-License-Identifier: Apache-2.0
"""tools/check_docs.py, on small trees and on the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
CHECKER = PROJECT_ROOT / "tools" / "check_docs.py"

GOOD = {
    "README.md": "See [here](docs/a.md#a-part), [there](https://example.com/x.md) and docs/a.md.\n",
    "docs/README.md": "[a](a.md), [decisions](adr/README.md), [b](b)\n",
    "docs/b/README.md": "[three](../../examples/three)\n",
    "examples/three/README.md": "two links from the index\n",
    "docs/a.md": "# A\n\n## A `part`\n\n[below](#a-part)\n",
    "docs/adr/README.md": "| [4](0004-four.md) |\n",
    "docs/adr/0004-four.md": "# 4\n",
    "src/base/CMakeLists.txt": "",
    "src/base/README.md": "base\n",
    "src/base/clock.cc": "// docs/adr/0004 and ADR 4 say why.\n",
    "src/base/part/CMakeLists.txt": "",
    "src/base/part/part.cc": "",
    "Makefile": ".PHONY: run test\n",
    "tools/dev": "commands='\nsoak | 12 min | - | load\n'\n",
    "tools/build.sh": "",
    "CMakePresets.json": '{"configurePresets": [{"name": "base", "hidden": true}, {"name": "asan"}]}',
    "commands.md": "`make run`, but make do\n```sh\nmake test\ntools/dev soak\ntools/build.sh asan x\n```\n",
}


def problems(tree: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run(
        [sys.executable, CHECKER, "--root", tree], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()[:-1]
    assert done.returncode == (1 if lines else 0)
    return lines


def test_a_tree_without_problems(tmp_path: Path) -> None:
    assert problems(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("README.md", "[b](b.md)\n", "README.md:1: links to b.md, which is not there"),
        (
            "docs/a.md",
            "# A part\n[b](#b)\n",
            "docs/a.md:2: links to the heading #b, which is not there",
        ),
        ("README.md", "docs/gone.md\n", "README.md:1: names docs/gone.md, which is not there"),
        ("src/base/a.h", "\n// ADR 6\n", "src/base/a.h:2: names ADR 6, which is not there"),
        ("src/base/a.h", "// docs/adr/0009\n", "src/base/a.h:1: names ADR 9, which is not there"),
        (
            "docs/adr/0005-five.md",
            "",
            "docs/adr/README.md:1: does not list 0005-five.md",
        ),
        ("a.md", "`make walk`\n", "a.md:1: the Makefile has no target walk"),
        ("a.md", "```sh\nmake walk X=1\n```\n", "a.md:2: the Makefile has no target walk"),
        ("a.md", "Then\n\n    make walk\n", "a.md:3: the Makefile has no target walk"),
        ("a.py", "# `make walk`\n", "a.py:1: the Makefile has no target walk"),
        ("a.py", 'skip("not there: make soak")\n', "a.py:1: make soak is tools/dev soak now"),
        ("a.py", "# tools/dev walk\n", "a.py:1: no command walk in tools/dev"),
        ("a.sh", "tools/walk.sh x\n", "a.sh:1: there is no tools/walk.sh"),
        ("a.md", "tools/build.sh base\n", "a.md:1: CMakePresets.json has no preset base"),
        ("a.md", "cmake --preset tsan\n", "a.md:1: CMakePresets.json has no preset tsan"),
        (
            "docs/b/lost.md",
            "",
            "docs/b/lost.md:1: docs/README.md does not lead here by 2 links: "
            "link to it from there, or from a page that it names",
        ),
        (
            "src/base/README.md",
            "line\n" * 61,
            "src/base/README.md:61: 61 lines; the limit is 60",
        ),
    ],
)
def test_problems(tmp_path: Path, file: str, text: str, problem: str) -> None:
    assert problems(tmp_path, GOOD | {file: text}) == [problem]


def test_an_example_three_links_away_is_not_found(tmp_path: Path) -> None:
    files = {
        "examples/three/README.md": "[four](../four/README.md)\n",
        "examples/four/README.md": "",
    }
    assert [line.split(":")[0] for line in problems(tmp_path, GOOD | files)] == [
        "examples/four/README.md"
    ]


def test_every_module_has_a_readme(tmp_path: Path) -> None:
    files = {name: text for name, text in GOOD.items() if name != "src/base/README.md"}
    assert problems(tmp_path, files) == ["src/base/README.md:1: every module has one"]


def test_the_project() -> None:
    assert problems(PROJECT_ROOT, {}) == []
