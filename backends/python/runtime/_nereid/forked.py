# SPDX-License-Identifier: Apache-2.0
"""Children that a model forks (multiprocessing): they end with their parent, which passes their calls
on to the server."""

from __future__ import annotations

import os
import signal
import threading

import _nereid_native as native

from . import relay

_IGNORED = (signal.SIGINT, signal.SIGTERM)

_forking = threading.local()  # mask: which signals this thread blocked before it forked


def _before_fork() -> None:
    relay.before_fork()
    # A child that is terminated at once, as those of a Pool are, would ignore that like its parent: the
    # signal waits until the child has handlers of its own.
    _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, _IGNORED)


def _in_parent() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, _forking.mask)
    relay.after_fork()


def _in_child() -> None:
    native.bind_forked_child()
    # The model's process ignores these signals; its children end on them as usual.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, _forking.mask)


def _nothing(number: int, frame: object) -> None:
    """Ignores a signal. Unlike SIG_IGN, programs that the model starts do not inherit this."""


def set_up() -> None:
    """Ignores Ctrl-C at the server's terminal: only the server ends this process."""
    for number in _IGNORED:
        signal.signal(number, _nothing)
    os.register_at_fork(
        before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child
    )
