# SPDX-License-Identifier: Apache-2.0
"""Functions of Python programs as models: `nereid_server.function`, `nereid_server.serve`."""

from .errors import RequestError, ServingError
from .function import function
from .serving import ServedFunctions, serve
from .tensor_spec import TensorSpec

__all__ = ["RequestError", "ServedFunctions", "ServingError", "TensorSpec", "function", "serve"]
