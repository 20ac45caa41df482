"""The preferred memory for outputs of BLS requests. This backend has only the processor's memory; a
preference for GPU memory is accepted without effect."""

from __future__ import annotations

import enum


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
        if not isinstance(preferred_memory_type, MemoryType):
            raise TypeError(
                "PreferredMemory(): incompatible function arguments. 'preferred_memory_type' must "
                "be TRITONSERVER_MEMORY_CPU or TRITONSERVER_MEMORY_GPU, not "
                f"{type(preferred_memory_type)}"
            )
        self._memory_type = preferred_memory_type
        self._device_id = preferred_device_id
