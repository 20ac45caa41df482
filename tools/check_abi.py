#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what libtritonserver.so exports against abi/symbols.txt.

    tools/check_abi.py LIBRARY                   compare; exits with 1 on any difference
    tools/check_abi.py LIBRARY --update          write abi/symbols.txt anew
    tools/check_abi.py LIBRARY --others STAGE    also what an installation has beside the library

Every exported C function must be declared in a public header, and no other name may satisfy a
reference from outside: nothing but C functions is exported without a version or with a default one.
The SONAME is checked too, because existing backends look the library up by it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SYMBOLS = ROOT / "abi" / "symbols.txt"
HEADERS = ROOT / "include"
SONAME = "libtritonserver.so"
# The names of the C interfaces. All other exported names are for the project's own executable.
PUBLIC = re.compile(r"(TRITON(SERVER|BACKEND|CACHE|REPOAGENT)|NEREID(CACHE)?)_\w+")
# The other names have this symbol version, which is hidden (abi/export.map). The C interfaces have
# none, as in the library that existing plug-ins were linked against.
PRIVATE_VERSION = "NEREID_PRIVATE_1"
# The dynamic linker binds references without a version to versions before this one, hidden or not.
FIRST_RESPECTED = 3
OTHERS = (
    "lib/*.so",
    "backends/*/libtriton_*.so",
    "caches/*/libtritoncache_*.so",
    "repoagents/*/libtritonrepoagent_*.so",
)
# A plug-in on one of these shares templates and their variables with a framework in C++.
FRAMEWORKS = re.compile(r"lib(openvino|torch)\b")


def exported(library: Path) -> dict[str, str]:
    """The names that the library exports, each with its symbol version: "@VERSION" if it is hidden,
    "@@VERSION" if not, and "" if there is none."""
    lines = subprocess.run(
        ["nm", "--dynamic", "--defined-only", "--with-symbol-versions", library],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    symbols = {}
    for line in lines:
        kind, name = line.split()[-2:]
        if kind != "A":  # GNU ld defines a symbol for each version
            name, at, version = name.partition("@")
            symbols[name] = at + version
    return symbols


def bindable(symbols: dict[str, str]) -> set[str]:
    """What a reference without a version is bound to, but for the C interfaces."""
    return {
        name
        for name, version in symbols.items()
        if not PUBLIC.fullmatch(name) and (not version or version.startswith("@@"))
    }


def index_of_private_version(library: Path) -> int | None:
    text = subprocess.run(
        ["readelf", "--version-info", "--wide", library], capture_output=True, text=True, check=True
    ).stdout
    match = re.search(rf"Index: (\d+)  Cnt: \d+  Name: {PRIVATE_VERSION}$", text, re.MULTILINE)
    return int(match[1]) if match else None


def dynamic_entries(library: Path, tag: str) -> list[str]:
    """The names in the entries of this tag: "SONAME", or "NEEDED"."""
    text = subprocess.run(
        ["readelf", "--dynamic", "--wide", library], capture_output=True, text=True, check=True
    ).stdout
    return re.findall(rf"\({tag}\).*\[(.+)\]", text)


def is_on_framework(library: Path) -> bool:
    return any(FRAMEWORKS.match(name) for name in dynamic_entries(library, "NEEDED"))


def declared() -> set[str]:
    """The functions that the public headers declare."""
    text = "\n".join(path.read_text() for path in sorted(HEADERS.rglob("*.h")))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return {match[1] for match in re.finditer(r"\b((?:TRITON[A-Z]+|NEREID)_\w+)\s*\(", text)}


def compare(symbols: dict[str, str], recorded: set[str], in_headers: set[str]) -> list[str]:
    """The problems with the exported names; empty if there are none."""
    public = {name for name in symbols if PUBLIC.fullmatch(name)}
    leaked = {name for name in symbols.keys() - public if symbols[name] != f"@{PRIVATE_VERSION}"}
    return [
        *(f"{name}: gone from the library" for name in sorted(recorded - public)),
        *(f"{name}: not in abi/symbols.txt" for name in sorted(public - recorded)),
        *(f"{name}: exported, but in no public header" for name in sorted(public - in_headers)),
        *(f"{name}: bears a symbol version" for name in sorted(public) if symbols[name]),
        *(f"{name}: exported, but no part of an interface" for name in sorted(leaked)),
    ]


def problems_of_others(stage: Path, library: Path) -> list[str]:
    """Names that may not be seen in the other libraries and the plug-ins below `stage`."""
    found = sorted(path for pattern in OTHERS for path in stage.glob(pattern))
    others = [p for p in found if not p.samefile(library) and not is_on_framework(p)]
    return [
        f"{path.relative_to(stage)}: exports {name}, which is no entry point"
        for path in others
        for name in sorted(bindable(exported(path)))
    ] + ([] if others else [f"{stage}: no libraries besides {library.name}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("--update", action="store_true", help="write abi/symbols.txt anew")
    parser.add_argument("--others", type=Path, metavar="STAGE", help="an installation to check")
    arguments = parser.parse_args()
    symbols = exported(arguments.library)
    if arguments.update:
        SYMBOLS.parent.mkdir(exist_ok=True)
        public = sorted(name for name in symbols if PUBLIC.fullmatch(name))
        SYMBOLS.write_text("".join(f"{name}\n" for name in public))
    recorded = set(SYMBOLS.read_text().split()) if SYMBOLS.exists() else set()
    problems = compare(symbols, recorded, declared())
    if (found := dynamic_entries(arguments.library, "SONAME")) != [SONAME]:
        problems.append(f"the SONAME is {found[0] if found else None}, must be {SONAME}")
    index = index_of_private_version(arguments.library)
    if index is not None and index < FIRST_RESPECTED:
        problems.append(f"{PRIVATE_VERSION} is version {index}, which anybody is bound to")
    if arguments.others:
        problems += problems_of_others(arguments.others, arguments.library)
    if not recorded:
        problems.append("abi/symbols.txt is empty or missing")
    for problem in problems:
        print(f"check_abi: {problem}")
    print(f"check_abi: {len(recorded)} functions, {len(problems)} problems")
    if problems:
        print("check_abi: meant so? tools/check_abi.py LIBRARY --update")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
