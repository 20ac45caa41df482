# SPDX-License-Identifier: Apache-2.0
"""Builds by a profile: when one is made, what it is packed as, and that it means the same in every checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = PROJECT_ROOT / "cmake" / "compile_relative.sh"
sys.path.insert(0, str(PROJECT_ROOT / "tools"))

import train  # noqa: E402

BUILD = """#!/bin/sh
echo "build $*" >>calls
mkdir -p build/counting
[ -e build/counting/nereid ] || touch build/counting/nereid
"""
PYTHON = """#!/bin/sh
echo "train $2 $3" >>calls
rm -rf "$3"; mkdir -p "$3"
echo "counts $(wc -l <calls)" >"$3/one#two.gcda"
"""
TRAINING = ["build counting", "train build/stage-counting build/profile"]


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout whose builds and training only leave notes in the file `calls`."""
    (tmp_path / "tools").mkdir()
    for name in ("profile.sh", "package.sh"):
        shutil.copy(PROJECT_ROOT / "tools" / name, tmp_path / "tools")
    program(tmp_path / "tools/build.sh", BUILD)
    program(tmp_path / "bin/cmake", "#!/bin/sh\nexit 0\n")
    program(tmp_path / ".venv/bin/python", PYTHON)
    return tmp_path


def run(tree: Path, script: str, *arguments: str | Path) -> tuple[int, list[str], str]:
    """The exit status, what was called, and standard error."""
    calls = tree / "calls"
    calls.write_text("")
    environment = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}"}
    command = [tree / "tools" / script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tree)
    return done.returncode, calls.read_text().splitlines(), done.stderr


def age(path: Path, seconds: int) -> None:
    os.utime(path, (path.stat().st_mtime - seconds,) * 2)


def test_a_profile_is_made_when_what_it_is_of_has_changed(tree: Path) -> None:
    assert run(tree, "profile.sh") == (0, TRAINING, "")
    assert run(tree, "profile.sh")[1] == ["build counting"]
    age(tree / "build/profile.made", 10)
    built = tree / "build/trained/nereid"
    built.parent.mkdir()
    built.touch()
    assert run(tree, "profile.sh")[1] == TRAINING
    assert not built.exists(), "it was made by the older profile"
    run(tree, "profile.sh", "--forget")
    assert run(tree, "profile.sh")[1] == TRAINING


def test_a_training_that_fails_leaves_no_profile_behind(tree: Path) -> None:
    program(tree / ".venv/bin/python", "#!/bin/sh\necho 'train: the server ended' >&2\nexit 1\n")
    status, _, said = run(tree, "profile.sh")
    assert (status, said) == (1, "train: the server ended\n")
    program(tree / ".venv/bin/python", PYTHON)
    assert run(tree, "profile.sh")[1] == TRAINING


def test_a_profile_that_was_given_stays(tree: Path) -> None:
    run(tree, "profile.sh")
    counts = (tree / "build/profile/one#two.gcda").read_text()
    assert run(tree, "profile.sh", "--pack", tree / "profile.tar.gz")[0] == 0
    age(tree / "build/profile/one#two.gcda", 1000)
    assert run(tree, "profile.sh", "--pack", tree / "again.tar.gz")[0] == 0
    assert (tree / "profile.tar.gz").read_bytes() == (tree / "again.tar.gz").read_bytes()
    shutil.rmtree(tree / "build")
    (tree / "build/trained").mkdir(parents=True)
    assert run(tree, "profile.sh", "--give", tree / "profile.tar.gz")[0] == 0
    assert not (tree / "build/trained").exists()
    assert run(tree, "profile.sh") == (0, [], "")
    assert (tree / "build/profile/one#two.gcda").read_text() == counts
    run(tree, "profile.sh", "--forget")
    assert run(tree, "profile.sh")[1] == TRAINING


def test_what_is_no_profile_is_refused(tree: Path) -> None:
    assert run(tree, "profile.sh", "--give", "none.tar.gz")[::2] == (2, "profile: there is no file none.tar.gz\n")
    subprocess.run(["tar", "-czf", tree / "other.tar.gz", "-C", tree, "tools"], check=True)
    status, _, said = run(tree, "profile.sh", "--give", "other.tar.gz")
    assert (status, "other.tar.gz holds no profile" in said) == (2, True)
    assert run(tree, "profile.sh")[1] == TRAINING
    shutil.rmtree(tree / "build/profile")
    assert "there is no profile to pack" in run(tree, "profile.sh", "--pack", "a.tar.gz")[2]
    assert "unknown argument '--some'" in run(tree, "profile.sh", "--some")[2]


