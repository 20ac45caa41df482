# SPDX-License-Identifier: Apache-2.0
"""Parameters of requests and responses: a dict in Python, JSON text in messages."""

from __future__ import annotations

import json
from typing import Any

from .errors import TritonModelException


_INT64 = range(-(1 << 63), 1 << 63)


def to_json(parameters: Any) -> str:
    """JSON of `parameters`; "" for none. Raises TritonModelException for what cannot be sent."""
    if parameters is None:
        return ""
    if not isinstance(parameters, dict):
        raise TritonModelException(f"Expect dict, got {type(parameters)}")
    for key, value in parameters.items():
        if not isinstance(key, str):
            raise TritonModelException(
                f"Expect parameters keys to have type str, found type {type(key)}"
            )
        # Triton takes no float, but requests bring them, and models hand them on.
        if not isinstance(value, (bool, int, float, str)):
            raise TritonModelException(
                f"Expect parameters values to have type bool/int/str, found type {type(value)}; "
                "a float is taken, too"
            )
        if isinstance(value, int) and value not in _INT64:
            raise TritonModelException(
                f"Expect parameters values that are integers to fit 64 bits with a sign, found {value} "
                f"for parameter '{key}'"
            )
    return json.dumps(parameters) if parameters else ""
