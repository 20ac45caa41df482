# SPDX-License-Identifier: Apache-2.0
"""The thread that moves the memory of models to huge pages: there by default, where Linux can."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import huge_pages
from support.ends import threads
from support.repository import ModelRepository

THREAD = "huge pages"


def possible() -> bool:
    """Whether Linux moves memory when it is asked to (since 6.1), and its administrator lets it."""
    release = Path("/proc/sys/kernel/osrelease").read_text()
    major, minor = (int(number) for number in re.findall(r"\d+", release)[:2])
    return (major, minor) >= (6, 1) and huge_pages.allowed()


def test_it_runs_by_default(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    if not possible():
        pytest.skip("this system has no huge pages on demand")
    model_repository.add_identity("echo")
    assert threads(server_factory(model_repository))[THREAD] == 1


def test_it_can_be_turned_off(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--huge-pages=false")
    assert threads(server)[THREAD] == 0
    if found := re.search(r"THP_enabled:\s*(\d)", Path(f"/proc/{server.process.pid}/status").read_text()):
        assert found.group(1) == "0"
