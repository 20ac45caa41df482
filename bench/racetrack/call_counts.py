# SPDX-License-Identifier: Apache-2.0
"""Reads what bench/micro/call_counter.cc has counted, and says whose calls they are."""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# As in call_counter.cc.
KINDS = ("allocations", "locks", "waits", "notifications", "clock reads", "system calls")
_FRAMES = 28
_RECORD = struct.Struct(f"={2 + _FRAMES}Q")

# Owners of calls. "other" are the allocator, the C library and whatever is not named here.
OURS, MODEL, OTHER = "ours", "model", "other"

# Frames of these files are those of whoever has called them: the standard library and Abseil, and
# our operators new and delete.
_PASSED_SOURCES = re.compile(r"/include/(c\+\+|x86_64-linux-gnu|absl)/|/src/allocator/operators\.cc")
_PASSED_LIBRARIES = re.compile(r"/(ld-linux|lib(c|m|stdc\+\+|gcc_s|absl_|call_counter))[^/]*$")
# Libraries of headers are compiled into our own files.
_SOURCES = (
    (re.compile(r"/include/boost/"), "Boost"),
    (re.compile(r"/include/rapidjson/"), "rapidjson"),
    (re.compile(r"simdjson"), "simdjson"),
    (re.compile(r"/include/google/|\.pb\.(h|cc)$"), "protobuf"),
    (re.compile(r"/(src|apps)/"), OURS),
)
_LIBRARIES = (
    (re.compile(r"/backends/[^/]+/"), MODEL),
    (re.compile(r"/libnghttp2\.so"), "nghttp2"),
    (re.compile(r"/libprotobuf"), "protobuf"),
    (re.compile(r"/lib(ssl|crypto)\.so"), "OpenSSL"),
    (re.compile(r"/libsimdjson\.so"), "simdjson"),
    (re.compile(r"/libjemalloc\.so"), "jemalloc"),
    (re.compile(r"/libtritonserver\.so|/bin/nereid$"), OURS),
)


@dataclass(frozen=True)
class Frame:
    """One function of a stack. `function`, which is mangled, and `source` may be unknown: empty."""

    library: str
    function: str = ""
    source: str = ""

    def owner(self) -> str | None:
        """Whose frame it is; None: of whoever has called it."""
        if _PASSED_LIBRARIES.search(self.library) or _PASSED_SOURCES.search(self.source):
            return None
        if self.source and not _LIBRARIES[0][0].search(self.library):
            by_source = next((owner for name, owner in _SOURCES if name.search(self.source)), None)
            if by_source is not None:
                return by_source
        return next((owner for name, owner in _LIBRARIES if name.search(self.library)), OTHER)


@dataclass(frozen=True)
class Calls:
    """Calls of one kind from one place."""

    kind: str
    count: int
    stack: tuple[Frame, ...]  # from the innermost function on

    def owner(self) -> str:
        return next((owner for frame in self.stack if (owner := frame.owner())), OTHER)


class _Mapping:
    """Where the files of a process lie in its memory."""

    def __init__(self, maps: str) -> None:
        self._ranges: list[tuple[int, int, int, str]] = []
        for line in maps.splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[5].startswith("/"):
                begin, end = (int(word, 16) for word in fields[0].split("-"))
                self._ranges.append((begin, end, int(fields[2], 16), fields[5]))
        # The lowest address of each file, to which the addresses in its symbols refer.
        self._bases: dict[str, int] = {}
        for begin, _, offset, path in self._ranges:
            if offset == 0:
                self._bases.setdefault(path, begin)

    def locate(self, address: int) -> tuple[str, int]:
        """The file of an address, and the address in it."""
        for begin, end, _, path in self._ranges:
            if begin <= address < end:
                return path, address - self._bases.get(path, begin)
        return "", address


def _frames_at(path: str, addresses: Sequence[int]) -> dict[int, list[Frame]]:
    """The functions at each address, the innermost inlined one first."""
    text = "\n".join(f"{address:x}" for address in addresses)
    done = subprocess.run(
        ["addr2line", "-a", "-i", "-f", "-e", path],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[int, list[Frame]] = defaultdict(list)
    address = 0
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            address = int(line, 16)
            continue
        source = next(lines).rpartition(":")[0]
        found[address].append(
            Frame(path, "" if line == "??" else line, "" if source == "??" else source)
        )
    return found


def _records(data: bytes) -> Iterator[list[tuple[int, ...]]]:
    """The records of each counting, without the one that ends it."""
    counting: list[tuple[int, ...]] = []
    for record in _RECORD.iter_unpack(data):
        if record[1] == 0:
            yield counting
            counting = []
        else:
            counting.append(record)


def read_counts(file: Path, maps: str) -> list[list[Calls]]:
    """What each counting has found. `maps`: /proc/PID/maps of the process."""
    mapping = _Mapping(maps)
    countings = list(_records(file.read_bytes()))
    # A return address is that of the next instruction, which may belong to another function.
    located = {
        address: mapping.locate(address - 1)
        for counting in countings
        for record in counting
        for address in record[2:]
        if address
    }
    wanted: dict[str, set[int]] = defaultdict(set)
    for path, offset in located.values():
        if path and not _PASSED_LIBRARIES.search(path):
            wanted[path].add(offset)
    known = {path: _frames_at(path, sorted(offsets)) for path, offsets in wanted.items()}

    def frames(addresses: Iterable[int]) -> Iterator[Frame]:
        for address in addresses:
            if not address:
                return
            path, offset = located[address]
            yield from known.get(path, {}).get(offset, [Frame(path)])

    return [
        [Calls(KINDS[record[0]], record[1], tuple(frames(record[2:]))) for record in counting]
        for counting in countings
    ]


def per_request(calls: Iterable[Calls], requests: int) -> dict[str, dict[str, float]]:
    """Calls of each kind and owner, divided by the requests."""
    sums: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for call in calls:
        sums[call.kind][call.owner()] += call.count
    return {
        kind: {owner: count / requests for owner, count in owners.items()}
        for kind, owners in sums.items()
    }


def places(calls: Iterable[Calls], kind: str, owner: str, depth: int = 5) -> Counter[str]:
    """The innermost functions of the owner that have led to calls of this kind, demangled."""
    found: Counter[str] = Counter()
    for call in calls:
        if call.kind != kind or call.owner() != owner:
            continue
        own = [frame.function for frame in call.stack if frame.owner() is not None and frame.function]
        found["\n".join(own[:depth])] += call.count
    text = "\n\n".join(found)
    done = subprocess.run(["c++filt"], input=text, capture_output=True, text=True)
    return Counter(dict(zip(done.stdout.split("\n\n"), found.values())))
