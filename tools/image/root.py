# SPDX-License-Identifier: Apache-2.0
"""The part of an image that comes from Debian: packages laid out by mmdebstrap, without running
anything of theirs, and of their files only those that a server needs."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from debian import DebianPackage, read_archives
from process import run

# A user that no host has. Other images without a shell use the same number.
USER_ID = 65532
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"

# Libraries and what concerns licences, certificates and scanners of images; no program. Without the
# folders below the libraries' own: they hold conversions of character sets, engines, modules of PAM.
KEPT = (
    "lib64/*",
    "lib/ld-linux-*",
    "lib/*-linux-gnu/*.so*",
    "usr/lib/*-linux-gnu/*.so*",
    "etc/debian_version",
    "etc/host.conf",
    "etc/os-release",
    "usr/lib/os-release",
    "usr/share/common-licenses/*",
    "usr/share/doc/*",
    "usr/share/doc/*/copyright",
)
KEPT_OF_PYTHON = (
    "bin/dash",
    "bin/sh",
    "usr/bin/python3*",
    "usr/lib/*-linux-gnu/blas/*.so*",
    "usr/lib/*-linux-gnu/lapack/*.so*",
    "usr/lib/python3/**/*",
    "usr/lib/python3.*/**/*",
)
# Again without, where it costs much and serves only developers of Python and numpy.
DROPPED_OF_PYTHON = (
    "usr/bin/*-config",
    "usr/lib/python3.*/idlelib",
    "usr/lib/python3.*/lib2to3",
    "usr/lib/python3.*/pydoc_data",
    "usr/lib/python3/dist-packages/numpy/**/tests",
    "usr/lib/python3/dist-packages/numpy/core/include",
    "usr/lib/python3/dist-packages/numpy/f2py",
)


def extract(folder: Path, packages: Iterable[str]) -> list[DebianPackage]:
    """Lays out the packages, and what they depend on, in the new folder. Returns all of them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    said = run(
        "tools/minimal_root.sh",
        "--variant=extract",
        "--format=tar",
        f"--include={','.join(packages)}",
        "--skip=essential/unlink,cleanup/apt",
    )
    run("tar", "-C", folder, "--exclude=./dev/*", "-xf", said.splitlines()[-1])
    return read_archives(folder / "var/cache/apt/archives")


def keep(source: Path, target: Path, kept: Sequence[str], dropped: Sequence[str] = ()) -> None:
    """Copies what matches from one root to another, links as links."""
    gone = {path for pattern in dropped for path in source.glob(pattern)}
    for path in sorted({path for pattern in kept for path in source.glob(pattern)}):
        above = [parent for parent in path.parents if source in parent.parents]
        # What lies behind a link is found where it is, too.
        if gone & {path, *above} or any(parent.is_symlink() for parent in above):
            continue
        copy = target / path.relative_to(source)
        if path.is_symlink() or path.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)


def finish(root: Path, certificates: Path) -> None:
    """Adds what packages write when they are installed: users, trusted authorities (from the folder
    of the package ca-certificates), and the folders that are mounted over."""
    texts = {
        "etc/passwd": f"root:x:0:0:root:/:/sbin/nologin\n"
        f"nereid:x:{USER_ID}:{USER_ID}:nereid:/tmp:/sbin/nologin\n",
        "etc/group": f"root:x:0:\nnereid:x:{USER_ID}:\n",
        "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
        CERTIFICATES: "".join(
            path.read_text(encoding="ascii") for path in sorted(certificates.rglob("*.crt"))
        ),
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")
    # Where OpenSSL looks.
    link(root / "usr/lib/ssl/cert.pem", f"/{CERTIFICATES}")
    for folder in ("dev", "models", "mnt/models", "proc", "sys", "tmp", "var/tmp"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for folder in ("tmp", "var/tmp"):
        (root / folder).chmod(0o1777)


def finish_python(root: Path) -> None:
    """What the packages of Python's layer write when they are installed: links, and byte code."""
    for name in ("blas", "lapack"):
        for library in sorted(root.glob(f"usr/lib/*-linux-gnu/{name}/lib{name}.so.3")):
            link(library.parent.parent / library.name, f"{name}/{library.name}")
    libraries = [path for path in root.glob("usr/lib/python3*") if path.is_dir()]
    run("python3", "-m", "compileall", "-q", "-j0", "--invalidation-mode=unchecked-hash",
        "-s", root, "-p", "/", *libraries)  # fmt: skip


def remove_common(root: Path, below: Path) -> None:
    """Removes the files that the layer `below` has, too."""
    for path in sorted(root.rglob("*")):
        same = below / path.relative_to(root)
        if (path.is_symlink() or path.is_file()) and (same.is_symlink() or same.exists()):
            path.unlink()


def link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
