# SPDX-License-Identifier: Apache-2.0
"""Writes the model repository in which served functions are models of the backend python."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import cloudpickle

from .function import FunctionModel
from .tensor_spec import TensorSpec

PICKLE = "function.pickle"
PLACE = "place.json"

# Python puts what lies beside model.py first; the packages of the calling program come behind.
_MODEL_FILE = '''"""Made by nereid_server.serve."""

import json
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(_here, "place.json"), encoding="utf-8") as _file:
    sys.path += [folder for folder in json.load(_file)["path"] if folder not in sys.path]

from nereid_server.functions.worker import TritonPythonModel  # noqa: E402,F401
'''


def write_repository(folder: Path, models: Sequence[FunctionModel]) -> None:
    """Writes a model for each function into the empty `folder`. ValueError if two have the same name,
    TypeError if a function cannot be sent to another process."""
    for model in models:
        version = folder / model.name / "1"
        try:
            version.mkdir(parents=True)
        except FileExistsError:
            raise ValueError(
                f"two functions are called '{model.name}'; give one another name by nereid_server.function(name=...)"
            ) from None
        (folder / model.name / "config.pbtxt").write_text(config_text(model), encoding="utf-8")
        (version / "model.py").write_text(_MODEL_FILE, encoding="utf-8")
        (version / PICKLE).write_bytes(_pickled(model))
        place = {"path": [os.path.abspath(entry) for entry in sys.path]}
        (version / PLACE).write_text(json.dumps(place), encoding="utf-8")


def _pickled(model: FunctionModel) -> bytes:
    """By value what is defined in the program itself or at a prompt, otherwise the name of its module."""
    try:
        return cloudpickle.dumps(model)
    except Exception as error:
        raise TypeError(
            f"'{model.name}' cannot be sent to the processes that run it, because something that it uses cannot be "
            f"pickled ({type(error).__name__}: {error}). Make such things in the setup() of a class, "
            "which runs in each of the processes"
        ) from error


def config_text(model: FunctionModel) -> str:
    """The model's config.pbtxt."""
    lines = [
        f"name: {_quoted(model.name)}",
        'backend: "python"',
        f"max_batch_size: {model.max_batch_size}",
        *(f"input {{ {_tensor(*item, optional=item[0] in model.optional)} }}" for item in model.inputs.items()),
        *(f"output {{ {_tensor(*item)} }}" for item in model.outputs.items()),
        f"instance_group {{ kind: KIND_CPU count: {model.instances} }}",
    ]
    if model.max_batch_size > 0:
        lines.append(f"dynamic_batching {{ max_queue_delay_microseconds: {model.max_delay_us} }}")
    if model.streams:
        lines.append("model_transaction_policy { decoupled: true }")
    return "\n".join(lines) + "\n"


def _tensor(name: str, spec: TensorSpec, optional: bool = False) -> str:
    data_type = "STRING" if spec.data_type == "BYTES" else spec.data_type
    text = f"name: {_quoted(name)} data_type: TYPE_{data_type} dims: {list(spec.shape)}"
    return text + " optional: true" if optional else text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
