# SPDX-License-Identifier: Apache-2.0
"""Children that a model forks (multiprocessing): they end with their parent, which passes their calls
on to the server."""

from __future__ import annotations

import os
import signal

import _nereid_native as native

from . import relay


def _in_child() -> None:
    native.bind_forked_child()
    # The model's process ignores these signals; its children end on them as usual.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _nothing(number: int, frame: object) -> None:
    """Ignores a signal. Unlike SIG_IGN, programs that the model starts do not inherit this."""


def set_up() -> None:
    """Ignores Ctrl-C at the server's terminal: only the server ends this process."""
    signal.signal(signal.SIGINT, _nothing)
    signal.signal(signal.SIGTERM, _nothing)
    os.register_at_fork(
        before=relay.before_fork, after_in_parent=relay.after_fork, after_in_child=_in_child
    )
