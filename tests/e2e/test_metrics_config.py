# SPDX-License-Identifier: Apache-2.0
"""Which metrics of models a server has: --metrics-config, tags, namespaces, and histograms."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.infer import echo
from support.metrics import metric, read_metrics
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import add_repeat, repeat_request, stream_all

COUNTERS = (
    "nv_inference_request_duration_us",
    "nv_inference_queue_duration_us",
    "nv_inference_compute_input_duration_us",
    "nv_inference_compute_infer_duration_us",
    "nv_inference_compute_output_duration_us",
)
SUMMARIES = (
    "nv_inference_request_summary_us",
    "nv_inference_queue_summary_us",
    "nv_inference_compute_input_summary_us",
    "nv_inference_compute_infer_summary_us",
    "nv_inference_compute_output_summary_us",
)
HISTOGRAMS = (
    "nereid_request_duration_seconds",
    "nereid_queue_duration_seconds",
    "nereid_compute_duration_seconds",
)
FIRST_RESPONSE = "nv_inference_first_response_histogram_ms"
CHAIN = """
platform: "ensemble"
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ -1 ] } ]
ensemble_scheduling { step [ { model_name: "echo" model_version: -1
  input_map { key: "INPUT0" value: "INPUT0" } output_map { key: "OUTPUT0" value: "OUTPUT0" } } ] }
