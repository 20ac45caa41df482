# SPDX-License-Identifier: Apache-2.0
"""The text of an exception for clients and the log: the exception and its origin.

    NameError: name 'lorem' is not defined

    At:
      /models/m/1/model.py(8): initialize

The innermost frame comes first. Frames of this package are left out, because they do not help a
model's author.
"""

from __future__ import annotations

import importlib
import os
import sys

RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = (
    os.path.join(RUNTIME, "_nereid") + os.sep,
    os.path.join(RUNTIME, "worker_main.py"),
    importlib.__file__,  # its import_module imports the model
)


def exception_text(error: BaseException) -> str:
    frames = []
    outside = False  # true once a frame is neither ours nor of the import of the model
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        importing = code.co_filename.startswith("<frozen importlib")
        if not code.co_filename.startswith(_OURS):
            line = step.tb_frame.f_lineno if importing else step.tb_lineno
            frames.append(f"  {code.co_filename}({line}): {code.co_name}\n")
            outside |= not importing
        step = step.tb_next
    try:
        message = str(error)
    except Exception:  # the exception's class may be the model's, and its __str__ may fail
        message = "<the exception has no text>"
    text = f"{type(error).__name__}: {message or '<EMPTY MESSAGE>'}"
    return f"{text}\n\nAt:\n{''.join(reversed(frames))}" if outside else text


def traceback_text(error: BaseException) -> str:
    """The full traceback for the log, as Python prints it, with the causes. The outermost frames,
    those of this package, are left out."""
    import traceback

    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename.startswith(_OURS):
        step = step.tb_next
    lines = traceback.format_exception(type(error), error, step or error.__traceback__)
    return "".join(lines).rstrip()


def caller_frame(depth: int):
    """The frame that called a function of this package, `depth` calls above the caller of this."""
    return sys._getframe(depth + 1)
