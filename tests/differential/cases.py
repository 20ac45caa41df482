"""What a case of the differential test is. A case is data: it can be sent, stored and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


# The servers that cases are sent to (servers.py): one that loads all it finds, one whose models are
# loaded on demand, and another of these that nobody else disturbs.
MAIN, ON_DEMAND, UNDISTURBED = "main", "on demand", "undisturbed"
# Others have a model whose configuration cannot be read, one without a version, no repository at all.
UNREADABLE, VERSIONLESS, NOWHERE = "unreadable", "versionless", "nowhere"


@dataclass(frozen=True)
class HttpCase:
    """One HTTP request. `id` is unique and begins with http-good- or http-bad-.

    `before` are requests that are sent first, and whose answers are not looked at.
    `golden` is false where the answer depends on the machine, so that no file can hold it.
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
