# SPDX-License-Identifier: Apache-2.0
"""Where models run on a machine with GPUs, which a driver of the tests simulates."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.gpus import (
    NONE_AVAILABLE,
    PLACES,
    UUIDS,
    add_groups,
    add_testing,
    places_in,
    simulated_gpus,
)
from support.infer import assert_serving, echo, echo_document
from support.metrics import metric, read_metrics
from support.nereid import INTERPRETER, start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import server_binary

def config(server: ServerProcess, model: str) -> list[tuple[str, str, int, list[int]]]:
    groups = raw_http.get(server.http_url, f"/v2/models/{model}/config").json()["instance_group"]
    return [(group["name"], group["kind"], group["count"], group["gpus"]) for group in groups]


def reasons(server: ServerProcess) -> dict[str, str]:
    """Why models are not served."""
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    return {entry["name"]: entry["reason"] for entry in index if entry["state"] != "READY"}


@pytest.fixture(scope="module", params=PLACES)
def placed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, ServerProcess]]:
    """The number of GPUs, and a server with them and with all models."""
    gpus: int = request.param
    folder = tmp_path_factory.mktemp(f"gpus{gpus}")
    models = ModelRepository(folder / "models")
    add_groups(models)
    models.add_identity("here", extra="instance_group { count: 2 }")
    models.add_identity("never", extra="instance_group { kind: KIND_GPU }")
    server = start_nereid(
        models.root, folder / "log", ["--exit-on-error=false"], simulated_gpus(gpus)
    )
    try:
        server.wait_for("/v2/health/live")
        yield gpus, server
    finally:
        server.stop()


def test_instances_are_where_their_groups_say(placed: tuple[int, ServerProcess]) -> None:
    gpus, server = placed
    found = places_in(server.log_text())
    why = reasons(server)
    for model, expected in PLACES[gpus].items():
        if isinstance(expected, str):
            assert expected in why[model], model
            assert model not in found
        else:
            assert model not in why, why[model]
            assert sorted(found[model]) == sorted(expected), model


def test_a_configuration_names_the_gpus(placed: tuple[int, ServerProcess]) -> None:
    gpus, server = placed
    numbers = list(range(gpus))
    kind = "KIND_GPU" if gpus else "KIND_CPU"
    assert config(server, "open") == [("open", kind, 1, numbers)]
    assert config(server, "auto") == [("auto_0", kind, 1, numbers)]


def test_a_backend_without_code_for_gpus_stays_on_the_cpu(
    placed: tuple[int, ServerProcess],
) -> None:
    """And the log says for each model where it runs, and why."""
    gpus, server = placed
    assert config(server, "here") == [("here_0", "KIND_CPU", 2, [])]
    assert_serving(server.http_url, "here")
    on_cpus = "backend 'identity' computes on CPUs"
    assert (f"KIND_GPU but {on_cpus}" if gpus else NONE_AVAILABLE) in reasons(server)["never"]
    lines = [line for line in server.log_text().splitlines() if "instance group" in line]
    why = [line for line in lines if " runs " in line]
    if gpus == 0:
        assert not why
        return
    assert any(f"here_0 of model here runs on the CPU: {on_cpus}" in line for line in why)
    on_all = "on GPU 0" if gpus == 1 else "on each of the GPUs 0, 1, 2"
    assert any(f"open of model open runs {on_all} with 1 instance" in line for line in why)


@pytest.mark.parametrize("gpus", PLACES)
def test_the_check_knows_it_beforehand(tmp_path: Path, gpus: int) -> None:
    models = ModelRepository(tmp_path / "models")
    add_groups(models)
    models.add_identity("here")
    command = [str(server_binary()), "check", "--json", f"--gpus={gpus}", str(models.root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    told = {model["name"]: model for model in json.loads(done.stdout)["models"]}
    for model, expected in PLACES[gpus].items():
        problems = [problem["text"] for problem in told[model]["problems"]]
        if isinstance(expected, str):
            assert any(expected in problem for problem in problems), (model, problems)
        else:
            assert not problems, (model, problems)
            on = re.findall(r"runs (on the CPU|on GPU|on each|where)", str(told[model]["notes"]))
            assert bool(on) == (gpus > 0), model
            assert ("on GPU" in on or "on each" in on) == any("on GPU" in place for place in expected)
    on_cpus = "runs on the CPU: backend 'identity' computes on CPUs"
    assert (on_cpus in str(told["here"]["notes"])) == (gpus > 0)


def test_the_server_names_its_gpus(placed: tuple[int, ServerProcess]) -> None:
    gpus, server = placed
    lines = re.findall(r"GPU (\d) is used: [^,]+, (GPU-[0-9a-f-]+), compute", server.log_text())
    assert lines == [(str(i), UUIDS[i]) for i in range(gpus)]


def test_the_gpus_of_the_environment_are_used(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """CUDA_VISIBLE_DEVICES names them, and they are numbered anew."""
    add_testing(model_repository, "m", "places")
    env = {**simulated_gpus(3), "CUDA_VISIBLE_DEVICES": UUIDS[2]}
    server = server_factory(model_repository, env=env)
    assert config(server, "m") == [("m", "KIND_GPU", 1, [0])]
    assert f"GPU 0 is used: Simulated GPU, {UUIDS[2]}," in server.log_text()


TELLS_ITS_PLACE = """import numpy
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.device = int(args["model_instance_device_id"])
        assert args["model_instance_kind"] == "GPU", args

    def execute(self, requests):
        told = pb_utils.Tensor("OUTPUT0", numpy.array([self.device], dtype=numpy.float32))
        return [pb_utils.InferenceResponse([told]) for _ in requests]
