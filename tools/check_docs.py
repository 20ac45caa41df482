#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what documents say about files: that these are there.

    tools/check_docs.py [--root DIR]

- Links of Markdown files lead to files of the project, and to headings in them.
- Pages that a file names (docs/..., adr/0004, ADR 4) exist.
- The index of docs/adr lists every decision.
- docs/README.md leads to every page below docs/ and to the page of every example, by two links at most.
- Every module below src has a README.md of at most 60 lines.
- Commands that a file names exist: `make TARGET`, `tools/dev NAME`, programs in tools/, presets of tools/build.sh.

Prints one line per problem, and exits with 1 when there is any.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_includes import Problem, project_files, read_lines  # noqa: E402

README_LINES = 60
TEXT_SUFFIXES = {".c", ".cc", ".h", ".md", ".py", ".sh", ".toml", ".tsv", ".txt"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGE = re.compile(r"\bdocs/[\w./-]+\.md\b")
DECISION = re.compile(r"\b(?:adr/|ADR )(\d+)\b")
ADR_FOLDER = "docs/adr"
DOCS_INDEX = "docs/README.md"
CLICKS = 2
MAKE = re.compile(r"`make ([a-z][\w-]*)")
MAKE_IN_BLOCK = re.compile(r"^\s*make ([a-z][\w-]*)")
DEV = re.compile(r"\btools/dev ([a-z][\w-]*)")
TOOL = re.compile(r"(?<![\w/.-])tools/[\w/-]+\.(?:sh|py)\b")
PRESET = re.compile(r"\b(?:tools/build\.sh|(?:cmake|ctest)(?: --build)? --preset) ([a-z]+)")
# A record of what was, with the names of then.
HISTORY = ("CHANGELOG.md", "bench/results/")

Texts = Mapping[str, list[str]]


def exists(root: Path, name: str) -> bool:
    return (root / name).exists()


def anchors(lines: list[str]) -> set[str]:
    """The names by which links refer to a page's headings."""
    headings = (line.lstrip("#").strip().lower() for line in lines if line.startswith("#"))
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}


def check_links(root: Path, texts: Texts) -> Iterator[Problem]:
    for file, lines in texts.items():
        if PurePosixPath(file).suffix != ".md":
            continue
        for number, line in enumerate(lines, 1):
            for path, _, anchor in (link.partition("#") for link in LINK.findall(line)):
                if "://" in path:
                    continue
                page = (root / file).parent / path if path else root / file
                if not page.exists():
                    yield Problem(file, number, f"links to {path}, which is not there")
                elif anchor and anchor not in anchors(page.read_text().splitlines()):
                    text = f"links to the heading #{anchor}, which is not there"
                    yield Problem(file, number, text)


def decisions(root: Path) -> dict[int, str]:
    return {int(path.name[:4]): path.name for path in (root / ADR_FOLDER).glob("[0-9]*.md")}


def check_names(root: Path, texts: Texts) -> Iterator[Problem]:
    """Checks pages named by their path, and decisions named by their number."""
    numbers = decisions(root)
    for file, lines in texts.items():
        for number, line in enumerate(lines, 1):
            for page in PAGE.findall(line):
                if not exists(root, page):
                    yield Problem(file, number, f"names {page}, which is not there")
            for adr in map(int, DECISION.findall(line)):
                if adr not in numbers:
                    yield Problem(file, number, f"names ADR {adr}, which is not there")


def make_targets(root: Path) -> set[str]:
    text = (root / "Makefile").read_text() if exists(root, "Makefile") else ""
    return set(" ".join(re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)).split())


def dev_commands(root: Path) -> set[str]:
    """The first column of the table in tools/dev."""
    text = (root / "tools/dev").read_text() if exists(root, "tools/dev") else ""
    return set(re.findall(r"^([a-z][\w-]*) +\|", text, re.MULTILINE))


def presets(root: Path) -> set[str]:
    file = root / "CMakePresets.json"
    listed = json.loads(file.read_text())["configurePresets"] if file.exists() else []
    return {preset["name"] for preset in listed if not preset.get("hidden")}


