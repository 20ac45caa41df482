#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the list of what is in a Debian package or in the wheel, an SPDX document, as images have it.

    tools/image/packages.py deb ROOT PACKAGE VERSION    ROOT/usr/share/doc/PACKAGE/PACKAGE.spdx.json
    tools/image/packages.py wheel STAGE DESTINATION     of the staged server and the libraries that auditwheel copies:
                                                        DESTINATION/nereid-server.spdx.json, and the copyright
                                                        files of these libraries, PACKAGE.txt

A Debian package lists what lies in it, not what it depends on. Libraries that every Linux has by the rules of
manylinux are not copied into the wheel. What is carried along is listed as a whole: its notices say what it holds.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from contents import installed_package, own_components, project_version, source_time
from process import run
from sbom import make_document

# Of the C and C++ libraries and zlib, which manylinux leaves to the system.
SYSTEM_PACKAGES = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}
# What of the staged server is in the wheel (python/CMakeLists.txt).
WHEEL_PROGRAMS = ("bin/nereid", "libexec/nereid-backend-check", "libexec/nereid-workshop")
WHEEL_FOLDERS = ("lib", "backends/fil", "backends/identity", "backends/onnxruntime", "backends/python")
WHEEL_FOLDERS += ("caches/local", "caches/redis", "repoagents/checksum", "python/nereid_server")


def created() -> str:
    return datetime.fromtimestamp(source_time(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def describe_deb(root: Path, package: str, version: str) -> None:
    components = own_components(root, project_version())
    destination = root / "usr/share/doc" / package
    destination.mkdir(parents=True, exist_ok=True)
    text = make_document(package, version, created(), components, purpose="INSTALL")
    (destination / f"{package}.spdx.json").write_text(text, encoding="utf-8")


def copied_libraries(stage: Path) -> set[Path]:
    """The shared libraries outside of the staged server that its files need, directly or not."""
    needed: set[Path] = set()
    files = [path for folder in WHEEL_FOLDERS for path in (stage / folder).rglob("*.so")]
    for file in [*(stage / program for program in WHEEL_PROGRAMS), *files]:
        found = {"LD_LIBRARY_PATH": str(stage / "lib")}
        listing = subprocess.run(["ldd", file], env=found, capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            path = Path(line.split("=>")[-1].split("(")[0].strip())
            if path.is_absolute() and stage not in path.parents:
                needed.add(path)
    return needed


def package_of(library: Path) -> str:
    """The Debian package that a library belongs to. The package may know it below /lib or /usr/lib."""
    return run("dpkg-query", "--search", f"*/{library.parent.name}/{library.name}").split(":")[0]


def describe_wheel(stage: Path, destination: Path) -> None:
    destination.mkdir(parents=True, exist_ok=True)
    packed = destination / "packed"
    for folder in WHEEL_FOLDERS:
        shutil.copytree(stage / folder, packed / folder, symlinks=True, ignore=_not_packed)
    for program in WHEEL_PROGRAMS:
        (packed / program).parent.mkdir(exist_ok=True)
        shutil.copy2(stage / program, packed / program)
    components = own_components(packed, project_version())
    shutil.rmtree(packed)
    for package in sorted({package_of(library) for library in copied_libraries(stage)} - SYSTEM_PACKAGES):
        components.append(installed_package(package))
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", destination / f"{package}.txt")
    text = make_document("nereid-server", project_version(), created(), components, purpose="INSTALL")
    (destination / "nereid-server.spdx.json").write_text(text, encoding="utf-8")


def _not_packed(_: str, names: list[str]) -> list[str]:
    """ONNX Runtime comes from the package onnxruntime."""
    return [name for name in names if name.startswith("libonnxruntime.so")]


def main() -> int:
    match sys.argv[1:]:
        case ["deb", root, package, version]:
            describe_deb(Path(root), package, version)
        case ["wheel", stage, destination]:
            describe_wheel(Path(stage).resolve(), Path(destination))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
