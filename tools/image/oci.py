# SPDX-License-Identifier: Apache-2.0
"""Images in the layout of the Open Container Initiative, written with umoci."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from process import run

TAG = "latest"


@dataclass(frozen=True)
class ImageConfig:
    architecture: str
    user: str
    command: Sequence[str]
    environment: Mapping[str, str]
    labels: Mapping[str, str]
    ports: Sequence[int]
    created: str  # a time like 2026-11-23T12:00:00Z


def write_archive(folder: Path, archive: Path, seconds: int) -> None:
    """What lies in a folder as an archive: a layer, or an image. The same files give the same bytes: sorted, owned by
    root, all of the time `seconds`."""

    def clean(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = seconds
        return entry

    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as whole:
        for path in sorted(folder.rglob("*")):
            whole.add(path, str(path.relative_to(folder)), recursive=False, filter=clean)


def write_image(
    layout: Path,
    layers: Sequence[tuple[Path, str]],
    config: ImageConfig,
    archive: Path,
    seconds: int,
) -> None:
    """Writes an image of these layers, each with its description, into the new folder `layout`, and
    that folder as an archive, whose files are of the time `seconds`."""
    image = f"{layout}:{TAG}"
    run("umoci", "init", "--layout", layout)
    run("umoci", "new", "--image", image)
    for layer, description in layers:
        run("umoci", "raw", "add-layer", "--image", image, "--history.created", config.created,
            "--history.created_by", description, layer)  # fmt: skip
    settings = [f"--config.user={config.user}"]
    settings += ["--config.workingdir=/", "--config.stopsignal=SIGTERM"]
    settings += [f"--config.cmd={word}" for word in config.command]
    settings += [f"--config.env={name}={value}" for name, value in config.environment.items()]
    settings += [f"--config.label={name}={value}" for name, value in config.labels.items()]
    settings += [f"--config.exposedports={port}/tcp" for port in config.ports]
    run("umoci", "config", "--image", image, "--no-history", f"--created={config.created}",
        f"--architecture={config.architecture}", "--os=linux", *settings)  # fmt: skip
    run("umoci", "gc", "--layout", layout)
    write_archive(layout, archive, seconds)
