# SPDX-License-Identifier: Apache-2.0
"""Models that come and go, reports of the server, its log, and its ports."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import nereid_server
import numpy as np
import pytest
import tritonclient.grpc as grpc_client
from support.poll import poll_until

CONFIG = {
    "backend": "identity",
    "input": [{"name": "X", "data_type": "TYPE_INT32", "dims": [-1]}],
    "output": [{"name": "X", "data_type": "TYPE_INT32", "dims": [-1]}],
}


@pytest.fixture
def explicit(models: Path) -> Iterator[nereid_server.Server]:
    """A server without models that are loaded."""
    with nereid_server.Server(models, model_control_mode=nereid_server.ModelControlMode.EXPLICIT) as server:
        yield server


def states(server: nereid_server.Server, name: str) -> list[str]:
    return [entry.get("state", "") for entry in server.index() if entry["name"] == name]


def test_load_and_unload(explicit: nereid_server.Server) -> None:
    with pytest.raises(nereid_server.NotFoundError):
        explicit.model("two").is_ready()
    model = explicit.load("two")
    assert model.is_ready()
    assert [entry["name"] for entry in explicit.index(ready_only=True)] == ["two"]
    explicit.unload("two")
    poll_until("unloaded", lambda: states(explicit, "two") == ["UNAVAILABLE"])
    with pytest.raises(nereid_server.NotFoundError):
        model.infer({"INPUT0": [1.0], "INPUT1": [1.0]})


def test_load_with_a_configuration(explicit: nereid_server.Server) -> None:
    model = explicit.load("two", config=CONFIG)
    assert model.infer({"X": [3]})["X"].tolist() == [3]
    with pytest.raises(nereid_server.Error, match="(?i)backend"):
        explicit.load("two", config={**CONFIG, "backend": "nobody"})
    assert model.infer({"X": [4]})["X"].tolist() == [4]
    with pytest.raises(nereid_server.Error):
        explicit.load("two", config="no JSON")


def test_load_with_files(explicit: nereid_server.Server) -> None:
    model = explicit.load("uploaded", config=json.dumps(CONFIG), files={"1/weights": b"\0\1"})
    assert model.infer({"X": [5]})["X"].tolist() == [5]


def test_repositories_come_and_go(explicit: nereid_server.Server, models: Path) -> None:
    explicit.unregister_repository(models)
    assert explicit.index() == []
    explicit.register_repository(models, {"two": "deux"})
    assert explicit.load("deux").is_ready()


def test_poll(models: Path, tmp_path: Path) -> None:
    with nereid_server.Server(tmp_path, model_control_mode="poll") as server:
        assert server.index() == []
        (tmp_path / "late").symlink_to(models / "two")
        server.poll()
        assert server.model("late").is_ready()
    with nereid_server.Server({"two": models / "two"}) as server, pytest.raises(nereid_server.UnavailableError):
        server.poll()


def test_a_model_may_be_one_file(tmp_path: Path) -> None:
    code = "import triton_python_backend_utils as pb_utils\n"
    (tmp_path / "any_name.py").write_text(
        code
        + """
class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "X", "data_type": "TYPE_FP32", "dims": [-1]})
        config.add_output({"name": "Y", "data_type": "TYPE_FP32", "dims": [-1]})
        config.set_max_batch_size(0)
        return config

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [pb_utils.Tensor("Y", pb_utils.get_input_tensor_by_name(r, "X").as_numpy() * 2)]
            )
            for r in requests
        ]
"""
    )
    with nereid_server.Server({"double": tmp_path / "any_name.py"}) as server:
        assert server.model("double").infer({"X": [1, 2]})["Y"].tolist() == [2, 4]


def test_reports_of_the_server(server: nereid_server.Server) -> None:
    metadata = server.metadata()
    assert metadata["name"] == "nereid"
    assert "statistics" in metadata["extensions"]
    server.model("batched").infer({"INPUT0": np.zeros((2, 1), np.float32)})
    assert "batched" in [entry["name"] for entry in server.statistics()]
    metrics = server.metrics()
    assert metrics.value("nv_inference_count", model="batched", version="1") >= 2
    assert metrics.value("nv_inference_count", model="nobody") is None
    sample = metrics["nv_inference_count"][0]
    assert {"model", "version"} <= sample.labels.keys()
    assert "# HELP nv_inference_count" in server.metrics_text()


def test_metrics_are_parsed() -> None:
    metrics = nereid_server.Metrics('# HELP a b\na{x="1,\\"\\\\\\n}",y="2"} 1.5\na 2\nb +Inf 17\n')
    assert [sample.labels for sample in metrics["a"]] == [{"x": '1,"\\\n}', "y": "2"}, {}]
    assert metrics.value("a") == 3.5
    assert metrics.value("a", y="2") == 1.5
    assert metrics.value("b") == float("inf")
    assert sorted(metrics) == ["a", "b"]


def test_ports(models: Path) -> None:
    names = {"echo": models / "identity_fp32"}
    with nereid_server.Server(
        names,
        http_port=0,
        grpc_port=0,
        metrics_port=0,
        console_port=0,
        tfs_http_port=0,
        tfs_grpc_port=0,
        http_address="127.0.0.1",
        http_thread_count=1,
    ) as server:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.http_port}/v2/models/echo") as answer:
            assert json.load(answer)["name"] == "echo"
        with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics") as answer:
            assert b"nv_inference_count" in answer.read()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.console_port}/") as answer:
            assert b"console.js" in answer.read()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.tfs_http_port}/v1/models/echo") as answer:
            assert b"AVAILABLE" in answer.read()
        assert server.tfs_grpc_port not in (None, server.grpc_port)
        client = grpc_client.InferenceServerClient(f"127.0.0.1:{server.grpc_port}")
        tensor = grpc_client.InferInput("INPUT0", [1], "FP32")
        tensor.set_data_from_numpy(np.array([1.5], np.float32))
        assert client.infer("echo", [tensor]).as_numpy("OUTPUT0") == [1.5]
        client.close()
        with pytest.raises(nereid_server.UnavailableError, match="HTTP.*[Aa]ddress already in use|failed to start HTTP"):
            nereid_server.Server(names, http_port=server.http_port, http_address="127.0.0.1")
    with nereid_server.Server(names) as server:
        assert server.http_port is server.grpc_port is server.metrics_port is server.console_port is None
        assert server.tfs_http_port is server.tfs_grpc_port is None
    with pytest.raises(TypeError, match="no option 'http_prot'; did you mean 'http_port'"):
        nereid_server.Server(names, http_prot=0)
    with pytest.raises(nereid_server.InvalidArgumentError, match="http-port"):
        nereid_server.Server(names, http_port="first")
