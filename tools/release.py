#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the artefacts of a release from the last commit, for `tools/dev release`.

    tools/release.py [--check] [--profile FILE] [KIND...]
                                             into build/artefacts; KIND: deb, wheel, image; all if none is named
    tools/release.py --compare ONE OTHER     compares two folders of artefacts

Beside packages, wheel and images the folder gets a list of the contents of each (*.spdx.json, SPDX 2.3), NOTES.md, which
is the changelog's section for the version, nereid-profile.tar.gz, by which the programs are optimised, and SHA256SUMS. All
of them are of the time of the last commit, not of the build. --profile takes the profile of an earlier run instead of
making one, which never comes out the same twice. --check makes them a second time from a clone in another folder, by the
same profile, and says what differs: the exit status is 1 then (RELEASING.md).
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "build" / "artefacts"
PACKAGES = ROOT / "build" / "packages"
ELSEWHERE = ROOT / "build" / "elsewhere" / "nereid"
KINDS = {
    "deb": ("*.deb",),
    "wheel": ("nereid_server-*.whl",),
    "image": ("*.oci.tar", "*.spdx.json"),
}
SUMS = "SHA256SUMS"
NOTES = "NOTES.md"
PROFILE = "nereid-profile.tar.gz"


class ReleaseError(Exception):
    """What is wrong, in one sentence."""


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(nereid VERSION ([0-9.]+)", text, re.MULTILINE)
    if found is None:
        raise ReleaseError("CMakeLists.txt has no line 'project(nereid VERSION X.Y.Z'")
    return found[1]


def notes(changelog: str, number: str) -> str:
    """The section of a version, without its heading."""
    found = re.search(rf"^## \[{re.escape(number)}\][^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[1].strip():
        raise ReleaseError(f"CHANGELOG.md says nothing under '## [{number}]', the version of CMakeLists.txt")
    return f"# Nereid {number}\n\n{found[1].strip()}\n"


def members(path: Path) -> dict[str, tuple[object, ...]]:
    """What an archive holds by name: mode, owner, time and hash; of any other file its hash alone."""
    if path.suffix == ".deb":
        found = {}
        for option in ("--ctrl-tarfile", "--fsys-tarfile"):
            text = subprocess.run(["dpkg-deb", option, path], capture_output=True, check=True).stdout
            found |= {f"{option[2:6]}: {name}": about for name, about in tar_members(io.BytesIO(text))}
        return found
    if path.suffix == ".tar":
        with path.open("rb") as file:
            return dict(tar_members(file))
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return {
                each.filename: (each.external_attr >> 16, each.date_time, sha256(archive.read(each)))
                for each in archive.infolist()
            }
    return {"": (sha256(path.read_bytes()),)}


def tar_members(file: io.BufferedIOBase | io.BufferedReader) -> Iterator[tuple[str, tuple[object, ...]]]:
    with tarfile.open(fileobj=file) as archive:
        for each in archive:
            content = archive.extractfile(each) if each.isreg() else None
            text = content.read() if content else each.linkname.encode()
            yield each.name, (each.mode, each.uid, each.gid, each.uname, each.gname, each.mtime, sha256(text))


def sha256(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def file_sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compare(one: Path, other: Path) -> list[str]:
    """What differs between two folders of artefacts, a line each. The sums follow from the rest."""
    names = [{path.name for path in folder.iterdir() if path.name != SUMS} for folder in (one, other)]
    if not any(names):
        raise ReleaseError(f"{one} and {other} hold no artefacts; `tools/dev release` makes some")
    said = [f"{name}: only in {one}" for name in names[0] - names[1]]
    said += [f"{name}: only in {other}" for name in names[1] - names[0]]
    for name in names[0] & names[1]:
        if file_sum(one / name) == file_sum(other / name):
            continue
        left, right = members(one / name), members(other / name)
        differing = sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))
        within = [key for key in differing if key]
        if within:
            said.append(f"{name}: {', '.join(within)}")
        else:
            said.append(f"{name}: " + ("the text" if differing else "order or compression of what it holds"))
    return sorted(said)


def contents_of_deb(path: Path) -> str:
    name = path.name.split("_")[0]
    text = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(text)) as archive:
        document = archive.extractfile(f"./usr/share/doc/{name}/{name}.spdx.json")
        assert document is not None
        return document.read().decode()


