# SPDX-License-Identifier: Apache-2.0
"""The metrics of both servers with each setting of --metrics-config, after the same requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from differential.original_server import prepare, start_original
from support import raw_http
from support.infer import echo
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory, stage_root
from support.streaming import DECOUPLED, add_repeat, repeat_request, stream_all

SUMMARIES = "--metrics-config=summary_latencies=true"
SETTINGS = {
    "default": (),
    "no-counters": ("--metrics-config=counter_latencies=false",),
    "summaries": (SUMMARIES,),
    "quantiles": (SUMMARIES, "--metrics-config=summary_quantiles=0.1:0.0.1,0.7:0.01,x:1,0.75:0.01"),
    "histograms": ("--metrics-config=histogram_latencies=true",),
    "no-default": ("--metrics-config=counter_latencies=false", SUMMARIES),
}
# As release 2.73: rows metric-load-duration and metric-first-response of docs/protocol/differences.tsv.
ONLY_OURS = ("nv_model_load_duration_secs", "nv_inference_first_response_histogram_ms")
# Not counters: what the server counts is compared, but not how long anything took.
_COUNTED = re.compile(r"(_count|_total|_success|_failure|_per_model)$")


def write_models(root: Path) -> Path:
    models = ModelRepository(root)
    models.add_identity("echo", extra='metric_tags { key: "team" value: "blue" }')
    models.add_identity("cached", extra="response_cache { enable: true }")
    add_repeat(models, extra=DECOUPLED)
    return models.root


def use(server: ServerProcess) -> None:
    for value in (1.0, 2.0, 3.0):
        assert echo(server.http_url, values=(value,)).status == 200
        assert echo(server.http_url, "cached", (7.0,)).status == 200
    assert stream_all(server.grpc_url, repeat_request([1, 2]))


def page_of(start: Callable[[], ServerProcess]) -> str:
    server = start()
    try:
        server.wait_for()
        use(server)
        return raw_http.get(server.metrics_url, "/metrics").body.decode()
    finally:
        server.kill()


def shown(page: str) -> dict[str, str]:
    """Help and kind of each family of models, and the value, if it counts something, of each sample
    with its labels."""
    seen: dict[str, str] = {}
    families = re.findall(r"^# (?:HELP|TYPE) (nv_(?:inference|cache)\S*) (.*)$", page, re.MULTILINE)
    for name, text in families:
        seen[name] = seen.get(name, "") + text + ";"
    for name, labels, value in re.findall(
        r"^(nv_(?:inference|cache)\S*)\{(.*)\} (\S+)$", page, re.MULTILINE
    ):
        sample = f"{name}{{{','.join(sorted(labels.split(',')))}}}"
        counted = _COUNTED.search(name) and "duration" not in name and "quantile" not in labels
        seen[sample] = value if counted else "a number"
    return seen


@pytest.mark.parametrize("setting", SETTINGS)
def test_same_metrics(setting: str, tmp_path: Path) -> None:
    models = write_models(tmp_path / "models")
    options = [*SETTINGS[setting], "--cache-config=local,size=1000000"]
    caches = f"--cache-directory={stage_root() / 'caches'}"
    original = shown(
        page_of(
            lambda: start_original(
                prepare(tmp_path / "original"),
                models,
                tmp_path / "original-log",
                backend_directory(),
                None,
                [caches, *options],
            )
        )
    )
    ours = shown(page_of(lambda: start_nereid(models, tmp_path / "nereid-log", options)))
    ours = {key: value for key, value in ours.items() if not key.startswith(ONLY_OURS)}
    assert "nv_inference_count" in ours
    if "counter_latencies=false" in " ".join(options):
        # Triton stops counting altogether (differences.tsv, counters-without-latencies).
        counted = {key for key, value in original.items() if value == "0"}
        assert counted
        ours = {key: "0" if key in counted else value for key, value in ours.items()}
    assert ours == original
