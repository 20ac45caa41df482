#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fills the tables of docs/models/configuration.md, and checks its examples.

    tools/config_page.py [--update] [--nereid PROGRAM]

The page is written by hand, but for what stands between its marks:

    <!-- fields: ModelInput -->  ...  <!-- end -->     the fields of a message of
        proto/model_config.proto, with their comments; messages without a mark of their own are
        shown inside those that use them
    <!-- errors: BASE -->  ...  <!-- end -->           a table of mistakes: the first column is
        written by hand, the others are what `nereid check` says of it

Without --update, it exits with 1 if the page differs from what the program and the .proto say, if
a field has no comment or no place in the page, or if `nereid check` refuses an example (```pbtxt).
An example that names neither a backend nor a platform is part of a configuration; the rest comes
from BASES.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROTO = ROOT / "proto" / "model_config.proto"
PAGE = ROOT / "docs" / "models" / "configuration.md"
MODEL = "my_model"

# What an example or a mistake is added to. A field that it gives takes the place of the one here.
BASES = {
    "onnx": """
backend: "onnxruntime"
max_batch_size: 8
input { name: "X" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] }
""",
    "ensemble": """
platform: "ensemble"
max_batch_size: 8
input { name: "TEXT" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "SCORES" data_type: TYPE_FP32 dims: [ 2 ] }
ensemble_scheduling {
  step { model_name: "tokenizer" model_version: -1
         input_map { key: "TEXT" value: "TEXT" } output_map { key: "TOKENS" value: "tokens" } }
  step { model_name: "classifier" model_version: -1
         input_map { key: "TOKENS" value: "tokens" } output_map { key: "SCORES" value: "SCORES" } }
}
""",
}
# The models that the ensembles of the page are made of.
MEMBERS = {
    "tokenizer": """
backend: "python"
max_batch_size: 8
input { name: "TEXT" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "TOKENS" data_type: TYPE_INT64 dims: [ -1 ] }
""",
    "classifier": """
backend: "onnxruntime"
max_batch_size: 8
input { name: "TOKENS" data_type: TYPE_INT64 dims: [ -1 ] }
output { name: "SCORES" data_type: TYPE_FP32 dims: [ 2 ] }
""",
}
FILES = ("1/model.onnx", "1/model.py", "1/resnet50.onnx", "labels.txt")
MARK = re.compile(r"<!-- (fields|errors): (\w+) -->\n(.*?)<!-- end -->", re.DOTALL)
EXAMPLE = re.compile(r"^```pbtxt\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(?P<label>repeated )?(?P<type>map<[^>]*>|[\w.]+) (?P<name>\w+) = \d+;")
BLOCK = re.compile(r"(message|enum|oneof) (\w+) \{(\})?")


@dataclass
class Field:
    """A field of a message, or a value of an enumeration."""

    name: str
    type: str
    repeated: bool
    comment: str
    in_oneof: bool = False


@dataclass
class Type:
    """A message or an enumeration. `path`: its name with those around it, joined by points."""

    path: str
    is_enum: bool
    fields: list[Field] = field(default_factory=list)


def read_proto(text: str) -> dict[str, Type]:
    types: dict[str, Type] = {}
    blocks: list[tuple[str, str]] = []
    comment: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("//"):
            comment.append(line.removeprefix("//").strip())
            continue
        if block := BLOCK.fullmatch(line):
            kind, name, closed = block.groups()
            if kind != "oneof":
                path = ".".join([n for k, n in blocks if k != "oneof"] + [name])
                types[path] = Type(path, kind == "enum")
            if not closed:
                blocks.append((kind, name))
        elif line == "}":
            blocks.pop()
        elif blocks:
            path = ".".join(n for k, n in blocks if k != "oneof")
            in_oneof = blocks[-1][0] == "oneof"
            said = " ".join(comment)
            if types[path].is_enum and (value := re.match(r"(\w+) = \d+;", line)):
                types[path].fields.append(Field(value[1], "", False, said))
            elif found := FIELD.fullmatch(line):
                types[path].fields.append(
                    Field(found["name"], found["type"], bool(found["label"]), said, in_oneof)
                )
        comment = []
    return types


def resolve(types: dict[str, Type], scope: str, name: str) -> Type | None:
    """The type that a field of the message `scope` means by `name`; none for a scalar."""
    parts = scope.split(".")
    for length in range(len(parts), -1, -1):
        found = types.get(".".join([*parts[:length], name]))
        if found is not None:
            return found
    return None


def anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


class Tables:
    """Renders the tables of fields of one page, and notes which fields it has shown."""

    def __init__(self, types: dict[str, Type], page: str) -> None:
        self.types = types
        self.shown: set[tuple[str, str]] = set()
        self.sections: dict[str, str] = {}
        heading = ""
        for line in page.splitlines():
            if line.startswith("#"):
                heading = line.lstrip("#")
            elif mark := re.fullmatch(r"<!-- fields: (\w+) -->", line):
                self.sections[mark[1]] = anchor(heading)

    def render(self, message: str) -> str:
        rows = "".join(self._rows(self.types[message], ""))
        return f"\n| field | type | default | meaning |\n|---|---|---|---|\n{rows}\n"

    def _rows(self, message: Type, prefix: str) -> Iterator[str]:
        for item in message.fields:
            self.shown.add((message.path, item.name))
            values = re.fullmatch(r"map<(\w+), ([\w.]+)>", item.type)
            target = resolve(self.types, message.path, values[2] if values else item.type)
            meaning, _, default = item.comment.partition("Default: ")
            meaning = meaning.strip() + self._values(target)
            name = f"`{prefix}{item.name}`"
            default = default.rstrip(".") or self._zero(item, target)
            yield f"| {name} | {self._type(item, target)} | {default} | {meaning} |\n"
            if target and not target.is_enum and target.path not in self.sections:
                yield from self._rows(target, f"{prefix}{item.name}.")

    def _values(self, target: Type | None) -> str:
        if target is None or not target.is_enum or target.path == "DataType":
            return ""
        return "".join(f"<br>`{value.name}`: {value.comment}" for value in target.fields)

    def _type(self, item: Field, target: Type | None) -> str:
        values = re.fullmatch(r"map<(\w+), ([\w.]+)>", item.type)
        name = values[2] if values else item.type
        if target is not None and target.path == "DataType":
            name = "[data type](#data-types)"
        elif target is not None and target.is_enum:
            name = "one of the words"
        elif target is not None:
            section = self.sections.get(target.path)
            name = f"[block](#{section})" if section else "block"
        if values:
            return f"map of {values[1]} to {name}"
        return f"list of {name}" if item.repeated else name

    def _zero(self, item: Field, target: Type | None) -> str:
        if item.repeated or item.in_oneof or item.type.startswith("map<"):
            return "none"
        if target is not None:
            is_named = target.is_enum and target.path != "DataType"
            return f"`{target.fields[0].name}`" if is_named else "none"
        return {"string": "none", "bool": "false"}.get(item.type, "0")


def top_level_fields(text: str) -> set[str]:
    """The names of the fields of a configuration that are not inside of others."""
    text = re.sub(r"#.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', text))
    names: set[str] = set()
    depth = 0
    for token in re.findall(r"[{}\[\]]|\w+(?=\s*[:{\[])", text):
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif depth == 0:
            names.add(token)
    return names


def split_fields(text: str) -> list[str]:
    """The fields of a base, one each."""
    parts: list[str] = []
    depth = 0
    for line in text.strip().splitlines():
        if depth == 0:
            parts.append("")
        parts[-1] += line + "\n"
        depth += line.count("{") - line.count("}")
    return parts


def complete(text: str, base: str) -> str:
    """`text` and those fields of a base that it does not give."""
    given = top_level_fields(text)
    if given & {"backend", "platform"}:
        return text
    kept = [part for part in split_fields(BASES[base]) if not top_level_fields(part) & given]
    return "".join(kept) + text


class Program:
    """Runs `nereid check` on configurations."""

    def __init__(self, nereid: Path, folder: Path) -> None:
        self._nereid = nereid
        self._folder = folder
        for name, config in MEMBERS.items():
            self._write(name, config)

    def _write(self, name: str, config: str) -> None:
        for file in FILES:
            path = self._folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        (self._folder / name / "config.pbtxt").write_text(config)

    def check(self, config: str) -> dict:
        """What it says about one model of this configuration."""
        self._write(MODEL, config)
        done = subprocess.run(
            [self._nereid, "check", "--json", self._folder],
            capture_output=True,
            text=True,
            check=False,
        )
        models = json.loads(done.stdout)["models"]
        return next(m for m in models if Path(m["directory"]).name == MODEL)


def error_row(program: Program, row: str, base: str) -> str:
    """A row of a table of mistakes, with what the program says."""
    cell = row.split("|")[1].strip()
    problems = program.check(complete(cell.strip("`") + "\n", base))["problems"]
    texts = "<br>".join(f"`{problem['text']}`" for problem in problems)
    hints = "<br>".join(dict.fromkeys(p["hint"] for p in problems if "hint" in p))
    return f"| {cell} | {texts} | {hints} |\n"


def error_table(program: Program, old: str, base: str) -> str:
    rows = [line for line in old.splitlines() if line.startswith("| `")]
    filled = "".join(error_row(program, row, base) for row in rows)
    return f"\n| mistake | error | remedy |\n|---|---|---|\n{filled}\n"


def render(page: str, types: dict[str, Type], program: Program) -> tuple[str, list[str]]:
    """The page as it should be, and what is wrong with it beyond that."""
    tables = Tables(types, page)

    problems = []

    def fill(mark: re.Match[str]) -> str:
        kind, name, old = mark.groups()
        if name not in (types if kind == "fields" else BASES):
            problems.append(f"the mark '{kind}: {name}' names nothing")
            return mark[0]
        new = tables.render(name) if kind == "fields" else error_table(program, old, name)
        return f"<!-- {kind}: {name} -->\n{new}<!-- end -->"

    page = MARK.sub(fill, page)
    for kind in types.values():
        for item in kind.fields:
            if not item.comment and kind.path != "DataType":
                problems.append(f"{kind.path}.{item.name} has no comment in {PROTO.name}")
            if not kind.is_enum and (kind.path, item.name) not in tables.shown:
                problems.append(f"{kind.path}.{item.name} has no place in {PAGE.name}")
    for value in types["DataType"].fields[1:]:
        if f"| `{value.name}` |" not in page:
            problems.append(f"{value.name} is not in the table of data types")
    for row in re.findall(r"^\| `.*\| *\| *\|$", page, re.MULTILINE):
        problems.append(f"the program does not mind: {row}")
    return page, problems


def check_examples(page: str, program: Program) -> list[str]:
    problems = []
    for example in EXAMPLE.findall(page):
        said = program.check(complete(example, "onnx"))
        lines = [p["text"] for p in said["problems"]] + [w["text"] for w in said["warnings"]]
        problems += [f"{line}, in the example\n{example}" for line in lines]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the page")
    parser.add_argument("--nereid", type=Path, default=ROOT / "build/stage/bin/nereid")
    args = parser.parse_args()
    old = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(args.nereid, Path(folder))
        page, problems = render(old, read_proto(PROTO.read_text()), program)
        problems += check_examples(page, program)
    if args.update:
        PAGE.write_text(page)
    elif page != old:
        problems.append(f"{PAGE.name} is out of date: tools/config_page.py --update")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
