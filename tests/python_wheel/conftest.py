# SPDX-License-Identifier: Apache-2.0
"""Clean virtual environments with the wheel of build/packages, one for each of two versions of Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.stage import PROJECT_ROOT

SECONDS = 120
# Beside them, pip's own settings (which index) are kept.
KEPT = ("HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "https_proxy", "HTTPS_PROXY", "no_proxy")
PACKAGING = {"pip", "setuptools", "pkg_resources", "_distutils_hack"}


def interpreters() -> list[str]:
    """That of the tests, and the newest other that the machine has. CI has one."""
    others = [Path(path) for path in os.environ.get("NEREID_PYTHONS", "").split(os.pathsep) if path]
    if not others and os.environ.get("CI") == "true":
        raise RuntimeError("NEREID_PYTHONS names no second Python")
    newest = sorted(others, key=lambda path: int(path.parts[-3].split(".")[1]))[-1:]
    return [sys.executable, *map(str, newest)]


@dataclass
class Environment:
    """A virtual environment, whose commands see neither the tests' variables nor the source tree."""

    folder: Path

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program of the environment in its folder."""
        done = subprocess.run(
            [self.folder / "bin" / command[0], *command[1:]],
            cwd=self.folder,
            env=self.variables(),
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        assert not check or done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
        return done

    def pip(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.run("python", "-m", "pip", "--disable-pip-version-check", *arguments, check=check)

    def variables(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if name in KEPT or name.startswith("PIP_")
        }
        return {**kept, "PATH": "/usr/bin:/bin"}

    def files(self) -> set[Path]:
        """Files, and folders of ours, since protobuf leaves an empty one. pip and its like are left out: their
        bytecode comes as they are used."""
        paths = [path for path in self.folder.rglob("*") if path.is_file() or "nereid" in path.name]
        found = {path.relative_to(self.folder) for path in paths}
        return {path for path in found if not PACKAGING.intersection(part.split("-")[0] for part in path.parts)}


@pytest.fixture(scope="session")
def wheel() -> Path:
    found = list((PROJECT_ROOT / "build" / "packages").glob("nereid_server-*.whl"))
    assert len(found) == 1, f"there is one wheel after `make package KIND=wheel`, not {found}"
    return found[0]


@pytest.fixture(scope="module", params=interpreters(), ids=lambda path: Path(path).parts[-3])
def environment(request, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """The wheel with what it depends on."""
    made = make_environment(request.param, tmp_path_factory.mktemp("environment"))
    before = made.files()
    made.pip("install", "--only-binary=:all:", str(wheel))
    yield made
    # Nothing is left of it.
    installed = {line.split("==")[0] for line in made.pip("list", "--format=freeze").stdout.split()}
    made.pip("uninstall", "--yes", *sorted(installed - PACKAGING))
    assert made.files() == before


def make_environment(python: str, folder: Path) -> Environment:
    subprocess.run([python, "-m", "venv", folder], check=True, timeout=SECONDS)
    return Environment(folder)
