#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the load that the release build is optimised for, for tools/profile.sh: half a minute of what servers do most.

    tools/train.py STAGE PROFILE [--seconds=S]

STAGE is an installation of the preset `counting`, PROFILE the folder in which its programs write what they counted. A
load is a model and a run of `nereid bench`, the program's own generator; each lasts S seconds. The models repeat their
inputs, or are those of examples/models.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE_MODELS = ROOT / "examples" / "models"
START_SECONDS = 60
STOP_SECONDS = 60
SECONDS = 1.0
# What servers are asked besides.
PAGES = ("v2/health/live", "v2/health/ready", "v2", "v2/models/small", "v2/models/small/config", "v2/models/stats")
# A part of each program and library that the load is meant to reach.
REACHED = ("apps#nereid#", "src#frontends#http#", "src#frontends#grpc#", "src#scheduling#", "backends#identity#",
           "backends#onnxruntime#")  # fmt: skip

IDENTITY = """backend: "identity"
max_batch_size: {batch}
input [ {{ name: "INPUT0" data_type: TYPE_{kind} dims: [ {dims} ] }} ]
output [ {{ name: "OUTPUT0" data_type: TYPE_{kind} dims: [ {dims} ] }} ]
instance_group [ {{ count: {instances} kind: KIND_CPU }} ]
{more}
"""
REPEAT = """backend: "repeat"
input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] }, { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },
        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]
output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }, { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]
model_transaction_policy { decoupled: true }
"""
CHAIN = """platform: "ensemble"
max_batch_size: 16
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 16 ] } ]
ensemble_scheduling {
  step { model_name: "batched" model_version: -1
    input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "between" } }
  step { model_name: "batched" model_version: -1
    input_map { key: "INPUT0" value: "between" } output_map { key: "OUTPUT0" value: "OUTPUT0" } }
}
"""
BATCHED = "dynamic_batching { preferred_batch_size: [ 8, 16 ] max_queue_delay_microseconds: 100 }"
SEQUENCES = """sequence_batching { %s
  control_input { name: "START" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } } }"""


def identity(kind: str = "FP32", dims: int = 16, batch: int = 0, more: str = "", instances: int = 1) -> str:
    return IDENTITY.format(kind=kind, dims=dims, batch=batch, more=more, instances=instances)


MODELS = {
    "small": identity(),
    "large": identity(dims=-1),
    "integers": identity("INT64", dims=-1),
    "strings": identity("STRING", dims=-1),
    "batched": identity(batch=16, more=BATCHED, instances=2),
    "kept": identity(batch=16, more="response_cache { enable: true }"),
    "direct": identity(batch=16, more=SEQUENCES % "direct { }"),
    "oldest": identity(batch=16, more=SEQUENCES % "oldest { max_candidate_sequences: 16 }"),
    "chain": CHAIN,
    "repeat": REPEAT,
}


@dataclass(frozen=True)
class Load:
    """A run of `nereid bench`."""

    model: str
    protocol: str  # http, grpc
    options: str = ""


def over_both(model: str, *options: str) -> list[Load]:
    return [Load(model, protocol, each) for each in options for protocol in ("http", "grpc")]


LOADS = (
    *over_both("small", "--concurrency=1", "--concurrency=16", "--concurrency=64"),
    Load("small", "http", "--concurrency=16 --json-tensors"),
    Load("strings", "http", "--concurrency=4 --json-tensors --shape=INPUT0:1000"),
    Load("integers", "http", "--concurrency=4 --json-tensors --shape=INPUT0:1000"),
    *over_both("strings", "--concurrency=4 --shape=INPUT0:1000"),
    *over_both("large", "--concurrency=2 --shape=INPUT0:1048576 --input-data=zeros"),
    Load("large", "grpc", "--concurrency=2 --shape=INPUT0:65536 --shared-memory=system"),
    *over_both("batched", "--concurrency=32"),
    *over_both("digits", "--concurrency=4"),
    *over_both("digits_batched", "--concurrency=32"),
    *over_both("chain", "--concurrency=16"),
    *over_both("kept", "--concurrency=8"),
    *over_both("direct", "--sequences=16 --sequence-length=16"),
    *over_both("oldest", "--sequences=16 --sequence-length=16"),
    Load("small", "grpc", "--concurrency=16 --streaming"),
    Load("repeat", "grpc", "--concurrency=4 --streaming --shape=IN:10 --shape=DELAY:10 --input-data=zeros"),
)


class TrainingError(Exception):
    """What is wrong, in one sentence."""


def write_models(repository: Path) -> None:
    for name, config in MODELS.items():
        (repository / name / "1").mkdir(parents=True)
        (repository / name / "config.pbtxt").write_text(config, encoding="utf-8")
    for example in EXAMPLE_MODELS.iterdir():
        shutil.copytree(example, repository / example.name)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def get(port: int, path: str) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=10) as answer:
        answer.read()


def await_ready(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return get(port, "v2/health/ready")
        except (urllib.error.URLError, OSError):
            if server.poll() is not None or time.monotonic() > deadline:
                raise TrainingError(f"the server does not get ready; its log:\n{log.read_text()[-4000:]}") from None
            time.sleep(0.05)


@contextmanager
def running(stage: Path, work: Path) -> Iterator[dict[str, int]]:
    """A server, and its ports. It has to end by itself, because only then it writes what it counted."""
    http, grpc, metrics = free_ports(3)
    log = work / "log"
    command = [stage / "bin/nereid", f"--model-repository={work / 'models'}", "--cache-config=local,size=67108864",
               "--allow-client-shm=true",
               f"--http-port={http}", f"--grpc-port={grpc}", f"--metrics-port={metrics}"]  # fmt: skip
    with log.open("wb") as file:
        server = subprocess.Popen(command, stdout=file, stderr=file)
    try:
        await_ready(server, http, log)
        yield {"http": http, "grpc": grpc, "metrics": metrics}
        server.send_signal(signal.SIGTERM)
        if server.wait(STOP_SECONDS) != 0:
            raise TrainingError(f"the server ended with {server.returncode}; its log:\n{log.read_text()[-4000:]}")
    except subprocess.TimeoutExpired:
        raise TrainingError(f"the server does not end; its log:\n{log.read_text()[-4000:]}") from None
    finally:
        server.kill()
        server.wait()


def run(stage: Path, load: Load, port: int, seconds: float) -> None:
    command = [stage / "bin/nereid", "bench", load.model, f"--url={load.protocol}://127.0.0.1:{port}", "--stability=0",
               "--warm-up-seconds=0", f"--seconds={seconds}", *load.options.split()]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TrainingError(f"the load '{load.model} {load.protocol} {load.options}' failed: {done.stderr.strip()}")


def check_reached(profile: Path) -> None:
    names = [path.name for path in profile.rglob("*.gcda")]
    for part in REACHED:
        if not any(name.startswith(part) for name in names):
            raise TrainingError(f"{profile} has no counts of {part.replace('#', '/')}: was STAGE built with them?")


def train(stage: Path, profile: Path, seconds: float) -> None:
    shutil.rmtree(profile, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_models(work / "models")
        with running(stage, work) as ports:
            for load in LOADS:
                run(stage, load, ports[load.protocol], seconds)
                for page in PAGES:
                    get(ports["http"], page)
                get(ports["metrics"], "metrics")
    check_reached(profile)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stage", type=Path, help="an installation of the preset `counting`")
    parser.add_argument("profile", type=Path, help="where its programs write what they counted")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a load")
    arguments = parser.parse_args()
    try:
        train(arguments.stage, arguments.profile, arguments.seconds)
    except TrainingError as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
