# SPDX-License-Identifier: Apache-2.0
"""Data types: their names in configurations, their numbers, and the numpy types for them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

TRITON_STRING_TO_NUMPY = {
    "TYPE_BOOL": bool,
    "TYPE_UINT8": np.uint8,
    "TYPE_UINT16": np.uint16,
    "TYPE_UINT32": np.uint32,
    "TYPE_UINT64": np.uint64,
    "TYPE_INT8": np.int8,
    "TYPE_INT16": np.int16,
    "TYPE_INT32": np.int32,
    "TYPE_INT64": np.int64,
    "TYPE_FP16": np.float16,
    "TYPE_FP32": np.float32,
    "TYPE_FP64": np.float64,
    "TYPE_STRING": np.object_,
}

# By TRITONSERVER_DataType.
_NUMPY = {
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
    13: np.object_,
}


_BF16 = 14


def triton_string_to_numpy(triton_type_string: str) -> Any:
    if triton_type_string == "TYPE_BF16" and (bfloat16 := _bfloat16()) is not None:
        return bfloat16
    return TRITON_STRING_TO_NUMPY[triton_type_string]


def triton_to_numpy_type(data_type: int) -> Any:
    """Returns None for types that numpy lacks."""
    return _bfloat16() if data_type == _BF16 else _NUMPY.get(data_type)


def numpy_to_triton_type(data_type: Any) -> Any:
    """Returns None for types that no tensor can have."""
    if data_type == np.bytes_:
        return 13
    for number, numpy_type in _NUMPY.items():
        if data_type == numpy_type:
            return number
    package = sys.modules.get("ml_dtypes")  # whoever has its type has imported it
    return _BF16 if package is not None and data_type == package.bfloat16 else None


def _bfloat16() -> Any:
    """The type of the package ml_dtypes, or None without that package; numpy itself has none."""
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes.bfloat16