"""
CACHED = "response_cache { enable: true }"
LOCAL = "--cache-config=local,size=10000000"


def families(server: ServerProcess) -> dict[str, str]:
    """The type of each family on the page."""
    text = raw_http.get(server.metrics_url, "/metrics").body.decode()
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def labels_of(server: ServerProcess, name: str) -> set[tuple[str, str]]:
    """Names and values of all labels of the samples of `name`."""
    samples = read_metrics(server.metrics_url)
    return {label for (sample, given), _ in samples.items() if sample == name for label in given}


def test_histograms_are_there_without_any_option(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo", parameters={"execute_delay_ms": "60"})
    server = server_factory(model_repository)
    for _ in range(3):
        assert echo(server.http_url).status == 200
    kinds = families(server)
    for name in HISTOGRAMS:
        assert kinds[name] == "histogram"
        assert metric(server.metrics_url, f"{name}_count", model="echo") == 3
        assert metric(server.metrics_url, f"{name}_bucket", model="echo", le="+Inf") == 3
    request = "nereid_request_duration_seconds"
    assert metric(server.metrics_url, f"{request}_bucket", model="echo", le="0.05") == 0
    assert metric(server.metrics_url, f"{request}_bucket", model="echo", le="10") == 3
    assert 0.18 <= metric(server.metrics_url, f"{request}_sum", model="echo") < 30
    assert not any(kind == "summary" for kind in kinds.values())
    assert FIRST_RESPONSE not in kinds
    assert "nereid_first_response_duration_seconds" not in kinds


def test_failed_requests_are_in_no_histogram(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity(
        "fails", backend="testing", parameters={"behaviour": "throws"}
    )
    server = server_factory(model_repository)
    assert echo(server.http_url, "fails").status != 200
    assert metric(server.metrics_url, "nv_inference_request_failure", model="fails") == 1
    assert metric(server.metrics_url, "nereid_request_duration_seconds_count", model="fails") == 0


def test_kinds_can_be_switched_off(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo", extra=CACHED)
    server = server_factory(
        model_repository,
        LOCAL,
        "--metrics-config=counter_latencies=false",
        "--metrics-config=latency_histograms=false",
    )
    assert echo(server.http_url).status == 200
    kinds = families(server)
    for name in (*COUNTERS, *HISTOGRAMS, "nv_cache_num_hits_per_model"):
        assert name not in kinds
    # Triton stops counting requests, too.
    assert metric(server.metrics_url, "nv_inference_request_success", model="echo") == 1


def test_summaries(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    model_repository.add_identity("echo", parameters={"execute_delay_ms": "20"})
    model_repository.add_identity("cached", extra=CACHED)
    server = server_factory(model_repository, LOCAL, "--metrics-config=summary_latencies=true")
    for _ in range(4):
        assert echo(server.http_url).status == 200
        assert echo(server.http_url, "cached").status == 200
    kinds = families(server)
    assert kinds["nv_inference_request_duration_us"] == "counter"
    for name in SUMMARIES:
        assert kinds[name] == "summary"
        assert metric(server.metrics_url, f"{name}_count", model="echo") == 4
    quantiles = {value for key, value in labels_of(server, SUMMARIES[0]) if key == "quantile"}
    assert quantiles == {"0.5", "0.9", "0.95", "0.99", "0.999"}
    median = metric(server.metrics_url, SUMMARIES[0], model="echo", quantile="0.5")
    total = metric(server.metrics_url, f"{SUMMARIES[0]}_sum", model="echo")
    assert 19_000 <= median <= total * 65 / 64
    # Of models with a cache there are hits and misses instead.
    assert metric(server.metrics_url, f"{SUMMARIES[0]}_count", model="cached") == 0
    assert metric(server.metrics_url, "nv_cache_hit_summary_per_model_count", model="cached") == 3
    assert metric(server.metrics_url, "nv_cache_miss_summary_per_model_count", model="cached") == 1
    assert ("model", "echo") not in labels_of(server, "nv_cache_hit_summary_per_model_count")


def test_quantiles_can_be_chosen(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository,
        "--metrics-config",
        "summary_latencies=true",
        "--metrics-config",
        "summary_quantiles=0.1:0.0.1,0.7:0.01,0.75:0.01",
    )
    quantiles = {value for key, value in labels_of(server, SUMMARIES[0]) if key == "quantile"}
    assert quantiles == {"0.1", "0.7", "0.75"}


@pytest.mark.parametrize("buckets", [None, ("10", "50.5")])
def test_first_responses(
    server_factory: ServerFactory, model_repository: ModelRepository, buckets: tuple[str, ...] | None
) -> None:
    decoupled = "model_transaction_policy { decoupled: true }\n"
    control = (
        f"metric_control {{ metric_identifier {{ family: '{FIRST_RESPONSE}' }} "
        f"histogram_options {{ buckets: [ {', '.join(buckets)} ] }} }}"
        if buckets
        else ""
    )
    add_repeat(model_repository, extra=f"{decoupled} model_metrics {{ {control} }}")
    model_repository.add_identity("echo")
    model_repository.add("chain", CHAIN)
    server = server_factory(model_repository, "--metrics-config=histogram_latencies=true")
    # The first response comes after 100 ms, the other two 100 ms later each.
    started = time.monotonic()
    answers = stream_all(server.grpc_url, repeat_request([1, 2, 3], delays=[100, 100, 100]))
    whole_ms = (time.monotonic() - started) * 1000
    assert len(answers) >= 3
    assert families(server)[FIRST_RESPONSE] == "histogram"
    bounds = {
        dict(given)["le"]
        for name, given in read_metrics(server.metrics_url)
        if name == f"{FIRST_RESPONSE}_bucket" and ("model", "repeat") in given
    }
    assert bounds == {*(buckets or ("100", "500", "2000", "5000")), "+Inf"}
    seconds = "nereid_first_response_duration_seconds"
    for name in (FIRST_RESPONSE, seconds):
        assert metric(server.metrics_url, f"{name}_count", model="repeat") == 1
    # Every model has the histogram of release 2.73; an ensemble counts like its members.
    assert ("model", "echo") not in labels_of(server, f"{seconds}_count")
    for model in ("echo", "chain"):
        assert metric(server.metrics_url, f"{FIRST_RESPONSE}_count", model=model) == 0
    assert echo(server.http_url, "chain").status == 200
    for model in ("echo", "chain"):
        assert metric(server.metrics_url, f"{FIRST_RESPONSE}_count", model=model) == 1
    first_ms = metric(server.metrics_url, f"{FIRST_RESPONSE}_sum", model="repeat")
    assert 100 <= first_ms <= whole_ms - 200


def test_a_decoupled_request_lasts_until_its_final_response(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_repeat(model_repository, extra="model_transaction_policy { decoupled: true }\n")
    server = server_factory(model_repository)
    started = time.monotonic()
    # The backend reports its execution at once, and answers from another thread.
    stream_all(server.grpc_url, repeat_request([1, 2, 3], delays=[100, 100, 100]))
    whole_us = (time.monotonic() - started) * 1e6
    sums = {
        "nv_inference_request_duration_us": 1.0,
        "nereid_request_duration_seconds_sum": 1e6,
    }
    for name, us in sums.items():
        assert 300_000 <= metric(server.metrics_url, name, model="repeat") * us <= whole_us, name
    assert metric(server.metrics_url, "nv_inference_request_success", model="repeat") == 1
    assert metric(server.metrics_url, "nv_inference_count", model="repeat") == 1
    answer = raw_http.get(server.http_url, "/v2/models/repeat/stats").json()
    success = answer["model_stats"][0]["inference_stats"]["success"]
    assert success["count"] == 1
    assert 300_000_000 <= success["ns"] <= whole_us * 1000


def test_tags_and_namespace_are_labels(
    server_factory: ServerFactory, tmp_path: Path
) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        tag = f'metric_tags {{ key: "team" value: "{folder.name}" }}'
        ModelRepository(folder).add_identity("echo", extra=tag)
    server = server_factory(folders, "--model-namespacing=true")
    for name in ("nv_inference_count", "nereid_queue_duration_seconds_bucket"):
        for folder in folders:
            wanted = {("model", "echo"), ("namespace", str(folder)), ("_team", folder.name)}
            assert any(
                sample == name and wanted <= given
                for sample, given in read_metrics(server.metrics_url)
            )


def test_bad_settings_stop_the_start(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    for value, text in (
        ("summary_latencies", "--metrics-config option format is <setting>=<value>. Got "),
        ("model,summary_latencies=true", "--metrics-config option format is <setting>=<value>."),
        ("summary_latencies=yes", "expects 'true' or 'false', got 'yes'"),
        ("no_such_setting=true", "unknown metrics setting 'no_such_setting'"),
        ("summary_quantiles=half", "expects <quantile>:<error>,..., got 'half'"),
    ):
        server = server_factory(model_repository, f"--metrics-config={value}", wait_for=None)
        assert server.wait_exit() == 1
        assert text in server.stderr_text()


def test_a_bad_tag_is_refused(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo", extra='metric_tags { key: "my-team" value: "a" }')
    server = server_factory(model_repository, "--exit-on-error=false", wait_for="/v2/health/live")
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        index = {entry["name"]: entry for entry in client.get_model_repository_index()}
    assert "metric tag 'my-team' is no name for a label" in index["echo"]["reason"]
