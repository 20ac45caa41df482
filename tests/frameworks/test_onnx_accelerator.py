# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime with OpenVINO as its execution accelerator: a plug-in for Intel's processors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tritonclient.grpc

from conftest import ServerFactory
from frameworks.openvino_networks import save_mlp
from support.model_control import index
from support.repository import ModelRepository
from support.stage import backend_directory

PLUGIN = backend_directory() / "openvino" / "libonnxruntime_providers_openvino_plugin.so"
ACCELERATED = (
    'backend: "onnxruntime"\nmax_batch_size: 8\n'
    'optimization { execution_accelerators { cpu_execution_accelerator [ { name: "openvino" } ] } }\n'
)

pytestmark = pytest.mark.skipif(
    not PLUGIN.exists(), reason="the plug-in is not staged: make stage BACKENDS=openvino"
)


def test_a_model_is_accelerated_or_says_what_hinders(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model = model_repository.add("accelerated", ACCELERATED) / "1" / "model.onnx"
    save_mlp(model)
    save_mlp(model_repository.add("plain", 'backend: "onnxruntime"\n') / "1" / "model.onnx")
    server = server_factory(
        model_repository, "--exit-on-error=false", wait_for="/v2/models/plain/ready"
    )
    state, reason = index(server)["accelerated", "1"]
    if "GenuineIntel" not in Path("/proc/cpuinfo").read_text():
        assert "the execution accelerator 'openvino' offers no device for this processor" in reason
        return
    assert state == "READY", reason
    values = np.random.default_rng(1).standard_normal((3, 64), np.float32)
    expected = onnxruntime.InferenceSession(str(model)).run(None, {"X": values})[0]
    tensor = tritonclient.grpc.InferInput("X", [3, 64], "FP32")
    tensor.set_data_from_numpy(values)
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        answer = client.infer("accelerated", [tensor]).as_numpy("Y")
    # Processors with AMX or AVX512-BF16 compute in BF16, which keeps 8 bits of a value.
    np.testing.assert_allclose(answer, expected, rtol=0.05, atol=0.1)
