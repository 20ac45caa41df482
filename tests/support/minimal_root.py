# SPDX-License-Identifier: Apache-2.0
"""A fresh Debian in a folder, to install packages in and run what they bring. Needs root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.stage import PROJECT_ROOT

MAKE_SECONDS = 600
END = "SIGTERM"  # what a program inside gets when the one who started it ends
# Packages that apt fetched, for the next fresh root.
FETCHED = PROJECT_ROOT / "build" / "deps" / "roots" / "fetched"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def minimal_archive(*arguments: str) -> Path:
    """An archive of a minimal Debian (tools/minimal_root.sh); made if there is none."""
    done = subprocess.run(
        [PROJECT_ROOT / "tools" / "minimal_root.sh", *arguments],
        capture_output=True,
        text=True,
        timeout=MAKE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return PROJECT_ROOT / done.stdout.splitlines()[-1]


class MinimalRoot:
    """One unpacked root. Programs inside share the network with those outside, and nothing else."""

    def __init__(self, folder: Path, archive: Path) -> None:
        self.path = folder
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-xf", archive, "-C", folder, "--numeric-owner"], check=True)
        resolver = folder / "etc/resolv.conf"
        resolver.unlink(missing_ok=True)
        resolver.write_bytes(Path("/etc/resolv.conf").read_bytes())
        FETCHED.mkdir(parents=True, exist_ok=True)
        self.first_files = self.files()
        self.run("apt-get", "-qq", "update")

    def command(self, words: Sequence[str | Path], user: str | None = None) -> list[str]:
        """The command line that runs `words` inside; it ends when the one who started it does."""
        inside = f"""
            mount -t proc proc {self.path}/proc
            mount --bind /dev {self.path}/dev
            mount --bind {FETCHED} {self.path}/var/cache/apt/archives
            exec chroot {self.path} "$@" """
        become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"] if user else []
        if user:  # A process that becomes another user outlives its parent again.
            become.append(f"--pdeathsig={END}")
        return [
            *("unshare", "--mount", "--pid", "--fork", f"--kill-child={END}"),
            *("bash", "-ec", inside, "bash"),
            *become,
            *map(str, words),
        ]

    def processes(self) -> list[str]:
        """The numbers of the processes that run inside."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "root").readlink() == self.path:
                    found.append(process.name)
            except OSError:  # It has ended.
                continue
        return found

    def environment(self, further: Mapping[str, str] | None = None) -> dict[str, str]:
        own = {"PATH": PATH, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        return {**own, **(further or {})}

    def run(
        self, *words: str | Path, user: str | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program to its end."""
        done = subprocess.run(
            self.command(words, user),
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"{words}:\n{done.stdout}"
        return done

    def install(
        self, packages: Sequence[Path], check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """apt install of these files, with what they depend on."""
        folder = self.path / "packages"
        folder.mkdir(exist_ok=True)
        names = []
        for package in packages:
            if not (folder / package.name).exists():
                shutil.copyfile(package, folder / package.name)
            names.append(f"/packages/{package.name}")
        options = ["-qq", "--no-install-recommends", "-o", "APT::Keep-Downloaded-Packages=true"]
        return self.run("apt-get", "install", "--yes", *options, *names, check=check)

    def add_archive(self, folder: Path) -> str:
        """Lets apt see the packages of a folder that has an index; returns its line for apt."""
        inside = self.path / "archive"
        inside.mkdir()
        for file in (*folder.glob("*.deb"), folder / "Packages"):
            shutil.copyfile(file, inside / file.name)
        line = "deb [trusted=yes] file:/archive ./"
        (self.path / "etc/apt/sources.list.d/local.list").write_text(f"{line}\n")
        self.run("apt-get", "-qq", "update")
        return line

    def has(self, package: str) -> bool:
        """Whether a package is installed."""
        shown = self.run("dpkg-query", "-W", "-f=${Status}", package, check=False).stdout
        return shown == "install ok installed"

    def files(self) -> set[str]:
        """All paths, but those of apt and dpkg themselves and of the running system."""
        excluded = {"proc", "sys", "dev", "run", "tmp", "packages", "archive"}
        own = ("var/lib/dpkg", "var/lib/apt", "var/cache/apt", "var/cache/debconf", "var/log/apt")
        found = set()
        for folder, folders, names in os.walk(self.path):
            place = os.path.relpath(folder, self.path)
            if place == ".":
                folders[:] = [name for name in folders if name not in excluded]
            if place.startswith(own):
                folders[:] = []
                continue
            found.update(os.path.normpath(os.path.join(place, name)) for name in (*folders, *names))
        return found
