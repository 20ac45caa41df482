"""Children that a model forks (multiprocessing): they have no server, and end with their parent."""

from __future__ import annotations

import os
import signal

import _nereid_native as native


def _in_child() -> None:
    native.bind_forked_child()
    # What the process of a model does not listen to ends its children.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _nothing(number: int, frame: object) -> None:
    """Unlike SIG_IGN this is not inherited by programs that the model starts."""


def set_up() -> None:
    """The server ends this process: a Ctrl-C at its terminal must not end it first."""
    signal.signal(signal.SIGINT, _nothing)
    signal.signal(signal.SIGTERM, _nothing)
    os.register_at_fork(after_in_child=_in_child)
