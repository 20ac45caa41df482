# SPDX-License-Identifier: Apache-2.0
"""tools/api_pages.py: the reference pages are those of the sources, and name all that is public."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT_ROOT / "tools"))

import api_pages  # noqa: E402

HEADER = """\
// What this is. It has `code` and <words>.
#ifndef NEREID_A_H_
#define NEREID_A_H_

#ifdef __cplusplus
extern "C" {
#endif

/* ------------ */
/* First        */
/* ------------ */

// Of all that follows.

/// Does it. Errors: INVALID_ARG "unknown <n>", NEREID_Other.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_Do(
    const char* name, void (*done)(void* userp));

/// Two of them.
typedef struct NEREID_One NEREID_One;
typedef struct NEREID_Two NEREID_Two;

/// A choice.
typedef enum NEREID_choice_enum {
  /// The first.
  NEREID_FIRST = 0
} NEREID_Choice;

#ifdef __cplusplus
}
#endif
#endif
"""


def test_pages_are_up_to_date() -> None:
    folder = api_pages.ROOT / api_pages.PAGES
    old = [n for n, text in api_pages.pages().items() if (folder / n).read_text() != text]
    assert old == [], "run: tools/api_pages.py --update"


def test_every_exported_function_has_its_place() -> None:
    text = "".join(api_pages.pages().values())
    exported = (PROJECT_ROOT / "abi/symbols.txt").read_text().split()
    names = [name for name in exported if re.fullmatch(r"(?:TRITON|NEREID_)\w+", name)]
    assert len(names) > 200
    headings = set(re.findall(r"^##+ (.*)$", text, re.MULTILINE))
    shown = {name for heading in headings for name in heading.split(", ")}
    assert [name for name in names if name not in shown and f"{name}(" not in text] == []


def test_every_name_of_the_package_has_its_place() -> None:
    package = ast.parse((PROJECT_ROOT / "python/nereid_server/__init__.py").read_text())
    listed = next(
        ast.literal_eval(node.value)
        for node in package.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    page = api_pages.python_page()
    assert sorted(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == sorted(listed)


def test_a_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/a.h").write_text(HEADER)
    monkeypatch.setattr(api_pages, "ROOT", tmp_path)
    page = api_pages.header_page("A", ["include/a.h"])
    assert page == "\n".join(
        [
            api_pages.NOTICE,
            "# A",
            "",
            "[`#include <a.h>`](../../include/a.h)",
            "",
            "What this is. It has `code` and `<words>`.",
            "",
            "## First",
            "",
            "Of all that follows.",
            "",
            "### NEREID_Do",
            "",
            "~~~c",
            "struct TRITONSERVER_Error* NEREID_Do(const char* name, void (*done)(void* userp));",
            "~~~",
            "",
            'Does it. Errors: `INVALID_ARG` "unknown `<n>`", `NEREID_Other`.',
            "",
            "### NEREID_One, NEREID_Two",
            "",
            "~~~c",
            "typedef struct NEREID_One NEREID_One;",
            "typedef struct NEREID_Two NEREID_Two;",
            "~~~",
            "",
            "Two of them.",
            "",
            "### NEREID_Choice",
            "",
            "~~~c",
            "typedef enum NEREID_choice_enum {",
            "  /// The first.",
            "  NEREID_FIRST = 0",
            "} NEREID_Choice;",
            "~~~",
            "",
            "A choice.",
            "",
        ]
    )


@pytest.mark.parametrize(
    ("docstring", "text"),
    [
        ("See :class:`Options` and ``x``.", "See `Options` and `x`."),
        (
            "Does it.\n\nname: of it,\n    more.\ncount: how many",
            "Does it.\n\n- `name`: of it,\n  more.\n- `count`: how many",
        ),
        ("``a``, ``b``\n    Both.", "- `a`, `b`: Both."),
        ("configs/<name>", "configs/\\<name>"),
    ],
)
def test_docstrings(docstring: str, text: str) -> None:
    assert api_pages.markdown(docstring) == text
