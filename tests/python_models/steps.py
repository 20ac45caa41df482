"""What a case consists of: requests and other things that are done to a server, as data."""

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
    """Requests over gRPC that are in flight at the same time; answers in the order of the requests."""

    requests: tuple[Infer, ...]


@dataclass(frozen=True)
class Stream:
    """One request on a stream of its own, and all its responses up to the final one.

    `only` is for those whose final response never comes: as many messages are read.
    """

    request: Infer
    only: int = 0


@dataclass(frozen=True)
class StreamsTogether:
    requests: tuple[Infer, ...]


@dataclass(frozen=True)
class Cancel:
    """A request that the client gives up as soon as the log holds `when`."""

    request: Infer
    when: str
    stream: bool = False


@dataclass(frozen=True)
class Load:
    """`config` (JSON) takes the place of config.pbtxt."""

    model: str
    config: str = ""


@dataclass(frozen=True)
class Unload:
    """Waits until it is gone."""

    model: str


@dataclass(frozen=True)
class Config:
    """These members of the completed configuration."""

    model: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class Ready:
    """Whether the model is ready; asked for some seconds until it is as `wanted`."""

    model: str
    wanted: bool


@dataclass(frozen=True)
class Log:
    """Lines of the log that hold `marker`, when there are as many (or some seconds have passed)."""

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
    """Steps that are taken one after the other. `original` is False for what only Nereid does, and
    `expected` then says what comes of it."""

    id: str
    steps: tuple[Step, ...]
    original: bool = True
    expected: tuple[Any, ...] = field(default=())

    def request_text(self) -> list[str]:
        """To see whether a stored answer is still that to this case."""
        return [repr(step) for step in self.steps]


# Models that ask others, and those.
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
    """All that it takes to answer, which are loaded before."""
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