"""


def test_a_python_model_is_told_its_gpu(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    groups = "instance_group { gpus: [ 1 ] }"
    folder = model_repository.add_identity("m", extra=groups, backend="python")
    (folder / "1" / "model.py").write_text(TELLS_ITS_PLACE)
    server = server_factory(model_repository, INTERPRETER, env=simulated_gpus(2))
    assert echo(server.http_url, "m").json()["outputs"][0]["data"] == [1.0]


def test_old_gpus_are_not_used(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(model_repository, "m", "places")
    options = ("--min-supported-compute-capability=900.0", "--pinned-memory-pool-byte-size=1")
    server = server_factory(model_repository, *options, env=simulated_gpus(1))
    assert config(server, "m") == [("m", "KIND_CPU", 1, [])]
    log = server.log_text()
    assert "is not used: its compute capability is 9.0, and --min-supported-compute" in log
    assert "because no GPU is used: --pinned-memory-pool-byte-size" in log


def test_a_driver_that_does_not_start_is_named(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(model_repository, "m", "places")
    server = server_factory(model_repository, env=simulated_gpus(1, init="803"))
    assert config(server, "m") == [("m", "KIND_CPU", 1, [])]
    assert re.search(r"W\d{4} .*CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", server.log_text())


def test_tensors_go_through_a_gpu_and_nothing_stays_there(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    add_testing(model_repository, "last", "gpu_identity", "instance_group { gpus: [ 2 ] }")
    add_testing(model_repository, "all", "gpu_identity")
    env = simulated_gpus(3, state=tmp_path / "state", seed="7")
    server = server_factory(model_repository, env=env)
    answer = echo(server.http_url, "last", (1.5, -2.0, 3.0)).json()
    assert answer["outputs"][0]["data"] == [1.5, -2.0, 3.0]
    assert answer["parameters"]["gpu"] == 2
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: echo(server.http_url, "all", [float(i)] * 9), range(64)))
    for i, each in enumerate(answers):
        assert each.json()["outputs"][0]["data"] == [float(i)] * 9
    used = metric(server.metrics_url, "nereid_gpu_memory_pool_used_bytes")
    assert (used, metric(server.metrics_url, "nv_pinned_memory_pool_used_bytes")) == (0, 0)
    server.stop()
    state = dict(line.split() for line in (tmp_path / "state").read_text().splitlines())
    assert (state["alive"], state["early_frees"], state["copies"]) == ("0", "0", str(65 * 3))


def left_on_gpus(path: Path) -> dict[str, int]:
    """What the simulated driver says when its process has ended."""
    lines = (line.split() for line in path.read_text().splitlines())
    return {name: int(number) for name, number in lines}


def test_a_batch_costs_one_wait(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    """And a copy each way, with one on the GPU between them."""
    add_testing(model_repository, "m", "gpu_batches", "instance_group { gpus: [ 1 ] }")
    env = simulated_gpus(2, state=tmp_path / "state", seed="5")
    server = server_factory(model_repository, env=env)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: echo(server.http_url, "m", [float(i)] * 9), range(64)))
    for i, each in enumerate(answers):
        assert each.json()["outputs"][0]["data"] == [float(i)] * 9
        assert each.json()["parameters"]["slot"] in (0, 1)
    server.stop()
    left = left_on_gpus(tmp_path / "state")
    assert (left["alive"], left["early_frees"]) == (0, 0)
    assert (left["waits"], left["copies"]) == (64, 3 * 64)


def test_requests_of_a_batch_are_copied_together(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    parameters = {"behaviour": "gpu_batches"}
    batching = "max_queue_delay_microseconds: 10000000 preferred_batch_size: [ 8 ]"
    extra = f"instance_group {{ gpus: [ 0 ] }} dynamic_batching {{ {batching} }}"
    model_repository.add_identity(
        "m", "FP32", (4,), 8, extra=extra, parameters=parameters, backend="testing"
    )
    server = server_factory(model_repository, env=simulated_gpus(1, state=tmp_path / "state"))

    def ask(number: int) -> list[float]:
        document = {
            "inputs": [
                {
                    "name": "INPUT0",
                    "datatype": "FP32",
                    "shape": [1, 4],
                    "data": [float(number)] * 4,
                }
            ]
        }
        answer = raw_http.post_json(server.http_url, "/v2/models/m/infer", document)
        return answer.json()["outputs"][0]["data"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [[float(i)] * 4 for i in range(8)]
    server.stop()
    left = left_on_gpus(tmp_path / "state")
    assert left["waits"] == 1
    assert left["copies"] == 1 + 1 + 8, "one copy for all inputs, one for each output"


def test_a_failed_batch_is_an_error_of_its_requests(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    add_testing(model_repository, "m", "gpu_batches", "instance_group { gpus: [ 0 ] }")
    env = simulated_gpus(1, state=tmp_path / "state", faults="cuMemcpyAsync:4:1")
    server = server_factory(model_repository, env=env)
    statuses = [echo(server.http_url, "m").status for _ in range(3)]
    assert statuses == [200, 400, 200]
    server.stop()
    assert left_on_gpus(tmp_path / "state")["alive"] == 0


def test_an_instance_on_a_cpu_has_no_streams(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(model_repository, "m", "gpu_batches", "instance_group { kind: KIND_CPU }")
    server = server_factory(model_repository, env=simulated_gpus(1))
    answer = echo(server.http_url, "m")
    assert answer.status == 400
    assert answer.error() == "instance 'm_0_0' has no GPU: its kind is not KIND_GPU"


STATEFUL = """
sequence_batching {
  state {
    input_name: "STATE_IN" output_name: "STATE_OUT" data_type: TYPE_FP32 dims: [ 3 ]
    use_same_buffer_for_input_output: %s
  }
}
instance_group { gpus: [ 0 ] }
"""


@pytest.mark.parametrize("same_buffer", ["false", "true", "true use_growable_memory: true"])
def test_a_state_stays_on_the_gpu(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    tmp_path: Path,
    same_buffer: str,
) -> None:
    model_repository.add_identity(
        "m",
        "FP32",
        (3,),
        extra=STATEFUL % same_buffer,
        parameters={"behaviour": "gpu_batches"},
        backend="testing",
    )
    server = server_factory(
        model_repository,
        "--cuda-virtual-address-size=0:4194304",
        env=simulated_gpus(1, state=tmp_path / "state", seed="3"),
    )

    def step(sequence: int, values: list[float], **more: bool) -> tuple[list[float], bool]:
        document = echo_document(values, parameters={"sequence_id": sequence, **more})
        answer = raw_http.post_json(server.http_url, "/v2/models/m/infer", document).json()
        return answer["outputs"][0]["data"], answer["parameters"]["state_on_gpu"]

    for sequence in (1, 2):
        first = [float(sequence)] * 3
        assert step(sequence, first, sequence_start=True) == ([0.0] * 3, False)
        assert step(sequence, [5.0, 6.0, 7.0]) == (first, True)
        assert step(sequence, [8.0] * 3) == ([5.0, 6.0, 7.0], True)
        assert step(sequence, [9.0] * 3, sequence_end=True) == ([8.0] * 3, True)
    server.stop()
    left = left_on_gpus(tmp_path / "state")
    assert (left["alive"], left["early_frees"]) == (0, 0)


def test_a_state_that_grows_is_refused_without_room(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    """And the model serves on, with the state that it had."""
    model_repository.add_identity(
        "m",
        "FP32",
        (3,),
        extra=STATEFUL % "true use_growable_memory: true",
        parameters={"behaviour": "gpu_batches"},
        backend="testing",
    )
    server = server_factory(
        model_repository,
        "--cuda-virtual-address-size=0:8",
        env=simulated_gpus(1, state=tmp_path / "state"),
    )
    document = echo_document([1.0] * 3, parameters={"sequence_id": 1, "sequence_start": True})
    answer = raw_http.post_json(server.http_url, "/v2/models/m/infer", document)
    assert answer.error() == (
        "memory of GPU 0 cannot grow to 12 bytes where it is: --cuda-virtual-address-size "
        "reserves addresses for 8"
    )
    assert raw_http.get(server.http_url, "/v2/models/m/ready").status == 200
    server.stop()
    left = left_on_gpus(tmp_path / "state")
    assert (left["alive"], left["early_frees"]) == (0, 0)


GPU_CHAIN = """
name: "chain" platform: "ensemble" max_batch_size: 0
input { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "SAME" data_type: TYPE_FP32 dims: [ -1 ] }
ensemble_scheduling {
  step {
    model_name: "first" model_version: -1
    input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "middle" }
  }
  step {
    model_name: "second" model_version: -1
    input_map { key: "INPUT0" value: "middle" } output_map { key: "OUTPUT0" value: "OUTPUT0" }
  }
  step {
    model_name: "third" model_version: -1
    input_map { key: "INPUT0" value: "OUTPUT0" } output_map { key: "OUTPUT0" value: "SAME" }
  }
}
"""


@pytest.mark.parametrize("second", ["0", "1", None])
def test_tensors_of_an_ensemble_stay_where_they_are_read(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    tmp_path: Path,
    second: str | None,
) -> None:
    """Also if that is another GPU, but not a CPU. What the client gets comes by memory of the host."""
    add_testing(model_repository, "first", "gpu_batches", "instance_group { gpus: [ 0 ] }")
    if second is None:
        model_repository.add_identity("second")
    else:
        groups = f"instance_group {{ gpus: [ {second} ] }}"
        add_testing(model_repository, "second", "gpu_batches", groups)
    add_testing(model_repository, "third", "gpu_batches", "instance_group { gpus: [ 0 ] }")
    model_repository.add("chain", GPU_CHAIN)
    server = server_factory(model_repository, env=simulated_gpus(2, state=tmp_path / "state"))
    values = [1.5, -2.0, 3.0]
    answer = echo(server.http_url, "chain", values).json()
    assert [output["data"] for output in answer["outputs"]] == [values, values]
    server.wait_for_log("third has read its input on the host")
    server.wait_for_log("first has read its input on the host")
    assert ("second has read its input on the GPU" in server.log_text()) == (second is not None)
    server.stop()
    assert left_on_gpus(tmp_path / "state")["alive"] == 0


def model_ready(server: ServerProcess, model: str) -> bool:
    return raw_http.get(server.http_url, f"/v2/models/{model}/ready").status == 200


def test_a_gpu_that_fails_takes_only_its_models_along(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """The backend's third copy ends the context; the server asks the driver, and does not ask again."""
    for gpu in (0, 1):
        add_testing(
            model_repository, f"on{gpu}", "gpu_identity", f"instance_group {{ gpus: [ {gpu} ] }}"
        )
    model_repository.add_identity("cpu")
    options = ("--strict-readiness=false", "--allow-nereid-api=true")
    server = server_factory(
        model_repository, *options, env=simulated_gpus(2, faults="copy:3:700")
    )
    assert model_ready(server, "on0")
    assert echo(server.http_url, "on0").status == 500
    poll_until("not ready", lambda: not model_ready(server, "on0"))
    assert len(re.findall(r"E\d{4} .*GPU 0 .*has failed and needs a new start", server.log_text())) == 1
    for model in ("on1", "cpu"):
        assert echo(server.http_url, model).status == 200
        assert model_ready(server, model)
    live = raw_http.get(server.http_url, "/v2/nereid/live").json()["server"]["gpus"]
    assert ["failure" in gpu for gpu in live] == [True, False]


