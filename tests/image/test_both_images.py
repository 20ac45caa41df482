# SPDX-License-Identifier: Apache-2.0
"""What holds for the image with and without Python: size, configuration, paths, list of contents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from image.conftest import file_of
from image.container import Image

# Bytes that its files may have.
MOST_BYTES = {"nereid": 150_000_000, "nereid-python": 200_000_000}
# Those of the list of contents that are no Debian packages, besides the image itself.
OTHERS = {"nereid", "onnxruntime", "libboost1.81-dev", "rapidjson-dev", "uplot"}


@pytest.fixture(params=sorted(MOST_BYTES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def image(name: str, request: pytest.FixtureRequest) -> Image:
    found = request.getfixturevalue("python" if name == "nereid-python" else "slim")
    assert isinstance(found, Image)
    return found


def size_of(root: Path) -> int:
    return sum(path.lstat().st_size for path in root.rglob("*") if not path.is_dir())


def test_it_is_small(image: Image, name: str) -> None:
    assert size_of(image.root) <= MOST_BYTES[name]


def test_configuration(image: Image) -> None:
    config = image.run_config
    assert config["User"] == "65532:65532"
    assert "Entrypoint" not in config
    assert image.command == [
        "nereid",
        "--model-repository=/models",
        "--model-repository=/mnt/models",
    ]
    assert set(config["ExposedPorts"]) == {"8000/tcp", "8001/tcp", "8002/tcp"}  # type: ignore[call-overload]
    assert config["StopSignal"] == "SIGTERM"
    assert image.config["os"] == "linux"


def test_existing_manifests_find_what_they_name(image: Image, name: str) -> None:
    paths = [
        "bin/tritonserver",
        "lib/libtritonserver.so",
        "backends/onnxruntime/libtriton_onnxruntime.so",
        "repoagents/checksum",
        "caches/local",
    ]
    if name == "nereid-python":
        paths.append("backends/python/libtriton_python.so")
    for path in paths:
        assert (image.root / "opt/tritonserver" / path).exists(), path
    assert not (image.root / "opt/nereid/backends/testing").exists()


def test_list_of_contents(image: Image, name: str) -> None:
    document = json.loads(file_of(name, ".spdx.json").read_text(encoding="utf-8"))
    assert document["spdxVersion"] == "SPDX-2.3"
    packages = {package["name"]: package for package in document["packages"]}
    debian = {path.name for path in (image.root / "var/lib/dpkg/status.d").iterdir()}
    assert {"libc6", "libssl3", "libprotobuf32", "libcurl4"} <= debian
    assert set(packages) - debian == {name} | OTHERS
    assert ("python3-numpy" in debian) == (name == "nereid-python")
    assert packages["nereid"]["licenseDeclared"] == "Apache-2.0"
    for one in debian:
        assert packages[one]["versionInfo"] and packages[one]["supplier"], one
        assert (image.root / "usr/share/doc" / one / "copyright").exists(), one
    identifiers = [package["SPDXID"] for package in document["packages"]]
    assert len(set(identifiers)) == len(identifiers)
    known = {*identifiers, "SPDXRef-DOCUMENT"}
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= known
