# SPDX-License-Identifier: Apache-2.0
"""tools/build.sh: which preset, settings and targets a name stands for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
CMAKE = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in *--preset*-B*) mkdir -p "$4"; touch "$4/build.ninja"; echo "$*" | tr ' ' '\\n' | sed -n 's/^-D//p' >"$4/given"
  grep -q NEREID_BUILD_TESTS=ON "$4/given" && echo NEREID_BUILD_TESTS:STRING=ON >"$4/CMakeCache.txt" ;; esac
exit 0
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tools").mkdir()
    shutil.copy(PROJECT_ROOT / "tools" / "build.sh", tmp_path / "tools")
    shutil.copy(PROJECT_ROOT / "CMakePresets.json", tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "cmake").write_text(CMAKE)
    (tmp_path / "bin" / "cmake").chmod(0o755)
    return tmp_path


def build(tree: Path, *arguments: str) -> list[str]:
    """The calls of cmake."""
    calls = tree / "calls"
    calls.write_text("")
    environment = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}", "CALLS": str(calls)}
    subprocess.run([tree / "tools" / "build.sh", *arguments], env=environment, check=True, capture_output=True)
    return calls.read_text().splitlines()


GCC = "-DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DNEREID_WERROR=OFF"
SERVER = "-DNEREID_BUILD_TESTS=OFF -DNEREID_GRPC=ON -DNEREID_COMMANDS=ON"


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        (["asan"], ["--preset asan -B build/asan", "--build --preset asan"]),
        (["asan", "a", "b"], ["--preset asan -B build/asan", "--build build/asan --target a b"]),
        (
            ["asan-gcc", "capi_faults_test"],
            [f"--preset asan -B build/asan-gcc {GCC}", "--build build/asan-gcc --target capi_faults_test"],
        ),
        (
            ["tsan-server"],
            [f"--preset tsan -B build/tsan-server {SERVER}", "--build build/tsan-server --target staged"],
        ),
        (
            ["asan-gcc-server-frameworks"],
            [
                f"--preset asan -B build/asan-gcc-server-frameworks {GCC} {SERVER} -DNEREID_FRAMEWORKS=auto",
                "--build build/asan-gcc-server-frameworks --target staged",
            ],
        ),
        (
            ["lint-unity"],
            [
                "--preset lint -B build/lint-unity -DNEREID_UNITY=ON -DNEREID_FRAMEWORKS=",
                "--build build/lint-unity",
            ],
        ),
    ],
)
def test_a_name_is_a_preset_with_options(tree: Path, arguments: list[str], calls: list[str]) -> None:
    assert build(tree, *arguments) == calls


def test_it_is_configured_once(tree: Path) -> None:
    build(tree, "asan")
    assert build(tree, "asan") == ["--build --preset asan"]


def test_tests_of_the_release_are_asked_for_with_more_than_what_is_installed(tree: Path) -> None:
    serving = "--build build/release --target serving"
    assert build(tree, "release", "serving") == ["--preset release -B build/release", serving]
    staged = "--build build/release --target staged documents"
    assert build(tree, "release", "staged", "documents") == [staged]
    everything = ["--preset release -B build/release -DNEREID_BUILD_TESTS=ON", "--build --preset release"]
    assert build(tree, "release") == everything
    assert build(tree, "release") == everything[1:]
    assert build(tree, "release", "torch_models") == ["--build build/release --target torch_models"]


def test_an_unknown_option_is_refused(tree: Path) -> None:
    done = subprocess.run([tree / "tools" / "build.sh", "asan-icc"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no option 'icc'" in done.stderr


def test_every_preset_that_is_shown_can_be_built() -> None:
    presets = json.loads((PROJECT_ROOT / "CMakePresets.json").read_text())
    shown = [preset["name"] for preset in presets["configurePresets"] if not preset.get("hidden")]
    assert [preset["configurePreset"] for preset in presets["buildPresets"]] == shown
    assert all("-" not in name for name in shown), "a dash is what divides a preset from its options"
