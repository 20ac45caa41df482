# SPDX-License-Identifier: Apache-2.0
"""tools/check_abi.py on small libraries, which the tests compile."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
HIDE = PROJECT_ROOT / "tools" / "hide_private_symbols.py"
HEADER = """
// TRITONSERVER_OnlyMentioned() is no declaration.
struct TRITONSERVER_Error* TRITONSERVER_ErrorNew(int code);
int TRITONBACKEND_RequestRelease(void);
"""
GOOD = """
void* TRITONSERVER_ErrorNew(int code) { return 0; }
int TRITONBACKEND_RequestRelease(void) { return 0; }
int _ZN6nereid5ServeEv(void) { return 0; }
"""
NAMES = ["TRITONBACKEND_RequestRelease", "TRITONSERVER_ErrorNew"]


class Tree:
    """A project of one header, one library and one list of symbols."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.library = root / "lib.so"
        self.symbols = root / "abi" / "symbols.txt"
        headers = root / "include" / "triton" / "core"
        for folder in (headers, root / "tools", root / "abi"):
            folder.mkdir(parents=True)
        shutil.copy(PROJECT_ROOT / "tools" / "check_abi.py", root / "tools")
        (headers / "tritonserver.h").write_text(HEADER)
        self.symbols.write_text("\n".join(NAMES) + "\n")

    def compile(
        self,
        source: str,
        soname: str = "libtritonserver.so",
        versioned: str = "_Z*",
        before: str = "NEREID_NOTHING {};",
        *,
        hide: bool = True,
    ) -> None:
        self.link(
            self.library,
            source,
            f"{before}\nNEREID_PRIVATE_1 {{ global: {versioned}; }};\n",
            soname=soname,
        )
        if hide:
            subprocess.run([sys.executable, HIDE, self.library], check=True)

    def link(self, library: Path, source: str, version_script: str, soname: str = "") -> None:
        library.parent.mkdir(parents=True, exist_ok=True)
        (self.root / "lib.c").write_text(source)
        script = self.root / "export.map"
        script.write_text(version_script)
        command = ["cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname or library.name}"]
        command += ["-o", library, f"-Wl,--version-script={script}"]
        subprocess.run([*command, self.root / "lib.c"], check=True)

    def check(self, *options: str | Path) -> tuple[int, str]:
        command = [sys.executable, self.root / "tools" / "check_abi.py", self.library, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_equal(tree: Tree) -> None:
    tree.compile(GOOD)
    assert tree.check() == (0, "check_abi: 2 functions, 0 problems\n")


def test_a_function_that_is_gone(tree: Tree) -> None:
    tree.compile("void* TRITONSERVER_ErrorNew(int code) { return 0; }")
    code, text = tree.check()
    assert code == 1
    assert "TRITONBACKEND_RequestRelease: gone from the library" in text


def test_a_function_that_is_new(tree: Tree) -> None:
    tree.symbols.write_text("TRITONSERVER_ErrorNew\n")
    tree.compile(GOOD)
    code, text = tree.check()
    assert code == 1
    assert "TRITONBACKEND_RequestRelease: not in abi/symbols.txt" in text
    assert tree.check("--update")[0] == 0
    assert tree.symbols.read_text().split() == NAMES


def test_a_function_that_no_header_declares(tree: Tree) -> None:
    tree.compile(GOOD + "void TRITONSERVER_OnlyMentioned(void) {}")
    code, text = tree.check("--update")
    assert code == 1
    assert "TRITONSERVER_OnlyMentioned: exported, but in no public header" in text


def test_a_c_name_that_leaks(tree: Tree) -> None:
    tree.compile(GOOD + "void helper(void) {}")
    code, text = tree.check()
    assert code == 1
    assert "helper: exported, but no part of an interface" in text


def test_a_c_function_with_a_version(tree: Tree) -> None:
    tree.compile(GOOD, versioned="*")
    code, text = tree.check()
    assert code == 1
    assert "TRITONSERVER_ErrorNew: bears a symbol version" in text


def test_a_private_version_that_everybody_is_bound_to(tree: Tree) -> None:
    tree.compile(GOOD, hide=False)
    code, text = tree.check()
    assert code == 1
    assert "_ZN6nereid5ServeEv: exported, but no part of an interface" in text


def test_a_private_version_that_is_the_first(tree: Tree) -> None:
    tree.compile(GOOD, before="", hide=False)
    code, text = tree.check()
    assert code == 1
    assert "NEREID_PRIVATE_1 is version 2, which anybody is bound to" in text


def test_other_libraries(tree: Tree) -> None:
    tree.compile(GOOD)
    assert tree.check("--others", tree.root)[0] == 1  # none at all
    backend = tree.root / "backends" / "some" / "libtriton_some.so"
    source = "int TRITONBACKEND_Initialize(void) { return 0; }\nvoid _ZN1A1bEv(void) {}\n"
    tree.link(backend, source, "{ global: TRITON*; local: *; };")
    assert tree.check("--others", tree.root) == (0, "check_abi: 2 functions, 0 problems\n")
    tree.link(backend, source, "{ global: TRITON*; _Z*; local: *; };")
    code, text = tree.check("--others", tree.root)
    assert code == 1
    assert (
        "backends/some/libtriton_some.so: exports _ZN1A1bEv, which is no entry point" in text
    )


def test_another_soname(tree: Tree) -> None:
    tree.compile(GOOD, soname="libnereid.so.1")
    code, text = tree.check()
    assert code == 1
    assert "the SONAME is libnereid.so.1, must be libtritonserver.so" in text


def test_no_list(tree: Tree) -> None:
    tree.symbols.unlink()
    tree.compile("int _ZN6nereid5ServeEv(void) { return 0; }")
    code, text = tree.check()
    assert code == 1
    assert "abi/symbols.txt is empty or missing" in text
