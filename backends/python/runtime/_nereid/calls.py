"""Messages of the process to the server: numbers of calls and posts, and functions to send them."""

from __future__ import annotations

from typing import Any

import _nereid_native as native

from . import life

# Posts, which have no answer.
SEND = 1
CLOSED = 2
LOG = 3
STREAM_CLOSE = 4
METRIC_FAMILY_DELETE = 5
METRIC_DELETE = 6
STREAM_CANCEL = 7

# Calls.
IS_CANCELLED = 16
INFER = 17
STREAM_NEXT = 18
LOAD_MODEL = 19
UNLOAD_MODEL = 20
IS_MODEL_READY = 21
METRIC_FAMILY_NEW = 22
METRIC_NEW = 23
METRIC_INCREMENT = 24
METRIC_SET = 25
METRIC_OBSERVE = 26
METRIC_VALUE = 27


class CallError(Exception):
    """An error that is the server's answer to a call. `code` is a TRITONSERVER_Error_Code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def ask(call: int, *arguments: Any) -> Any:
    """Calls the server and waits for its answer, without the GIL. Raises CallError."""
    status, value = (_relay() if native.in_forked_child() else native.ask)((call, *arguments))
    if status:
        raise CallError(status - 1, value)
    return value


def ask_or_raise(what: str, call: int, *arguments: Any) -> Any:
    """As ask(), but raises a TritonModelException, whose text begins with `what`."""
    try:
        return ask(call, *arguments)
    except CallError as error:
        text = error.text
    raise native.TritonModelException(
        f"{what}: Failed to process the request for model '{life.name}', message: {text}"
    )


def post(*message: Any) -> None:
    """Tells the server something without waiting."""
    (_relay() if native.in_forked_child() else native.post)(message)


def _relay() -> Any:
    from . import relay

    return relay.ask


def post_at_end(*message: Any) -> None:
    """Sends a post from a `__del__`; does nothing if there is no server, or in a forked child, whose
    objects may be copies."""
    if native is not None and not native.in_forked_child():
        native.post(message)
