# SPDX-License-Identifier: Apache-2.0
"""The main thread: takes the server's commands, one after the other, and answers each."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Callable, NoReturn, Optional, Union

import _nereid_native as native

from . import forked, life, model_loading
from .exception_text import exception_text, traceback_text

SECONDS_FOR_EXIT_HANDLERS = 1.0

_model: Any = None
_executor: Any = None  # the module `execute`, which is imported together with the model


def serve() -> NoReturn:
    forked.set_up()
    no_numpy = model_loading.numpy_problem()
    while True:
        try:
            number, value = native.next_command()
        except OSError as error:  # no descriptor is left for the memory of a client
            native.reply(("error", f"the shared memory of a client cannot be mapped: {error}"))
            continue
        if number == native.COMMAND_EXECUTE:
            value = _execute(value)
            # The requests and responses of the batch are gone now, unless the model has kept some.
            native.send_reply()
        elif number == native.COMMAND_EXECUTE_EACH:
            _execute_each(value)
        elif number == native.COMMAND_INITIALIZE:
            native.reply(no_numpy or _initialize(value))
        elif number == native.COMMAND_AUTO_COMPLETE:
            native.reply(("error", no_numpy) if no_numpy else _auto_complete(value))
        elif number == native.COMMAND_READY:
            native.reply(_ready())
        elif number == native.COMMAND_FINALIZE:
            native.reply(_text_of_failure(_finalize))
            _exit()
        else:
            raise RuntimeError(f"the server gives a command that is not known here: {number}")
        del value


def _text_of_failure(step: Callable[..., Any], *arguments: Any) -> Optional[str]:
    try:
        step(*arguments)
    except BaseException as error:  # SystemExit also counts as a failure of the model
        return _told(error)
    return None


def _told(error: BaseException) -> str:
    """Logs the full text of an exception, and returns the short one."""
    from . import logger

    logger.log_from_runtime(logger.LogLevel.ERROR, traceback_text(error))
    return exception_text(error)


def _initialize(what: dict) -> Union[bool, str]:
    """Returns whether the model has a function is_ready or, after a failure, its text."""
    failure = _text_of_failure(_make_model, what)
    return hasattr(_model, "is_ready") if failure is None else failure


def _make_model(what: dict) -> None:
    global _model, _executor
    import triton_python_backend_utils  # noqa: F401  (all of it, before the model needs it)

    from . import execute

    _executor = execute
    life.decoupled = what["decoupled"]
    life.outputs = _output_names(what["args"]["model_config"])
    _model = model_loading.load(what)()
    life.may_ask = True
    if hasattr(_model, "initialize"):
        _model.initialize(what["args"])


def _output_names(config: str) -> frozenset:
    import json

    return frozenset(output["name"] for output in json.loads(config).get("output", ()))


def _auto_complete(what: dict) -> tuple:
    try:
        return _complete(what)
    except BaseException as error:
        return ("error", _told(error))


def _complete(what: dict) -> tuple:
    import json

    from .model_config import ModelConfig

    model_class = model_loading.load(what)
    if not hasattr(model_class, "auto_complete_config"):
        return ("none",)
    config = model_class.auto_complete_config(ModelConfig(what["config"]))
    if not isinstance(config, ModelConfig):
        return (
            "error",
            f"auto_complete_config function in model '{what['name']}' must return a valid "
            "pb.ModelConfig object.",
        )
    return ("ok", json.dumps(config.as_dict()))


def _execute(batch: tuple) -> None:
    reply, requests = _executor.run(_model, batch)
    try:
        native.prepare_reply(reply)
    except Exception as error:  # the model's responses cannot be sent, for instance if too large
        native.reply(("error", _executor.fail(requests, error)))


def _execute_each(batches: tuple) -> None:
    for batch in batches:
        reply, requests = _executor.run(_model, batch)
        try:
            native.reply_to_part(reply)
        except Exception as error:
            native.reply_to_part(("error", _executor.fail(requests, error)))


def _ready() -> tuple:
    from . import readiness

    return readiness.check(_model)


def _finalize() -> None:
    life.may_ask = False
    life.ending = True
    if hasattr(_model, "finalize"):
        _model.finalize()


def _exit() -> NoReturn:
    """Ends the process even if threads of the model still run. The model's exit handlers get a
    limited time."""
    import atexit

    handlers = threading.Thread(target=atexit._run_exitfuncs, daemon=True)
    handlers.start()
    handlers.join(SECONDS_FOR_EXIT_HANDLERS)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # nothing can be done about it any more
            pass
    native.settle()  # the last lines of the log
    os._exit(0)
