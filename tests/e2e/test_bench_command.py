# SPDX-License-Identifier: Apache-2.0
"""`nereid bench`: loads over both protocols, streams, sequences, shared memory, wrong inputs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http

from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import server_binary
from support.streaming import add_repeat

SEQUENCES = "sequence_batching { max_sequence_idle_microseconds: 60000000 direct { } }"
SCHEMES = ("http", "grpc")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("bench")
    models = ModelRepository(folder / "models")
    models.add_identity("pair", "FP32", (2,), max_batch_size=4, tensors=2)
    models.add_identity("text", "STRING")
    models.add_identity("steps", "INT32", (1,), max_batch_size=2, extra=SEQUENCES)
    add_repeat(models)
    started = start_nereid(models.root, folder / "log", ["--allow-client-shm=true"])
    try:
        started.wait_for()
        yield started
    finally:
        started.stop()


def address(server: ServerProcess, scheme: str) -> str:
    return f"{scheme}://127.0.0.1:{server.port(scheme)}"


def command(*arguments: str) -> list[str]:
    short = ("--seconds=0.3", "--warm-up-seconds=0.05", "--stability=0")
    return [str(server_binary()), "bench", *short, *arguments]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=60)


def rows(*arguments: str) -> list[dict[str, Any]]:
    done = bench("--json", *arguments)
    assert (done.returncode, done.stderr) == (0, ""), done
    found: list[dict[str, Any]] = json.loads(done.stdout)["rows"]
    for row in found:
        assert row["requests"] > 0, row
        assert row["errors"] == 0, row
    return found


def statistics(server: ServerProcess, model: str) -> Any:
    client = tritonclient.http.InferenceServerClient(server.http_url)
    return client.get_inference_statistics(model)["model_stats"][0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_closed_loop(server: ServerProcess, scheme: str) -> None:
    before = statistics(server, "pair")["inference_count"]
    one, three = rows(
        f"--url={address(server, scheme)}", "--model=pair", "--concurrency=1,3", "--batch-size=2"
    )
    assert (one["concurrency"], three["concurrency"]) == (1, 3)
    assert one["latency_us"]["p50"] <= one["latency_us"]["p99"] <= one["latency_us"]["max"]
    assert one["batch_size"] == 2
    served = statistics(server, "pair")["inference_count"] - before
    # The warm-up is served, too, and so is what was in flight at the end.
    assert served >= 2 * (one["requests"] + three["requests"])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_open_loop_sends_what_falls_due(server: ServerProcess, scheme: str) -> None:
    (row,) = rows(f"--url={address(server, scheme)}", "--model=pair:1", "--rate=200")
    # 0.35 seconds of 200 per second, without the warm-up of 0.05 seconds.
    assert 55 <= row["requests"] <= 60
    assert row["unanswered"] == 0


def test_a_trace_is_followed(server: ServerProcess, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("# seconds\n0\n0.01\n0.01\n\n0.1\n", encoding="utf-8")
    (row,) = rows(f"--url={address(server, 'grpc')}", "--model=pair", f"--trace-file={trace}")
    assert row["requests"] == 4


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_stream_waits_for_its_last_response(
    server: ServerProcess, scheme: str, tmp_path: Path
) -> None:
    data = tmp_path / "data.json"
    request = {"IN": [1, 2, 3], "DELAY": [0, 0, 1], "WAIT": [0]}
    shaped = {name: {"content": value, "shape": [len(value)]} for name, value in request.items()}
    data.write_text(json.dumps({"data": [shaped]}), encoding="utf-8")
    url = f"--url={address(server, scheme)}"
    arguments = (url, "--model=repeat", "--streaming", f"--input-data={data}", "--concurrency=2")
    for more in ((), ("--responses=3",)) if scheme == "grpc" else ((),):
        (row,) = rows(*arguments, *more)
        # The last response comes a millisecond after the first one.
        assert row["latency_us"]["p50"] >= row["first_response_us"]["p50"] + 500
    done = bench(url, "--model=repeat")
    assert done.returncode == 2
    assert "the model repeat is decoupled" in done.stderr


def test_streams_of_events(server: ServerProcess) -> None:
    url = f"--url={address(server, 'http')}"
    # A model that is not decoupled has one event.
    (row,) = rows(url, "--model=pair:1", "--streaming", "--concurrency=3")
    assert 0 < row["first_response_us"]["p50"] <= row["latency_us"]["p50"]
    rows(url, "--model=text", "--streaming", "--shape=INPUT0:3")
    (row,) = rows(url, "--model=pair", "--streaming", "--batch-size=2")
    assert row["batch_size"] == 2
    failing = bench(url, "--model=steps", "--streaming", "--json")
    assert failing.returncode == 1
    (row,) = json.loads(failing.stdout)["rows"]
    (error,) = row["errors_by_text"]
    assert error["count"] == row["errors"] > 0
    assert "must specify a non-zero or non-empty correlation ID" in error["text"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_sequences_are_whole(server: ServerProcess, scheme: str) -> None:
    # A slot that a sequence did not give back would let the next run wait for a minute.
    for _ in range(2):
        (row,) = rows(
            f"--url={address(server, scheme)}",
            "--model=steps",
            "--sequences=2",
            "--sequence-length=3",
        )
        assert row["concurrency"] == 2
    assert statistics(server, "steps")["inference_stats"]["fail"]["count"] == 0


def segments() -> set[str]:
    return {name for name in os.listdir("/dev/shm") if name.startswith("nereid_bench_")}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("stopped", [False, True])
def test_shared_memory_is_taken_back(server: ServerProcess, scheme: str, stopped: bool) -> None:
    arguments = (f"--url={address(server, scheme)}", "--model=pair", "--shared-memory=system")
    earlier = segments()
    if stopped:
        with subprocess.Popen(
            command("--json", *arguments, "--seconds=600", "--warm-up-seconds=0"),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            client = tritonclient.http.InferenceServerClient(server.http_url)
            while len(client.get_system_shared_memory_status()) < 2:
                assert process.poll() is None
            before = statistics(server, "pair")["inference_count"]
            while statistics(server, "pair")["inference_count"] == before:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            report, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert json.loads(report)["rows"][0]["interrupted"]
    else:
        rows(*arguments)
    client = tritonclient.http.InferenceServerClient(server.http_url)
    assert client.get_system_shared_memory_status() == []
    assert segments() <= earlier


def test_inputs_from_files(server: ServerProcess, tmp_path: Path) -> None:
    url = f"--url={address(server, 'http')}"
    array = tmp_path / "input.npy"
    np.save(array, np.array([1, 2], np.float32))
    raw = tmp_path / "input.raw"
    raw.write_bytes(np.array([3, 4], np.float32).tobytes())
    rows(url, "--model=pair", f"--input=INPUT0:{array}", f"--input=INPUT1:{raw}")
    rows(url, "--model=text", "--shape=INPUT0:3", "--json-tensors")
    np.save(array, np.array([1, 2], np.int64))
    done = bench(url, "--model=pair", f"--input=INPUT0:{array}")
    assert done.returncode == 2
    assert "holds INT64; the input INPUT0 has the data type FP32" in done.stderr


def test_files_of_the_result(server: ServerProcess, tmp_path: Path) -> None:
    page, data = tmp_path / "page.html", tmp_path / "result.json"
    done = bench(
        f"--url={address(server, 'http')}",
        "--model=pair",
        "--concurrency=1:2",
        f"--html={page}",
        f"--json={data}",
    )
    assert done.returncode == 0
    assert re.search(r"^ +2 +\d+", done.stdout, re.MULTILINE), done.stdout
    assert len(json.loads(data.read_text(encoding="utf-8"))["rows"]) == 2
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg ") == 5
    assert "http-equiv" in text
    assert not re.search(r"(src|href)=", text), "the page needs nothing else"


def test_requests_that_fail_are_counted_by_their_text(server: ServerProcess) -> None:
    for scheme in SCHEMES:
        done = bench(f"--url={address(server, scheme)}", "--model=steps", "--json")
        assert done.returncode == 1
        (row,) = json.loads(done.stdout)["rows"]
        (error,) = row["errors_by_text"]
        assert error["count"] == row["errors"] > 0
        assert "must specify a non-zero or non-empty correlation ID" in error["text"]


def test_servers_and_models_that_are_not_there(server: ServerProcess) -> None:
    for scheme in SCHEMES:
        done = bench(f"--url={address(server, scheme)}", "--model=nothing")
        assert (done.returncode, done.stdout) == (1, "")
        assert "Request for unknown model: 'nothing' is not found" in done.stderr
        done = bench(f"--url={scheme}://127.0.0.1:1", "--model=pair")
        assert (done.returncode, done.stdout) == (1, "")
        assert "Connection refused" in done.stderr
    # Neither protocol is the other one.
    done = bench(f"--url=http://127.0.0.1:{server.port('grpc')}", "--model=pair")
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "the name of the MODEL is missing"),
        (("--model=m", "n", "o"), "one MODEL at a time, not also o"),
        (("--url=http://h", "--model=m", "--nothing"), "unknown option --nothing"),
        (("m", "--concurency=4"), "did you mean --concurrency?"),
        (
            ("--url=http://h", "--model=m", "--streaming", "--responses=2"),
            "--responses and --streaming need a --url with grpc",
        ),
        (("--url=http://h", "--model=m", "--rate=0"), "--rate is '0'"),
    ],
)
def test_wrong_options(options: tuple[str, ...], text: str) -> None:
    done = bench(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
