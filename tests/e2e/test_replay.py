# SPDX-License-Identifier: Apache-2.0
"""Recordings of a running server (--record), and `nereid replay` in virtual time and against a
server."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http

from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import server_binary

pytestmark = pytest.mark.thorough

REQUESTS = 400
WORKERS = 12
NEEDED_SHARE = 0.95
ATTEMPTS = 4


def replay(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), "replay", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ)


def storm(server: ServerProcess) -> None:
    """Requests of several clients, with pauses that are longer and shorter than an execution."""

    def client(number: int) -> None:
        chance = random.Random(number)
        with tritonclient.http.InferenceServerClient(server.http_url) as http:
            tensor = tritonclient.http.InferInput("INPUT0", [1, 1], "FP32")
            tensor.set_data_from_numpy(np.ones([1, 1], dtype=np.float32))
            for i in range(REQUESTS // WORKERS):
                http.infer("batched", [tensor], request_id=f"{number}/{i}")
                time.sleep(chance.choice([0, 0, 0.002, 0.02]))

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(client, range(WORKERS)))


def record(folder: Path, instances: int, *options: str) -> Path:
    repository = ModelRepository(folder / "models")
    repository.add_identity(
        "batched",
        "FP32",
        [1],
        max_batch_size=4,
        parameters={"execute_delay_ms": "4"},
        extra="dynamic_batching { max_queue_delay_microseconds: 3000 }\n"
        f"instance_group [ {{ count: {instances} kind: KIND_CPU }} ]",
    )
    recording = folder / "recording.jsonl"
    server = start_nereid(repository.root, folder, [f"--record={recording}", *options])
    server.wait_for("/v2/health/ready")
    storm(server)
    server.stop()
    return recording


@pytest.fixture(scope="module", params=[1, 2], ids=["one instance", "two instances"])
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Path]:
    return request.param, record(tmp_path_factory.mktemp("recorded"), request.param)


def test_everything_is_recorded(recorded: tuple[int, Path]) -> None:
    lines = [json.loads(line) for line in recorded[1].read_text().splitlines()]
    assert lines[0]["nereid_recording"] == 1
    (model,) = [line for line in lines if "model" in line]
    assert (model["name"], model["config"]["max_batch_size"]) == ("batched", 4)
    requests = [line for line in lines if "request" in line]
    assert len({line["id"] for line in requests}) == len(requests) == REQUESTS // WORKERS * WORKERS
    batches = [line for line in lines if "requests" in line]
    assert sum(line["requests"] for line in batches) == len(requests)
    assert recorded[1].stat().st_mode & 0o777 == 0o600


def test_the_batches_are_reproduced(
    recorded: tuple[int, Path], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A thread that loses its processor between noting the time of a request and queueing it is
    nothing that a recording shows, so a busy machine gets further attempts."""
    instances, recording = recorded
    shares: list[tuple[float, str]] = []
    while len(shares) < ATTEMPTS:
        done = replay(recording, "--virtual", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        answer: Any = json.loads(done.stdout)
        assert (answer["instances"], answer["incomplete_batches"]) == (instances, 0)
        share = answer["reproduced"] / answer["compared"]
        if share >= NEEDED_SHARE:
            return
        shares.append((share, answer["first_difference"]))
        recording = record(tmp_path_factory.mktemp("again"), instances)
    pytest.fail(f"too few batches are reproduced: {shares}")


def test_a_recorded_storm_gives_the_same_batches_each_time(recorded: tuple[int, Path]) -> None:
    first = replay(recorded[1], "--virtual", "--batches").stdout
    assert len(first.splitlines()) > 50
    for _ in range(99):
        assert replay(recorded[1], "--virtual", "--batches").stdout == first


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("max_batch_size: 4", "max_batch_size: 3"),
        ("max_queue_delay_microseconds: 3000", "max_queue_delay_microseconds: 0"),
    ],
    ids=["takes one request fewer", "ignores the delay"],
)
def test_another_batcher_is_told_apart(
    recorded: tuple[int, Path], tmp_path: Path, rule: str, broken: str
) -> None:
    instances, recording = recorded
    original = recording.parent / "models" / "batched" / "config.pbtxt"
    config = tmp_path / "config.pbtxt"
    assert rule in original.read_text()
    config.write_text(original.read_text().replace(rule, broken))
    right = replay(recording, "--virtual", f"--config={original}", "--batches")
    done = replay(recording, "--virtual", f"--config={config}", "--batches")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout != right.stdout
    assert f"  instances     {instances}\n" in done.stdout
    assert "  difference    at " in done.stdout
    assert " the server took #" in done.stdout


def test_a_sample_within_a_limit(tmp_path: Path) -> None:
    recording = record(tmp_path, 1, "--record-sample=0.5", "--record-max-bytes=40000")
    assert 30_000 < recording.stat().st_size <= 40_000
    done = replay(recording, "--virtual", "--batches")
    assert (done.returncode, done.stderr) == (0, "")
    assert "not compared" in done.stdout


