#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks include rules, file lengths, small headers, confined functions and stray machine paths.

    tools/check_includes.py [--root DIR] [--update-small-headers]

The rules are data, in tools/include_rules.toml of the checked tree. Prints one line per problem
(`file:line: what, and why`), and exits with 1 if there is any.

With --update-small-headers it first makes tools/small_headers.tsv, the list of headers that may be
small although they have one user: what no longer belongs there goes, and what is missing comes
without a reason, which has to be written by hand.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

SOURCE_SUFFIXES = {".c", ".cc", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
# The folders where a quoted include is searched, besides the file's own folder.
INCLUDE_ROOTS = ("src", "include", "", "apps/nereid", "apps/workshop")
SMALL_HEADERS = "tools/small_headers.tsv"


@dataclass(frozen=True)
class Include:
    """One #include of a project file."""

    file: str  # path from the root, with forward slashes
    line: int
    written: str  # as between the quotes or angle brackets
    target: str | None  # the project's file; None: a third party's or a generated one


@dataclass(frozen=True, order=True)
class Problem:
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def child_of(folder: str, file: str) -> str:
    """The folder directly below `folder` that holds the file."""
    return "/".join(PurePosixPath(file).parts[: len(PurePosixPath(folder).parts) + 1])


def project_files(root: Path) -> list[str]:
    """What git tracks or would add; without git, all files except build trees and dot folders."""
    git = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if git.returncode == 0:
        names = git.stdout.decode().split("\0")
        return sorted(name for name in names if name and (root / name).is_file())
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(
        path.as_posix()
        for path in found
        if path.parts[0] != "build" and not any(part.startswith(".") for part in path.parts)
    )


def read_lines(root: Path, name: str) -> list[str]:
    """The lines of a text file; none for a binary one."""
    data = (root / name).read_bytes()
    return [] if b"\0" in data else data.decode("utf-8", errors="replace").splitlines()


def resolve(written: str, file: str, files: set[str]) -> str | None:
    """The project file that an include names, found as the compiler finds it."""
    own = PurePosixPath(file).parent
    for base in (own, *(PurePosixPath(root) for root in INCLUDE_ROOTS)):
        candidate = (base / written).as_posix()
        if candidate in files:
            return candidate
    return None


def includes(lines_of: dict[str, list[str]]) -> Iterator[Include]:
    files = set(lines_of)
    for file, lines in lines_of.items():
        if PurePosixPath(file).suffix not in SOURCE_SUFFIXES:
            continue
        for number, line in enumerate(lines, 1):
            if match := INCLUDE.match(line):
                written = match[1] or match[2]
                yield Include(file, number, written, resolve(written, file, files))


class Modules:
    """Maps files to modules, and modules to layers."""

    def __init__(self, rules: dict[str, Any]) -> None:
        self.layer_of = {
            module: layer
            for layer, entry in enumerate(rules["layer"])
            for module in entry["modules"]
        }

    def of(self, file: str) -> str | None:
        holding = [module for module in self.layer_of if is_below(file, module)]
        return max(holding, key=len, default=None)


def check_placement(files: Iterable[str], modules: Modules) -> Iterator[Problem]:
    for file in files:
        is_source = PurePosixPath(file).suffix in SOURCE_SUFFIXES
        if is_source and is_below(file, "src") and modules.of(file) is None:
            yield Problem(file, 1, "lies in no module of tools/include_rules.toml")


def check_layers(all_includes: Iterable[Include], modules: Modules) -> Iterator[Problem]:
    edges: dict[str, dict[str, Include]] = {}
    for include in all_includes:
        user = modules.of(include.file)
        used = modules.of(include.target) if include.target else None
        if user is None or used is None or user == used:
            continue
        if modules.layer_of[used] > modules.layer_of[user]:
            yield Problem(
                include.file,
                include.line,
                f"{user} (L{modules.layer_of[user]}) includes {include.written} of {used} "
                f"(L{modules.layer_of[used]}): dependencies point downward only",
            )
        else:
            edges.setdefault(user, {}).setdefault(used, include)
    yield from check_circles(edges)


def check_circles(edges: dict[str, dict[str, Include]]) -> Iterator[Problem]:
    """Reports each cycle of modules once, at the include that closes it."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> Iterator[Problem]:
        for used, include in sorted(edges.get(module, {}).items()):
            if used in path:
                circle = " -> ".join([*path[path.index(used) :], used])
                yield Problem(include.file, include.line, f"modules in a circle: {circle}")
            elif used not in done:
                yield from visit(used, [*path, used])
        done.add(module)

    for module in sorted(edges):
        if module not in done:
            yield from visit(module, [module])


def check_closed(all_includes: Iterable[Include], rules: dict[str, Any]) -> Iterator[Problem]:
    for include in all_includes:
        holding = [rule for rule in rules["closed"] if is_below(include.file, rule["folder"])]
        if not holding or include.target is None:
            continue
        rule = max(holding, key=lambda rule: len(rule["folder"]))
        own = child_of(rule["folder"], include.file) if rule.get("each_child") else rule["folder"]
        allowed = [own, *rule["may"]]
        if not any(is_below(include.target, folder) for folder in allowed):
            yield Problem(
                include.file,
                include.line,
                f"includes {include.target}, may only {', '.join(allowed)}: {rule['why']}",
            )


def check_siblings(all_includes: Iterable[Include], rules: dict[str, Any]) -> Iterator[Problem]:
    for include in all_includes:
        for rule in rules["siblings"]:
            folder = rule["folder"]
            if include.target is None or not is_below(include.file, folder):
                continue
            used = child_of(folder, include.target)
            if not is_below(include.target, folder) or used == child_of(folder, include.file):
                continue
            if used not in rule["shared"]:
                yield Problem(
                    include.file, include.line, f"includes {include.target}: {rule['why']}"
                )


def check_never(all_includes: Iterable[Include], rules: dict[str, Any]) -> Iterator[Problem]:
    for include in all_includes:
        for rule in rules["never"]:
            if include.target is None or not is_below(include.file, rule["from"]):
                continue
            if is_below(include.target, rule["to"]):
                yield Problem(
                    include.file, include.line, f"includes {include.target}: {rule['why']}"
                )


def check_third_party(all_includes: Iterable[Include], rules: dict[str, Any]) -> Iterator[Problem]:
    for include in all_includes:
        if include.target is not None or is_below(include.file, "tests"):
            continue
        for rule in rules["third_party"]:
            if not any(fnmatch(include.written, pattern) for pattern in rule["headers"]):
                continue
            if not any(is_below(include.file, folder) for folder in rule["folders"]):
                yield Problem(
                    include.file,
                    include.line,
                    f"includes {include.written}: {rule['name']} belongs to "
                    f"{' and '.join(rule['folders'])} only",
                )
            break


def check_spelling(all_includes: Iterable[Include], rules: dict[str, Any]) -> Iterator[Problem]:
    """Checks that includes have no `..`, and that shipped code includes no test doubles."""
    rule = rules["test_only"]
    for include in all_includes:
        if ".." in PurePosixPath(include.written).parts:
            yield Problem(
                include.file, include.line, f"includes {include.written}: write the path from src/"
            )
        inside = set(PurePosixPath(include.target or "").parts[:-1]) & set(rule["folders"])
        if inside and not is_test(include.file, rules):
            yield Problem(
                include.file, include.line, f"includes {include.target}, which is for tests only"
            )


def is_test(file: str, rules: dict[str, Any]) -> bool:
    """Whether the file is a test, or serves tests only."""
    rule = rules["test_only"]
    within = set(PurePosixPath(file).parts[:-1]) & set(rule["folders"])
    return bool(within) or any(fnmatch(file, pattern) for pattern in rule["may_include"])


def small_headers(
    lines_of: dict[str, list[str]], all_includes: Iterable[Include], rules: dict[str, Any]
) -> dict[str, str]:
    """The product's headers of few lines that exactly one file of the product includes, besides
    their own source file, and no test. With this one user each."""
    rule = rules["small_headers"]
    users: dict[str, set[str]] = {}
    tested = set()
    for include in all_includes:
        if include.target is None:
            continue
        if is_test(include.file, rules):
            tested.add(include.target)
        elif PurePosixPath(include.file).with_suffix(".h").as_posix() != include.target:
            users.setdefault(include.target, set()).add(include.file)
    return {
        file: next(iter(users[file]))
        for file, lines in lines_of.items()
        if PurePosixPath(file).suffix == ".h"
        and any(is_below(file, folder) for folder in rule["folders"])
        and len(lines) < rule["lines"]
        and len(users.get(file, ())) == 1
        and file not in tested
        and not is_test(file, rules)
    }


def listed_reasons(lines: list[str]) -> dict[str, tuple[int, str]]:
    """The listed headers, with the number of the line and the reason."""
    rows = (line.partition("\t") for line in lines)
    return {row[0]: (number, row[2].strip()) for number, row in enumerate(rows, 1)}


def check_small_headers(
    lines_of: dict[str, list[str]], all_includes: list[Include], rules: dict[str, Any]
) -> Iterator[Problem]:
    found = small_headers(lines_of, all_includes, rules)
    listed = listed_reasons(lines_of.get(SMALL_HEADERS, []))
    for file, user in found.items():
        if file not in listed:
            text = f"{len(lines_of[file])} lines for one user: move them into {user}, or say why not"
            yield Problem(file, 1, f"{text} in {SMALL_HEADERS}")
    for file, (number, reason) in listed.items():
        if file not in found:
            yield Problem(SMALL_HEADERS, number, f"{file} is no small header with one user")
        elif not reason:
            yield Problem(SMALL_HEADERS, number, f"{file} is listed without a reason")


def update_small_headers(root: Path) -> None:
    rules, lines_of = read_tree(root)
    listed = listed_reasons(lines_of.get(SMALL_HEADERS, []))
    found = small_headers(lines_of, includes(lines_of), rules)
    rows = (f"{file}\t{listed.get(file, (0, ''))[1]}\n" for file in sorted(found))
    (root / SMALL_HEADERS).write_text("".join(rows), encoding="utf-8")


def check_confined(lines_of: dict[str, list[str]], rules: dict[str, Any]) -> Iterator[Problem]:
    for rule in rules["confined"]:
        pattern = re.compile(rule["pattern"])
        for file, lines in lines_of.items():
            if PurePosixPath(file).suffix not in SOURCE_SUFFIXES:
                continue
            if any(fnmatch(file, pattern) for pattern in rule["except"]):
                continue
            applies = is_test(file, rules) == rule.get("tests", False)
            if not applies or not any(is_below(file, folder) for folder in rule["folders"]):
                continue
            for number, line in enumerate(lines, 1):
                if match := pattern.search(line):
                    yield Problem(file, number, f"uses {match[0]}: {rule['why']}")


def check_text(lines_of: dict[str, list[str]], rules: dict[str, Any]) -> Iterator[Problem]:
    length, text = rules["length"], rules["forbidden_text"]
    patterns = [re.compile(pattern) for pattern in text["patterns"]]
    for file, lines in lines_of.items():
        limited = PurePosixPath(file).suffix in length["suffixes"]
        if limited and len(lines) > length["limit"]:
            if not any(fnmatch(file, pattern) for pattern in length["except"]):
                yield Problem(
                    file, length["limit"], f"{len(lines)} lines; the limit is {length['limit']}"
                )
        if any(fnmatch(file, pattern) for pattern in text["except"]):
            continue
        for number, line in enumerate(lines, 1):
            for pattern in patterns:
                if match := pattern.search(line):
                    yield Problem(file, number, f"names a place on one machine: {match[0]}...")


def read_tree(root: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The rules, and the lines of each file."""
    rules = tomllib.loads((root / "tools" / "include_rules.toml").read_text())
    return rules, {name: read_lines(root, name) for name in project_files(root)}


def check(root: Path) -> tuple[list[Problem], int]:
    """All problems of the tree, and the number of includes checked."""
    rules, lines_of = read_tree(root)
    found = list(includes(lines_of))
    modules = Modules(rules)
    problems = [
        *check_placement(lines_of, modules),
        *check_layers(found, modules),
        *check_closed(found, rules),
        *check_siblings(found, rules),
        *check_never(found, rules),
        *check_third_party(found, rules),
        *check_spelling(found, rules),
        *check_small_headers(lines_of, found, rules),
        *check_confined(lines_of, rules),
        *check_text(lines_of, rules),
    ]
    return sorted(problems), len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--update-small-headers", action="store_true")
    arguments = parser.parse_args()
    if arguments.update_small_headers:
        update_small_headers(arguments.root)
    problems, looked_at = check(arguments.root)
    for problem in problems:
        print(problem)
    print(f"check_includes: {looked_at} includes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
