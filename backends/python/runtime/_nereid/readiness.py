# SPDX-License-Identifier: Apache-2.0
"""The command Ready: the result of the model's is_ready, if it has one."""

from __future__ import annotations

import types
from typing import Any

from . import async_loop
from .exception_text import exception_text


def check(model: Any) -> tuple:
    """Returns (ready, reason if not)."""
    is_ready = getattr(model, "is_ready", None)
    if is_ready is None:
        return (True, "")
    try:
        result = is_ready()
        if isinstance(result, types.CoroutineType):
            result = async_loop.run_until_done(result)
    except BaseException as error:
        return (False, exception_text(error))
    if not isinstance(result, bool):
        return (False, f"is_ready must return a bool, found type '{type(result)}'.")
    return (result, "" if result else "is_ready returned False.")
