# SPDX-License-Identifier: Apache-2.0
"""The parts of a case, as data: requests, and other actions on a server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

GRPC, HTTP = "grpc", "http"


@dataclass(frozen=True)
class Tensor:
    """An input. Values of BF16 are floats, those of BYTES str or bytes."""

    name: str
    datatype: str
    shape: tuple[int, ...]
    values: tuple[Any, ...]


def tensor(
    name: str, datatype: str, values: Sequence[Any], shape: Sequence[int] | None = None
) -> Tensor:
    return Tensor(name, datatype, tuple([len(values)] if shape is None else shape), tuple(values))


def text(name: str, *values: str | bytes) -> Tensor:
    return tensor(name, "BYTES", values)


def int32(name: str, *values: int) -> Tensor:
    return tensor(name, "INT32", values)


def fp32(name: str, *values: float) -> Tensor:
    return tensor(name, "FP32", values)


@dataclass(frozen=True)
class Infer:
    """One request with one answer."""

    model: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[str, ...] = ()
    id: str = ""
    version: str = ""
    sequence: int | str = 0
    start: bool = False
    end: bool = False
    priority: int = 0
    timeout: int | None = None
    parameters: tuple[tuple[str, Any], ...] = ()
    protocol: str = GRPC


@dataclass(frozen=True)
class Together:
    """Requests over gRPC that are in flight at the same time; answers in the order of the
    requests."""

    requests: tuple[Infer, ...]


@dataclass(frozen=True)
class Stream:
    """One request on a separate stream, and all its responses up to the final one.

    `only` is for those whose final response never comes: as many messages are read.
    """

    request: Infer
    only: int = 0


@dataclass(frozen=True)
class StreamsTogether:
    requests: tuple[Infer, ...]


@dataclass(frozen=True)
class Cancel:
    """A request that the client cancels as soon as the log contains `when`."""

    request: Infer
    when: str
    stream: bool = False


@dataclass(frozen=True)
class Load:
    """Loads a model; `config` (JSON) replaces config.pbtxt."""

    model: str
    config: str = ""


@dataclass(frozen=True)
class Unload:
    """Unloads a model, and waits until it is unloaded."""

    model: str


@dataclass(frozen=True)
class Config:
    """Reads these members of the completed configuration."""

    model: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Ready:
    """Whether the model is ready; polled for some seconds until the result is `wanted`."""

    model: str
    wanted: bool


@dataclass(frozen=True)
class Log:
    """Log lines that contain `marker`, read when there are enough, or after some seconds."""

    marker: str
    count: int
    ordered: bool = True
    bare: bool = False  # from the marker on


@dataclass(frozen=True)
class Metrics:
    """Lines of the metrics page that begin with this."""

    prefix: str


Step = (
    Infer | Together | Stream | StreamsTogether | Cancel
    | Load | Unload | Config | Ready | Log | Metrics
)


@dataclass(frozen=True)
class Case:
    """Steps that are run one after the other. `original` is False for features that only Nereid
    has; `expected` then contains the right answers."""

    id: str
    steps: tuple[Step, ...]
    original: bool = True
    expected: tuple[Any, ...] = field(default=())

    def request_text(self) -> list[str]:
        """The case as text, to detect that a stored answer belongs to an older version of it."""
        return [repr(step) for step in self.steps]


# Models that call other models, with the called ones.
_ASKED = {
    "pipeline": ("add_sub",),
    "bls_exec": ("add_sub", "pipeline"),
    "bls_async": ("add_sub",),
    "bls_background": ("add_sub",),
    "bls_decoupled": ("add_sub", "repeat_numbers"),
    "bls_decoupled_async": ("repeat_numbers",),
    "bls_sequence": ("sequence_sum",),
    "bls_errors": ("add_sub", "execute_fails", "error_codes", "sequence_sum"),
    "bls_codes": ("error_codes",),
    "bls_information": ("information",),
    "control": ("add_sub",),
}


def models_of(case: Case) -> set[str]:
    """All models that the case needs, which are loaded before it."""
    found = set()
    for step in case.steps:
        requests = getattr(step, "requests", None) or [getattr(step, "request", step)]
        found |= {one.model for one in requests if hasattr(one, "model")}
    return found | {asked for model in found for asked in _ASKED.get(model, ())}


def over_http(*steps: Infer) -> tuple[Infer, ...]:
    return tuple(replace(step, protocol=HTTP) for step in steps)


def both(id: str, *steps: Infer) -> tuple[Case, Case]:
    """The same requests over gRPC and over HTTP."""
    return Case(f"{id}-{GRPC}", steps), Case(f"{id}-{HTTP}", over_http(*steps))


def config(model_config: dict[str, Any]) -> str:
    return json.dumps(model_config)
