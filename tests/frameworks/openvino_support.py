# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the OpenVINO backend's tests: repositories, requests, the runtime alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import tritonclient.grpc
import tritonclient.http

from frameworks import openvino_networks as networks
from support.repository import ModelRepository, parameters_text
from support.server_process import ServerProcess

# Fixed, so that server and runtime compute the same; the default depends on the processor.
F32 = {"INFERENCE_PRECISION_HINT": "f32"}

Tensors = Mapping[str, np.ndarray]


def config_text(text: str = "", parameters: Mapping[str, str] | None = None) -> str:
    chosen = F32 if parameters is None else parameters
    return f'backend: "openvino"\n{text}\n{parameters_text(chosen)}'


def add_ir(
    repository: ModelRepository,
    name: str,
    model: Any,
    text: str = "",
    parameters: Mapping[str, str] | None = None,
) -> Path:
    """Adds a model from an openvino.Model, or from the ONNX file at a path."""
    folder = repository.add(name, config_text(text, parameters))
    target = folder / "1" / "model.xml"
    if isinstance(model, Path):
        networks.onnx_to_ir(model, target)
    else:
        networks.save_ir(model, target)
    return folder


class Alone:
    """A model file in the runtime, without a server. By default FP32 is computed in f32."""

    def __init__(self, path: Path, **properties: Any) -> None:
        self._runtime = networks.import_openvino()
        chosen = {"INFERENCE_PRECISION_HINT": "f32", **properties}
        self._request = self._runtime.Core().compile_model(str(path), "CPU", chosen).create_infer_request()

    def __call__(self, inputs: Tensors) -> dict[str, np.ndarray]:
        results = self._request.infer(dict(inputs))
        return {port.get_any_name(): np.array(value) for port, value in results.items()}


def datatype_of(value: np.ndarray) -> str:
    if value.dtype == ml_dtypes.bfloat16:
        return "BF16"
    if value.dtype == object:
        return "BYTES"
    kind = {"f": "FP", "i": "INT", "u": "UINT", "b": "BOOL"}[value.dtype.kind]
    return kind if kind == "BOOL" else f"{kind}{value.dtype.itemsize * 8}"


class Client:
    """The official client of one protocol. Used by the thread that creates it."""

    def __init__(self, server: ServerProcess, protocol: str) -> None:
        self._module = tritonclient.http if protocol == "http" else tritonclient.grpc
        url = server.http_url if protocol == "http" else server.grpc_url
        address = url.removeprefix("http://")
        self._client = self._module.InferenceServerClient(address)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def infer(self, model: str, inputs: Tensors, **options: Any) -> dict[str, np.ndarray]:
        tensors = []
        for name, value in inputs.items():
            datatype = datatype_of(value)
            tensor = self._module.InferInput(name, list(value.shape), datatype)
            tensor.set_data_from_numpy(value)
            tensors.append(tensor)
        result = self._client.infer(model, tensors, **options)
        response = result.get_response()
        outputs = response["outputs"] if isinstance(response, dict) else response.outputs
        names = [one["name"] if isinstance(one, dict) else one.name for one in outputs]
        return {name: result.as_numpy(name) for name in names}
