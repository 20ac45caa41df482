# SPDX-License-Identifier: Apache-2.0
"""The preferred memory for outputs of BLS requests, and the memory that messages take. This backend
has only the processor's memory; a preference for GPU memory is accepted without effect."""

from __future__ import annotations

import enum

import _nereid_native as native

from . import conversions


class MemoryType(enum.Enum):
    TRITONSERVER_MEMORY_GPU = 2
    TRITONSERVER_MEMORY_CPU = 0

    def __int__(self) -> int:
        return self.value


TRITONSERVER_MEMORY_GPU = MemoryType.TRITONSERVER_MEMORY_GPU
TRITONSERVER_MEMORY_CPU = MemoryType.TRITONSERVER_MEMORY_CPU


class PreferredMemory:
    __slots__ = ("_device_id", "_memory_type")

    def __init__(self, preferred_memory_type: MemoryType, preferred_device_id: int = 0) -> None:
        self._memory_type = conversions.instance(
            "PreferredMemory",
            "preferred_memory_type",
            preferred_memory_type,
            MemoryType,
            "TRITONSERVER_MEMORY_CPU or TRITONSERVER_MEMORY_GPU",
        )
        self._device_id = conversions.number(
            "PreferredMemory", "preferred_device_id", preferred_device_id, conversions.INT64
        )


class SharedMemory:
    """The memory that the process and the server share. It grows and shrinks automatically."""

    def free_memory(self) -> int:
        """The number of bytes that can still be allocated if the system has that much memory."""
        return native.free_memory()


shared_memory = SharedMemory()
