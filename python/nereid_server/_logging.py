# SPDX-License-Identifier: Apache-2.0
"""Lines in the server's log."""

from __future__ import annotations

import os
import sys

from . import _native
from ._enums import LogLevel


def log(level: LogLevel, message: str) -> None:
    """Writes a line to the server's log, if its level is on, with the caller's file and line."""
    caller = sys._getframe(1)
    name = os.path.basename(caller.f_code.co_filename)
    _native.log(int(level), name, caller.f_lineno, message)