def contents_of_wheel(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".spdx.json")]
        return archive.read(name).decode()


def complete(out: Path) -> None:
    """Adds to packages, wheel and images what says of them what they are."""
    for pattern, contents in (("*.deb", contents_of_deb), ("*.whl", contents_of_wheel)):
        for path in out.glob(pattern):
            (out / f"{path.stem}.spdx.json").write_text(contents(path), encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (out / NOTES).write_text(notes(changelog, version()), encoding="utf-8")
    sums = "".join(f"{file_sum(path)}  {path.name}\n" for path in sorted(out.iterdir()))
    (out / SUMS).write_text(sums, encoding="utf-8")


def build(*command: str | Path, **environment: str) -> None:
    """Runs a script of tools/."""
    words = [str(word) for word in command]
    if subprocess.run(words, cwd=ROOT, env={**os.environ, **environment}, umask=0o022, check=False).returncode != 0:
        raise ReleaseError(f"{' '.join(words)} failed, as it says above")


def make(kinds: list[str], out: Path, profile: Path | None) -> None:
    if changed := git("status", "--porcelain", "--untracked-files=no"):
        raise ReleaseError(f"there are changes without a commit, and a release is one commit:\n{changed}")
    notes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version())  # an error now rather than at the end
    # Packages of an earlier commit would count as up to date.
    shutil.rmtree(PACKAGES, ignore_errors=True)
    build("tools/profile.sh", *(["--give", profile] if profile else ["--forget"]))
    build("tools/package.sh", *kinds, SOURCE_DATE_EPOCH=git("log", "-1", "--format=%ct"), LC_ALL="C.UTF-8")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    build("tools/profile.sh", "--pack", out / PROFILE)
    for pattern in (pattern for kind in kinds for pattern in KINDS[kind]):
        for path in PACKAGES.glob(pattern):
            shutil.copyfile(path, out / path.name)
    complete(out)


def make_elsewhere(kinds: list[str]) -> Path:
    """The artefacts of a clone of the last commit, which shares what is installed to build with, and the profile."""
    shutil.rmtree(ELSEWHERE, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", ROOT, ELSEWHERE], check=True)
    subprocess.run(["git", "-C", ELSEWHERE, "checkout", "--quiet", "--detach", git("rev-parse", "HEAD")], check=True)
    (ELSEWHERE / "build").mkdir()
    for shared in (".venv", "build/deps"):
        (ELSEWHERE / shared).symlink_to((ROOT / shared).resolve())
    command = [sys.executable, "tools/release.py", "--profile", OUT / PROFILE, *kinds]
    if subprocess.run(command, cwd=ELSEWHERE, check=False).returncode != 0:
        raise ReleaseError(f"the second build, in {ELSEWHERE}, failed, as it says above")
    return ELSEWHERE / "build" / "artefacts"


def report(one: Path, other: Path) -> int:
    differences = compare(one, other)
    for line in differences:
        print(f"release: differs: {line}")
    if not differences:
        print(f"release: {one} and {other} hold the same bytes")
    return 1 if differences else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; all if none is named")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--check", action="store_true", help="make them twice, and say what differs")
    parser.add_argument("--profile", type=Path, metavar="FILE", help=f"the {PROFILE} of an earlier run")
    way.add_argument("--compare", nargs=2, type=Path, metavar=("ONE", "OTHER"), help="compare two folders")
    arguments = parser.parse_args()
    if unknown := [kind for kind in arguments.kinds if kind not in KINDS]:
        parser.error(f"there is no kind '{unknown[0]}' (known: {', '.join(KINDS)})")
    if arguments.compare and arguments.kinds:
        parser.error("--compare takes two folders and no kind")
    if arguments.compare and arguments.profile:
        parser.error("--compare makes nothing, and so takes no --profile")
    kinds = arguments.kinds or list(KINDS)
    try:
        if arguments.compare:
            return report(*arguments.compare)
        make(kinds, OUT, arguments.profile and arguments.profile.resolve())
        print(f"release: {len(list(OUT.iterdir()))} files in {OUT.relative_to(ROOT)}", flush=True)
        return report(OUT, make_elsewhere(kinds)) if arguments.check else 0
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