def test_packages_are_of_the_trained_build_unless_asked_otherwise(tree: Path) -> None:
    program(tree / "tools/setup.sh", "#!/bin/sh\n")
    for kind in ("deb", "wheel"):
        program(tree / f"tools/make_{kind}.sh", f"#!/bin/sh\necho {kind} of $NEREID_BUILD >>calls\n")
    assert run(tree, "package.sh", "deb", "wheel")[1] == [*TRAINING, "deb of trained", "wheel of trained"]
    assert run(tree, "package.sh", "--untrained", "deb")[1] == ["deb of release"]


def test_make_package_asks_for_the_profile_unless_told_otherwise() -> None:
    def asked(*words: str) -> str:
        command = ["make", "--no-print-directory", "--dry-run", "package", "KIND=deb", *words]
        return subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True).stdout.strip()

    assert asked().split() == ["tools/package.sh", "deb"]
    assert asked("PROFILE=no").split() == ["tools/package.sh", "--untrained", "deb"]


def stage(tree: Path, **environment: str) -> list[str]:
    calls = tree / "calls"
    calls.write_text("")
    path = {"PATH": f"{tree / 'bin'}:{os.environ['PATH']}"}
    subprocess.run([tree / "tools/stage.sh"], env={**os.environ, **path, **environment}, check=True)
    return calls.read_text().splitlines()


def test_another_preset_is_staged_beside_the_release(tree: Path) -> None:
    shutil.copy(PROJECT_ROOT / "tools/stage.sh", tree / "tools")
    program(tree / "tools/setup.sh", "#!/bin/sh\n")
    program(tree / "bin/cmake", '#!/bin/sh\necho "cmake $*" >>calls; mkdir -p $2 $4\n: >$2/install_manifest.txt\n')
    for build, folder in (("release", "build/stage"), ("trained", "build/stage-trained")):
        for part in ("bin", "lib", "libexec", "backends", "caches", "repoagents", "include", "python"):
            (tree / folder / part).mkdir(parents=True)
        (tree / folder / "bin/old").touch()
        assert stage(tree, **({"NEREID_BUILD": build} if build != "release" else {})) == [
            f"build {build} staged",
            f"cmake --install build/{build} --prefix {tree}/{folder}",
        ]
        assert not (tree / folder / "bin/old").exists(), "it was not installed this time"


def test_debian_packages_are_made_again_for_another_preset(tree: Path) -> None:
    shutil.copy(PROJECT_ROOT / "tools/make_deb.sh", tree / "tools")
    for name in ("packaging", "include", "backends", "build/release/packages", "build/trained/packages"):
        (tree / name).mkdir(parents=True)
    program(tree / "tools/setup.sh", "#!/bin/sh\n")
    program(tree / "bin/cpack", "#!/bin/sh\nbasename $PWD >packages/one.deb\n")
    program(tree / "bin/dpkg-scanpackages", "#!/bin/sh\n")
    package = tree / "build/packages/one.deb"
    for build in ("trained", "release"):
        environment = {**os.environ, "PATH": f"{tree / 'bin'}:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": "1"}
        for _ in range(2):
            command = [tree / "tools/make_deb.sh"]
            subprocess.run(command, env={**environment, "NEREID_BUILD": build}, check=True, stdout=subprocess.DEVNULL)
            assert package.read_text() == f"{build}\n"
            package.chmod(0o400)
        assert package.stat().st_mode & 0o777 == 0o400, "it was made again, although nothing had changed"