def test_waits_for_the_rate_limiter_are_said(tmp_path: Path) -> None:
    repository = ModelRepository(tmp_path / "models")
    limiter = 'rate_limiter { resources { name: "R" count: 1 } }'
    repository.add_identity(
        "limited",
        "FP32",
        [1],
        parameters={"execute_delay_ms": "20"},
        extra=f"instance_group [ {{ count: 2 kind: KIND_CPU {limiter} }} ]",
    )
    recording = tmp_path / "recording.jsonl"
    server = start_nereid(
        repository.root,
        tmp_path,
        [f"--record={recording}", "--rate-limit=execution_count", "--rate-limit-resource=R:1"],
    )
    server.wait_for("/v2/health/ready")
    tensor = tritonclient.http.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.ones([1], dtype=np.float32))
    with tritonclient.http.InferenceServerClient(server.http_url, concurrency=4) as http:
        for request in [http.async_infer("limited", [tensor]) for _ in range(4)]:
            request.get_result()
    server.stop()
    done = replay(recording, "--virtual")
    assert (done.returncode, done.stderr) == (0, "")
    assert "  not replayed  the rate limiter, for which " in done.stdout
    batches = [json.loads(line) for line in recording.read_text().splitlines()]
    waited = [line for line in batches if "staged" in line]
    assert waited
    assert all(line["staged"] <= line["pulled"] for line in waited)


