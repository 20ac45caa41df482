# SPDX-License-Identifier: Apache-2.0
"""The cases of the differential test. A case is data: it can be sent, stored and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


# The servers to which cases are sent (servers.py): one that loads all models, one whose models are
# loaded on demand, and another one on demand for cases that no others may disturb.
MAIN, ON_DEMAND, UNDISTURBED = "main", "on demand", "undisturbed"
# Further servers: with an unreadable configuration, a model without versions, no repository.
UNREADABLE, VERSIONLESS, NOWHERE = "unreadable", "versionless", "nowhere"


@dataclass(frozen=True)
class HttpCase:
    """One HTTP request. `id` is unique and begins with http-good- or http-bad-.

    `before` are requests that are sent first, and whose answers are ignored.
    `golden` is false if the answer depends on the machine, so that it cannot be stored in a file.
    """

    id: str
    method: str
    path: str
    body: bytes | None = None
    headers: Sequence[tuple[str, str]] = field(default_factory=tuple)
    service: str = "http"  # or "metrics": the port it is sent to
    before: Sequence[HttpCase] = ()
    golden: bool = True
    server: str = MAIN


@dataclass(frozen=True)
class GrpcCase:
    """One call. `id` is unique and begins with grpc-good- or grpc-bad-. See HttpCase.

    A tuple of messages is a stream: all are sent, and then the client half-closes.
    """

    id: str
    method: str  # the name of the rpc, such as ModelInfer
    request: Any  # its request message, or several
    golden: bool = True
    metadata: Sequence[tuple[str, str]] = ()
    before: Sequence[HttpCase] = ()
    server: str = MAIN
