# SPDX-License-Identifier: Apache-2.0
"""What docs/protocol/inference.md shows can be copied, and prints what it says.

A block of code that follows `<!-- docs: run -->`, or `<!-- docs: skip, tests/docs_reference runs it -->`
if it is in Go or JavaScript, is run. The block behind the next mark, if it is of an output, is what
it prints. The page names the usual ports; here they become those of the test's server.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

PAGE = PROJECT_ROOT / "docs/protocol/inference.md"
RUN = r"<!-- docs: (?:run|skip, tests/docs_reference runs it) -->"
OUTPUT = r"<!-- docs: (?:output|skip, its output) -->"
BLOCK = re.compile(
    rf"^{RUN}\n```(\w+)\n(.*?)^```\n(?:\n{OUTPUT}\n```\n(.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)
PROGRAMS = {  # the name of the file, and what runs it
    "sh": ("block.sh", ["bash", "-euo", "pipefail"]),
    "python": ("block.py", [sys.executable]),
    "go": ("block.go", ["go", "run"]),
    "js": ("block.mjs", ["node"]),
}


@dataclass(frozen=True)
class Snippet:
    line: int
    language: str
    code: str
    output: str


def snippets(text: str) -> list[Snippet]:
    return [
        Snippet(text[: m.start()].count("\n") + 1, m[1], m[2], m[3] or "")
        for m in BLOCK.finditer(text)
    ]


def test_every_mark_belongs_to_a_block() -> None:
    text = PAGE.read_text()
    found = snippets(text)
    assert len(found) == len(re.findall(RUN, text))
    assert sum(bool(snippet.output) for snippet in found) == len(re.findall(OUTPUT, text))
    assert {snippet.language for snippet in found} == set(PROGRAMS)


@pytest.mark.parametrize(
    "snippet", snippets(PAGE.read_text()), ids=lambda s: f"{s.language}-{s.line}"
)
def test_block(snippet: Snippet, documented_server: ServerProcess, tmp_path: Path) -> None:
    file, command = PROGRAMS[snippet.language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    code = snippet.code.replace("localhost:8000", documented_server.http_url)
    (tmp_path / file).write_text(code.replace("localhost:8001", documented_server.grpc_url))
    done = subprocess.run(
        [*command, file], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == snippet.output.rstrip("\n")
