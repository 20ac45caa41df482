#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the images of `make package KIND=image` without a registry, from the built server and Debian packages.

    tools/image/make_image.py [--out DIR]

Needs the preset built that NEREID_BUILD names, `release` unless it is set, and mmdebstrap and umoci (tools/setup.sh
--image). Writes into DIR, by default build/packages:

    nereid-VERSION-ARCH.oci.tar           the server with ONNX Runtime: no Python, no shell
    nereid-python-VERSION-ARCH.oci.tar    the same with Python and numpy, and a shell
    *.spdx.json                           what is in each

The last lines of its output are the sizes, as a table.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import debian
import oci
import root as roots
from contents import DEBIAN_RELEASE, PROJECT, own_components, project_version, source_time
from process import run
from sbom import make_document

BUILD = PROJECT / "build" / os.environ.get("NEREID_BUILD", "release")
WORK = PROJECT / "build" / "image"
# The whole installation lies in one folder, and can be found under the name that existing manifests
# use.
HOME = "opt/nereid"
PYTHON_BACKEND = "backends/python"
ORIGINAL_HOME = "opt/tritonserver"
# A repository, or the folder of one model, may be mounted at either.
COMMAND = ("nereid", "--model-repository=/models", "--model-repository=/mnt/models")
PORTS = (8000, 8001, 8002)
MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Layer:
    root: Path
    description: str
    packages: list[debian.DebianPackage]


def section(name: str) -> list[str]:
    """The entries of a section of tools/dependencies.txt."""
    text = (PROJECT / "tools/dependencies.txt").read_text(encoding="utf-8")
    part = re.search(rf"^\[{name}\][^\n]*\n((?:[^\[\n][^\n]*\n|\n)*)", text, re.MULTILINE)
    if part is None:
        raise SystemExit(f"image: tools/dependencies.txt has no section [{name}]")
    return [word for line in part[1].splitlines() if (word := line.split("#")[0].strip())]


def debian_layer() -> Layer:
    whole, kept = WORK / "debian-whole", WORK / "debian"
    packages = roots.extract(whole, section("image"))
    certificates = WORK / "certificates"
    roots.extract(certificates, ["ca-certificates"])
    roots.keep(whole, kept, roots.KEPT)
    packages = debian.present(packages, kept)
    roots.finish(kept, certificates / "usr/share/ca-certificates")
    debian.write_status(packages, kept)
    return Layer(kept, "packages of Debian 12", packages)


def installed() -> Path:
    """The server as it is installed, less what is for compilers and for programs that embed it."""
    prefix = WORK / "installed"
    for component in ("nereid", "tools"):
        run("cmake", "--install", BUILD, "--prefix", prefix, "--component", component, "--strip")
    for folder in sorted(prefix.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return prefix


def nereid_layer(prefix: Path) -> Layer:
    root = WORK / "nereid"
    shutil.copytree(prefix, root / HOME, symlinks=True)
    shutil.rmtree(root / HOME / PYTHON_BACKEND)  # of no use without Python
    roots.link(root / ORIGINAL_HOME, Path(HOME).name)
    documents = root / debian.DOCUMENTATION
    shutil.copytree(PROJECT / "build/deps/onnxruntime/LICENSES", documents / "onnxruntime")
    (documents / "nereid").mkdir()
    shutil.copy2(PROJECT / "LICENSE", documents / "nereid")
    return Layer(root, "nereid with ONNX Runtime", [])


def python_layer(prefix: Path, below: Layer) -> Layer:
    whole, kept = WORK / "python-whole", WORK / "python"
    packages = roots.extract(whole, section("image") + section("image-python"))
    roots.keep(whole, kept, roots.KEPT + roots.KEPT_OF_PYTHON, roots.DROPPED_OF_PYTHON)
    known = {package.name for package in below.packages}
    packages = [package for package in debian.present(packages, kept) if package.name not in known]
    roots.finish_python(kept)
    debian.write_status(packages, kept)
    roots.remove_common(kept, below.root)
    shutil.copytree(prefix / PYTHON_BACKEND, kept / HOME / PYTHON_BACKEND)
    return Layer(kept, "Python, numpy and dash of Debian 12, and the backend python", packages)


def size_of(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def image_config(name: str, title: str, version: str, created: str) -> oci.ImageConfig:
    return oci.ImageConfig(
        architecture=run("dpkg", "--print-architecture").strip(),
        user=f"{roots.USER_ID}:{roots.USER_ID}",
        command=COMMAND,
        environment={
            "PATH": f"/{HOME}/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",  # the root may be read-only
        },
        labels={
            "org.opencontainers.image.title": name,
            "org.opencontainers.image.description": title,
            "org.opencontainers.image.version": version,
            "org.opencontainers.image.licenses": "Apache-2.0",
            "org.opencontainers.image.created": created,
        },
        ports=PORTS,
        created=created,
    )


def make(name: str, title: str, layers: list[Layer], out: Path) -> str:
    """Makes one image and the list of its contents. Returns its row of the table of sizes."""
    version, seconds = project_version(), source_time()
    created = datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = image_config(name, title, version, created)
    written = []
    for layer in layers:
        tar = layer.root.with_suffix(".tar")
        oci.write_archive(layer.root, tar, seconds)
        written.append((tar, layer.description))
    stem = f"{name}-{version}-{config.architecture}"
    archive = out / f"{stem}.oci.tar"
    oci.write_image(WORK / f"{name}-layout", written, config, archive, seconds)
    components = own_components(WORK / "installed", version, f"/{debian.DOCUMENTATION}") + [
        debian.component(package, layer.root, DEBIAN_RELEASE)
        for layer in layers
        for package in layer.packages
    ]
    document = make_document(name, version, created, components)
    (out / f"{stem}.spdx.json").write_text(document, encoding="utf-8")
    unpacked = sum(size_of(layer.root) for layer in layers)
    return (
        f"| `{archive.name}` | {archive.stat().st_size / MEBIBYTE:.1f} MiB "
        f"| {unpacked / MEBIBYTE:.1f} MiB | {len(components)} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PROJECT / "build/packages")
    out = parser.parse_args().out.resolve()
    os.chdir(PROJECT)
    os.umask(0o022)  # what is made here has the same modes everywhere
    shutil.rmtree(WORK, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    prefix = installed()
    base, server = debian_layer(), nereid_layer(prefix)
    python = python_layer(prefix, base)
    kinds = {
        "nereid": ("An inference server for ONNX models", [base, server]),
        "nereid-python": ("An inference server for ONNX and Python models", [base, server, python]),
    }
    rows = [make(name, title, layers, out) for name, (title, layers) in kinds.items()]
    print("| image | compressed | unpacked | components |\n|---|--:|--:|--:|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