def test_pools_have_the_sizes_of_the_options(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(model_repository, "m", "gpu_identity", "instance_group { gpus: [ 1 ] }")
    add_testing(model_repository, "off", "gpu_identity", "instance_group { gpus: [ 0 ] }")
    server = server_factory(
        model_repository,
        "--cuda-memory-pool-byte-size=0:0",
        "--cuda-memory-pool-byte-size=1:4096",
        "--pinned-memory-pool-byte-size=65536",
        env=simulated_gpus(2),
    )
    assert metric(server.metrics_url, "nv_pinned_memory_pool_total_bytes") == 65536
    total = "nereid_gpu_memory_pool_total_bytes"
    assert metric(server.metrics_url, total, gpu_uuid=UUIDS[0]) == 0
    assert metric(server.metrics_url, total, gpu_uuid=UUIDS[1]) == 4096
    assert echo(server.http_url, "m", [1.0] * 512).status == 200
    full = echo(server.http_url, "m", [1.0] * 1024)
    assert "the memory pool of GPU 1 has no room for 4096 bytes" in full.error()
    off = echo(server.http_url, "off")
    assert "the memory pool of GPU 0 is switched off" in off.error()


def test_no_instance_is_made_where_the_limit_is_exceeded(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(model_repository, "first", "gpu_identity")
    add_testing(model_repository, "second", "gpu_identity")
    server = server_factory(
        model_repository,
        "--model-control-mode=explicit",
        "--load-model=first",
        "--model-load-gpu-limit=0:0.3",
        env=simulated_gpus(1, mb="128"),
    )
    # Takes the pool, which is half of the GPU.
    assert echo(server.http_url, "first").status == 200
    refused = raw_http.post(server.http_url, "/v2/repository/models/second/load")
    assert (
        "can not create model 'second_0': memory limit set for GPU 0 has exceeded, "
        "model loading is rejected." in refused.error()
    )
    assert echo(server.http_url, "first").status == 200


def test_instances_are_added_in_place_on_gpus_that_the_model_has(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """An instance on another GPU makes the model load anew, so that its metrics get another label."""

    def load(groups: str) -> None:
        add_testing(model_repository, "m", "places", groups)
        answer = raw_http.post(server.http_url, "/v2/repository/models/m/load")
        assert answer.status == 200, answer.body
        assert echo(server.http_url, "m").status == 200

    options = "--model-control-mode=explicit"
    server = server_factory(model_repository, options, env=simulated_gpus(2))
    load("instance_group { gpus: [ 1 ] }")
    load("instance_group { gpus: [ 1 ] count: 2 }")
    server.wait_for_log("model 'm' version 1: 1 instances added, 0 removed in place")
    assert places_in(server.log_text())["m"] == ["m_0_0 on GPU 1", "m_0_1 on GPU 1"]
    load("instance_group { gpus: [ 1, 0 ] }")
    assert places_in(server.log_text())["m"][2:] == ["m_0_0 on GPU 1", "m_0_0 on GPU 0"]


@pytest.mark.parametrize(("scope", "status"), [("false", 200), ("true", 500)])
def test_each_gpu_has_resources_of_its_own(
    server_factory: ServerFactory, model_repository: ModelRepository, scope: str, status: int
) -> None:
    """Two instances execute at a time if each GPU has the resource that they need, and not if there is
    one for all."""
    limiter = f'rate_limiter {{ resources {{ name: "R" count: 1 global: {scope} }} }}'
    more = {"times": "2", "delay_ms": "3000"}
    add_testing(model_repository, "m", "meet", f"instance_group {{ {limiter} }}", **more)
    server = server_factory(
        model_repository, "--rate-limit=execution_count", env=simulated_gpus(2)
    )
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: echo(server.http_url, "m").status, range(2)))
    assert answers == [status, status]


@pytest.mark.parametrize(
    ("gpus", "more", "status"),
    [("0, 0", "", 500), ("0, 1", "", 200), ("0, 0", "sequence_batching { }", 200)],
)
def test_instances_on_a_gpu_share_a_thread_if_the_backend_says_so(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    gpus: str,
    more: str,
    status: int,
) -> None:
    """Two instances meet in their executions only if they are on different GPUs; those of a sequence
    model have threads of their own all the same."""
    groups = f"instance_group {{ gpus: [ {gpus} ] }} {more}"
    add_testing(model_repository, "m", "meet", groups, times="2", delay_ms="3000")
    option = "--backend-config=testing,device-blocking=true"
    server = server_factory(model_repository, option, env=simulated_gpus(2))

    def ask(sequence: int) -> int:
        parameters = {"sequence_id": sequence, "sequence_start": True, "sequence_end": True}
        document = echo_document(parameters=parameters if more else {})
        return raw_http.post_json(server.http_url, "/v2/models/m/infer", document).status

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, (1, 2)))
    assert answers == [status, status]
    assert server.log_text().count("Overriding execution policy to") == (1 if more else 0)


