# SPDX-License-Identifier: Apache-2.0
"""The bytes of protobuf messages, without their classes."""

from __future__ import annotations

from typing import Any


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(encoded) + bytes([value])


def field(number: int, content: bytes) -> bytes:
    """A field with a length."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def read_varint(message: bytes, at: int) -> tuple[int, int]:
    """The number at that place, and the place behind it."""
    value = shift = 0
    while True:
        value |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 0x80:
            return value, at


def fields(message: bytes) -> list[tuple[int, Any]]:
    """Number and value of each field: bytes or a number."""
    found: list[tuple[int, Any]] = []
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        value, at = read_varint(message, at)
        if key & 7 == 0:
            found.append((key >> 3, value))
        else:
            found.append((key >> 3, message[at : at + value]))
            at += value
    return found


def values(message: bytes, number: int) -> list[Any]:
    return [value for key, value in fields(message) if key == number]
