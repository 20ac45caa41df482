# SPDX-License-Identifier: Apache-2.0
"""The values that server and process of a Python model exchange (backends/python/ipc/value.h)."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

NUMPY_TYPES = {
    1: np.bool_,
    2: np.uint8,
    3: np.uint16,
    4: np.uint32,
    5: np.uint64,
    6: np.int8,
    7: np.int16,
    8: np.int32,
    9: np.int64,
    10: np.float16,
    11: np.float32,
    12: np.float64,
}
BYTES = 13
BF16 = 14
CLIENT, PLACE = 2, 3  # WireTensor.file: files of clients


@dataclass
class WireTensor:
    """A tensor in the form that a message contains, and its bytes."""

    name: str
    type: int
    dims: tuple[int, ...]
    data: bytes
    file: int = 0
    block: int | None = None  # None: the server makes one when it sends
    offset: int = 0

    @staticmethod
    def of(name: str, array: np.ndarray) -> WireTensor:
        if array.dtype == np.object_:
            parts = [struct.pack("<I", len(part)) + part for part in array.ravel().tolist()]
            return WireTensor(name, BYTES, array.shape, b"".join(parts))
        number = next(n for n, known in NUMPY_TYPES.items() if array.dtype == known)
        return WireTensor(name, number, array.shape, array.tobytes())

    def array(self) -> np.ndarray:
        if self.type == BYTES:
            parts, left = [], self.data
            while left:
                (size,) = struct.unpack_from("<I", left)
                parts.append(left[4 : 4 + size])
                left = left[4 + size :]
            array = np.empty(len(parts), dtype=np.object_)
            array[:] = parts
            return array.reshape(self.dims)
        return np.frombuffer(self.data, NUMPY_TYPES[self.type]).reshape(self.dims)


def encode(value: Any, place: Callable[[WireTensor], tuple[int, int]]) -> bytes:
    """`place` puts the bytes of a tensor somewhere: (block, offset)."""
    if value is None:
        return b"N"
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, int):
        return b"i" + struct.pack("<q", value) if value < 1 << 63 else b"u" + struct.pack("<Q", value)
    if isinstance(value, float):
        return b"d" + struct.pack("<d", value)
    if isinstance(value, str):
        data = value.encode()
        return b"s" + struct.pack("<I", len(data)) + data
    if isinstance(value, bytes):
        return b"b" + struct.pack("<Q", len(value)) + value
    if isinstance(value, (list, tuple)):
        return b"l" + struct.pack("<I", len(value)) + b"".join(encode(v, place) for v in value)
    if isinstance(value, dict):
        pairs = b"".join(encode(k, place) + encode(v, place) for k, v in value.items())
        return b"m" + struct.pack("<I", len(value)) + pairs
    name = value.name.encode()
    block, offset = (0, 0) if not value.data else place(value)
    return (
        b"t"
        + struct.pack("<BBBI", value.type, value.file, len(value.dims), len(name))
        + name
        + struct.pack(f"<{len(value.dims)}q", *value.dims)
        + struct.pack("<QQQ", block, offset, len(value.data))
    )


@dataclass
class Decoder:
    data: bytes
    fetch: Callable[[int, int, int], bytes]  # (file, offset, size)
    at: int = field(default=0)

    def unpack(self, form: str) -> tuple:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self) -> Any:
        tag = self.take(1)
        if tag in b"NTF":
            return {b"N": None, b"T": True, b"F": False}[tag]
        if tag in b"iud":
            return self.unpack({b"i": "q", b"u": "Q", b"d": "d"}[tag])[0]
        if tag == b"s":
            return self.take(*self.unpack("I")).decode()
        if tag == b"b":
            return self.take(*self.unpack("Q"))
        if tag == b"l":
            return tuple([self.value() for _ in range(*self.unpack("I"))])
        if tag == b"m":
            return {self.value(): self.value() for _ in range(*self.unpack("I"))}
        assert tag == b"t", tag
        return self.tensor()

    def tensor(self) -> WireTensor:
        number, file, rank, length = self.unpack("BBBI")
        name = self.take(length).decode()
        dims = self.unpack(f"{rank}q")
        block, offset, size = self.unpack("QQQ")
        data = self.fetch(file, offset, size) if size else b""
        return WireTensor(name, number, dims, data, file, block, offset)
