# SPDX-License-Identifier: Apache-2.0
"""Waiting until more responses of a request are wanted: its client reads too slowly."""

from __future__ import annotations

import sys
import threading
from typing import Any

import _nereid_native as native


def in_event_loop() -> bool:
    """Whether the calling thread runs an event loop just now."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def wait(handle: int) -> None:
    """Blocks the calling thread, without the GIL, until the request has credit or has ended."""
    seen = native.credit_returns()
    while not native.has_credit(handle):
        native.await_credit_return(seen)
        seen = native.credit_returns()


async def wait_in_coroutine(handle: int) -> None:
    import asyncio

    loop = asyncio.get_running_loop()
    while not native.has_credit(handle):
        credited = loop.create_future()
        _Watcher.add(handle, loop, credited)
        await credited


class _Watcher:
    """One thread for all coroutines that wait; it lives while there are any."""

    _lock = threading.Lock()
    _waiting: list = []  # (handle, loop, future)
    _running = False

    @classmethod
    def add(cls, handle: int, loop: Any, future: Any) -> None:
        with cls._lock:
            cls._waiting.append((handle, loop, future))
            if cls._running:
                return
            cls._running = True
        threading.Thread(target=cls._run, name="credit", daemon=True).start()

    @classmethod
    def _run(cls) -> None:
        while True:
            seen = native.credit_returns()
            credited, waiting = [], []
            with cls._lock:
                for entry in cls._waiting:
                    (credited if native.has_credit(entry[0]) else waiting).append(entry)
                cls._waiting = waiting
                cls._running = bool(waiting)
            for _, loop, future in credited:
                _tell(loop, future)
            if not waiting:
                return
            native.await_credit_return(seen)


def _tell(loop: Any, future: Any) -> None:
    try:
        loop.call_soon_threadsafe(lambda: future.done() or future.set_result(None))
    except RuntimeError:
        pass  # the loop is closed
