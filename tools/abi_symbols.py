#!/usr/bin/env python3
"""Checks what libtritonserver.so exports.

    abi_symbols.py path/to/libtritonserver.so            compare with abi/symbols.txt
    abi_symbols.py path/to/libtritonserver.so --update   rewrite abi/symbols.txt
    abi_symbols.py path/to/libtritonserver.so --list     print the C symbols, compare nothing

Four things must hold: the C symbols are those of abi/symbols.txt and carry no symbol version; they
are the functions that the public headers declare as implemented by the server; everything else is
exported under NEREID_PRIVATE_1; the SONAME is the one existing backends ask for. Exit status:
0 all hold, 1 a difference, 2 no such library.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SYMBOLS = ROOT / "abi" / "symbols.txt"
HEADERS = ROOT / "include" / "triton" / "core"

SONAME = "libtritonserver.so"
PRIVATE_VERSION = "NEREID_PRIVATE_1"
C_API = re.compile(r"TRITON(SERVER|BACKEND|REPOAGENT|CACHE)_\w+")
DECLARATION = re.compile(r"^TRITON[A-Z]+_DECLSPEC\b[^;(]*?\b(TRITON[A-Z]+_\w+)\(", re.MULTILINE)


def exported(library: Path) -> dict[str, str]:
    """Name of each exported symbol and its version, "" if it has none."""
    output = subprocess.run(
        ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)],
        check=True, capture_output=True, text=True).stdout
    symbols = {}
    for line in output.splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # GNU ld defines a symbol for each version
            name, _, version = name.partition("@")
            symbols[name] = version.lstrip("@")
    return symbols


def soname(library: Path) -> str:
    """SONAME of the library, "" if it has none."""
    output = subprocess.run(["readelf", "--dynamic", "--wide", str(library)],
                            check=True, capture_output=True, text=True).stdout
    match = re.search(r"\(SONAME\).*\[(.+)\]", output)
    return match[1] if match else ""


def declared(headers: Path) -> list[str]:
    """Functions that the public headers declare as implemented by the server, sorted."""
    names = [name for header in headers.glob("*.h")
             for name in DECLARATION.findall(header.read_text(encoding="utf-8"))]
    return sorted(names)


def difference(want: list[str], got: list[str], want_name: str, got_name: str) -> list[str]:
    return list(difflib.unified_diff(want, got, want_name, got_name, lineterm="", n=0))


def check_versions(symbols: dict[str, str]) -> list[str]:
    """Complaints about symbols that carry the wrong version."""
    complaints = []
    for name, version in sorted(symbols.items()):
        want = "" if C_API.fullmatch(name) else PRIVATE_VERSION
        if version != want:
            complaints.append(f"{name}: exported with version '{version}', expected '{want}'")
    return complaints


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks what libtritonserver.so exports.")
    parser.add_argument("library", type=Path)
    parser.add_argument("--symbols", type=Path, default=SYMBOLS)
    parser.add_argument("--headers", type=Path, default=HEADERS)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--update", action="store_true", help="rewrite the list of symbols")
    action.add_argument("--list", action="store_true", help="print the C symbols and stop")
    args = parser.parse_args()

    try:
        symbols = exported(args.library)
        name = soname(args.library)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = getattr(error, "stderr", None) or error
        print(f"{args.library}: {str(detail).strip()}", file=sys.stderr)
        return 2
    c_symbols = sorted(name for name in symbols if C_API.fullmatch(name))
    if args.list:
        print("\n".join(c_symbols))
        return 0
    if args.update:
        args.symbols.parent.mkdir(exist_ok=True)
        args.symbols.write_text("\n".join(c_symbols) + "\n", encoding="utf-8")

    expected = args.symbols.read_text(encoding="utf-8").split() if args.symbols.exists() else []
    problems = difference(expected, c_symbols, str(args.symbols), str(args.library))
    problems += difference(declared(args.headers), c_symbols, str(args.headers), str(args.library))
    problems += check_versions(symbols)
    if name != SONAME:
        problems.append(f"SONAME is '{name}', expected '{SONAME}'")
    if problems:
        print("\n".join(problems))
        return 1
    print(f"{args.library}: {len(c_symbols)} C symbols as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
