#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no exception can leave a function of the C interfaces.

    tools/check_c_boundary.py

Every function of abi/symbols.txt is one of these:

    TRITONSERVER_Error* NAME(...) try {...} catch (...) { return CaughtError(); }
    T* NAME(...) try {...} catch (...) { return nullptr; }
    a function that cannot throw, listed in NOTHROW with the reason

It reads the sources below src/. In the project's format, these definitions begin in the first
column.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

NOTHROW = {
    "TRITONSERVER_DataTypeByteSize": "looks into a constant table",
    "TRITONSERVER_DataTypeString": "looks into a constant table",
    "TRITONSERVER_ErrorCode": "reads a field",
    "TRITONSERVER_ErrorCodeString": "a switch",
    "TRITONSERVER_ErrorDelete": "calls a noexcept function and nothing else",
    "TRITONSERVER_ErrorMessage": "reads a field",
    "TRITONSERVER_ErrorNew": "calls a noexcept function and nothing else",
    "TRITONSERVER_InferenceTraceActivityString": "a switch",
    "TRITONSERVER_InferenceTraceLevelString": "a switch",
    "TRITONSERVER_InstanceGroupKindString": "a switch",
    "TRITONSERVER_LogIsEnabled": "reads an atomic",
    "TRITONSERVER_MemoryTypeString": "a switch",
    "TRITONSERVER_ParameterDelete": "a delete",
    "TRITONSERVER_ParameterTypeString": "a switch",
    "TRITONSERVER_StringToDataType": "looks into a constant table",
}

DEFINITION = re.compile(
    r"^(?P<type>[\w* ]+?)[* ](?P<name>(?:TRITON(?:SERVER|BACKEND|CACHE|REPOAGENT)|NEREID)_\w+)"
    r"\([^;{}]*\)(?P<guard> try)? \{(?:[^\n]*|\n.*?\n)\}"
    r"(?P<handler> catch \(\.\.\.\) \{\n  (?P<result>[^\n]*)\n\})?$",
    re.DOTALL | re.MULTILINE,
)


def check_definition(match: re.Match[str]) -> str | None:
    """The problem with a definition, or None."""
    name = match["name"]
    if name in NOTHROW:
        return None if not match["guard"] else "is guarded, and on the list of those that need not be"
    if not match["guard"] or not match["handler"]:
        return "lets exceptions out: no `try {...} catch (...) {...}` around its body"
    wanted = "return CaughtError();" if "TRITONSERVER_Error" in match["type"] else "return nullptr;"
    if match["result"] != wanted:
        return f"its handler must be `{wanted}`"
    return None


def check(root: Path) -> tuple[int, list[str]]:
    """The number of functions, and the problems found."""
    exported = set((root / "abi" / "symbols.txt").read_text().split())
    problems = []
    found: set[str] = set()
    for path in sorted((root / "src").rglob("*.cc")):
        if "testing" in path.parts or path.stem.endswith("_test"):
            continue
        for match in DEFINITION.finditer(path.read_text()):
            if match["name"] not in exported:
                continue
            found.add(match["name"])
            if problem := check_definition(match):
                problems.append(f"{path.relative_to(root)}: {match['name']}: {problem}")
    problems += [f"{name}: no definition found below src/" for name in sorted(exported - found)]
    problems += [
        f"{name}: on the list of what cannot throw, but not exported"
        for name in sorted(NOTHROW.keys() - exported)
    ]
    return len(exported), problems


def main() -> int:
    functions, problems = check(ROOT)
    for problem in problems:
        print(f"check_c_boundary: {problem}")
    print(f"check_c_boundary: {functions} functions, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