def address(server: ServerProcess, scheme: str) -> str:
    return f"--url={scheme}://127.0.0.1:{server.port(scheme)}"


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_against_a_server(recorded: tuple[int, Path], tmp_path: Path, scheme: str) -> None:
    server = start_nereid(recorded[1].parent / "models", tmp_path)
    server.wait_for("/v2/health/ready")
    done = replay(recorded[1], address(server, scheme), "--speed=5", "--json")
    server.stop()
    assert (done.returncode, done.stderr) == (0, "")
    answer: Any = json.loads(done.stdout)
    assert (answer["requests"], answer["in_sequences"]) == (REQUESTS // WORKERS * WORKERS, 0)
    assert (answer["now"]["requests"], answer["now"]["errors"]) == (answer["requests"], 0)
    # An execution takes 4 ms, now as then.
    assert min(answer["recorded_us"]["p50"], answer["now"]["latency_us"]["p50"]) >= 4000


def test_sequences_against_a_server(tmp_path: Path) -> None:
    """The model refuses a request that begins no sequence and continues none."""
    repository = ModelRepository(tmp_path / "models")
    repository.add_identity(
        "steps",
        "INT32",
        [1],
        max_batch_size=2,
        extra="sequence_batching { max_sequence_idle_microseconds: 60000000 direct { } }",
    )
    recording = tmp_path / "recording.jsonl"
    server = start_nereid(repository.root, tmp_path, [f"--record={recording}"])
    server.wait_for("/v2/health/ready")
    with tritonclient.http.InferenceServerClient(server.http_url) as http:
        tensor = tritonclient.http.InferInput("INPUT0", [1, 1], "INT32")
        tensor.set_data_from_numpy(np.ones([1, 1], dtype=np.int32))
        for i in range(6):
            for sequence in (17, "camera"):
                http.infer(
                    "steps",
                    [tensor],
                    sequence_id=sequence,
                    sequence_start=i == 0,
                    sequence_end=i == 5,
                )
            time.sleep(0.01)
    server.stop()
    server = start_nereid(repository.root, tmp_path)
    server.wait_for("/v2/health/ready")
    for scheme in ("http", "grpc"):
        done = replay(recording, address(server, scheme))
        assert (done.returncode, done.stderr) == (0, "")
        assert "12 requests recorded, sent to " + scheme in done.stdout
        assert "  answered      12\n  errors        0\n  in sequences  12\n" in done.stdout
    server.stop()
    gone = replay(recording, address(server, "http"))
    assert (gone.returncode, gone.stdout) == (1, "")
    assert f"http://{server.http_url}: " in gone.stderr


def values_of(recording: Path, name: str) -> list[bytes | None]:
    """What was recorded of an input, of all requests; None: no values."""
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    tensors = [tensor for line in lines if "inputs" in line for tensor in line["tensors"]]
    return [
        base64.b64decode(tensor["data"]) if "data" in tensor else None
        for tensor in tensors
        if tensor["name"] == name
    ]


def recording_server(repository: ModelRepository, folder: Path, *options: str) -> ServerProcess:
    options = (f"--record={folder}/recording.jsonl", "--record-tensors=true", *options)
    server = start_nereid(repository.root, folder, options)
    server.wait_for("/v2/health/ready")
    return server


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_tensors_are_sent_again(tmp_path: Path, scheme: str) -> None:
    """A second server records what the replay sends to it."""
    repository = ModelRepository(tmp_path / "models")
    repository.add_identity("numbers", "FP32", [-1])
    repository.add_identity("texts", "STRING", [-1])
    for folder in ("first", "again"):
        (tmp_path / folder).mkdir()
    sent = [np.full(size, size, dtype=np.float32) for size in (1, 3, 0, 70_000)]
    server = recording_server(repository, tmp_path / "first")
    with tritonclient.http.InferenceServerClient(server.http_url) as http:
        for values in sent:
            tensor = tritonclient.http.InferInput("INPUT0", list(values.shape), "FP32")
            tensor.set_data_from_numpy(values, binary_data=values.size != 3)
            http.infer("numbers", [tensor])
        text = tritonclient.http.InferInput("INPUT0", [2], "BYTES")
        text.set_data_from_numpy(np.array([b"a", b"\x00\xff"], dtype=np.object_))
        http.infer("texts", [text])
    server.stop()
    first = tmp_path / "first" / "recording.jsonl"
    assert values_of(first, "INPUT0") == [
        *(values.tobytes() for values in sent),
        b"\x01\x00\x00\x00a\x02\x00\x00\x00\x00\xff",
    ]
    server = recording_server(repository, tmp_path / "again")
    for model in ("numbers", "texts"):
        done = replay(first, address(server, scheme), f"--model={model}")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"  as recorded   {len(sent) if model == 'numbers' else 1}\n" in done.stdout
    server.stop()
    again = values_of(tmp_path / "again" / "recording.jsonl", "INPUT0")
    assert sorted(again, key=str) == sorted(values_of(first, "INPUT0"), key=str)
    assert replay(first, "--virtual", "--model=numbers").returncode == 0


def test_redacted_tensors_are_made_up(tmp_path: Path) -> None:
    repository = ModelRepository(tmp_path / "models")
    repository.add_identity("echo", "FP32", [-1])
    for folder in ("first", "again"):
        (tmp_path / folder).mkdir()
    server = recording_server(repository, tmp_path / "first", "--record-redact=INPUT0")
    with tritonclient.http.InferenceServerClient(server.http_url) as http:
        tensor = tritonclient.http.InferInput("INPUT0", [5], "FP32")
        tensor.set_data_from_numpy(np.full(5, 1234.5, dtype=np.float32))
        http.infer("echo", [tensor])
    server.stop()
    first = tmp_path / "first" / "recording.jsonl"
    assert values_of(first, "INPUT0") == [None]
    assert b"1234.5" not in first.read_bytes()
    server = recording_server(repository, tmp_path / "again")
    done = replay(first, address(server, "http"))
    assert (done.returncode, done.stderr) == (0, "")
    server.stop()
    (made_up,) = values_of(tmp_path / "again" / "recording.jsonl", "INPUT0")
    assert made_up is not None
    assert len(made_up) == 5 * 4


def test_a_recording_that_is_full_has_no_more_tensors(tmp_path: Path) -> None:
    repository = ModelRepository(tmp_path / "models")
    repository.add_identity("echo", "FP32", [-1])
    server = recording_server(repository, tmp_path, "--record-max-bytes=10000")
    with tritonclient.http.InferenceServerClient(server.http_url) as http:
        tensor = tritonclient.http.InferInput("INPUT0", [5000], "FP32")
        tensor.set_data_from_numpy(np.zeros(5000, dtype=np.float32))
        for _ in range(3):
            http.infer("echo", [tensor])
    server.stop()
    assert (tmp_path / "recording.jsonl").stat().st_size <= 10_000
    server.wait_for_log("ends: it has reached 10000 bytes (--record-max-bytes)")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--record-tensors=true"], "--record-tensors has a meaning only with --record=FILE"),
        (
            ["--record=r", "--record-redact=INPUT0"],
            "--record-redact has a meaning only with --record-tensors=true",
        ),
    ],
)
def test_options_without_effect_are_refused(
    tmp_path: Path, options: list[str], error: str
) -> None:
    (tmp_path / "models").mkdir()
    server = start_nereid(tmp_path / "models", tmp_path, options)
    assert server.wait_exit() == 1
    server.wait_for_log(error)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "it is empty"),
        ("{}\n", "line 1: this is no recording of version 1, which `nereid --record=FILE` writes"),
        ('{"nereid_recording":1}\n', "no model was recorded"),
        ('{"nereid_recording":1}\n{"request":1}\n', "line 2: model 1 was not introduced"),
        ('{"nereid_recording":1}\n[]\n', "line 2: a line must be a JSON object"),
    ],
)
def test_what_is_no_recording(tmp_path: Path, text: str, error: str) -> None:
    recording = tmp_path / "r"
    recording.write_text(text)
    done = replay(recording, "--virtual")
    assert (done.returncode, done.stderr) == (1, f"nereid replay: {recording}: {error}\n")


def test_wrong_options(tmp_path: Path) -> None:
    assert replay("--virtual").returncode == 2
    assert "--virtual is missing, or --url=URL of a server" in replay("x").stderr
    assert "exclude each other" in replay("x", "--virtual", "--url=http://localhost:1").stderr
    assert "only with --url" in replay("x", "--virtual", "--speed=2").stderr
    assert "--speed is '0'; it has to be" in replay("x", "--url=http://a", "--speed=0").stderr
    assert "it cannot be read" in replay(tmp_path / "none", "--virtual").stderr


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    server = start_nereid(tmp_path / "models", tmp_path, [f"--record={tmp_path}/none/r"])
    assert server.wait_exit() == 1
    server.wait_for_log("(--record) cannot be written: No such file or directory")
