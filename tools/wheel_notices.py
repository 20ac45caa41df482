#!/usr/bin/env python3
"""Collects the copyright files of the Debian packages whose libraries auditwheel copies into the wheel.

    tools/wheel_notices.py STAGE DESTINATION

Writes DESTINATION/PACKAGE.txt for each. Libraries that every Linux has by the rules of manylinux are not copied.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

# Of the C and C++ libraries and zlib, which manylinux leaves to the system.
SYSTEM_PACKAGES = {"libc6", "libgcc-s1", "libstdc++6", "zlib1g"}


def libraries(stage: Path) -> set[Path]:
    """The shared libraries outside of the staged server that its files need, directly or not."""
    needed: set[Path] = set()
    files = [stage / "bin" / "nereid", *stage.rglob("*.so")]
    for file in files:
        found = {"LD_LIBRARY_PATH": str(stage / "lib")}
        listing = subprocess.run(["ldd", file], env=found, capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            path = Path(line.split("=>")[-1].split("(")[0].strip())
            if path.is_absolute() and stage not in path.parents:
                needed.add(path)
    return needed


def package_of(library: Path) -> str:
    """The Debian package that a library belongs to. The package may know it below /lib or /usr/lib."""
    pattern = f"*/{library.parent.name}/{library.name}"
    found = subprocess.run(["dpkg-query", "--search", pattern], capture_output=True, text=True, check=True)
    return found.stdout.split(":")[0]


def main() -> int:
    stage, destination = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    destination.mkdir(parents=True, exist_ok=True)
    for package in sorted({package_of(library) for library in libraries(stage)} - SYSTEM_PACKAGES):
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", destination / f"{package}.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
