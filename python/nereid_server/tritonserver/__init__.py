# SPDX-License-Identifier: Apache-2.0
"""The server under the names of Triton's package ``tritonserver``: a program written for that runs
after ``import nereid_server.tritonserver as tritonserver``. What differs: docs/python/compatibility.md."""

from __future__ import annotations

from .._enums import InstanceGroupKind, LogFormat, ModelControlMode, RateLimitMode
from .._errors import (
    AlreadyExistsError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    UnknownError,
    UnsupportedError,
)
from .._errors import Error as TritonError
from .._options import ModelLoadDeviceLimit, RateLimiterResource
from ._enums import (
    DataType,
    DLDeviceType,
    MemoryType,
    MetricFormat,
    MetricKind,
    ModelBatchFlag,
    ModelTxnPropertyFlag,
)
from ._metric import Metric, MetricFamily
from ._model import Model
from ._options import Options
from ._request import InferenceRequest
from ._response import AsyncResponseIterator, InferenceResponse, ResponseIterator
from ._server import ModelDictionary, Server
from ._tensor import MemoryBuffer, Tensor

__all__ = [
    "AlreadyExistsError",
    "AsyncResponseIterator",
    "DLDeviceType",
    "DataType",
    "InferenceRequest",
    "InferenceResponse",
    "InstanceGroupKind",
    "InternalError",
    "InvalidArgumentError",
    "LogFormat",
    "MemoryBuffer",
    "MemoryType",
    "Metric",
    "MetricFamily",
    "MetricFormat",
    "MetricKind",
    "Model",
    "ModelBatchFlag",
    "ModelControlMode",
    "ModelDictionary",
    "ModelLoadDeviceLimit",
    "ModelTxnPropertyFlag",
    "NotFoundError",
    "Options",
    "RateLimitMode",
    "RateLimiterResource",
    "ResponseIterator",
    "Server",
    "Tensor",
    "TritonError",
    "UnavailableError",
    "UnknownError",
    "UnsupportedError",
]
