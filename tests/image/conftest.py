# SPDX-License-Identifier: Apache-2.0
"""The images of `make package KIND=image`, unpacked once each. Tests are skipped where there are none, or where
this user may not make namespaces."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from image.container import Container, Image, inside
from support.nereid import FREE_PORTS
from support.stage import PROJECT_ROOT

ContainerFactory = Callable[..., Container]
# The folder of the images. Not always build/packages: images there may be older than the sources.
FOLDER = "NEREID_IMAGES"


def file_of(name: str, suffix: str) -> Path:
    folder = os.environ.get(FOLDER)
    if not folder or shutil.which("umoci") is None:
        pytest.skip("there is no image: run `tools/dev image-check`")
    (found,) = (PROJECT_ROOT / folder).glob(f"{name}-[0-9]*{suffix}")
    return found


def archive_of(name: str) -> Path:
    if os.geteuid() != 0:
        pytest.skip("only root may unpack an image and enter it")
    return file_of(name, ".oci.tar")


@pytest.fixture(scope="session")
def slim(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image without Python."""
    return Image.unpack(archive_of("nereid"), tmp_path_factory.mktemp("slim") / "image")


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image with Python."""
    return Image.unpack(archive_of("nereid-python"), tmp_path_factory.mktemp("python") / "image")


@pytest.fixture
def containers(tmp_path: Path) -> Iterator[ContainerFactory]:
    """Starts servers in images, on free ports of this machine. Afterwards each is stopped by SIGTERM
    and has to exit with 0, unless it has ended already."""
    started: list[Container] = []

    def start(
        image: Image,
        mounts: Mapping[Path, str],
        command: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Container:
        """Without `command` it is that of the image."""
        folder = tmp_path / f"container-{len(started)}"
        whole = [*(command or image.command), *FREE_PORTS]
        container = Container(inside(image, whole, folder, mounts, env), folder)
        started.append(container)
        return container

    yield start
    failures = []
    for container in started:
        try:
            container.stop()
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\n".join(failures)
