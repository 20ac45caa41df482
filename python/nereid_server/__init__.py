# SPDX-License-Identifier: Apache-2.0
"""A Nereid server in the process of a Python program, and Python functions as models of a server.

>>> import nereid_server
>>> with nereid_server.Server(models="models") as server:
...     digit = server.model("digits").infer({"image": image})["digit"]

>>> four = nereid_server.TensorSpec(np.float32, [4])
>>> @nereid_server.function(inputs={"x": four}, outputs={"y": four})
... def double(x):
...     return {"y": 2 * x}
>>> nereid_server.serve(double)

``nereid_server.tritonserver`` is the same server with the names of Triton's package ``tritonserver``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, List

if TYPE_CHECKING:
    from ._enums import (
        InstanceGroupKind,
        LogFormat,
        LogLevel,
        ModelControlMode,
        RateLimitMode,
    )
    from ._errors import (
        AlreadyExistsError,
        CancelledError,
        Error,
        InternalError,
        InvalidArgumentError,
        NotFoundError,
        UnavailableError,
        UnknownError,
        UnsupportedError,
    )
    from ._logging import log
    from ._metrics import Metrics, Sample
    from ._model import Model
    from ._native import Tensor
    from ._options import ModelLoadDeviceLimit, Options, RateLimiterResource
    from ._response import Response
    from ._server import Server
    from ._stream import AsyncStream, Stream
    from .functions import RequestError, ServedFunctions, ServingError, TensorSpec, function, serve

# Imported when they are first used: programs that serve functions, and the processes of the functions,
# do not need the server's library.
_MODULES = {
    "_enums": ("InstanceGroupKind", "LogFormat", "LogLevel", "ModelControlMode", "RateLimitMode"),
    "_errors": (
        "AlreadyExistsError",
        "CancelledError",
        "Error",
        "InternalError",
        "InvalidArgumentError",
        "NotFoundError",
        "UnavailableError",
        "UnknownError",
        "UnsupportedError",
    ),
    "_logging": ("log",),
    "_metrics": ("Metrics", "Sample"),
    "_model": ("Model",),
    "_native": ("Tensor",),
    "_options": ("ModelLoadDeviceLimit", "Options", "RateLimiterResource"),
    "_response": ("Response",),
    "_server": ("Server",),
    "_stream": ("AsyncStream", "Stream"),
    "functions": ("RequestError", "ServedFunctions", "ServingError", "TensorSpec", "function", "serve"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AlreadyExistsError",
    "AsyncStream",
    "CancelledError",
    "Error",
    "InstanceGroupKind",
    "InternalError",
    "InvalidArgumentError",
    "LogFormat",
    "LogLevel",
    "Metrics",
    "Model",
    "ModelControlMode",
    "ModelLoadDeviceLimit",
    "NotFoundError",
    "Options",
    "RateLimitMode",
    "RateLimiterResource",
    "RequestError",
    "Response",
    "Sample",
    "ServedFunctions",
    "Server",
    "ServingError",
    "Stream",
    "Tensor",
    "TensorSpec",
    "UnavailableError",
    "UnknownError",
    "UnsupportedError",
    "function",
    "log",
    "serve",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
