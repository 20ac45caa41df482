# SPDX-License-Identifier: Apache-2.0
"""Code blocks of Markdown pages, and the comments that say how to test them (README.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w+-]*)[^`]*$")
MARK = re.compile(r"^\s*<!-- docs: (?P<words>.*?)(?P<closed>\s*-->)?\s*$")
VERBS = ("run", "server", "console", "output", "file", "skip")
NUMBER = r"\d+(?:[.,]\d+)*(?:e[+-]?\d+)?"
UNIT = r"(?:ns|us|µs|ms|s|min)"


@dataclass(frozen=True)
class Block:
    """A block of a page, or the lines of a hidden one. `verb` is empty if no comment marks it."""

    line: int
    language: str
    text: str
    verb: str = ""
    argument: str = ""  # of `file` and `skip`
    options: tuple[str, ...] = field(default=())

    def option(self, name: str) -> str | None:
        """What follows `name` in the comment."""
        for option in self.options:
            if option.startswith(name):
                return option[len(name) :].strip()
        return None

    def needs(self) -> list[str]:
        """Modules and programs without which the block is not run."""
        return [option[6:].strip() for option in self.options if option.startswith("needs ")]


class BadMark(Exception):
    """A comment that README.md does not know."""


def read_mark(words: str, line: int) -> tuple[str, str, tuple[str, ...]]:
    first, _, rest = words.partition(",")
    verb, _, argument = first.strip().partition(" ")
    if verb == "skip":
        argument, rest = rest.strip(), ""
    if verb not in VERBS or (verb in ("file", "skip")) != bool(argument):
        raise BadMark(f"line {line}: cannot read the mark '{words}'")
    return verb, argument, tuple(option.strip() for option in rest.split(",") if option.strip())


def read_blocks(text: str) -> list[Block]:
    """All blocks in their order, the hidden ones included."""
    blocks: list[Block] = []
    lines = text.splitlines()
    mark: tuple[str, str, tuple[str, ...]] | None = None
    at = 0
    while at < len(lines):
        line, number = lines[at], at + 1
        at += 1
        if found := MARK.match(line):
            if mark is not None:
                raise BadMark(f"line {number}: the mark before this one has no block")
            mark = read_mark(found["words"], number)
            if found["closed"]:
                continue
            end = next(i for i in range(at, len(lines)) if lines[i].strip() == "-->")
            blocks.append(Block(number, "", "\n".join(lines[at:end]) + "\n", *mark))
            at, mark = end + 1, None
        elif fence := FENCE.match(line):
            indent = len(fence["indent"])
            end = next(i for i in range(at, len(lines)) if lines[i].strip() == "```")
            body = "".join(row[min(indent, len(row)) :] + "\n" for row in lines[at:end])
            blocks.append(Block(number, fence["language"], body, *(mark or ())))
            at, mark = end + 1, None
        elif line.strip() and mark is not None:
            raise BadMark(f"line {number}: the mark before this line has no block")
    if mark is not None:
        raise BadMark(f"line {len(lines)}: the last mark has no block")
    return blocks


def read_page(path: Path) -> list[Block]:
    return read_blocks(path.read_text(encoding="utf-8"))


def commands_of(text: str) -> list[tuple[str, str]]:
    """The commands of a console and the output of each. A backslash at the end of a line continues
    a command, as does an open quote."""
    commands: list[tuple[str, str]] = []
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        command = lines[at].removeprefix("$ ")
        at += 1
        while command.endswith("\\") or command.count("'") % 2:
            command += "\n" + lines[at]
            at += 1
        begin = at
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        commands.append((command, "\n".join(lines[begin:at])))
    return commands


def pattern_of_line(line: str, numbers_vary: bool) -> str:
    parts = []
    for part in re.split(r"(\.\.\.|…)", line.strip()):
        if part in ("...", "…"):
            parts.append(".*")
        elif numbers_vary:
            part = re.sub(r"\s+", " ", part)
            for piece in re.split(rf"({NUMBER}(?: ?{UNIT}\b)?| )", part):
                if re.fullmatch(NUMBER, piece):
                    parts.append(NUMBER)
                elif re.match(r"\d", piece):
                    parts.append(rf"{NUMBER} ?{UNIT}")
                else:
                    parts.append(r"\s*" if piece == " " else re.escape(piece))
        else:
            parts.append(re.escape(part))
    return "".join(parts)


def same_output(expected: str, actual: str, numbers_vary: bool = False) -> bool:
    """Whether the program has printed what the page shows."""
    pattern = ""
    for line in expected.strip("\n").splitlines():
        if line.strip() in ("...", "…"):
            pattern += r"(?:.*\n)*?"
        else:
            pattern += rf"[ \t]*{pattern_of_line(line, numbers_vary)}[ \t]*\n"
    text = "".join(f"{line}\n" for line in actual.strip("\n").splitlines())
    return re.fullmatch(pattern, text) is not None
