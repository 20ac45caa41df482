# SPDX-License-Identifier: Apache-2.0
"""The end of the interpreter, and forks."""

from __future__ import annotations

import atexit
import sys
import weakref
from typing import TYPE_CHECKING, List

from . import _native
from ._errors import Error, UnavailableError

if TYPE_CHECKING:
    from ._server import Server

# In the order in which they were started.
_started: List["weakref.ref[Server]"] = []
# The generation of processes that started the first server; -1: none has.
_generation = -1


def check_fork() -> None:
    """Raises if a parent of this process has had a server: its threads are missing here."""
    if _generation not in (-1, _native.generation()):
        raise UnavailableError(
            "this process was forked from one that had started a server: fork before the first "
            "server starts, or use the start method 'spawn'"
        )


def add(server: Server) -> None:
    """The server has started."""
    global _generation
    _generation = _native.generation()
    _started[:] = [other for other in _started if other() is not None]
    _started.append(weakref.ref(server))


def _end() -> None:
    """Stops what still runs, the newest first, while Python can still say why that fails."""
    clean = True
    if _generation == _native.generation():
        for reference in reversed(_started):
            server = reference()
            try:
                if server is not None:
                    server.stop()
            except Error as error:
                print(f"nereid: a server did not stop: {error}", file=sys.stderr)
                clean = False
    _native.end(clean)


atexit.register(_end)
