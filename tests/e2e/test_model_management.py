# SPDX-License-Identifier: Apache-2.0
"""Models that are loaded and unloaded at run time, by the official client or by changed files."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support import raw_http
from support.ensembles import add_ensemble, step_text
from support.infer import InBackground, echo
from support.metrics import metric
from support.model_control import EXPLICIT, Clients, group, index
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.stage import server_binary

DIGITS = Path(__file__).parents[2] / "examples" / "models" / "digits" / "1" / "model.onnx"

@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_load_and_unload(
    server_factory: ServerFactory, model_repository: ModelRepository, protocol: str
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, EXPLICIT)
    if protocol == "http":
        client = http_client.InferenceServerClient(server.http_url)
    else:
        client = grpc_client.InferenceServerClient(server.grpc_url)
    assert not client.is_model_ready("echo")
    client.load_model("echo")
    assert client.is_model_ready("echo")
    assert index(server)["echo", "1"] == ("READY", "")
    client.unload_model("echo")
    client.unload_model("unknown")
    poll_until("unloaded", lambda: index(server)["echo", "1"] == ("UNAVAILABLE", "unloaded"))
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200, "it went on purpose"
    with pytest.raises(InferenceServerException, match="failed to poll from model repository"):
        client.load_model("nowhere")
    with pytest.raises(InferenceServerException, match="path traversal"):
        client.load_model("..")
    client.close()


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_parameters(
    server_factory: ServerFactory, model_repository: ModelRepository, protocol: str
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, EXPLICIT, "--load-model=echo")
    if protocol == "http":
        client = http_client.InferenceServerClient(server.http_url)
    else:
        client = grpc_client.InferenceServerClient(server.grpc_url)
    tensor = {"data_type": "TYPE_INT32", "dims": [2]}
    config = json.dumps(
        {
            "backend": "identity",
            "max_batch_size": 3,
            "input": [{"name": "INPUT0", **tensor}],
            "output": [{"name": "OUTPUT0", **tensor}],
        }
    )

    def served() -> dict[str, object]:
        return raw_http.get(server.http_url, "/v2/models/echo/config").json()

    client.load_model("echo", config=config)
    assert served()["max_batch_size"] == 3
    client.load_model("echo", config=config, files={"file:7/weights": b"\x00\xff bytes"})
    assert ("echo", "7") in index(server)
    poll_until("version 1 gone", lambda: index(server)["echo", "1"][1] == "unloaded")
    client.load_model("echo", config=config, files={"file:/7/weights": b"of the same folder"})
    assert index(server)["echo", "7"] == ("READY", "")
    for files, text in (
        ({"file:../weights": b"x"}, "must stay within model directory"),
        ({"file:/../weights": b"x"}, "must stay within model directory"),
        ({"file:1": b"x", "file:1/weights": b"x"}, "directory has been created as a file"),
    ):
        with pytest.raises(InferenceServerException, match=text):
            client.load_model("echo", config=config, files=files)
    with pytest.raises(InferenceServerException, match="Invalid config override"):
        client.load_model("echo", config='{"nonsense": 1}')
    with pytest.raises(InferenceServerException, match="'config' must be specified"):
        client.load_model("echo", files={"file:1/weights": b"x"})
    assert index(server)["echo", "7"] == ("READY", ""), "what failed has changed nothing"
    client.load_model("echo")
    assert served()["max_batch_size"] == 0, "as the repository has it"
    client.close()


def test_names_that_cannot_be(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, EXPLICIT)
    padded = "model name must not begin or end with white space"
    control = "model name must not contain control characters"
    long = "model name must not have more than 255 bytes"
    for name, text in (
        ("%20", "Model name cannot be empty. Please enter a valid name to deploy."),
        ("%20echo", f"invalid model name ' echo', {padded}"),
        ("echo%09", f"invalid model name 'echo\\x09', {padded}"),
        ("echo%00x", f"invalid model name 'echo\\x00x', {control}"),
        ("a%1b[31mRED", f"invalid model name 'a\\x1b[31mRED', {control}"),
        ("a%7f", f"invalid model name 'a\\x7f', {control}"),
        ("a%ff", "invalid model name 'a\\xff', model name must be UTF-8"),
        ("a" * 256, f"invalid model name '{'a' * 100}...', {long}"),
    ):
        answer = raw_http.post(server.http_url, f"/v2/repository/models/{name}/load")
        assert (answer.status, answer.error()) == (400, text)
        # Nor with files of its own.
        config = {"parameters": {"config": '{"backend": "identity"}', "file:1/x": "eA=="}}
        answer = raw_http.post_json(
            server.http_url, f"/v2/repository/models/{name}/load", config
        )
        assert (answer.status, answer.error()) == (400, text)
    assert set(index(server)) == {("echo", "")}
    answer = raw_http.post(server.http_url, "/v2/repository/models/nobody/load")
    assert answer.error() == (
        "failed to load 'nobody', failed to poll from model repository: no model 'nobody' in "
        f"'{model_repository.root}'"
    )


def test_a_folder_whose_name_is_not_utf8(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """Clients can read what else the index says, over both protocols."""
    model_repository.add_identity("echo")
    folder = os.fsencode(model_repository.root) + b"/caf\xe9/1"
    os.makedirs(folder)
    server = server_factory(model_repository, EXPLICIT, "--load-model=echo")
    seen = raw_http.post(server.http_url, "/v2/repository/index").json()
    with grpc_client.InferenceServerClient(server.grpc_url) as client:
        models = client.get_model_repository_index().models
    assert {model.name for model in models} == {model["name"] for model in seen}
    assert {model.name for model in models} == {"echo", "caf\ufffd"}


def test_the_log_counts_loads(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """Scripts expect one log line per load of a model, however many versions it has."""
    model_repository.add_identity(
        "echo", versions=(1, 2, 3), extra="version_policy { all { } }"
    )
    server = server_factory(model_repository, EXPLICIT, "--load-model=echo")
    assert server.log_text().count("successfully loaded 'echo'") == 1
    for version in (1, 2, 3):
        assert server.log_text().count(f'"loaded: echo:{version}"') == 1
    assert raw_http.post(server.http_url, "/v2/repository/models/echo/load").status == 200
    assert server.log_text().count("successfully loaded 'echo'") == 1, "nothing has changed"


def test_what_is_not_allowed(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository)
    answer = raw_http.post(server.http_url, "/v2/repository/models/echo/load")
    assert (answer.status, answer.error()) == (
        503,
        "explicit model load / unload is not allowed if polling is enabled",
    )
    answer = raw_http.post(server.http_url, "/v2/repository/mine/models/echo/unload")
    assert (answer.status, answer.error()) == (
        501,
        "'repository_name' specification is not supported",
    )


def test_no_request_fails_while_its_model_changes(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("echo", extra=group(1))
    server = server_factory(model_repository, EXPLICIT, "--load-model=echo")
    client = http_client.InferenceServerClient(server.http_url)
    with Clients(server, "echo") as clients:
        for version in (2, 3):
            (folder / str(version)).mkdir()
            client.load_model("echo")
            clients.wait_for_more()
            assert index(server)["echo", str(version)] == ("READY", "")
        for count in (4, 1, 2):
            model_repository.add_identity("echo", extra=group(count), versions=())
            client.load_model("echo")
            clients.wait_for_more()
        (folder / "config.pbtxt").write_text("nonsense", encoding="utf-8")
        with pytest.raises(InferenceServerException, match="load failed for model 'echo'"):
            client.load_model("echo")
        clients.wait_for_more()
        model_repository.add_identity("echo", backend="nowhere", versions=(4,))
        with pytest.raises(InferenceServerException, match="version 4 is at UNAVAILABLE state"):
            client.load_model("echo")
        clients.wait_for_more()
    assert not clients.failures, clients.failures[:3]
    assert index(server)["echo", "3"] == ("READY", ""), "it serves on"
    assert raw_http.get(server.http_url, "/v2/models/echo/ready").status == 200
    loads = server.log_text().count("successfully loaded 'echo'")
    assert loads == 3, "other instance counts are no loads"
    client.close()


def test_a_load_that_takes_long_holds_up_nobody(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity(
        "slow",
        backend="testing",
        parameters={"behaviour": "slow_load", "delay_ms": "4000"},
    )
    model_repository.add_identity("echo")
    server = server_factory(model_repository, EXPLICIT, "--model-load-thread-count=2")
    answers = []
    loading = threading.Thread(
        target=lambda: answers.append(
            raw_http.post(server.http_url, "/v2/repository/models/slow/load").status
        )
    )
    loading.start()
    poll_until("loading", lambda: index(server).get(("slow", "1"), ("",))[0] == "LOADING")
    client = http_client.InferenceServerClient(server.http_url)
    client.load_model("echo")
    assert echo(server.http_url).status == 200
    client.unload_model("echo")
    assert index(server)["slow", "1"][0] == "LOADING", "the slow one is not even there yet"
    loading.join(30)
    assert answers == [200]
    client.close()


def test_polling(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    model_repository.add_identity("echo")
    model_repository.add_identity("gone")
    server = server_factory(
        model_repository, "--model-control-mode=poll", "--repository-poll-secs=1"
    )
    with Clients(server, "echo", count=1) as clients:
        (model_repository.root / "echo" / "2").mkdir()
        model_repository.add_identity("new")
        shutil.rmtree(model_repository.root / "gone")
        poll_until("the new version", lambda: index(server).get(("echo", "2")) == ("READY", ""))
        poll_until("the new model", lambda: index(server).get(("new", "1")) == ("READY", ""))
        poll_until("the end", lambda: index(server)["gone", "1"] == ("UNAVAILABLE", "unloaded"))
    assert not clients.failures, clients.failures[:3]


def test_versions_that_went_before_the_last_load_are_forgotten(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("echo")
    server = server_factory(model_repository, EXPLICIT, "--load-model=echo")
    for version in ("2", "3"):
        (folder / version).mkdir()
        assert raw_http.post(server.http_url, "/v2/repository/models/echo/load").status == 200
        gone = ("echo", str(int(version) - 1))
        poll_until("gone", lambda: index(server)[gone] == ("UNAVAILABLE", "unloaded"))
    assert set(index(server)) == {("echo", "2"), ("echo", "3")}


def test_what_a_poll_looks_at(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """For deeper directories only the names count: a file that came and went is not a change."""
    folder = model_repository.add_identity("echo")
    assets = folder / "1" / "assets"
    assets.mkdir()
    server = server_factory(
        model_repository, "--model-control-mode=poll", "--repository-poll-secs=1"
    )
    before = assets.stat().st_mtime_ns
    (assets / "lock").touch()
    (assets / "lock").unlink()
    assert assets.stat().st_mtime_ns != before
    model_repository.add_identity("new")
    poll_until("a poll", lambda: index(server).get(("new", "1")) == ("READY", ""))
    loaded = "successfully loaded 'echo'"
    assert server.log_text().count(loaded) == 1
    (assets / "vocabulary").touch()
    poll_until("the change taken up", lambda: server.log_text().count(loaded) == 2)


def test_strict_readiness_while_versions_come_and_go(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity(
        "slow",
        backend="testing",
        parameters={"behaviour": "slow_load", "delay_ms": "1500"},
    )
    model_repository.add_identity("busy", parameters={"execute_delay_ms": "1500"})
    server = server_factory(model_repository, EXPLICIT, "--load-model=slow", "--load-model=busy")

    def ready() -> int:
        return raw_http.get(server.http_url, "/v2/health/ready").status

    (folder / "2").mkdir()
    loading = threading.Thread(
        target=lambda: raw_http.post(server.http_url, "/v2/repository/models/slow/load")
    )
    loading.start()
    poll_until("loading", lambda: index(server).get(("slow", "2"), ("",))[0] == "LOADING")
    assert ready() == 200
    assert index(server)["slow", "2"][0] == "LOADING"
    loading.join(30)
    running = InBackground(server.http_url, "busy")
    poll_until(
        "the request under way",
        lambda: metric(server.metrics_url, "nereid_in_flight_bytes") > 0,
    )
    (model_repository.root / "busy" / "2").mkdir()
    assert raw_http.post(server.http_url, "/v2/repository/models/busy/load").status == 200
    assert ready() == 200
    assert index(server)["busy", "1"][0] == "UNLOADING"
    assert running.answer().status == 200


def test_an_unload_of_a_member_leaves_the_server_ready(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("member")
    tensors = [tensor_text("INPUT0", "FP32", (-1,))], [tensor_text("OUTPUT0", "FP32", (-1,))]
    step = step_text("member", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})
    add_ensemble(model_repository, "whole", *tensors, [step])
    server = server_factory(model_repository, EXPLICIT, "--load-model=whole")
    assert raw_http.post(server.http_url, "/v2/repository/models/member/unload").status == 200
    poll_until("unavailable", lambda: index(server)["whole", "1"][0] == "UNAVAILABLE")
    assert "depends on 'member'" in index(server)["whole", "1"][1]
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
    assert raw_http.get(server.http_url, "/v2/models/whole/ready").status != 200


def test_a_name_of_several_namespaces(server_factory: ServerFactory, tmp_path: Path) -> None:
    one, two = ModelRepository(tmp_path / "one"), ModelRepository(tmp_path / "two")
    for repository in (one, two):
        repository.add_identity("both")
    tensors = [tensor_text("INPUT0", "FP32", (-1,))], [tensor_text("OUTPUT0", "FP32", (-1,))]
    step = step_text("both", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})
    add_ensemble(one, "whole", *tensors, [step])
    server = server_factory([one.root, two.root], EXPLICIT, "--model-namespacing=true")

    def control(what: str) -> None:
        answer = raw_http.post(server.http_url, f"/v2/repository/models/{what}")
        assert answer.status == 200, answer.body

    control("both/load")
    control("whole/load")
    assert "There are 2 identifiers" in echo(server.http_url, "both").error()
    assert echo(server.http_url, "whole").status == 200
    control("both/unload")
    assert echo(server.http_url, "whole").status != 200
    shutil.rmtree(one.root / "both")
    control("whole/load")
    assert echo(server.http_url, "whole").status == 200, "by the model of the other repository"
    assert echo(server.http_url, "both").status == 200, "the name means one model now"
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200


def test_two_repositories(server_factory: ServerFactory, tmp_path: Path) -> None:
    one, two = ModelRepository(tmp_path / "one"), ModelRepository(tmp_path / "two")
    for repository in (one, two):
        repository.add_identity("both")
    one.add_identity("echo")
    server = server_factory(
        [one.root, two.root], "--exit-on-error=false", wait_for="/v2/health/live"
    )
    assert index(server)["both", ""] == (
        "UNAVAILABLE",
        "model appears in two or more repositories",
    )
    assert echo(server.http_url).status == 200
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200, "echo serves"
    named = server_factory([one.root, two.root], "--model-namespacing=true")
    assert "There are 2 identifiers" in echo(named.http_url, "both").error()
    assert echo(named.http_url).status == 200


def test_checksum_agent(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    weights = b"the weights"

    def agent(sum_of: bytes) -> str:
        digest = hashlib.sha256(sum_of).hexdigest()
        parameter = f'parameters {{ key: "SHA256:1/weights" value: "{digest}" }}'
        return f'model_repository_agents {{ agents {{ name: "checksum" {parameter} }} }}'

    for name, content in (("good", weights), ("bad", b"other")):
        folder = model_repository.add_identity(name, extra=agent(content))
        (folder / "1" / "weights").write_bytes(weights)
    server = server_factory(model_repository, EXPLICIT, "--load-model=good")
    assert echo(server.http_url, "good").status == 200
    answer = raw_http.post(server.http_url, "/v2/repository/models/bad/load")
    assert answer.status == 400
    assert "Mismatched SHA256 hash for file 1/weights" in answer.error()


def test_in_flight_requests_outlive_their_version(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("slow", parameters={"execute_delay_ms": "700"})
    server = server_factory(model_repository, EXPLICIT, "--load-model=slow")
    running = InBackground(server.http_url, "slow")
    poll_until(
        "the request under way",
        lambda: metric(server.metrics_url, "nereid_in_flight_bytes") > 0,
    )
    (folder / "2").mkdir()
    client = http_client.InferenceServerClient(server.http_url)
    client.load_model("slow")
    client.unload_model("slow")
    assert running.answer().status == 200
    client.close()


def check(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [server_binary(), "check", *arguments], capture_output=True, text=True, timeout=60
    )


def test_check_command(model_repository: ModelRepository) -> None:
    model_repository.add_identity("echo")
    good = check(model_repository.root)
    assert good.returncode == 0, good.stdout + good.stderr
    assert 'name: "echo"  # name of the directory' in good.stdout
    tensor = tensor_text("INPUT0", "FP32", (0,))
    model_repository.add("bad", f'backend: "identity"\nmax_batch_size: -1\ninput [ {tensor} ]\n')
    bad = check("--json", model_repository.root)
    assert bad.returncode == 1
    report = json.loads(bad.stdout)
    assert report["problems"] == 2
    lines = {problem["line"] for model in report["models"] for problem in model["problems"]}
    assert lines == {2, 3}
    assert check(model_repository.root / "nowhere").returncode == 2
    assert check("--nonsense", model_repository.root).returncode == 2


def with_parameters(**parameters: str) -> str:
    return "".join(
        f'parameters {{ key: "{name.replace("__", ".")}" value {{ string_value: "{value}" }} }}\n'
        for name, value in parameters.items()
    )


def test_unknown_parameters_and_settings(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """No name is ignored in silence, neither by the server nor by `nereid check`."""
    tensors = "".join(
        f"{kind} [ {tensor_text(name, 'FP32', (1,))} ]\n"
        for kind, name in (("input", "INPUT0"), ("output", "OUTPUT0"))
    )

    def add(name: str, **parameters: str) -> None:
        text = f'backend: "identity"\n{tensors}{with_parameters(**parameters)}'
        model_repository.add(name, text)

    unknown = (
        "model 'typo': parameter 'execute_delay_sed' is unknown and has no effect "
        "(did you mean 'execute_delay_seed'?)"
    )
    add("typo", execute_delay_ms="1", execute_delay_sed="1", owner="me")
    checked = check(model_repository.root)
    assert checked.returncode == 0, checked.stdout
    assert unknown in checked.stdout
    assert "'owner' is unknown" in checked.stdout
    assert checked.stdout.endswith("\n1 model, 0 problems, 2 warnings\n")
    add("wrong", execute_delay_row_us="soon")
    add("ours", nereid__inline_executoin="true")
    checked = check(model_repository.root)
    assert checked.returncode == 1, checked.stdout
    assert "'execute_delay_row_us' of model 'wrong' must be an integer" in checked.stdout
    assert "did you mean 'nereid.inline_execution'?" in checked.stdout

    server = server_factory(
        model_repository,
        "--exit-on-error=false",
        "--strict-readiness=false",
        "--backend-config=identity,default-max-batchsize=9",
        "--backend-config=identty,a=b",
    )
    log = server.log_text()
    assert unknown in log
    assert (
        "backend 'identity': setting 'default-max-batchsize' is unknown and has no effect "
        "(did you mean 'default-max-batch-size'?)" in log
    )
    assert "settings are given for the backend 'identty', which is not in " in log
    assert "(did you mean 'identity'?); they count only for a model that brings" in log
    states = index(server)
    assert states["typo", "1"] == ("READY", "")
    assert "must be an integer from 0" in states["wrong", "1"][1]
    reasons = [reason for (name, _), (_, reason) in states.items() if name == "ours"]
    assert "unknown parameter 'nereid.inline_executoin' for ours" in reasons[0]


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"intra_op_thread_count": "-1"}, "is -1 and has no effect, as if not given"),
        (
            {"enable_mem_arena": "On", "enable_mem_pattern": "oFF"},
            "memory arena on, memory pattern off",
        ),
        ({"memory__enable_memory_arena_shrinkage": "cpu:0;gpu:0"}, "'gpu:0' of the parameter"),
        ({"memory__enable_memory_arena_shrinkage": "gpu:0"}, "'gpu:0' of the parameter"),
        ({"gpu_mem_limit": "1"}, "'gpu_mem_limit' has no effect: it is for CUDA"),
        ({"Execution_Mode": "1"}, "(did you mean 'execution_mode'?)"),
    ],
)
def test_values_that_the_original_takes(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    parameters: dict[str, str],
    line: str,
) -> None:
    folder = model_repository.add("digits", with_parameters(**parameters))
    shutil.copy(DIGITS, folder / "1" / "model.onnx")
    server = server_factory(
        model_repository, "--backend-config=onnxruntime,enable-global-threadpool=on"
    )
    server.wait_for_log(line)


def test_many_versions_of_numbers(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """A batch from the official client after the model was replaced."""
    folder = model_repository.add_identity("batched", "FP32", (2,), max_batch_size=4)
    server = server_factory(model_repository, EXPLICIT, "--load-model=*")
    client = grpc_client.InferenceServerClient(server.grpc_url)
    data = np.arange(4, dtype=np.float32).reshape(2, 2)
    tensor = grpc_client.InferInput("INPUT0", data.shape, "FP32")
    tensor.set_data_from_numpy(data)
    for version in (1, 2, 3):
        (folder / str(version)).mkdir(exist_ok=True)
        client.load_model("batched")
        result = client.infer("batched", [tensor])
        assert result.get_response().model_version == str(version)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), data)
    client.close()
