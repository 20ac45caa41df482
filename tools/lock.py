#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tools/locks/NAME.txt, what pip installs, for each section [pip-NAME] of tools/dependencies.txt.

    tools/lock.py [NAME ...]        all sections, or these (`tools/dev lock` installs uv before)

A lock has the section's packages in the section's order, each with the hashes of its wheels for Linux that a
Python may be given which the project supports; pip takes no other file. [pip] is locked as `all`. The hashes are
what the package index says, asked for by uv, the index being that of pip's settings on this machine. Exit code 1: a
version is not there, or has no wheel.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEPENDENCIES = ROOT / "tools" / "dependencies.txt"
VERSIONS = ROOT / "tools" / "versions.env"
LOCKS = ROOT / "tools" / "locks"
UV = ROOT / "build" / "deps" / "uv" / "bin" / "uv"
# Of .venv; the sections for older ones name theirs.
PYTHON = "3.11"
NEWEST_MINOR = 14
MACHINES = ("x86_64", "aarch64")
HEADER = "# Of [{section}] in tools/dependencies.txt: written by tools/lock.py, not by hand.\n"


def sections() -> dict[str, list[str]]:
    """The entries of the sections for pip by the names of their locks, with ${NAME} replaced."""
    variables = dict(re.findall(r"^(\w+)=(\S*)", VERSIONS.read_text(), re.MULTILINE))
    entries: dict[str, list[str]] = {}
    current = None
    for line in DEPENDENCIES.read_text().splitlines():
        line = line.split("#")[0].strip()
        if match := re.fullmatch(r"\[([a-z0-9.-]+)\]", line):
            current = lock_name(match[1])
            if current is not None:
                entries[current] = []
        elif line and current is not None:
            entries[current].append(re.sub(r"\$\{(\w+)\}", lambda m: variables[m[1]], line))
    return entries


def lock_name(section: str) -> str | None:
    if section == "pip":
        return "all"
    return section.removeprefix("pip-") if section.startswith("pip-") else None


def section_of(lock: str) -> str:
    return "pip" if lock == "all" else f"pip-{lock}"


def normal(name: str) -> str:
    """A distribution's name as indexes spell it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def fits(wheel: str, python: str) -> bool:
    """Whether a file name is that of a wheel for Linux and a Python of at least this version."""
    if not wheel.endswith(".whl"):
        return False
    interpreters, abi, platforms = wheel.removesuffix(".whl").split("-")[-3:]
    if platforms != "any" and not any(
        platform.endswith(MACHINES) and platform.startswith(("manylinux", "linux_"))
        for platform in platforms.split(".")
    ):
        return False
    first = int(python.split(".")[1])
    last = NEWEST_MINOR if python == PYTHON else first
    for interpreter in interpreters.split("."):
        if match := re.fullmatch(r"cp3(\d+)", interpreter):
            minor = int(match[1])
            if abi == interpreter and first <= minor <= last or "abi3" in abi and minor <= last:
                return True
        elif re.fullmatch(r"py3\d*", interpreter):
            return True
    return False


def hashes(pins: list[str], python: str) -> dict[str, list[str]]:
    """The hashes of the wheels that fit, by the normal name of the package."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, answer = Path(folder) / "wanted.in", Path(folder) / "pylock.toml"
        wanted.write_text("\n".join(pins) + "\n")
        command = [UV, "pip", "compile", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--universal", "--python-version", python]
        command += ["--format", "pylock.toml", "--output-file", answer, wanted]
        subprocess.run(command, cwd=folder, check=True)
        packages = tomllib.loads(answer.read_text())["packages"]
    found: dict[str, list[str]] = {}
    for package in packages:
        names = {
            (wheel.get("name") or wheel["url"].rsplit("/", 1)[1]): wheel["hashes"]["sha256"]
            for wheel in package.get("wheels", [])
        }
        found[normal(package["name"])] = sorted(
            sha256 for name, sha256 in names.items() if fits(name, python)
        )
    return found


def lock(name: str, pins: list[str]) -> str:
    match = re.fullmatch(r"python-(3\.\d+)", name)
    found = hashes(pins, match[1] if match else PYTHON)
    text = HEADER.format(section=section_of(name))
    for pin in pins:
        sums = found.get(normal(re.split(r"[\[=]", pin)[0]), [])
        if not sums:
            raise SystemExit(f"lock: {pin} of [{section_of(name)}] has no wheel for Linux")
        text += " \\\n    ".join([pin, *(f"--hash=sha256:{each}" for each in sums)]) + "\n"
    return text


def main() -> int:
    all_sections = sections()
    names = sys.argv[1:] or list(all_sections)
    if unknown := set(names) - set(all_sections):
        print(f"lock: no section for {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    LOCKS.mkdir(exist_ok=True)
    for name in names:
        (LOCKS / f"{name}.txt").write_text(lock(name, all_sections[name]))
        print(f"lock: tools/locks/{name}.txt, {len(all_sections[name])} packages")
    if not sys.argv[1:]:
        for path in LOCKS.glob("*.txt"):
            if path.stem not in all_sections:
                path.unlink()
                print(f"lock: removed tools/locks/{path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
