# SPDX-License-Identifier: Apache-2.0
"""Logger: lines for the server's log, with the file and line of the model that wrote them."""

from __future__ import annotations

import enum
import os
import sys
import time
from typing import Any

import _nereid_native as native

from . import calls, conversions


class LogLevel(enum.Enum):
    """TRITONSERVER_LogLevel."""

    INFO = 0
    WARNING = 1
    ERROR = 2
    VERBOSE = 3


def _log(level: Any, message: Any, depth: int = 2) -> None:
    text = conversions.message("log", "message", message)
    conversions.instance("log", "level", level, LogLevel, "one of Logger's levels")
    frame = sys._getframe(depth)
    _put(level, frame.f_code.co_filename, frame.f_lineno, text)


def log_from_runtime(level: LogLevel, message: str) -> None:
    """Logs a line of this package, with the caller's file and line."""
    frame = sys._getframe(1)
    _put(level, frame.f_code.co_filename, frame.f_lineno, message)


def _put(level: LogLevel, file: str, line: int, message: str) -> None:
    if native.in_forked_child():
        _print(level, file, line, message)
    elif native.log_levels() >> level.value & 1:
        native.post((native.CALL_LOG, level.value, file, line, message))


def _print(level: LogLevel, file: str, line: int, message: str) -> None:
    """Prints the line, because a forked child has no server. The server also logs printed text."""
    now = time.time()
    stamp = time.strftime("%m%d %H:%M:%S", time.gmtime(now))
    letter = "I" if level is LogLevel.VERBOSE else level.name[0]
    micros = int(now % 1 * 1e6)
    place = f"{os.path.basename(file)}:{line}"
    print(f"{letter}{stamp}.{micros:06d} {os.getpid()} {place}]  {message}", file=sys.stderr, flush=True)


class Logger:
    LogLevel = LogLevel
    INFO = LogLevel.INFO
    WARNING = LogLevel.WARNING
    ERROR = LogLevel.ERROR
    VERBOSE = LogLevel.VERBOSE

    @staticmethod
    def log(message: str, level: LogLevel = LogLevel.INFO) -> None:
        _log(level, message)

    @staticmethod
    def log_info(message: str) -> None:
        _log(LogLevel.INFO, message)

    @staticmethod
    def log_warn(message: str) -> None:
        _log(LogLevel.WARNING, message)

    @staticmethod
    def log_error(message: str) -> None:
        _log(LogLevel.ERROR, message)

    @staticmethod
    def log_verbose(message: str) -> None:
        _log(LogLevel.VERBOSE, message)
