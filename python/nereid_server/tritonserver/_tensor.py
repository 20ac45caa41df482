# SPDX-License-Identifier: Apache-2.0
"""Tensors and their memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple, Union

import numpy as np

from .. import _native
from .._convert import convert_input
from .._errors import InvalidArgumentError, UnsupportedError
from ._enums import DataType, DLDeviceType, MemoryType

DeviceOrMemoryType = Union[Tuple[MemoryType, int], MemoryType, Tuple[DLDeviceType, int], str]

_DEVICES = {
    DLDeviceType.kDLCPU: MemoryType.CPU,
    DLDeviceType.kDLCUDA: MemoryType.GPU,
    DLDeviceType.kDLCUDAHost: MemoryType.CPU_PINNED,
}


def parse_memory_type(given: DeviceOrMemoryType) -> Tuple[MemoryType, int]:
    """The memory that ``"cpu"``, ``"gpu:0"``, a MemoryType, or a tuple of a type and an id name.

    Raises InvalidArgumentError for what names none.
    """
    kind, index = given if isinstance(given, tuple) else (given, 0)
    try:
        if isinstance(kind, str):
            name, _, number = kind.partition(":")
            return MemoryType[name.upper()], int(number or 0)
        if isinstance(kind, DLDeviceType):
            return _DEVICES[kind], index
        return MemoryType(kind), index
    except (KeyError, ValueError):
        raise InvalidArgumentError(f"there is no memory type {given!r}") from None


@dataclass
class MemoryBuffer:
    """Memory that an object owns."""

    data_ptr: int
    memory_type: MemoryType
    memory_type_id: int
    size: int
    """Bytes."""
    owner: Any

    @staticmethod
    def from_dlpack(owner: Any) -> MemoryBuffer:
        """The memory of something with ``__dlpack__``, contiguous and of the processor."""
        if not hasattr(owner, "__dlpack__"):
            raise InvalidArgumentError(f"{type(owner).__name__} has no __dlpack__")
        return _buffer_of(_native.as_tensor(owner), owner)


def _buffer_of(tensor: _native.Tensor, owner: Any) -> MemoryBuffer:
    return MemoryBuffer(tensor.address or 0, MemoryType.CPU, 0, tensor.nbytes, owner)


@dataclass
class Tensor:
    """A tensor in somebody's memory."""

    data_type: DataType
    shape: Sequence[int]
    memory_buffer: MemoryBuffer

    @property
    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.memory_buffer.data_ptr

    @property
    def memory_type(self) -> MemoryType:
        return self.memory_buffer.memory_type

    @property
    def memory_type_id(self) -> int:
        return self.memory_buffer.memory_type_id

    @property
    def size(self) -> int:
        """Bytes."""
        return self.memory_buffer.size

    def native(self) -> _native.Tensor:
        """The same for the native module; it keeps the owner of the memory alive."""
        if self.memory_type == MemoryType.GPU:
            raise UnsupportedError("this server reads the memory of the processor only")
        return _native.Tensor(
            DataType(self.data_type).name, self.shape, self.data_ptr, self.size, self
        )

    def __dlpack__(self, *, stream: Any = None) -> Any:
        if stream not in (None, 0):
            raise UnsupportedError("memory of the processor has no streams")
        return self.native().__dlpack__()

    def __dlpack_device__(self) -> Tuple[DLDeviceType, int]:
        pinned = self.memory_type == MemoryType.CPU_PINNED
        return (DLDeviceType.kDLCUDAHost if pinned else DLDeviceType.kDLCPU, self.memory_type_id)

    def to_bytes_array(self) -> np.ndarray:
        """Strings as an array of ``bytes`` objects; a copy."""
        if self.data_type != DataType.BYTES:
            raise InvalidArgumentError(f"the tensor holds {DataType(self.data_type).name}, not BYTES")
        return self.native().numpy()

    def to_string_array(self) -> np.ndarray:
        """Strings, which must be UTF-8, as an array of ``str_``; a copy."""
        texts = self.to_bytes_array()
        decoded = np.empty(texts.shape, np.object_)
        decoded.reshape(-1)[:] = [text.decode("utf-8") for text in texts.flat]
        return decoded.astype(np.str_)

    def to_host(self) -> Tensor:
        return self.to_device("cpu")

    def to_device(self, device: DeviceOrMemoryType) -> Tensor:
        """Itself, if that is the memory of the processor. Raises UnsupportedError otherwise."""
        wanted = parse_memory_type(device)
        if wanted[0] == MemoryType.GPU or self.memory_type == MemoryType.GPU:
            raise UnsupportedError(f"a tensor cannot be moved to {wanted}: this server has no GPUs")
        return self

    @staticmethod
    def from_dlpack(obj: Any) -> Tensor:
        """A tensor in the memory of something with ``__dlpack__``."""
        if not hasattr(obj, "__dlpack__"):
            raise InvalidArgumentError(f"{type(obj).__name__} has no __dlpack__")
        return tensor_of(obj)

    @staticmethod
    def from_bytes_array(bytes_array: Union[List[str], List[bytes], np.ndarray]) -> Tensor:
        """A tensor of strings, from ``str`` or ``bytes``; a copy."""
        tensor = tensor_of(bytes_array)
        if tensor.data_type != DataType.BYTES:
            raise InvalidArgumentError(f"these are no strings, but {tensor.data_type.name}")
        return tensor

    @staticmethod
    def from_string_array(string_array: Union[List[str], np.ndarray]) -> Tensor:
        """A tensor of strings; a copy."""
        return Tensor.from_bytes_array(string_array)


def tensor_of(value: Any) -> Tensor:
    """A tensor of an array, a list, or something with ``__dlpack__``."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, list) or kind == "U":
        value = convert_input("value", value, None)
    return tensor_on(_native.as_tensor(value), value)


def tensor_on(native: _native.Tensor, owner: Any) -> Tensor:
    """A tensor in the memory of a native one. `owner` keeps the memory; strings are always in the
    native tensor's own."""
    if native.data_type == "BYTES":
        owner = native
    return Tensor(DataType[native.data_type], native.shape, _buffer_of(native, owner))
