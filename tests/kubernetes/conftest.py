# SPDX-License-Identifier: Apache-2.0
"""One API server and one helm for all tests of this folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubernetes.api_server import ApiServer
from kubernetes.helm import Helm
from kubernetes.installed import CRDS, INSTALLED, read_objects

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    if not INSTALLED.is_dir():
        pytest.skip("not installed: tools/setup.sh --kubernetes")


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return Helm(tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="session")
def api_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """Knows the kinds of KServe and of the operator of Prometheus."""
    server = ApiServer(tmp_path_factory.mktemp("api_server"))
    try:
        files: list[Path] = sorted(CRDS.glob("*.yaml"))
        for definition in (one for file in files for one in read_objects(file.read_text())):
            server.define(definition)
        yield server
    finally:
        server.stop()


@pytest.fixture
def namespace(api_server: ApiServer) -> str:
    """A namespace of the test's own, which enforces the Pod Security level "restricted"."""
    name = f"test-{next(NUMBERS)}"
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    metadata = {"name": name, "labels": labels}
    api_server.accept({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    # There is no controller that would make it.
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    api_server.accept(account, name)
    return name
