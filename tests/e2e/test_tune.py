# SPDX-License-Identifier: Apache-2.0
"""`nereid tune`: decisions on models whose executions take a known time, interruption, refusals."""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

from support.ensembles import add_ensemble, step_text
from support.onnx_models import FLOAT, save_model
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.stage import server_binary

EXECUTION = {"execute_delay_ms": "20"}
SECONDS = 30.0
MEASURED_ENOUGH = 100  # times: the program does not measure it again


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where private servers have their files: nothing may be left there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


def start(temporary: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [str(server_binary()), "tune", *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )


def tune(temporary: Path, *arguments: object) -> tuple[int | None, str, str]:
    process = start(temporary, *arguments)
    out, err = process.communicate(timeout=90)
    return process.returncode, out, err


def private_servers(temporary: Path) -> list[str]:
    """Processes of servers whose models lie in the folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text()
        except OSError:
            continue
        if f"--model-repository={temporary}" in words:
            found.append(process.name)
    return found


def state(file: Path) -> Any:
    return json.loads(file.read_text())


def test_more_instances_for_a_model_that_waits(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    """One execution at a time takes 20 ms, several take as long side by side."""
    folder = model_repository.add_identity("waits", "FP32", (1,), parameters=EXECUTION)
    before = (folder / "config.pbtxt").read_text()
    page = tmp_path / "page.html"
    options = (
        "waits",
        f"--model-repository={model_repository.root}",
        "--concurrency=3",
        "--max-instances=3",
        "--measure=1",
        "--seconds=0.3",
        f"--state={tmp_path / 'state'}",
        f"--html={page}",
    )
    code, out, err = tune(temporary, *options)
    assert (code, err) == (0, "")
    assert "The best one: 3 instances.\n" in out
    assert "Nothing is changed; --apply writes it.\n" in out
    assert (folder / "config.pbtxt").read_text() == before
    assert "<svg" in page.read_text()
    # Everything was measured, so this takes no time.
    code, out, err = tune(temporary, *options, "--apply")
    assert (code, err) == (0, "")
    assert (folder / "config.pbtxt.before-tune").read_text() == before
    checked = subprocess.run([server_binary(), "check", model_repository.root], timeout=60)
    assert checked.returncode == 0
    assert "count: 3" in (folder / "config.pbtxt").read_text()
    measured = [row["models"][0]["instances"] for row in state(tmp_path / "state")["measured"]]
    assert sorted(measured) == [1, 3]
    assert (list(temporary.iterdir()), private_servers(temporary)) == ([], [])


def test_batches_for_a_limit(model_repository: ModelRepository, temporary: Path) -> None:
    """A batch takes as long as one request, so that one instance serves all clients in time."""
    model_repository.add_identity("batched", "FP32", (1,), max_batch_size=4, parameters=EXECUTION)
    code, out, err = tune(
        temporary,
        "batched",
        f"--model-repository={model_repository.root}",
        "--concurrency=4",
        "--p99-ms=500",
        "--max-instances=1",
        "--measure=1",
        "--seconds=0.3",
    )
    assert (code, err) == (0, "")
    assert "The best one: 1 instance, batches of 4" in out
    assert "+dynamic_batching {" in out
    assert "None that was measured" not in out


def test_the_least_memory_that_suffices(
    model_repository: ModelRepository, temporary: Path
) -> None:
    """Two instances answer 100 requests per second, three 150 with hardly any memory more."""
    model_repository.add_identity("waits", "FP32", (1,), parameters=EXECUTION)
    options = (
        "waits",
        f"--model-repository={model_repository.root}",
        "--concurrency=3",
        "--max-instances=3",
        "--measure=3",
        "--seconds=0.3",
        "--objective=memory",
    )
    code, out, err = tune(temporary, *options, "--min-throughput=75")
    assert (code, err) == (0, "")
    assert "Goal: the least memory, with at least 75.0 requests per second\n" in out
    assert "The best one: 2 instances.\n" in out
    assert tune(temporary, *options)[0] == 2


def add_network(models: ModelRepository, config: str) -> Path:
    folder = models.add("net", config)
    save_model(
        folder,
        [helper.make_node("Identity", ["I"], ["O"])],
        [("I", FLOAT, [4])],
        [("O", FLOAT, [4])],
    )
    return folder


def one_thread_of_net(models: ModelRepository, state_file: Path, *more: str) -> tuple[str, ...]:
    """Options that try one thread beside today's number, and no more instances; `net` is the first."""
    return (
        "net",
        f"--model-repository={models.root}",
        *more,
        "--concurrency=1",
        "--max-instances=1",
        "--threads=1",
        "--seconds=0.3",
        f"--state={state_file}",
    )


def make_best(known: dict, threads: int, backend: str = "") -> None:
    """As if this had been measured, and were better than everything else. Which configurations are
    measured depends on chance."""

    def is_wanted(row: dict) -> bool:
        (model,) = row["models"]
        return (model["threads"], model["backend"]) == (threads, backend)

    rows = known["measured"]
    if not any(is_wanted(row) for row in rows):
        rows.append(copy.deepcopy(rows[0]))
        rows[-1]["models"][0].update(threads=threads, backend=backend)
    for row in rows:
        row["throughput"] = 9e6 if is_wanted(row) else 1e6
        row["times"] = MEASURED_ENOUGH


def test_threads_of_the_backend(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    before = 'backend: "onnxruntime"\ninstance_group [ { count: 1 kind: KIND_CPU } ]\n'
    folder = add_network(model_repository, before)
    file = tmp_path / "state"
    # Another backend may be staged, which takes a thread as well.
    options = one_thread_of_net(model_repository, file, "--same-backend")
    code, out, err = tune(temporary, *options)
    assert (code, err) == (0, "")
    assert "As today:\nAn execution by its batch:" in out
    assert "1 thread:\nAn execution by its batch:" in out
    # As if the thread had made the difference.
    known = state(file)
    make_best(known, threads=1)
    file.write_text(json.dumps(known))
    code, out, err = tune(temporary, *options, "--apply")
    assert (code, err) == (0, "")
    assert "The best one: 1 instance of 1 thread.\n" in out
    assert (folder / "config.pbtxt").read_text() == (
        f"{before}"
        'parameters { key: "intra_op_thread_count" value { string_value: "1" } }\n'
    )
    model_repository.add_identity("waits")
    code, _, err = tune(temporary, "waits", *options[1:-1])
    assert (code, err) == (
        2,
        "nereid tune: --threads has no meaning: the backend 'identity' has no parameter for its "
        "threads\n",
    )


def test_another_backend_that_reads_the_file(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    """ONNX Runtime under the other name stands for OpenVINO."""
    backends = tmp_path / "backends"
    staged = server_binary().parents[1] / "backends" / "onnxruntime"
    for name in ("onnxruntime", "openvino"):
        (backends / name).mkdir(parents=True)
        for file in staged.glob("lib*"):
            target = file.name.replace("libtriton_onnxruntime", f"libtriton_{name}")
            shutil.copy(file, backends / name / target)
    before = 'platform: "onnxruntime_onnx"\ninstance_group [ { count: 1 kind: KIND_CPU } ]\n'
    folder = add_network(model_repository, before)
    file = tmp_path / "state"
    options = one_thread_of_net(model_repository, file, f"--backend-directory={backends}")
    code, out, err = tune(temporary, *options)
    assert (code, err) == (0, "")
    assert "openvino:\nAn execution by its batch:" in out
    known = state(file)
    make_best(known, threads=1, backend="openvino")
    file.write_text(json.dumps(known))
    code, out, err = tune(temporary, *options, "--apply")
    assert (code, err) == (0, "")
    assert "The best one: 1 instance of openvino with 1 thread.\nAnother backend may give" in out
    written = (folder / "config.pbtxt").read_text()
    assert 'backend: "openvino"\n' in written
    assert 'parameters { key: "INFERENCE_NUM_THREADS" value { string_value: "1" } }\n' in written
    assert "platform" not in written
    # A library that does not load is left out.
    (folder / "config.pbtxt").write_text(before)
    (backends / "openvino" / "libtriton_openvino.so").write_text("no library")
    code, out, err = tune(temporary, *options[:-1])
    assert (code, err) == (0, "")
    assert "Left out: openvino: the private server of 'net' does not start: " in out
    code, out, err = tune(temporary, *options[:-1], "--same-backend")
    assert (code, err) == (0, "")
    assert "openvino" not in out


def test_the_models_of_an_ensemble_together(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    """Both steps wait for 20 ms. More instances of one of them alone would bring nothing."""
    folders = [
        model_repository.add_identity(name, "FP32", (1,), parameters=EXECUTION)
        for name in ("first", "second")
    ]
    before = [(folder / "config.pbtxt").read_text() for folder in folders]
    add_ensemble(
        model_repository,
        "both",
        [tensor_text("I", "FP32", (1,))],
        [tensor_text("O", "FP32", (1,))],
        [
            step_text("first", {"INPUT0": "I"}, {"OUTPUT0": "between"}),
            step_text("second", {"INPUT0": "between"}, {"OUTPUT0": "O"}),
        ],
    )
    file = tmp_path / "state"
    options = (
        "both",
        f"--model-repository={model_repository.root}",
        "--concurrency=4",
        "--max-instances=2",
        "--measure=2",
        "--seconds=0.3",
        f"--state={file}",
    )
    code, out, err = tune(temporary, *options)
    assert (code, err) == (0, "")
    assert "The best one: first: 2 instances; second: 2 instances.\n" in out
    assert [(folder / "config.pbtxt").read_text() for folder in folders] == before
    for folder in folders:
        assert f"{folder / 'config.pbtxt'}:\n" in out
    measured = len(state(file)["measured"])
    code, out, err = tune(temporary, *options, "--apply")
    assert (code, err) == (0, "")
    assert "Written. A server that serves these models has to load them again.\n" in out
    assert len(state(file)["measured"]) == measured
    for folder, text in zip(folders, before, strict=True):
        assert (folder / "config.pbtxt.before-tune").read_text() == text
        assert "count: 2" in (folder / "config.pbtxt").read_text()
    assert not (model_repository.root / "both" / "config.pbtxt.before-tune").exists()
    assert (list(temporary.iterdir()), private_servers(temporary)) == ([], [])
    code, _, err = tune(temporary, *options[:-1], "--threads=1")
    assert code == 2
    assert "--threads has no meaning for an ensemble" in err


def test_an_interrupted_run_goes_on(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    model_repository.add_identity("waits", "FP32", (1,), parameters=EXECUTION)
    file = tmp_path / "state"
    options = (
        "waits",
        f"--model-repository={model_repository.root}",
        "--concurrency=2",
        "--max-instances=2",
        "--measure=1",
        "--seconds=0.4",
        f"--state={file}",
    )
    process = start(temporary, *options)
    poll_until("the state", lambda: file.exists() or None, SECONDS)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err == (
        f"nereid tune: interrupted; the same command goes on with what is in {file}\n"
    )
    assert (list(temporary.iterdir()), private_servers(temporary)) == ([], [])
    before = state(file)
    assert before["models"][0]["times"][0]["by_batch_us"] and not before["measured"]
    code, out, err = tune(temporary, *options)
    assert (code, err) == (0, "")
    assert "The best one: 2 instances.\n" in out
    assert state(file)["models"] == before["models"]
    # The state of other options is not used.
    code, _, err = tune(temporary, *options, "--max-instances=3")
    assert code == 2
    assert "it is of another model, another configuration or other options" in err


def test_the_private_server_ends_with_a_killed_command(
    model_repository: ModelRepository, temporary: Path
) -> None:
    model_repository.add_identity("waits", "FP32", (1,), parameters=EXECUTION)
    process = start(temporary, "waits", f"--model-repository={model_repository.root}")
    poll_until("a server", lambda: private_servers(temporary) or None, SECONDS)
    process.kill()
    process.communicate(timeout=60)
    poll_until("its end", lambda: not private_servers(temporary) or None, SECONDS)


def test_models_that_are_not_tuned(model_repository: ModelRepository, temporary: Path) -> None:
    repository = f"--model-repository={model_repository.root}"
    model_repository.add(
        "broken",
        'backend: "testing"\n'
        'parameters { key: "behaviour" value { string_value: "fail_on_load" } }\n'
        'input [ { name: "I" data_type: TYPE_INT32 dims: [ 1 ] } ]\n'
        'output [ { name: "O" data_type: TYPE_INT32 dims: [ 1 ] } ]\n',
    )
    code, out, err = tune(temporary, "broken", repository)
    assert (code, out) == (1, "")
    assert err == (
        "nereid tune: the private server of 'broken' does not start: failed to load 'broken' "
        "version 1: Internal: testing backend: ModelInitialize failed on purpose\n"
    )
    model_repository.add_identity(
        "steps",
        "INT32",
        (1,),
        max_batch_size=2,
        extra="sequence_batching { max_sequence_idle_microseconds: 60000000 direct { } }",
    )
    code, _, err = tune(temporary, "steps", repository)
    assert code == 1
    assert "the model 'steps' serves sequences" in err
    step = 'step [ { model_name: "steps" model_version: -1 '
    model_repository.add(
        "both",
        'platform: "ensemble"\n'
        'input [ { name: "I" data_type: TYPE_INT32 dims: [ 1 ] } ]\n'
        'output [ { name: "O" data_type: TYPE_INT32 dims: [ 1 ] } ]\n'
        "ensemble_scheduling { " + step + 'input_map { key: "INPUT0" value: "I" } '
        'output_map { key: "OUTPUT0" value: "O" } } ] }\n',
    )
    code, _, err = tune(temporary, "both", repository)
    assert code == 1
    assert "the model 'steps' serves sequences" in err
    code, _, err = tune(temporary, "none", repository)
    assert code == 1
    assert f"there is no folder '{model_repository.root / 'none'}'" in err
    assert tune(temporary, repository)[0] == 2
    assert list(temporary.iterdir()) == []


def test_a_folder_that_cannot_be_written(model_repository: ModelRepository) -> None:
    folder = model_repository.add_identity("waits", "FP32")
    folder.chmod(0o500)
    # Root is bound by the permissions of files, too. Not by a `preexec_fn`: a process that has used
    # gRPC is not safe to fork.
    bound = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    command = [*bound, server_binary(), "tune", "waits", f"--model-repository={folder.parent}"]
    done = subprocess.run([*command, "--apply"], capture_output=True, text=True, timeout=60)
    folder.chmod(0o700)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"--apply: nothing may be written in the folder '{folder}'" in done.stderr
