"""The event loop for models whose methods are coroutines: one for the process, in a thread of its
own, so that tasks that a coroutine leaves behind go on."""

from __future__ import annotations

import threading
from collections.abc import Coroutine
from typing import Any

from .bls import AwaitedExecute, awaited_execute

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
    """What the coroutine returns; raises what it raises. Its BLS calls are known to hold it up."""
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
    """Runs it some time; the coroutine deals with what goes wrong in it."""
    import asyncio

    asyncio.run_coroutine_threadsafe(coroutine, _running_loop())
