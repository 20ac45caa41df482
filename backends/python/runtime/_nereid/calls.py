# SPDX-License-Identifier: Apache-2.0
"""Messages of the process to the server: calls, which it answers, and posts. Their numbers are
`CALL_...` of the native module."""

from __future__ import annotations

from typing import Any

import _nereid_native as native

from . import life


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
