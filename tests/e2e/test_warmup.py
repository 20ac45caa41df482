# SPDX-License-Identifier: Apache-2.0
"""model_warmup: samples run on every instance before the model is ready; a failure fails the
load."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest

from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess


def sample(name: str, data: str, batch_size: int = 1, count: int = 0, dims: str = "1") -> str:
    return (
        f'model_warmup {{ name: "{name}" batch_size: {batch_size} count: {count} inputs {{ '
        f'key: "INPUT0" value: {{ data_type: TYPE_INT32 dims: [ {dims} ] {data} }} }} }}\n'
    )


def file(name: str) -> str:
    return f'input_data_file: "{name}"'


ZERO, RANDOM = "zero_data: true", "random_data: true"

# Models that load, and models that do not, with the reasons in the index.
GOOD = {
    "samples": (
        "echo",
        sample("zero sample", ZERO)
        + sample("random sample", RANDOM, batch_size=2, count=3)
        + sample("file sample", file("five"))
        + sample("no sample", ZERO, batch_size=0)
        + "instance_group { kind: KIND_CPU count: 2 }",
    ),
    "late_answers": ("keep_requests", sample("late sample", RANDOM, batch_size=2, count=2)),
    "decoupled": (
        "decoupled",
        sample("three answers", ZERO) + "model_transaction_policy { decoupled: true }",
    ),
}
BAD = {
    "negative": (
        "fails_some",
        sample("good", file("five")) + sample("bad", file("minus"), batch_size=2, count=2),
        "failed to run warmup sample 'bad': testing backend: refused the value -1 on purpose; "
        "testing backend: refused the value -1 on purpose; ",
    ),
    "short_file": (
        "echo",
        sample("short", file("short")),
        "warmup setting expects 4 bytes, but the data provided from shortonly has 3 bytes",
    ),
    "no_file": ("echo", sample("gone", file("gone")), "gone"),
    "no_data": ("echo", sample("s", ""), "expects input 'INPUT0' to have input_data_type set"),
    "variable": (
        "echo",
        sample("s", ZERO, dims="-1"),
        "warmup setting expects all variable-size dimensions are specified for input 'INPUT0'",
    ),
    "wrong_shape": ("echo", sample("s", ZERO, dims="2"), "unexpected shape for input 'INPUT0'"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("warmup")
    models = ModelRepository(folder / "models")
    rows = {**GOOD, **{name: row[:2] for name, row in BAD.items()}}
    for name, (behaviour, extra) in rows.items():
        parameters = {"behaviour": behaviour, "responses": "3", "delay_ms": "1"}
        model = models.add_identity(
            name, "INT32", (1,), 4, extra=extra, parameters=parameters, backend="testing"
        )
        data = model / "warmup"
        data.mkdir()
        (data / "five").write_bytes(struct.pack("<i", 5))
        (data / "minus").write_bytes(struct.pack("<i", -1))
        (data / "short").write_bytes(b"abc")
    server = start_nereid(
        models.root, folder / "log", ["--exit-on-error=false", "--log-verbose=1"]
    )
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("model", GOOD)
def test_a_model_that_is_warm_serves(server: ServerProcess, model: str) -> None:
    assert raw_http.get(server.http_url, f"/v2/models/{model}/ready").status == 200


def test_every_instance_runs_every_sample(server: ServerProcess) -> None:
    log = server.log_text()
    for instance in ("samples_0_0", "samples_0_1"):
        running = f"model 'samples' instance {instance} is running warmup sample"
        assert log.count(f"{running} 'zero sample'") == 1
        assert log.count(f"{running} 'random sample' for iteration") == 3
        assert log.count(f"{running} 'file sample'") == 1
        assert f"{running} 'no sample'" not in log


def test_warm_up_counts_like_any_work(server: ServerProcess) -> None:
    """Warm-up is counted, as in Triton. Per instance: 1, three times 2, and 1."""
    answer = raw_http.get(server.http_url, "/v2/models/samples/stats").json()
    (statistics,) = answer["model_stats"]
    assert statistics["execution_count"] == 2 * (1 + 3 + 1)
    assert statistics["inference_count"] == 2 * (1 + 3 * 2 + 1)
    by_batch = {row["batch_size"]: row["compute_infer"]["count"] for row in statistics["batch_stats"]}
    assert by_batch == {1: 4, 2: 6}


@pytest.mark.parametrize("model", BAD)
def test_a_failure_fails_the_load(server: ServerProcess, model: str) -> None:
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    (entry,) = [entry for entry in index if entry["name"] == model]
    assert entry["state"] == "UNAVAILABLE"
    assert BAD[model][2] in entry["reason"]
