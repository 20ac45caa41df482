# SPDX-License-Identifier: Apache-2.0
"""Answers as plain values, without parts that differ between runs: paths, process ids,
addresses."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from tritonclient.utils import InferenceServerException

LONGEST = 50  # longest stream whose messages are all listed
FINAL = "triton_final_response"

_LOG_HEAD = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (\S+?):(\d+)\] *")
_PATTERNS = (
    # Removes frames of Python's import system and of the backend's own module.
    (
        re.compile(r"  (?:<frozen importlib|\S*/importlib/|\S*/triton_python_backend_utils).*\n"),
        "",
    ),
    (re.compile(r"\n\nAt:\n(?!  )"), ""),
    (re.compile(r"0x[0-9a-f]{6,}"), "<address>"),
    (re.compile(r"/tmp/(?:folder|nereid_model_)\w+"), "<temporary>"),
    (re.compile(r"\bpid \d+"), "pid <number>"),
)


class Normaliser:
    """Immutable."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        """The paths of `folders` are replaced by their names."""
        # The longest path first, because a folder may contain another.
        ordered = sorted(folders.items(), key=lambda item: -len(str(item[1])))
        self._folders = [(str(path), f"<{name}>") for name, path in ordered]

    def apply(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._text(str(key)): self.apply(one) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.apply(one) for one in value]
        return value

    def _text(self, text: str) -> str:
        for path, name in self._folders:
            text = text.replace(path, name)
        for pattern, name in _PATTERNS:
            text = pattern.sub(name, text)
        return text

    def log_line(self, line: str) -> str:
        """Severity, file and text; for text that a model has printed, only the text."""
        head = _LOG_HEAD.match(line)
        if head is None:
            return line
        text = line[head.end() :].strip().strip('"')
        return f"{head[1]} {head[2]}:{head[3]} {text}"


def _value(one: Any) -> Any:
    """An element as JSON has it; floats as text, so that all their digits are compared."""
    if isinstance(one, bytes):
        return one.decode("utf-8", errors="backslashreplace")
    if isinstance(one, float):
        return repr(one)
    return one


def tensor_answer(datatype: str, shape: list[int], array: np.ndarray | None) -> dict[str, Any]:
    """A tensor as plain values. An element that is a JSON document is parsed."""
    data = [] if array is None else [_value(one) for one in array.ravel().tolist()]
    if datatype == "BF16" and array is not None:
        data = [float(one) for one in array.ravel()]
    if len(data) == 1 and isinstance(data[0], str) and data[0][:1] in ("{", "[", '"'):
        try:
            data = json.loads(data[0])
        except ValueError:
            pass
    return {"type": datatype, "shape": shape, "data": data}


def error_answer(error: InferenceServerException) -> dict[str, Any]:
    return {"status": str(error.status()), "error": error.message()}


def http_answer(result: http_client.InferResult) -> dict[str, Any]:
    document = result.get_response()
    outputs = {
        output["name"]: tensor_answer(
            output["datatype"], output["shape"], result.as_numpy(output["name"])
        )
        for output in document.get("outputs", [])
    }
    return _answer(document.get("id", ""), document.get("parameters", {}), outputs)


def grpc_answer(response: Any) -> dict[str, Any]:
    result = grpc_client.InferResult(response)
    outputs = {
        output.name: tensor_answer(
            output.datatype, list(output.shape), result.as_numpy(output.name)
        )
        for output in response.outputs
    }
    parameters = {
        name: getattr(value, value.WhichOneof("parameter_choice"))
        for name, value in response.parameters.items()
    }
    return _answer(response.id, parameters, outputs)


def _answer(id: str, parameters: Mapping[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"outputs": outputs}
    if id:
        found["id"] = id
    if parameters:
        found["parameters"] = dict(sorted(parameters.items()))
    return found


def shortened(messages: list[Any]) -> list[Any]:
    """The messages; for a long stream, those at both ends and a checksum of the others."""
    if len(messages) <= LONGEST:
        return messages
    middle = json.dumps(messages[2:-2], sort_keys=True).encode()
    summary = {"more": len(messages) - 4, "sha256": hashlib.sha256(middle).hexdigest()}
    return [*messages[:2], summary, *messages[-2:]]


def message_answer(message: Any) -> dict[str, Any]:
    """A message of a stream."""
    found = grpc_answer(message.infer_response)
    final = found.get("parameters", {}).pop(FINAL, False)
    if not found.get("parameters"):
        found.pop("parameters", None)
    if message.error_message:
        found = {"error": message.error_message}
    if final:
        found["final"] = True
    return found