def check_commands(root: Path, texts: Texts) -> Iterator[Problem]:
    targets, commands = make_targets(root), dev_commands(root)
    # What was a target before it came to tools/dev; messages name targets without backticks, too.
    names = "|".join(sorted(commands - targets, key=len, reverse=True))
    moved = re.compile(rf"\bmake ({names})(?![\w-])") if names else None
    there = (
        (DEV, commands.__contains__, "no command {} in tools/dev"),
        (TOOL, lambda tool: exists(root, tool), "there is no {}"),
        (PRESET, presets(root).__contains__, "CMakePresets.json has no preset {}"),
    )
    for file, lines in texts.items():
        if file.startswith(HISTORY):
            continue
        fenced = False
        for number, line in enumerate(lines, 1):
            fenced ^= line.startswith("```")
            in_block = file.endswith(".md") and (fenced or line.startswith("    "))
            for target in (MAKE_IN_BLOCK if in_block else MAKE).findall(line):
                if target not in targets | commands:
                    yield Problem(file, number, f"the Makefile has no target {target}")
            if moved and (old := moved.search(line)):
                yield Problem(file, number, f"make {old[1]} is tools/dev {old[1]} now")
            for pattern, is_there, text in there:
                for name in pattern.findall(line):
                    if not is_there(name):
                        yield Problem(file, number, text.format(name))


def check_index(root: Path) -> Iterator[Problem]:
    index = f"{ADR_FOLDER}/README.md"
    text = (root / index).read_text() if exists(root, index) else ""
    for name in decisions(root).values():
        if f"]({name})" not in text:
            yield Problem(index, 1, f"does not list {name}")


def linked_pages(root: Path, page: str, lines: list[str]) -> Iterator[str]:
    """The Markdown files that a page links to. A folder shows its README.md."""
    for link in LINK.findall("\n".join(lines)):
        path = link.partition("#")[0]
        if not path or "://" in path:
            continue
        target = os.path.normpath(PurePosixPath(page).parent / path)
        yield f"{target}/README.md" if (root / target).is_dir() else target


def check_reach(root: Path, texts: Texts) -> Iterator[Problem]:
    reached = {DOCS_INDEX}
    for _ in range(CLICKS):
        reached |= {
            target
            for page in reached
            if page.endswith(".md")
            for target in linked_pages(root, page, texts.get(page, []))
        }
    for page in sorted(texts):
        in_docs = page.startswith("docs/") and not page.startswith(f"{ADR_FOLDER}/0")  # check_index
        of_example = page.startswith("examples/") and page.endswith("/README.md")
        if ((in_docs and page.endswith(".md")) or of_example) and page not in reached:
            text = f"{DOCS_INDEX} does not lead here by {CLICKS} links: link to it from there"
            yield Problem(page, 1, f"{text}, or from a page that it names")


def check_modules(root: Path, files: list[str]) -> Iterator[Problem]:
    """A module is a folder below src that is built. A folder inside a module is part of it."""
    sources = [PurePosixPath(file) for file in files if file.startswith("src/")]
    built = {path.parent for path in sources if path.name == "CMakeLists.txt"}
    modules = {path.parent for path in sources if path.suffix == ".cc"} & built
    modules.discard(PurePosixPath("src"))
    for module in sorted(module for module in modules if module.parent not in modules):
        readme = f"{module}/README.md"
        if not exists(root, readme):
            yield Problem(readme, 1, "every module has one")
        elif (lines := len(read_lines(root, readme))) > README_LINES:
            yield Problem(readme, lines, f"{lines} lines; the limit is {README_LINES}")


def check(root: Path) -> list[Problem]:
    files = project_files(root)
    texts = {
        name: read_lines(root, name)
        for name in files
        if PurePosixPath(name).suffix in TEXT_SUFFIXES and not name.startswith("tests/tools/")
    }
    return sorted(
        [
            *check_links(root, texts),
            *check_names(root, texts),
            *check_commands(root, texts),
            *check_index(root),
            *check_reach(root, texts),
            *check_modules(root, files),
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    problems = check(parser.parse_args().root)
    for problem in problems:
        print(problem)
    print(f"check_docs: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