def test_paths_are_given_to_the_compiler_from_the_build_folder_on(tmp_path: Path) -> None:
    joined = tmp_path / "build/one/src/CMakeFiles/a.dir/Unity/unity_0_cxx.cxx"
    joined.parent.mkdir(parents=True)
    generated = tmp_path / "build/one/made.cc"
    joined.write_text(f'#include "{tmp_path}/src/a.cc"\n#include "{generated}"\n#include <{tmp_path}/b>\n')
    program(tmp_path / "compiler", '#!/bin/sh\nprintf "%s\\n" "$@"\nexit 3\n')
    command = [LAUNCHER, tmp_path, tmp_path / "compiler", f"-I{tmp_path}/src", f"-fprofile-use={tmp_path}/build/profile",
               f"-fmacro-prefix-map={tmp_path}/=", "-DA=\"a b\"", "-o", "a.o", "-c", joined]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path / "build/one", capture_output=True, text=True, check=False)
    relative = "src/CMakeFiles/a.dir/Unity/unity_0_cxx.relative.cxx"
    assert done.returncode == 3
    assert done.stdout.splitlines() == [
        "-I.",
        "-I../../src",
        f"-fprofile-use={tmp_path}/build/profile",
        "-fmacro-prefix-map=../../=",
        '-DA="a b"',
        "-o",
        "a.o",
        "-c",
        relative,
        f"-fdebug-prefix-map={tmp_path}/build/one=.",
    ]
    included = (tmp_path / "build/one" / relative).read_text()
    assert included == f'#include "../../src/a.cc"\n#include "made.cc"\n#include <{tmp_path}/b>\n'


# A call by address of a function that only this file has, which the compiler knows by the file's name.
SOURCE = """
namespace {
int Twice(int x) { return 2 * x; }
int (*volatile function)(int) = Twice;
}
int main() {
  int sum = 0;
  for (int i = 0; i < 100000; i++) sum += function(i);
  return sum == 0;
}
"""


def compiled(checkout: Path, profile: Path, *flags: str) -> Path:
    build = checkout / "build"
    build.mkdir(parents=True)
    (checkout / "a.cc").write_text(SOURCE)
    command = [LAUNCHER, checkout, "g++", "-O2", "-g1", "-gno-record-gcc-switches", f"-fprofile-prefix-path={build}",
               *(flag.format(profile) for flag in flags), "-o", "a.o", "-c", checkout / "a.cc"]  # fmt: skip
    subprocess.run(command, cwd=build, check=True)
    return build / "a.o"


def test_a_profile_makes_the_same_bytes_in_every_checkout(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    counting = compiled(tmp_path / "counting", profile, "-fprofile-generate={}", "-fprofile-update=atomic")
    subprocess.run(["g++", "-fprofile-generate", counting, "-o", tmp_path / "a"], check=True)
    subprocess.run([tmp_path / "a"], check=True)
    assert [path.name for path in profile.iterdir()] == ["a.gcda"]
    use = ("-fprofile-use={}", "-Werror=missing-profile", "-Werror=coverage-mismatch")
    one, other = (compiled(tmp_path / name, profile, *use).read_bytes() for name in ("one", "some/where/else"))
    assert one == other
    assert one != compiled(tmp_path / "plain", profile).read_bytes()


def test_nothing_installed_has_the_path_of_a_framework_in_the_build_tree() -> None:
    """In a build by a profile such a path would leave its length in what is installed."""
    lists = [path for top in ("apps", "backends", "caches") for path in PROJECT_ROOT.glob(f"{top}/*/CMakeLists.txt")]
    assert PROJECT_ROOT / "backends/openvino/CMakeLists.txt" in lists
    own = re.compile(r"SKIP_BUILD_RPATH OFF|\bBUILD_RPATH \"?\$\{(?!CMAKE_)")
    found = [str(path) for path in lists if own.search(path.read_text())]
    assert not found, "nereid_runpath (cmake/NereidModule.cmake) says where they look for libraries"


def test_every_load_is_of_a_model_that_is_served() -> None:
    examples = {path.name for path in train.EXAMPLE_MODELS.iterdir()}
    assert {load.model for load in train.LOADS} == {*train.MODELS, *examples}
    assert {load.protocol for load in train.LOADS} == {"http", "grpc"}


def test_a_training_that_counted_nothing_of_a_part_is_refused(tmp_path: Path) -> None:
    for part in train.REACHED:
        (tmp_path / f"{part}a.gcda").touch()
    train.check_reached(tmp_path)
    (tmp_path / f"{train.REACHED[0]}a.gcda").unlink()
    with pytest.raises(train.TrainingError, match="has no counts of apps/nereid/: was STAGE built with them"):
        train.check_reached(tmp_path)
