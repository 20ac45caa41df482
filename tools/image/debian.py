# SPDX-License-Identifier: Apache-2.0
"""Debian packages: what their archives say of themselves."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path

from licences import Licence, read_licence
from process import run
from sbom import Component, debian_purl


DOCUMENTATION = "usr/share/doc"


@dataclass(frozen=True)
class DebianPackage:
    control: str  # the control file
    sha256: str  # of the archive
    files: frozenset[str]  # relative to the root

    def __getitem__(self, field: str) -> str:
        """A field of the control file; "" if it has none of this name."""
        return str(HeaderParser().parsestr(self.control).get(field, ""))

    @property
    def name(self) -> str:
        return self["Package"]


def read_archives(folder: Path) -> list[DebianPackage]:
    return [_read_archive(path) for path in sorted(folder.glob("*.deb"))]


def _read_archive(path: Path) -> DebianPackage:
    control = run("dpkg-deb", "--field", path)
    # "-rw-r--r-- root/root  12345 2026-01-02 03:04 ./usr/lib/x.so -> y.so"
    lines = run("dpkg-deb", "--contents", path).splitlines()
    files = {line.split(maxsplit=5)[5].partition(" -> ")[0].removeprefix("./") for line in lines}
    return DebianPackage(
        control, hashlib.sha256(path.read_bytes()).hexdigest(), frozenset(files)
    )


def present(packages: list[DebianPackage], root: Path) -> list[DebianPackage]:
    """The packages of which the root has more than the documentation. Removes that of the others,
    unless one that is present shares it."""
    found = [package for package in packages if _has_files(package, root)]
    shared = {
        path.readlink().name
        for package in found
        if (path := root / DOCUMENTATION / package.name).is_symlink()
    }
    found += [package for package in packages if package.name in shared - {p.name for p in found}]
    for package in packages:
        if package not in found:
            shutil.rmtree(root / DOCUMENTATION / package.name, ignore_errors=True)
    return found


def _has_files(package: DebianPackage, root: Path) -> bool:
    files = (file for file in package.files if not file.startswith((DOCUMENTATION, "./")))
    return any((root / file).is_symlink() or (root / file).is_file() for file in files)


def write_status(packages: list[DebianPackage], root: Path) -> None:
    """A file for each package, where scanners of images without dpkg look for it."""
    folder = root / "var/lib/dpkg/status.d"
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        status = package.control.rstrip("\n").replace(
            "\n", "\nStatus: install ok installed\n", 1
        )
        (folder / package.name).write_text(status + "\n", encoding="utf-8")


def component(package: DebianPackage, root: Path, release: str) -> Component:
    """The package as an entry of the list of contents. `root`: where it lies."""
    licence_file = f"/{DOCUMENTATION}/{package.name}/copyright"
    path = root / licence_file.lstrip("/")
    # Several packages of one source share a folder, by links.
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return Component(
        name=package.name,
        version=package["Version"],
        purl=debian_purl(package.name, package["Version"], package["Architecture"], release),
        licence=read_licence(text) if text else Licence(),
        supplier=f"Organization: {package['Maintainer']}",
        sha256=package.sha256,
        homepage=package["Homepage"],
        licence_file=licence_file if text else "",
    )
