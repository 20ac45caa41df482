# SPDX-License-Identifier: Apache-2.0
"""What a model cannot have here, because the server computes on CPUs, is refused or named in the
log (docs/protocol/differences.tsv)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support import raw_http
from support.infer import echo
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess

NOT_SUPPORTED = (
    "'{field}' is not supported by this server for {model} ({field}: it is for TensorRT, whose models "
    "this server does not run; remove it, and serve the model in another format, such as ONNX)"
)
PLAN = """platform: "tensorrt_plan"
input { name: "INPUT0" data_type: TYPE_FP32 dims: 1 }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 1 }
"""
OPTIMIZATION = """optimization {
  priority: PRIORITY_MAX
  cuda { graphs: true }
  input_pinned_memory { enable: true }
  output_pinned_memory { enable: true }
  gather_kernel_buffer_threshold: 1
}
"""
OPTIMIZATION_FIELDS = (
    "priority",
    "cuda",
    "input_pinned_memory",
    "output_pinned_memory",
    "gather_kernel_buffer_threshold",
)
# Fields that only TensorRT uses; their models are named after them.
TENSORRT_FIELDS = {
    "is_shape_tensor": "input[0].is_shape_tensor",
    "is_non_linear_format_io": "input[0].is_non_linear_format_io",
    "profile": "instance_group[0].profile",
    "secondary_devices": "instance_group[0].secondary_devices",
}


def add_tensorrt_models(models: ModelRepository) -> None:
    input_ = 'input { name: "INPUT0" data_type: TYPE_FP32 dims: 1'
    rest = PLAN.replace('input { name: "INPUT0" data_type: TYPE_FP32 dims: 1 }\n', "")
    for field in ("is_shape_tensor", "is_non_linear_format_io"):
        models.add(field, f"{rest}{input_} {field}: true }}")
    models.add("profile", PLAN + 'instance_group { profile: "0" }')
    models.add("secondary_devices", PLAN + "instance_group { secondary_devices { } }")
    models.add("plan", PLAN)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("without_gpus")
    models = ModelRepository(folder / "models")
    models.add_identity("auto", extra="instance_group { count: 2 }")
    models.add_identity("kind", extra="instance_group { kind: KIND_GPU }")
    models.add_identity("gpus", extra="instance_group { gpus: [ 0 ] }")
    models.add_identity("optimized", extra=OPTIMIZATION)
    add_tensorrt_models(models)
    server = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


def reason(server: ServerProcess, model: str) -> str:
    """Why the model is not served."""
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    (entry,) = [entry for entry in index if entry["name"] == model]
    assert entry["state"] == "UNAVAILABLE"
    return str(entry["reason"])


def test_instances_on_gpus(server: ServerProcess) -> None:
    """An instance group that leaves it to the server is on CPUs."""
    no_gpus = "model kind has kind KIND_GPU but no GPUs are available"
    assert no_gpus in reason(server, "kind")
    assert "(instance_group[0].gpus: remove it)" in reason(server, "gpus")
    config = raw_http.get(server.http_url, "/v2/models/auto/config").json()
    (group,) = config["instance_group"]
    assert (group["kind"], group["count"], group["gpus"]) == ("KIND_CPU", 2, [])


@pytest.mark.parametrize("model", TENSORRT_FIELDS)
def test_fields_of_tensorrt(server: ServerProcess, model: str) -> None:
    expected = NOT_SUPPORTED.format(field=TENSORRT_FIELDS[model], model=model)
    assert expected in reason(server, model)


def test_a_plan_of_tensorrt(server: ServerProcess) -> None:
    assert "unable to find backend library for backend 'tensorrt'" in reason(server, "plan")


def test_optimization_for_gpus(server: ServerProcess) -> None:
    """The model is served, and the log names each field."""
    assert echo(server.http_url, "optimized").status == 200
    lines = [line for line in server.log_text().splitlines() if "has no effect" in line]
    for field in OPTIMIZATION_FIELDS:
        text = f"model 'optimized': 'optimization.{field}' has no effect on this server"
        assert sum(text in line for line in lines) == 1, lines
