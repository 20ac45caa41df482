# SPDX-License-Identifier: Apache-2.0
"""Triton's answers, kept in files: tests/golden/triton-2.51/GROUP.jsonl has a line for each case.

A line is a JSON object. It begins with the id of the case, then come what was sent and what was
answered. Lines are in the order of the cases, so a change of one case is a change of one line.
"""

from __future__ import annotations

import argparse
import json
import operator
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from support.stage import PROJECT_ROOT

FOLDER = PROJECT_ROOT / "tests" / "golden" / "triton-2.51"


def load(file: Path) -> dict[str, dict[str, Any]]:
    """The lines of a file, by id. Fails if an id occurs twice."""
    found: dict[str, dict[str, Any]] = {}
    # Not splitlines(): texts may hold other ends of lines than this one.
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if line:
            document = json.loads(line)
            assert document["id"] not in found, f"{file.name}:{number}: a second {document['id']}"
            found[document["id"]] = document
    return found


def store(file: Path, documents: Iterable[dict[str, Any]]) -> None:
    """Writes one line for each document, whose first member is its id."""
    lines = [json.dumps(one, ensure_ascii=False, separators=(", ", ": ")) for one in documents]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


class Golden:
    """The files of some groups of cases. Reads each file once.

    `group_of`: the group of each case, in the order in which cases are sent.
    `how`: the command that records answers.
    """

    def __init__(self, group_of: Mapping[str, str], how: str, folder: Path = FOLDER) -> None:
        self._group_of = group_of
        self._how = how
        self._folder = folder
        self._known: dict[str, dict[str, dict[str, Any]]] = {}

    def document(self, case: str, request: Any, member: str) -> dict[str, Any]:
        """The line of a case. Fails if there is none, or if `request`, which is stored as `member`,
        has changed since it was recorded."""
        document = self._group(self._group_of[case]).get(case)
        assert document is not None, f"There is no golden answer: run '{self._how} {case}'."
        assert document[member] == plain(request), (
            f"The request has changed since its answer was recorded: run '{self._how} {case}'."
        )
        return document

    def check_complete(self) -> None:
        """Fails if a file lacks a case, has one that is gone, or has them in another order."""
        for group, cases in self._groups().items():
            stored = list(self._group(group))
            gone = [case for case in stored if case not in cases]
            missing = [case for case in cases if case not in stored]
            assert not gone, f"{group}.jsonl has answers to cases that are gone: {gone}"
            assert not missing, f"{group}.jsonl has no answers to {missing}: run '{self._how}'."
            assert stored == cases, f"{group}.jsonl is not in the order of its cases"

    def record(
        self,
        answer: Callable[[str], dict[str, Any]],
        patterns: list[str],
        same: Callable[[dict[str, Any], dict[str, Any]], bool] = operator.eq,
    ) -> int:
        """Asks for the lines of the cases that match a pattern, and writes the files that hold
        these. All other lines stay, except those of cases that are gone; and so do lines that are
        the `same` as the new ones, which differ in times, for instance. Returns the number of
        cases that match."""
        fresh = {}
        for case, group in self._group_of.items():
            if any(fnmatchcase(case, pattern) for pattern in patterns):
                new, old = {"id": case, **plain(answer(case))}, self._group(group).get(case)
                fresh[case] = old if old is not None and same(old, new) else new
        # Files are written at the end, so that a server that fails leaves the old ones whole.
        for group, cases in self._groups().items():
            if any(case in fresh for case in cases):
                lines = {**self._group(group), **fresh}
                store(self._file(group), [lines[case] for case in cases if case in lines])
                self._known.pop(group, None)
        return len(fresh)

    def groups(self) -> set[str]:
        return set(self._group_of.values())

    def _groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for case, group in self._group_of.items():
            groups.setdefault(group, []).append(case)
        return groups

    def _file(self, group: str) -> Path:
        return self._folder / f"{group}.jsonl"

    def _group(self, group: str) -> dict[str, dict[str, Any]]:
        if group not in self._known:
            file = self._file(group)
            self._known[group] = load(file) if file.exists() else {}
        return self._known[group]


def patterns_of_command_line(description: str) -> list[str]:
    parser = argparse.ArgumentParser(
        description=description,
        epilog="Prints how many answers were recorded. Look at what `git diff` says afterwards.",
    )
    parser.add_argument(
        "cases", nargs="*", default=["*"], help="ids of cases, * matches anything (default: all)"
    )
    return parser.parse_args().cases


def plain(document: Any) -> Any:
    """The document as it would be read from a file: with lists instead of tuples."""
    return json.loads(json.dumps(document))
