#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that console/dist was made of the sources beside it, without Node.js.

tools/build_console.sh leaves a hash of its sources in dist/sources.sha256. That the bundle itself is
what they give is checked where Node.js is (tests/conformance/test_console_bundle.py).
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

CONSOLE = Path(__file__).resolve().parents[1] / "console"
ALONE = ("build.mjs", "package-lock.json", "package.json")
FOLDERS = ("page", "src")


def sources_hash(console: Path) -> str:
    """As sourcesHash of console/build.mjs computes it."""
    names = list(ALONE)
    for folder in FOLDERS:
        names += [f"{folder}/{path.name}" for path in (console / folder).iterdir()]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(f"{name}\n".encode())
        digest.update((console / name).read_bytes())
    return digest.hexdigest()


def main() -> int:
    stamp = CONSOLE / "dist" / "sources.sha256"
    if stamp.read_text().strip() == sources_hash(CONSOLE):
        return 0
    print("console/dist was made of other sources: run tools/build_console.sh")
    return 1


if __name__ == "__main__":
    sys.exit(main())
