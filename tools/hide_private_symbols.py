#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the symbols of one version hidden: only references with that version are bound to them.

    tools/hide_private_symbols.py LIBRARY [COPY]    changes LIBRARY, or leaves it and writes COPY

What a linker makes of a version script are default versions (nm: name@@VERSION), which satisfy
references without a version, too: everybody's. A hidden version (name@VERSION) satisfies none of
these in the dynamic linker. Linkers do not bind to it at all, so programs of the build are linked
against the library as it was before (src/CMakeLists.txt). No linker has an option for it.

The difference is one bit of each symbol in .gnu.version. The dynamic linker respects that bit from
index 3 on. Index 1 is the library itself, and 2 its first version, to which programs from before
there were symbol versions are bound.
"""

from __future__ import annotations

import argparse
import os
import struct
import sys
from pathlib import Path

PRIVATE_VERSION = "NEREID_PRIVATE_1"  # abi/export.map
HIDDEN = 0x8000
FIRST_RESPECTED = 3

SHT_DYNSYM = 11
SHT_GNU_VERDEF = 0x6FFFFFFD
SHT_GNU_VERSYM = 0x6FFFFFFF
SHN_UNDEF = 0


class Refused(Exception):
    """The file is not what it should be; the text says why."""


class Section:
    """One entry of the table of sections of a 64-bit file."""

    def __init__(self, image: bytes, at: int) -> None:
        fields = struct.unpack_from("<IIQQQQIIQQ", image, at)
        (_, self.type, _, _, self.offset, self.size, self.link, _, _, _) = fields


def sections(image: bytes) -> list[Section]:
    """All sections. Stripped libraries have the table, too."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise Refused("is no ELF file of 64 bits, little-endian")
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count = struct.unpack_from("<HH", image, 0x3A)
    return [Section(image, table + i * size) for i in range(count)]


def only(found: list[Section], kind: int, name: str) -> Section:
    """The one section of that type."""
    of_kind = [section for section in found if section.type == kind]
    if len(of_kind) != 1:
        raise Refused(f"has {len(of_kind)} sections {name}, must have one")
    return of_kind[0]


def text_at(image: bytes, at: int) -> str:
    return image[at : image.index(b"\0", at)].decode()


def index_of_version(image: bytes, found: list[Section], version: str) -> int:
    """The number that .gnu.version has for the symbols of `version`."""
    definitions = only(found, SHT_GNU_VERDEF, ".gnu.version_d")
    strings = found[definitions.link].offset
    at = definitions.offset
    while True:
        _, _, index, _, _, names, following = struct.unpack_from("<HHHHIII", image, at)
        (name,) = struct.unpack_from("<I", image, at + names)
        if text_at(image, strings + name) == version:
            return index
        if not following:
            raise Refused(f"does not define the version {version}")
        at += following


def hide(image: bytearray, version: str) -> int:
    """Sets the bit of all symbols that are defined with `version`, and returns their number."""
    found = sections(image)
    index = index_of_version(image, found, version)
    if index < FIRST_RESPECTED:
        raise Refused(
            f"has {version} as its version {index}; the dynamic linker binds anybody to versions "
            f"before {FIRST_RESPECTED}, so the version script must define another one first"
        )
    symbols = only(found, SHT_DYNSYM, ".dynsym").offset
    versions = only(found, SHT_GNU_VERSYM, ".gnu.version")
    hidden = 0
    for i in range(versions.size // 2):
        (defined_in,) = struct.unpack_from("<H", image, symbols + i * 24 + 6)
        (value,) = struct.unpack_from("<H", image, versions.offset + i * 2)
        if defined_in != SHN_UNDEF and value & ~HIDDEN == index:
            struct.pack_into("<H", image, versions.offset + i * 2, index | HIDDEN)
            hidden += 1
    if not hidden:
        raise Refused(f"has no symbol of the version {version}")
    return hidden


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("copy", type=Path, nargs="?", help="written instead of LIBRARY")
    arguments = parser.parse_args()
    target = arguments.copy or arguments.library
    before = arguments.library.stat()
    image = bytearray(arguments.library.read_bytes())
    try:
        hide(image, PRIVATE_VERSION)
    except Refused as problem:
        print(f"hide_private_symbols: {arguments.library} {problem}", file=sys.stderr)
        return 1
    # A new file: the old one may be part of a running process.
    new = target.with_name(target.name + ".new")
    new.write_bytes(image)
    new.chmod(before.st_mode & 0o7777)
    # The same age, by which an installer finds that there is nothing to copy.
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
