# SPDX-License-Identifier: Apache-2.0
"""Builds the HTTP requests of the differential test."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from differential.cases import HttpCase

LENGTH_HEADER = "Inference-Header-Content-Length"


def tensor(
    datatype: str, shape: Sequence[int], data: Any = None, name: str = "INPUT0", **members: Any
) -> dict[str, Any]:
    """One input of a request document; `data` None leaves the member out."""
    document = {"name": name, "shape": list(shape), "datatype": datatype, **members}
    return document if data is None else {**document, "data": data}


def binary_tensor(
    datatype: str, shape: Sequence[int], size: int, name: str = "INPUT0"
) -> dict[str, Any]:
    return tensor(datatype, shape, name=name, parameters={"binary_data_size": size})


def output(name: str = "OUTPUT0", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": parameters} if parameters else {"name": name}


def encode(document: Any) -> bytes:
    return document if isinstance(document, bytes) else json.dumps(document).encode()


def infer_path(model: str) -> str:
    return f"/v2/models/{model}/infer"


def infer(
    case: str,
    model: str,
    inputs: Sequence[Mapping[str, Any]],
    headers: Sequence[tuple[str, str]] = (),
    **members: Any,
) -> HttpCase:
    """An inference request in JSON only."""
    body = encode({**members, "inputs": list(inputs)})
    return HttpCase(case, "POST", infer_path(model), body, headers)


def infer_binary(
    case: str,
    model: str,
    inputs: Sequence[Mapping[str, Any]],
    tail: bytes,
    header_length: str | None = None,
    **members: Any,
) -> HttpCase:
    """An inference request with tensors after the JSON part; `header_length` falsifies its size."""
    head = encode({**members, "inputs": list(inputs)})
    length = header_length if header_length is not None else str(len(head))
    return HttpCase(case, "POST", infer_path(model), head + tail, [(LENGTH_HEADER, length)])


def infer_raw(case: str, model: str, body: bytes) -> HttpCase:
    """A request whose whole body is the model's single input."""
    return HttpCase(case, "POST", infer_path(model), body, [(LENGTH_HEADER, "0")])


def infer_text(case: str, model: str, text: bytes | str) -> HttpCase:
    """An inference request whose body is this text, JSON or not."""
    body = text.encode() if isinstance(text, str) else text
    return HttpCase(case, "POST", infer_path(model), body)


def get(case: str, path: str) -> HttpCase:
    return HttpCase(case, "GET", path)


def strings(*elements: bytes) -> bytes:
    """BYTES elements in the form of binary tensor data."""
    return b"".join(struct.pack("<I", len(one)) + one for one in elements)


FLOATS = struct.pack("<3f", 1.5, -2.25, 0.1)
HALVES = struct.pack("<2e", 1.5, -2.25)
BFLOATS = bytes.fromhex("c03f10c0")
FP32_INPUT = tensor("FP32", [3], [1.5, -2.25, 0.1])
# An image of 8 by 8 pixels from 0 to 16, as the digits models take it.
PIXELS = [float(number * 7 % 17) for number in range(64)]
SCORES = [[0.1, 0.7, 0.05, 0.15], [4, 3, 2, 1]]
