# SPDX-License-Identifier: Apache-2.0
"""What a release publishes beside packages, and how two builds of it are compared."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT_ROOT / "tools"))
sys.path.insert(0, str(PROJECT_ROOT / "tools" / "image"))

import release  # noqa: E402
from oci import write_archive  # noqa: E402

CHANGELOG = """# Changelog

## [Unreleased]

- Later.

## [1.2.0] - 2026-01-02

What matters most.

### Models

- One.

## [1.1.0] - 2025-01-02

- Before.
"""


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, PROJECT_ROOT / "tools" / "release.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_notes_are_the_section_of_the_version() -> None:
    assert release.notes(CHANGELOG, "1.2.0") == "# Nereid 1.2.0\n\nWhat matters most.\n\n### Models\n\n- One.\n"
    assert release.notes(CHANGELOG, "1.1.0") == "# Nereid 1.1.0\n\n- Before.\n"


def test_a_version_without_a_section_is_no_release() -> None:
    with pytest.raises(release.ReleaseError, match=r"says nothing under '## \[1.2\]'"):
        release.notes(CHANGELOG, "1.2")
    with pytest.raises(release.ReleaseError, match=r"says nothing under '## \[3\]'"):
        release.notes("## [3] - 2026-01-02\n\n## [2]\n\n- More.\n", "3")


def test_the_version_of_the_project_has_notes() -> None:
    assert release.notes((PROJECT_ROOT / "CHANGELOG.md").read_text(), release.version())


def debian_package(folder: Path, *, text: str = "text", compression: str = "gzip") -> Path:
    """A package of one document, with its list of contents."""
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN/control").write_text(
        "Package: one\nVersion: 1\nArchitecture: all\nMaintainer: M <m@m.invalid>\nDescription: d\n"
    )
    (tree / "usr/share/doc/one").mkdir(parents=True)
    (tree / "usr/share/doc/one/one.spdx.json").write_text(text)
    path = folder / "one_1_all.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--build", tree, path],
        env={"SOURCE_DATE_EPOCH": "1000", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        check=True,
    )
    subprocess.run(["rm", "-r", tree], check=True)
    return path


def wheel(folder: Path, text: str = "{}") -> Path:
    path = folder / "one-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("one.py", "one-1.dist-info/sboms/one.spdx.json"):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6)), text)
    return path


def two(tmp_path: Path) -> tuple[Path, Path]:
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        folder.mkdir()
    return folders


def test_equal_folders(tmp_path: Path) -> None:
    one, other = two(tmp_path)
    for folder in (one, other):
        debian_package(folder)
        wheel(folder)
    assert release.compare(one, other) == []
    done = run("--compare", one, other)
    assert (done.returncode, done.stderr) == (0, "")
    assert "hold the same bytes" in done.stdout


def test_what_differs_is_named(tmp_path: Path) -> None:
    one, other = two(tmp_path)
    debian_package(one)
    debian_package(other, text="text of another build")
    wheel(one)
    wheel(other, text="{ }")
    (one / "NOTES.md").write_text("a")
    (other / "NOTES.md").write_text("b")
    (other / "image.oci.tar").touch()
    assert release.compare(one, other) == [
        "NOTES.md: the text",
        f"image.oci.tar: only in {other}",
        "one-1-py3-none-any.whl: one-1.dist-info/sboms/one.spdx.json, one.py",
        "one_1_all.deb: fsys: ./usr/share/doc/one/one.spdx.json",
    ]
    assert run("--compare", one, other).returncode == 1


def test_files_packed_in_another_way_differ(tmp_path: Path) -> None:
    one, other = two(tmp_path)
    debian_package(one)
    debian_package(other, compression="xz")
    assert release.compare(one, other) == ["one_1_all.deb: order or compression of what it holds"]


def test_an_empty_folder_is_no_release(tmp_path: Path) -> None:
    one, other = two(tmp_path)
    done = run("--compare", one, other)
    assert done.returncode == 1
    assert f"{one} and {other} hold no artefacts" in done.stderr


def test_lists_of_contents_and_sums(tmp_path: Path) -> None:
    debian_package(tmp_path, text="of the package")
    wheel(tmp_path, text="of the wheel")
    release.complete(tmp_path)
    assert (tmp_path / "one_1_all.spdx.json").read_text() == "of the package"
    assert (tmp_path / "one-1-py3-none-any.spdx.json").read_text() == "of the wheel"
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", release.SUMS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.count(": OK\n") == len(list(tmp_path.iterdir())) - 1 == 5


def test_archives_of_images_do_not_say_when_they_were_made(tmp_path: Path) -> None:
    folder = tmp_path / "layout"
    (folder / "blobs").mkdir(parents=True)
    for name in ("index.json", "blobs/b", "blobs/a"):
        (folder / name).write_text(name)
    write_archive(folder, tmp_path / "archive.tar", 1000)
    with tarfile.open(tmp_path / "archive.tar") as archive:
        found = [(each.name, each.mtime, each.uid, each.gid, each.uname) for each in archive]
    names = ["blobs", "blobs/a", "blobs/b", "index.json"]
    assert found == [(name, 1000, 0, 0, "") for name in names]


def test_arguments_that_do_not_go_together() -> None:
    done = run("rpm")
    assert (done.returncode, "there is no kind 'rpm' (known: deb, wheel, image)" in done.stderr) == (2, True)
    done = run("--compare", "a", "b", "--profile", "c")
    assert (done.returncode, "--compare makes nothing, and so takes no --profile" in done.stderr) == (2, True)
    done = run("--compare", "a", "b", "deb")
    assert (done.returncode, "--compare takes two folders and no kind" in done.stderr) == (2, True)


def recorded_release(monkeypatch: pytest.MonkeyPatch, root: Path, profile: Path | None) -> list[str]:
    """What making a wheel calls, in a checkout whose scripts only leave files."""
    calls = []

    def build(*command: str | Path, **_: str) -> None:
        calls.append(" ".join(str(word) for word in command).replace(f"{root}/", ""))
        if command[1] == "--pack":
            Path(command[2]).write_text("profile")
        elif command[0] == "tools/package.sh":
            release.PACKAGES.mkdir(parents=True)
            wheel(release.PACKAGES).rename(release.PACKAGES / "nereid_server-1-py3-none-any.whl")

    root.mkdir(exist_ok=True)
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    (root / "CMakeLists.txt").write_text("project(nereid VERSION 1.2.0 LANGUAGES C CXX)\n")
    monkeypatch.setattr(release, "ROOT", root)
    monkeypatch.setattr(release, "PACKAGES", root / "packages")
    monkeypatch.setattr(release, "git", lambda *_: "")
    monkeypatch.setattr(release, "build", build)
    release.make(["wheel"], root / "artefacts", profile)
    return calls


def test_a_release_publishes_the_profile_that_it_was_made_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rest = ["tools/package.sh wheel", "tools/profile.sh --pack artefacts/nereid-profile.tar.gz"]
    assert recorded_release(monkeypatch, tmp_path, None) == ["tools/profile.sh --forget", *rest]
    published = tmp_path / "artefacts" / release.PROFILE
    assert recorded_release(monkeypatch, tmp_path, published) == [
        "tools/profile.sh --give artefacts/nereid-profile.tar.gz",
        *rest,
    ]
    assert f"{release.file_sum(published)}  {release.PROFILE}\n" in (tmp_path / "artefacts" / release.SUMS).read_text()


def test_the_second_build_of_a_release_takes_the_profile_of_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[list[str]] = []

    def run_nothing(command: list[str | Path], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append([str(word) for word in command])
        if command[1] == "clone":
            release.ELSEWHERE.mkdir(parents=True)
        return subprocess.CompletedProcess(commands[-1], 0, "")

    monkeypatch.setattr(release, "ELSEWHERE", tmp_path / "elsewhere")
    monkeypatch.setattr(release, "OUT", tmp_path / "artefacts")
    monkeypatch.setattr(release, "git", lambda *_: "0123")
    monkeypatch.setattr(release.subprocess, "run", run_nothing)
    assert release.make_elsewhere(["deb"]) == tmp_path / "elsewhere" / "build" / "artefacts"
    given = ["--profile", str(tmp_path / "artefacts" / release.PROFILE)]
    assert commands[-1] == [sys.executable, "tools/release.py", *given, "deb"]
