# SPDX-License-Identifier: Apache-2.0
"""The event loop for models whose methods are coroutines: one per process, on its own
thread, so that tasks left behind by a coroutine continue."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import Any

from . import logger
from .bls import AwaitedExecute, awaited_execute
from .exception_text import traceback_text

_loop: Any = None
_lock = threading.Lock()


def _running_loop() -> Any:
    global _loop
    import asyncio

    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_run, args=(_loop,), name="asyncio", daemon=True).start()
        return _loop


def _run(loop: Any) -> None:
    import asyncio

    asyncio.set_event_loop(loop)
    loop.run_forever()


def run_until_done(coroutine: Coroutine) -> Any:
    """Returns or raises what the coroutine does. Its BLS calls count as blocking `execute`."""
    import asyncio

    awaited = AwaitedExecute()

    async def guarded() -> tuple:
        awaited_execute.set(awaited)
        try:
            return await coroutine, None
        except BaseException as error:  # SystemExit would end the loop
            return None, error
        finally:
            awaited.running = False

    result, error = asyncio.run_coroutine_threadsafe(guarded(), _running_loop()).result()
    if error is not None:
        raise error
    return result


def schedule(coroutine: Coroutine) -> None:
    """Starts the coroutine without waiting for it; the coroutine handles its own errors."""
    import asyncio

    asyncio.run_coroutine_threadsafe(coroutine, _running_loop())


def async_event_future_done_callback(py_future: Any) -> None:
    """A callback for a finished task of the event loop: logs its error."""
    if not py_future.cancelled() and py_future.exception() is not None:
        logger.log_from_runtime(logger.LogLevel.ERROR, traceback_text(py_future.exception()))
