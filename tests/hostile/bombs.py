# SPDX-License-Identifier: Apache-2.0
"""Bodies that are cheap to send and dear to read: JSON of many tokens, and messages of many tiny
fields, for each place of a message that takes many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from support.proto_bytes import field, varint

UNKNOWN = "unknown-fields"
_DEEPEST = 3
_KEY = b"trace_level"  # one that the server knows

Path = tuple[FieldDescriptor, ...]


def many_tokens(size: int) -> bytes:
    return b'{"x":[0' + b",0" * ((size - 9) // 2) + b"]}"


def _is_map(one: FieldDescriptor) -> bool:
    return one.message_type is not None and one.message_type.GetOptions().map_entry


def _value_of(one: FieldDescriptor) -> Descriptor | None:
    """The message in a field, or in the values of a map."""
    if _is_map(one):
        return one.message_type.fields_by_name["value"].message_type
    return one.message_type


def _places(message: Descriptor, above: Path = ()) -> Iterator[Path]:
    """Fields that may be there many times, with the fields that lead to them."""
    for one in message.fields:
        path = (*above, one)
        if one.is_repeated:
            yield path
        below = _value_of(one)
        if below is not None and len(path) < _DEEPEST:
            yield from _places(below, path)


def _name(path: Path) -> str:
    return ".".join(one.name for one in path)


def bomb_names(message: Descriptor) -> list[str]:
    return [UNKNOWN, *(_name(path) for path in _places(message))]


def _entries_with_own_keys(number: int, size: int) -> bytes:
    """Entries of a map: the same key again would only replace a value."""
    start = field(number, field(1, bytes(8)))[:-8]
    count = size // (len(start) + 8)
    rows = np.empty((count, len(start) + 8), np.uint8)
    rows[:, : len(start)] = np.frombuffer(start, np.uint8)
    keys = np.arange(count)
    for digit in range(8):
        rows[:, -1 - digit] = ord("0") + keys // 10**digit % 10
    return rows.tobytes()


def _many(one: FieldDescriptor, size: int) -> bytes:
    if _is_map(one) and one.message_type.fields_by_name["key"].type == FieldDescriptor.TYPE_STRING:
        return _entries_with_own_keys(one.number, size)
    if one.message_type is None and one.type not in (
        FieldDescriptor.TYPE_STRING,
        FieldDescriptor.TYPE_BYTES,
    ):
        return field(one.number, bytes(size // 8 * 8))  # packed
    element = field(one.number, b"")
    return element * (size // len(element))


def make_bomb(message: Descriptor, name: str, size: int) -> bytes:
    if name == UNKNOWN:
        known = {one.number for one in message.fields}
        element = varint(next(n for n in range(15, 0, -1) if n not in known) << 3) + b"\0"
        return element * (size // len(element))
    (path,) = (path for path in _places(message) if _name(path) == name)
    content = _many(path[-1], size)
    for one in reversed(path[:-1]):
        content = field(one.number, field(1, _KEY) + field(2, content) if _is_map(one) else content)
    return content
