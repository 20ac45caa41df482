"""Parameters of requests and responses: a dict in Python, JSON text in messages."""

from __future__ import annotations

import json
from typing import Any

from .errors import TritonModelException


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
        if not isinstance(value, (bool, int, str)):
            raise TritonModelException(
                f"Expect parameters values to have type bool/int/str, found type {type(value)}"
            )
    return json.dumps(parameters) if parameters else ""
