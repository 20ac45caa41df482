# SPDX-License-Identifier: Apache-2.0
"""Inputs that are no tensors yet."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._errors import InvalidArgumentError

# numpy's types by names of the protocol. BF16 is made from float32.
_TYPES = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "BYTES": np.object_,
}


def convert_input(name: str, value: Any, datatype: Optional[str]) -> np.ndarray:
    """An array of `value`, a list for instance, in the type that the model wants; None: unknown.

    Raises InvalidArgumentError if there is no such array.
    """
    try:
        array = np.asarray(value, _dtype(datatype))
    except (TypeError, ValueError, OverflowError) as error:
        wanted = f" of {datatype}" if datatype else ""
        raise InvalidArgumentError(f"input '{name}' is no tensor{wanted}: {error}") from None
    if array.dtype.kind == "U":
        array = array.astype(np.object_)
    return np.ascontiguousarray(array).reshape(array.shape)


def _dtype(datatype: Optional[str]) -> Any:
    if datatype == "BF16":
        import ml_dtypes  # numpy itself has no such type

        return ml_dtypes.bfloat16
    return _TYPES.get(datatype or "")
