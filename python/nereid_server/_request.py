# SPDX-License-Identifier: Apache-2.0
"""What a request may have besides its tensors."""

from __future__ import annotations

from typing import Any, Mapping, Optional, TypedDict, Union

from ._enums import RequestFlag

Parameters = Mapping[str, Union[str, int, float, bool]]


class RequestOptions(TypedDict, total=False):
    """The optional arguments of :class:`Model`'s methods; their meaning stands there."""

    parameters: Optional[Parameters]
    request_id: Optional[str]
    priority: int
    queue_timeout: Optional[float]
    sequence_id: Union[None, int, str]
    sequence_start: bool
    sequence_end: bool


def request_options(
    *,
    parameters: Optional[Parameters] = None,
    request_id: Optional[str] = None,
    priority: int = 0,
    queue_timeout: Optional[float] = None,
    sequence_id: Union[None, int, str] = None,
    sequence_start: bool = False,
    sequence_end: bool = False,
) -> Any:
    """The options as the native module takes them, all together, because most requests have none."""
    flags = 0
    if sequence_start:
        flags |= RequestFlag.SEQUENCE_START
    if sequence_end:
        flags |= RequestFlag.SEQUENCE_END
    return (
        request_id,
        None if parameters is None else dict(parameters),
        priority,
        0 if queue_timeout is None else max(round(queue_timeout * 1e6), 1),
        sequence_id,
        int(flags),
    )
