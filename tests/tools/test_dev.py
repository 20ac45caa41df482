# SPDX-License-Identifier: Apache-2.0
"""tools/dev and the Makefile: what they list is there, and old names say the new one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
DEV = PROJECT_ROOT / "tools" / "dev"
# The `make` targets that have moved, beside those that tools/dev has under the same name.
OTHER_KINDS = ("deb", "wheel", "image")


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(command), cwd=PROJECT_ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def names() -> list[str]:
    return run(DEV, "--names").stdout.split()


def test_each_command_that_is_listed_is_there_with_its_price() -> None:
    listed = {line.split()[0]: line for line in run(DEV).stdout.splitlines() if re.match(r"  \S", line)}
    assert list(listed) == names()
    for line in listed.values():
        assert len(re.split(r"\s{2,}", line.strip())) == 4, line
    branches = re.findall(r"^  ([a-z][\w-]*)\)", DEV.read_text().split("case $name in")[1], re.MULTILINE)
    assert branches == names()


def test_an_unknown_command_is_refused() -> None:
    done = run(DEV, "nothing-of-this-name")
    assert done.returncode == 2
    assert "no command 'nothing-of-this-name'" in done.stderr


@pytest.mark.parametrize("name", names())
def test_a_target_of_before_says_what_it_is_now(name: str) -> None:
    done = run("make", name)
    assert done.returncode == 2
    assert f"'{name}' is now: tools/dev {name}\n" in done.stderr


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_so_does_each_kind_of_package(kind: str) -> None:
    assert f"'{kind}' is now: make package KIND={kind}\n" in run("make", kind).stderr


def test_what_never_was_a_target() -> None:
    done = run("make", "nothing-of-this-name")
    assert done.returncode == 2
    assert "no target 'nothing-of-this-name'" in done.stderr


def test_make_help_names_all_targets() -> None:
    phony = re.search(r"^\.PHONY: (.*)$", (PROJECT_ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony
    described = re.findall(r"^make (\S+) ", run("make", "help").stdout, re.MULTILINE)
    assert sorted(described) == sorted(set(phony[1].split()) - {"help"})


def test_an_unknown_kind_of_package_is_refused_before_anything_is_made() -> None:
    done = run("make", "package", "KIND=rpm")
    assert done.returncode == 2
    assert "no kind 'rpm'" in done.stderr
