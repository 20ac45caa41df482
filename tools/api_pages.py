#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the reference pages of the C headers and of the Python package from their comments.

    tools/api_pages.py [--update]

Writes docs/reference/c_*.md and docs/reference/python.md. Without --update it writes nothing, names
the pages that are out of date, and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = Path("docs/reference")
HEADERS = {
    "c_nereid.md": (
        "C API: what Nereid adds",
        ["include/nereid/server.h", "include/nereid/frontends.h", "include/nereid/backend.h"],
    ),
    "c_tritonserver.md": (
        "C API: the server inside a program",
        ["include/triton/core/tritonserver.h"],
    ),
    "c_tritonbackend.md": ("C API: backends", ["include/triton/core/tritonbackend.h"]),
    "c_tritoncache.md": ("C API: response caches", ["include/triton/core/tritoncache.h"]),
    "c_tritonrepoagent.md": ("C API: repository agents", ["include/triton/core/tritonrepoagent.h"]),
}
PYTHON_PAGE = "python.md"
PACKAGE = Path("python/nereid_server")
NOTICE = "<!-- Made by tools/api_pages.py: change the comments of the sources instead. -->"

NAME = r"(?:TRITON|NEREID)\w+"
# What a declaration declares: a function, the type of a function, an enumeration or a structure, an
# opaque structure, a macro.
DECLARED = re.compile(
    rf"\(\*({NAME})\)\(|\b({NAME})\(|^\}} ({NAME});|^(?:typedef )?struct (?:{NAME} )?({NAME});"
    rf"|^#define ({NAME}(?<!_H_))\b",
    re.MULTILINE,
)
SHOWN_NAMES = 3  # in a heading
COLUMNS = 100  # of declarations
NO_BREAK = "\xa0"


@dataclass
class Block:
    """A comment and the declarations below it; one of both may be missing."""

    comment: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    section: str = ""  # the title of a section that begins here


CODE = re.compile(
    rf"`[^`]*`|(?P<bare><[^<>\s]+>|(?<!\w)(?:{NAME}|[a-z]+_[a-z_]+|[A-Z]+_[A-Z_]+)(?:\.\w+)?\*?(?!\w))|[<*\\]"
)


def prose(lines: list[str]) -> str:
    """The text of a comment as Markdown: names of code in backticks, nothing taken for HTML."""

    def mark(found: re.Match[str]) -> str:
        if found["bare"]:
            return f"`{found[0]}`"
        return found[0] if found[0].startswith("`") else f"\\{found[0]}"

    return CODE.sub(mark, "\n".join(lines).strip())


def uncomment(line: str) -> str:
    return re.sub(r"^(?:/// ?|// ?|/\* ?| \* ?)|(?: ?\*/)$", "", line)


def read_header(text: str) -> tuple[list[str], list[Block]]:
    """The comment at the top of a header, and what follows."""
    lines = [line for line in text.splitlines() if "SPDX-License-Identifier" not in line]
    top = next(i for i, line in enumerate(lines) if not re.match(r"//|/\*| \*", line))
    blocks: list[Block] = []
    comment: list[str] = []
    code: list[str] = []

    def end() -> None:
        nonlocal comment, code
        kept = code if any(DECLARED.search(line) for line in code) else []
        if kept or (comment and not code):
            blocks.append(Block(comment, kept))
        comment, code = [], []

    depth = 0
    for line in lines[top:]:
        if depth == 0 and (title := re.fullmatch(r"/\* ([^-].*?) *\*/", line)):
            end()
            blocks.append(Block(section=title[1]))
        elif depth == 0 and line.startswith("/* ---"):
            end()
        elif depth == 0 and line.startswith("//"):
            if code:
                end()
            comment.append(uncomment(line))
        elif depth == 0 and not line:
            end()
        else:
            code.append(line)
            depth += len(re.findall(r"[({]", line)) - len(re.findall(r"[)}]", line))
            # The braces of extern "C" enclose the whole header.
            depth = max(depth - line.count('extern "C" {'), 0)
    end()
    return [uncomment(line) for line in lines[:top]], blocks


def heading_of(code: str) -> str:
    names = [next(filter(None, found)) for found in DECLARED.findall(code)]
    names = list(dict.fromkeys(names))
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more


def clean(code: list[str]) -> str:
    """Declarations without what says how they are linked."""
    text = re.sub(r"\bTRITON\w+_DECLSPEC\s+", "", "\n".join(code))
    if "{" in text:
        return text
    lines: list[str] = []
    for declaration in re.findall(r"#.*|[^;#]+;", text):
        declaration = re.sub(r"\(\s+", "(", " ".join(declaration.split()))
        # Lines end behind commas only: textwrap does not break at other spaces than ASCII's.
        kept = declaration.replace(" ", NO_BREAK).replace(f",{NO_BREAK}", ", ")
        lines += textwrap.wrap(
            kept, COLUMNS, subsequent_indent=4 * NO_BREAK, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines).replace(NO_BREAK, " ")


