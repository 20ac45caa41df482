# SPDX-License-Identifier: Apache-2.0
"""TensorSpec: the data type and the shape of one input or output of a served function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

ANY_SIZE = -1

# The names that the protocol has for numpy's types; strings are BYTES.
_DATA_TYPES = {
    np.dtype(np.bool_): "BOOL",
    np.dtype(np.uint8): "UINT8",
    np.dtype(np.uint16): "UINT16",
    np.dtype(np.uint32): "UINT32",
    np.dtype(np.uint64): "UINT64",
    np.dtype(np.int8): "INT8",
    np.dtype(np.int16): "INT16",
    np.dtype(np.int32): "INT32",
    np.dtype(np.int64): "INT64",
    np.dtype(np.float16): "FP16",
    np.dtype(np.float32): "FP32",
    np.dtype(np.float64): "FP64",
}


class TensorSpec:
    """The type of a tensor: `TensorSpec(np.float32, [3, -1])`.

    dtype: what `numpy.dtype` takes, `bool`, `int` (64 bits) and `float` (64 bits) among it; `str` for
        text, whose elements the function gets and returns as `str`; `bytes` for byte strings;
        `ml_dtypes.bfloat16` for BF16.
    shape: the sizes of the dimensions of one item, without the dimension of a batch; -1 stands for any
        size. One dimension of any size if it is left out.
    Immutable. ValueError or TypeError if the type or the shape cannot be served.
    """

    __slots__ = ("data_type", "dtype", "is_text", "scalar", "shape")

    data_type: str  # the protocol's name: FP32, BYTES, ...
    dtype: np.dtype  # of the arrays that the function gets; object for BYTES
    is_text: bool
    scalar: bool  # the function gets and returns a plain value instead of an array of one element
    shape: tuple[int, ...]

    def __init__(self, dtype: Any, shape: Sequence[int] = (ANY_SIZE,), *, scalar: bool = False) -> None:
        found = np.dtype(dtype)
        strings = found.kind in "SUO"
        data_type = "BYTES" if strings else _data_type(found.newbyteorder("="))
        if data_type is None:
            known = ", ".join(str(known) for known in _DATA_TYPES)
            raise TypeError(
                f"tensors cannot have the data type {found}; there are {known}, ml_dtypes.bfloat16, str and bytes"
            )
        sizes = tuple(shape)
        if not sizes or not all(isinstance(size, (int, np.integer)) for size in sizes):
            raise TypeError(f"a shape is a sequence of at least one integer, for instance [1]; not {shape!r}")
        if not all(size == ANY_SIZE or size > 0 for size in sizes):
            raise ValueError(f"a dimension has a positive size, or -1 for any size; not {list(sizes)}")
        self._set("is_text", found.kind == "U")
        self._set("dtype", np.dtype(object) if strings else found.newbyteorder("="))
        self._set("data_type", data_type)
        self._set("shape", tuple(int(size) for size in sizes))
        self._set("scalar", scalar)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a TensorSpec cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        dtype = str if self.is_text else bytes if self.data_type == "BYTES" else self.dtype
        return _rebuild, (dtype, self.shape, self.scalar)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorSpec) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash(self.__reduce__())

    def __repr__(self) -> str:
        dtype = "str" if self.is_text else "bytes" if self.data_type == "BYTES" else str(self.dtype)
        return f"TensorSpec({dtype}, {list(self.shape)})"


def _data_type(dtype: np.dtype) -> Optional[str]:
    # numpy has BF16 only through the package ml_dtypes.
    return "BF16" if dtype.name == "bfloat16" else _DATA_TYPES.get(dtype)


def _rebuild(dtype: Any, shape: tuple[int, ...], scalar: bool) -> TensorSpec:
    return TensorSpec(dtype, shape, scalar=scalar)