def test_a_host_policy_is_that_of_the_gpu(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    core = str(max(os.sched_getaffinity(0)))
    add_testing(model_repository, "one", "echo", "instance_group { gpus: [ 0 ] }")
    add_testing(model_repository, "two", "echo", "instance_group { gpus: [ 1 ] }")
    options = f"--host-policy=gpu_1,cpu-cores={core}"
    server = server_factory(model_repository, options, env=simulated_gpus(2))
    allowed = {}
    for status in Path(f"/proc/{server.process.pid}/task").glob("*/status"):
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        allowed[fields["Name"].strip()] = fields["Cpus_allowed_list"].strip()
    assert allowed["two_0_0"] == core
    assert allowed["one_0_0"] != core
    assert_serving(server.http_url, "two")


MEASURED = """0 utilization 40
0 memory_total 1000
0 memory_used 300
0 power_milliwatts 61500
0 power_limit_milliwatts 700000
0 energy_millijoules 5000
1 utilization 50
"""


def test_gpus_are_measured(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    add_testing(model_repository, "one", "echo", "instance_group { gpus: [ 1 ] }")
    add_testing(model_repository, "all", "echo")
    model_repository.add_identity("cpu")
    file = tmp_path / "nvml"
    file.write_text(MEASURED)
    env = {**simulated_gpus(2), "SIMULATED_NVML": str(file)}
    options = ("--metrics-interval-ms=20", "--allow-nereid-api=true")
    server = server_factory(model_repository, *options, env=env)
    url = server.metrics_url
    first = dict(gpu_uuid=UUIDS[0])
    assert metric(url, "nv_gpu_utilization", **first) == 0.4
    assert metric(url, "nv_gpu_memory_total_bytes", **first) == 1000
    assert metric(url, "nv_gpu_memory_used_bytes", **first) == 300
    assert metric(url, "nv_gpu_power_usage", **first) == 61.5
    assert metric(url, "nv_gpu_power_limit", **first) == 700
    assert metric(url, "nv_gpu_utilization", gpu_uuid=UUIDS[1]) == 0.5
    live = raw_http.get(server.http_url, "/v2/nereid/live").json()["server"]["gpus"]
    assert [gpu["uuid"] for gpu in live] == list(UUIDS[:2])
    assert (live[0]["utilization"], live[0]["memory_used_bytes"]) == (0.4, 300)
    file.write_text(MEASURED.replace("millijoules 5000", "millijoules 7500"))
    energy = "nv_energy_consumption"
    poll_until("2.5 joules more", lambda: metric(url, energy, **first) == 2.5)

    for model in ("one", "all", "cpu"):
        assert echo(server.http_url, model).status == 200
    labels = {
        dict(labels)["model"]: dict(labels).get("gpu_uuid")
        for (name, labels) in read_metrics(url)
        if name == "nv_inference_request_success"
    }
    assert labels == {"one": UUIDS[1], "all": None, "cpu": None}


def test_gpus_need_not_be_measured(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    model_repository.add_identity("echo")
    (tmp_path / "nvml").write_text(MEASURED)
    env = {**simulated_gpus(1), "SIMULATED_NVML": str(tmp_path / "nvml")}
    server = server_factory(model_repository, "--allow-gpu-metrics=false", env=env)
    assert not [name for name, _ in read_metrics(server.metrics_url) if "nv_gpu" in name]
    unmeasured = server_factory(model_repository, env=simulated_gpus(1))
    assert not [name for name, _ in read_metrics(unmeasured.metrics_url) if "nv_gpu" in name]
    assert "GPUs are not measured because" in unmeasured.log_text()
