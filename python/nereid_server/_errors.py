# SPDX-License-Identifier: Apache-2.0
"""What the server answers when it cannot do what it is asked for."""

from __future__ import annotations

from . import _native


class Error(Exception):
    """An error of the server. Its text is one sentence. Each code of the C API is a class of its own."""


class UnknownError(Error):
    """The cause is not known."""


class InternalError(Error):
    """The server or a backend failed."""


class NotFoundError(Error):
    """There is no such model, version or file."""


class InvalidArgumentError(Error):
    """The caller is wrong: a tensor does not fit the model, an option makes no sense."""


class UnavailableError(Error):
    """Not now: the server stops or is full, or the model is not ready."""


class UnsupportedError(Error):
    """The server cannot do this at all."""


class AlreadyExistsError(Error):
    """It is there already."""


class CancelledError(Error):
    """The request was cancelled. (asyncio's error of this name is another one.)"""


# In the order of the codes of the C API.
_native.set_errors(
    (
        UnknownError,
        InternalError,
        NotFoundError,
        InvalidArgumentError,
        UnavailableError,
        UnsupportedError,
        AlreadyExistsError,
        CancelledError,
    )
)
