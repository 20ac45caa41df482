# SPDX-License-Identifier: Apache-2.0
"""Whether the client of a request has gone."""

from __future__ import annotations

import _nereid_native as native

from . import calls, life, logger


def ask(handle: int) -> bool:
    if life.ending:
        logger.log_from_runtime(logger.LogLevel.ERROR, "Cannot communicate with parent service")
        return False
    try:
        return calls.ask(native.CALL_IS_CANCELLED, handle)
    except calls.CallError:
        return False  # the request is answered, and no client waits for it
