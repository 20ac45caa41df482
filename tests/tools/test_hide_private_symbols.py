# SPDX-License-Identifier: Apache-2.0
"""tools/hide_private_symbols.py on a small library, which the tests compile: who is bound to it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HIDE = Path(__file__).resolve().parents[2] / "tools" / "hide_private_symbols.py"
LIBRARY = "int TRITONSERVER_One(void) { return 1; }\nint _ZN6nereid3twoEv(void) { return 2; }\n"
VERSIONS = "NEREID_NOTHING {};\nNEREID_PRIVATE_1 { global: _ZN6nereid*; };\n"
# A program of ours, linked before the symbols are hidden; its exit status is their answer.
OURS = "int _ZN6nereid3twoEv(void); int main(void) { return _ZN6nereid3twoEv(); }\n"
# Somebody's program, with a module that has a function of that name itself.
THEIRS = """
#include <dlfcn.h>
int TRITONSERVER_One(void);
int main(int argc, char** argv) {
  int (*answer)(void) = (int (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "answer");
  return TRITONSERVER_One() == 1 ? answer() : 0;
}
"""
MODULE = """
int _ZN6nereid3twoEv(void) { return 9; }
int answer(void) { return _ZN6nereid3twoEv(); }
"""
LINKERS = [name for name in ("bfd", "gold", "mold") if shutil.which(f"ld.{name}")]


def compile_c(output: Path, source: str, *options: str | Path) -> None:
    file = output.with_suffix(".c")
    file.write_text(source)
    subprocess.run(["cc", "-w", "-o", output, file, *options], check=True)


def status(*command: str | Path) -> int:
    return subprocess.run(command, check=False).returncode


@pytest.fixture(params=LINKERS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """With a library that each linker makes, a program of ours and one of somebody's."""
    script = tmp_path / "export.map"
    script.write_text(VERSIONS)
    linker = f"-fuse-ld={request.param}"
    shared = ("-shared", "-fPIC", linker)
    library = tmp_path / "lib.so"
    compile_c(library, LIBRARY, *shared, f"-Wl,--version-script={script}", "-Wl,-soname,lib.so")
    compile_c(tmp_path / "module.so", MODULE, *shared)
    for name, source in (("ours", OURS), ("theirs", THEIRS)):
        compile_c(tmp_path / name, source, library, linker, "-Wl,-rpath,$ORIGIN", "-ldl")
    return tmp_path


def test_only_our_program_is_bound(folder: Path) -> None:
    theirs = (folder / "theirs", folder / "module.so")
    assert (status(folder / "ours"), status(*theirs)) == (2, 2)
    assert status(sys.executable, HIDE, folder / "lib.so") == 0
    assert (status(folder / "ours"), status(*theirs)) == (2, 9)
    # Another time, and stripped.
    assert status(sys.executable, HIDE, folder / "lib.so") == 0
    subprocess.run(["strip", folder / "lib.so"], check=True)
    assert (status(folder / "ours"), status(*theirs)) == (2, 9)


def test_a_copy(folder: Path) -> None:
    library, copy = folder / "lib.so", folder / "copy.so"
    before = library.read_bytes()
    assert status(sys.executable, HIDE, library, copy) == 0
    assert library.read_bytes() == before
    assert copy.read_bytes() != before
    assert copy.stat().st_mode == library.stat().st_mode
    assert copy.stat().st_mtime_ns == library.stat().st_mtime_ns


@pytest.mark.parametrize(
    ("versions", "problem"),
    [
        ("NEREID_PRIVATE_1 { global: _ZN6nereid*; };", "must define another one first"),
        ("OTHER_1 { global: _ZN6nereid*; };", "does not define the version NEREID_PRIVATE_1"),
        ("NEREID_NOTHING {};\nNEREID_PRIVATE_1 { global: x; };", "has no symbol of the version"),
        ("{ global: *; };", "has 0 sections .gnu.version_d, must have one"),
    ],
)
def test_a_library_that_is_not_as_it_should_be(
    tmp_path: Path, versions: str, problem: str
) -> None:
    script = tmp_path / "export.map"
    script.write_text(versions)
    library = tmp_path / "lib.so"
    options = ("-shared", "-fPIC", "-fuse-ld=mold", f"-Wl,--version-script={script}")
    compile_c(library, LIBRARY, *options)
    before = library.read_bytes()
    done = subprocess.run(
        [sys.executable, HIDE, library], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert problem in done.stderr
    assert library.read_bytes() == before


def test_no_library(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no library\n")
    done = subprocess.run([sys.executable, HIDE, text], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is no ELF file of 64 bits, little-endian" in done.stderr
