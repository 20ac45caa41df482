# SPDX-License-Identifier: Apache-2.0
"""Tensors of strings as bytes: a length of 4 bytes, little-endian, before each element."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np


def serialize_byte_tensor(input_tensor: Any) -> Any:
    """Returns bytes; () for an array without elements, and None for one without strings."""
    if input_tensor.size == 0:
        return ()
    if input_tensor.dtype != np.object_ and input_tensor.dtype.type != np.bytes_:
        return None
    parts = []
    for element in input_tensor.ravel(order="C").tolist():
        data = element if isinstance(element, bytes) else str(element).encode("utf-8")
        parts.append(struct.pack("<I", len(data)))
        parts.append(data)
    return b"".join(parts)


def deserialize_bytes_tensor(encoded_tensor: Any) -> np.ndarray:
    """Returns an array of one dimension."""
    view = memoryview(encoded_tensor)
    elements = []
    offset = 0
    while offset < len(view):
        (size,) = struct.unpack_from("<I", view, offset)
        offset += 4
        elements.append(struct.unpack_from(f"<{size}s", view, offset)[0])
        offset += size
    array = np.empty(len(elements), dtype=np.object_)
    array[:] = elements
    return array
