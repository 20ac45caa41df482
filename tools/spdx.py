#!/usr/bin/env python3
"""Every source file says its licence: `SPDX-License-Identifier: Apache-2.0`, in its first lines.

    tools/spdx.py [--root DIR]            names the files that do not, and exits with 1 when there are any
    tools/spdx.py --write [--root DIR]    puts the line into them: first, or behind `#!`

Source files are those in C, C++, Python, shell, CMake, TypeScript, JavaScript, CSS, Go and the language of protocol
buffers, and programs without a suffix. What is generated, or belongs to somebody else, is left out (EXCEPT).
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_includes import project_files  # noqa: E402

TAG = "SPDX-License-Identifier:"
LICENCE = "Apache-2.0"
SLASHES, HASH, STARS = "// {}", "# {}", "/* {} */"
COMMENTS = {
    **dict.fromkeys((".c", ".cc", ".h", ".go", ".js", ".mjs", ".proto", ".ts"), SLASHES),
    **dict.fromkeys((".cmake", ".py", ".pyi", ".sh"), HASH),
    ".css": STARS,
}
NAMES = {"CMakeLists.txt": HASH, "Makefile": HASH}
# Bundled from console/; recorded answers; models whose recorded errors name lines.
EXCEPT = ("console/dist/*", "tests/golden/*", "tests/python_models/models/*")
LINES_LOOKED_AT = 4


def comment_of(root: Path, name: str) -> str | None:
    """How a file writes a comment; None if it is no source file."""
    if any(fnmatch(name, pattern) for pattern in EXCEPT):
        return None
    path = PurePosixPath(name)
    comment = NAMES.get(path.name) or COMMENTS.get(path.suffix)
    if comment is None and not path.suffix:
        first = first_lines(root / name)[:1]
        if first and first[0].startswith("#!"):
            return HASH
    return comment


def first_lines(path: Path) -> list[str]:
    with path.open("rb") as file:
        return [file.readline().decode("utf-8", errors="replace") for _ in range(LINES_LOOKED_AT)]


def without_licence(root: Path) -> list[tuple[str, str]]:
    """The files that lack the line, with their way of comments. An empty file needs none."""
    return [
        (name, comment)
        for name in project_files(root)
        if (comment := comment_of(root, name)) is not None
        and (root / name).stat().st_size > 0
        and not any(TAG in line for line in first_lines(root / name))
    ]


def write(path: Path, comment: str) -> None:
    text = path.read_bytes()
    line = comment.format(f"{TAG} {LICENCE}").encode() + b"\n"
    first_end = text.index(b"\n") + 1 if text.startswith(b"#!") else 0
    path.write_bytes(text[:first_end] + line + text[first_end:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--write", action="store_true", help="put the line into the files that lack it")
    arguments = parser.parse_args()
    found = without_licence(arguments.root)
    for name, comment in found:
        if arguments.write:
            write(arguments.root / name, comment)
        else:
            print(f"{name}:1: has no line {TAG} {LICENCE}; tools/spdx.py --write puts it there")
    print(f"spdx: {len(found)} files {'written' if arguments.write else 'without the line'}")
    return 1 if found and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())
