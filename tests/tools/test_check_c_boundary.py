# SPDX-License-Identifier: Apache-2.0
"""tools/check_c_boundary.py, on sources made for the purpose and on those of the project."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

GOOD = """\
extern "C" {

TRITONSERVER_Error* TRITONSERVER_ServerNew(
    TRITONSERVER_Server** server) try {
  if (server == nullptr) {
    return nullptr;
  }
  return nullptr;
} catch (...) {
  return CaughtError();
}

TRITONSERVER_Parameter* TRITONSERVER_ParameterNew(const char* name) try {
  return new TRITONSERVER_Parameter{name};
} catch (...) {
  return nullptr;
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error* error) { delete error; }

}  // extern "C"
"""
NAMES = ["TRITONSERVER_ServerNew", "TRITONSERVER_ParameterNew", "TRITONSERVER_ErrorDelete"]


def check(tmp_path: Path, source: str, names: list[str]) -> list[str]:
    """The problems of a project with that source, but for those about the list of the tool."""
    (tmp_path / "abi").mkdir()
    (tmp_path / "abi/symbols.txt").write_text("".join(f"{name}\n" for name in names))
    (tmp_path / "src").mkdir()
    (tmp_path / "src/api.cc").write_text(source)
    (tmp_path / "tools").mkdir()
    tool = tmp_path / "tools/check_c_boundary.py"
    tool.write_text((ROOT / "tools/check_c_boundary.py").read_text())
    result = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    lines = result.stdout.splitlines()[:-1]
    return [line for line in lines if "on the list of what cannot throw" not in line]


def test_the_project() -> None:
    tool = ROOT / "tools/check_c_boundary.py"
    result = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_all_well(tmp_path: Path) -> None:
    assert check(tmp_path, GOOD, NAMES) == []


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        ("server) try {", "server) {", "ServerNew: lets exceptions out"),
        (
            "} catch (...) {\n  return CaughtError();\n}",
            "} catch (const std::exception&) {\n  return CaughtError();\n}",
            "ServerNew: lets exceptions out",
        ),
        ("return CaughtError();", "throw;", "ServerNew: its handler must be `return CaughtError();`"),
        (
            "  return nullptr;\n}\n\nvoid",
            "  return New();\n}\n\nvoid",
            "ParameterNew: its handler must be `return nullptr;`",
        ),
        (
            "error) { delete error; }",
            "error) try {\n  delete error;\n} catch (...) {\n}",
            "ErrorDelete: is guarded, and on the list",
        ),
        ("ServerNew(", "ServerMake(", "TRITONSERVER_ServerNew: no definition found"),
    ],
)
def test_what_is_wrong(tmp_path: Path, good: str, bad: str, problem: str) -> None:
    assert good in GOOD
    problems = check(tmp_path, GOOD.replace(good, bad, 1), NAMES)
    assert len(problems) == 1
    assert problem in problems[0]


def test_a_listed_function_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "abi").mkdir()
    (tmp_path / "abi/symbols.txt").write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "tools").mkdir()
    tool = tmp_path / "tools/check_c_boundary.py"
    tool.write_text((ROOT / "tools/check_c_boundary.py").read_text())
    result = subprocess.run([sys.executable, tool], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "TRITONSERVER_ErrorNew: on the list of what cannot throw, but not exported" in result.stdout
