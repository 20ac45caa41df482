#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The seeds of the fuzzers: one line for each, in tests/fuzz/TARGET.seeds.

    tools/fuzz_seeds.py add [--name NAME] TARGET FILE     adds an input, such as one that crashed the target
    tools/fuzz_seeds.py unpack [TARGET ...]               writes them as files into build/fuzz/seeds/TARGET

The syntax is that of libFuzzer's dictionaries: NAME="BYTES", or "BYTES" alone, with the escapes \\\\, \\"
and \\xAB. A line that begins with # is a comment.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEEDS = ROOT / "tests" / "fuzz"
UNPACKED = ROOT / "build" / "fuzz" / "seeds"
LINE = re.compile(r'(?:([\w.-]+)=)?"((?:[^"\\]|\\.)*)"')
ESCAPE = re.compile(r'\\(?:x([0-9a-fA-F]{2})|([\\"]))|\\')


class SeedError(Exception):
    """What is wrong with a seed or with a file of seeds."""


@dataclass(frozen=True)
class Seed:
    name: str  # empty: none
    data: bytes

    def file_name(self) -> str:
        """The name of the unpacked file. For a seed without a name, as libFuzzer names it."""
        return self.name or hashlib.sha1(self.data).hexdigest()

    def line(self) -> str:
        text = "".join(_written(byte) for byte in self.data)
        return f'{self.name}="{text}"' if self.name else f'"{text}"'


def _written(byte: int) -> str:
    if chr(byte) in '\\"':
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"


def _byte(match: re.Match[str]) -> str:
    if match[0] == "\\":
        raise SeedError('a backslash is followed by another one, by ", or by x and two digits')
    return chr(int(match[1], 16)) if match[1] else match[2]


def parse(line: str) -> Seed | None:
    """The seed of a line; None for an empty line or a comment."""
    if not line.strip() or line.startswith("#"):
        return None
    match = LINE.fullmatch(line)
    if match is None or not line.isascii():
        raise SeedError('NAME="BYTES" or "BYTES" wanted, in ASCII')
    return Seed(match[1] or "", ESCAPE.sub(_byte, match[2]).encode("latin-1"))


def read(file: Path) -> list[Seed]:
    """The seeds of a file. Raises SeedError with the place of what is wrong."""
    seeds: list[Seed] = []
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        try:
            seed = parse(line)
        except SeedError as error:
            raise SeedError(f"{file.name}:{number}: {error}") from None
        if seed is None:
            continue
        if any(seed.file_name() == one.file_name() or seed.data == one.data for one in seeds):
            raise SeedError(f"{file.name}:{number}: this name or these bytes are there already")
        seeds.append(seed)
    return seeds


def unpack(target: str, seeds: Path = SEEDS, unpacked: Path = UNPACKED) -> Path | None:
    """Writes the seeds of a target as files; returns their folder, or None if it has no seeds."""
    file = seeds / f"{target}.seeds"
    if not file.is_file():
        return None
    folder = unpacked / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for seed in read(file):
        (folder / seed.file_name()).write_bytes(seed.data)
    return folder


def add(target: str, input: Path, name: str = "", seeds: Path = SEEDS) -> None:
    """Appends the bytes of `input` to the seeds of a target."""
    seed = Seed(name, input.read_bytes())
    if name and LINE.fullmatch(f'{name}=""') is None:
        raise SeedError(f"a name consists of letters, digits, '_', '.' and '-', which {name} does not")
    file = seeds / f"{target}.seeds"
    known = read(file) if file.exists() else []
    for one in known:
        if one.data == seed.data or one.file_name() == seed.file_name():
            raise SeedError(f"{file.name} has this name or these bytes already: {one.file_name()}")
    with file.open("a", encoding="utf-8") as out:
        out.write(seed.line() + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    adds = commands.add_parser("add", help="adds an input to the seeds of a target")
    adds.add_argument("--name", default="", help="says what the input is")
    adds.add_argument("target", metavar="TARGET")
    adds.add_argument("file", metavar="FILE", type=Path)
    unpacks = commands.add_parser("unpack", help="writes seeds as files into build/fuzz/seeds")
    unpacks.add_argument("targets", metavar="TARGET", nargs="*", help="default: all")
    arguments = parser.parse_args()
    try:
        if arguments.command == "add":
            add(arguments.target, arguments.file, arguments.name)
        else:
            for target in arguments.targets or sorted(path.stem for path in SEEDS.glob("*.seeds")):
                print(unpack(target) or f"{target} has no seeds")
    except (SeedError, OSError) as error:
        print(f"fuzz_seeds: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
