# SPDX-License-Identifier: Apache-2.0
"""How calls wake an event loop of asyncio.

Threads of the server never run Python. They add what has news to the loop's waker, whose descriptor
the loop watches; so many answers may cost one wake-up.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

from . import _native


def _give_out(waker: _native.Waker) -> None:
    for future in waker.take():
        if not future.done():
            future.set_result(None)


_wakers: "weakref.WeakKeyDictionary[Any, _native.Waker]" = weakref.WeakKeyDictionary()


def _waker_of(loop: asyncio.AbstractEventLoop) -> _native.Waker:
    waker = _wakers.get(loop)
    if waker is None:
        waker = _wakers[loop] = _native.Waker()
        loop.add_reader(waker.fileno(), _give_out, waker)
    return waker


async def news(call: _native.Call, each: bool) -> None:
    """Returns when the call has a response (`each`) or has ended. If the task is cancelled
    meanwhile, so is the call."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    if call.arm(_waker_of(loop), future, each):
        try:
            await future
        except asyncio.CancelledError:
            call.cancel()
            raise
