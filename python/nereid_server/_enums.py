# SPDX-License-Identifier: Apache-2.0
"""Numbers of the C API."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class ModelControlMode(IntEnum):
    """What decides which models are loaded."""

    NONE = 0
    """All models are loaded at the start."""
    POLL = 1
    """As NONE, and ``Server.poll()`` applies changes of the folders."""
    EXPLICIT = 2
    """Only ``startup_models``, and what ``Server.load()`` asks for."""


class RateLimitMode(IntEnum):
    """How executions of models are admitted."""

    OFF = 0
    EXEC_COUNT = 1


class InstanceGroupKind(IntEnum):
    AUTO = 0
    CPU = 1
    GPU = 2
    MODEL = 3


class LogLevel(IntEnum):
    INFO = 0
    WARN = 1
    ERROR = 2
    VERBOSE = 3


class LogFormat(IntEnum):
    DEFAULT = 0
    ISO8601 = 1


class RequestFlag(IntFlag):
    SEQUENCE_START = 1
    SEQUENCE_END = 2