def header_page(title: str, names: list[str]) -> str:
    out = [NOTICE, f"# {title}", ""]
    level = "##"
    for name in names:
        top, blocks = read_header((ROOT / name).read_text())
        include = name.removeprefix("include/")
        if len(names) > 1:
            out += [f"## {include}", ""]
            level = "###"
        out += [f"[`#include <{include}>`](../../{name})", "", prose(top), ""]
        for block in blocks:
            if block.section:
                out += [f"{level} {block.section}", ""]
            elif block.code and "_DECLSPEC" not in heading_of("\n".join(block.code)):
                code = clean(block.code)
                out += [f"{level}# {heading_of(code)}", "", "~~~c", code, "~~~", ""]
                out += [prose(block.comment), ""] if block.comment else []
            elif block.comment and not block.code:
                out += [prose(block.comment), ""]
    return "\n".join(out).rstrip() + "\n"


# ---- The Python package.


def markdown(docstring: str | None) -> str:
    """A docstring as Markdown: roles and double backticks become single ones."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", docstring or "")
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    # What is said of arguments, as a list: "name: text", or names alone and then the text, indented.
    text = re.sub(r"^(`\w+`(?:, `\w+`)*)\n    ", r"- \1: ", text, flags=re.MULTILINE)
    text = re.sub(r"(?:(?<=\n\n)|(?<=\.\n)|\A)([a-z]\w*): ", r"- `\1`: ", text)
    if "\n- `" in text:
        text = re.sub(r"^    (?=\S)", "  ", text, flags=re.MULTILINE)
    parts = text.split("`")
    parts[::2] = [re.sub(r"<", r"\\<", part) for part in parts[::2]]
    return "`".join(parts)


def module_of(package: ast.Module) -> dict[str, str]:
    """The module of each public name, from _MODULES of the package."""
    for node in package.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_MODULES":
            modules = ast.literal_eval(node.value)
            return {name: module for module, names in modules.items() for name in names}
    raise AssertionError("the package has no _MODULES")


def definition(module: str, name: str) -> ast.ClassDef | ast.FunctionDef:
    """Where a public name is defined: in its module, or in one that its module imports it from."""
    folder = ROOT / PACKAGE
    for path in (folder / f"{module}.py", folder / f"{module}.pyi", folder / module):
        if path.is_dir():
            tree = ast.parse((path / "__init__.py").read_text())
            imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
            source = next(i.module for i in imports if any(a.name == name for a in i.names))
            return definition(f"{module}/{source}", name)
        if not path.exists():
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return node
    raise AssertionError(f"{name} is not in {module}")


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = ast.unparse(node.args)
    arguments = re.sub(r"^(?:self|cls)(?:, )?", "", arguments)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({arguments}){returns}".replace("_native.", "")


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def members(node: ast.ClassDef) -> Iterator[str]:
    """Fields, properties and methods of a class, with what their strings say."""
    for i, item in enumerate(node.body):
        after = node.body[i + 1] if i + 1 < len(node.body) else None
        said = after.value if isinstance(after, ast.Expr) else None
        text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
        text = " ".join(markdown(text).split())
        if isinstance(item, ast.AnnAssign) and not ast.unparse(item.target).startswith("_"):
            default = f" = {ast.unparse(item.value)}" if item.value else ""
            default = re.sub(r" = field\(default_factory=(\w+)\)", r" = \1()", default)
            line = f"- `{ast.unparse(item.target)}: {ast.unparse(item.annotation)}{default}`"
            yield f"{line}: {text}" if text else line
        elif isinstance(item, ast.Assign) and not ast.unparse(item.targets[0]).startswith("_"):
            line = f"- `{ast.unparse(item)}`"
            yield f"{line}: {text}" if text else line
    for item in node.body:
        if not isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        said = ast.get_docstring(item)
        if item.name.startswith("_") or not said:
            continue
        shown = item.name if is_property(item) else signature(item)
        if is_property(item) and item.returns:
            shown += f": {ast.unparse(item.returns)}".replace("_native.", "")
        asynchronous = "async " if isinstance(item, ast.AsyncFunctionDef) else ""
        yield f"\n**`{asynchronous}{node.name}.{shown}`**\n\n{markdown(said)}\n"


def python_page() -> str:
    package = ast.parse((ROOT / PACKAGE / "__init__.py").read_text())
    modules = module_of(package)
    out = [NOTICE, "# Python package nereid_server", ""]
    out += ["How to use it: [the server in a program](../python/in_process.md),"]
    out += ["[functions as models](../models/functions.md).", ""]
    for name in sorted(modules, key=str.lower):
        node = definition(modules[name], name)
        said = markdown(ast.get_docstring(node))
        if isinstance(node, ast.ClassDef):
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            start = next(
                (n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"),
                None,
            )
            shown = f"class {name}({bases})" if bases else f"class {name}"
            if start is not None:
                shown = f"{name}{signature(start).removeprefix('__init__')}".removesuffix(" -> None")
            out += [f"## {name}", "", "~~~python", shown, "~~~", "", said, "", *members(node), ""]
        else:
            out += [f"## {name}", "", "~~~python", signature(node), "~~~", "", said, ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out)).rstrip() + "\n"


def pages() -> dict[str, str]:
    made = {name: header_page(*described) for name, described in HEADERS.items()}
    return made | {PYTHON_PAGE: python_page()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the pages")
    args = parser.parse_args()
    status = 0
    for name, text in pages().items():
        path = ROOT / PAGES / name
        if path.exists() and path.read_text() == text:
            continue
        if args.update:
            path.write_text(text)
        else:
            print(f"{PAGES / name} is out of date: tools/api_pages.py --update")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
