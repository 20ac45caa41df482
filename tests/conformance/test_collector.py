# SPDX-License-Identifier: Apache-2.0
"""Traces sent to the OpenTelemetry Collector itself, which `tools/dev conformance` builds."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.infer import echo
from support.nereid import start_nereid
from support.poll import poll_until
from support.ports import free_port
from support.repository import ModelRepository
from support.server_process import LOOPBACK
from support.stage import PROJECT_ROOT

COLLECTOR = PROJECT_ROOT / "build" / "deps" / "conformance" / "bin" / "otel_collector"
CONFIG = """
receivers: {{otlp: {{protocols: {{http: {{endpoint: "{address}"}}}}}}}}
exporters: {{debug: {{verbosity: detailed}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{traces: {{receivers: [otlp], exporters: [debug]}}}}
"""
FIELD = re.compile(r"^ {4}(Trace ID|Parent ID|ID|Name|Kind) +: (.*)$", re.MULTILINE)

if not COLLECTOR.exists():
    pytest.skip(
        "the collector is not installed: tools/setup.sh --conformance --collector", allow_module_level=True
    )


class Collector:
    """A running collector, and what it writes about spans."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}/v1/traces"
        config = folder / "collector.yaml"
        config.write_text(CONFIG.format(address=f"{LOOPBACK}:{port}"), encoding="utf-8")
        self._log = folder / "collector.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [COLLECTOR, f"--config=file:{config}"], stdout=log, stderr=log
            )
        poll_until("the collector", lambda: "Everything is ready" in self.text(), explain=self.text)

    def text(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def spans(self) -> list[dict[str, str]]:
        parts = re.split(r"^Span #\d+$", self.text(), flags=re.MULTILINE)[1:]
        return [dict(FIELD.findall(part)) for part in parts]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(timeout=30)


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    started = Collector(tmp_path)
    yield started
    started.stop()


def test_spans_arrive(tmp_path: Path, collector: Collector) -> None:
    models = ModelRepository(tmp_path / "models")
    models.add_identity("echo")
    settings = (
        "mode=opentelemetry",
        "level=TIMESTAMPS",
        "rate=1",
        f"opentelemetry,url={collector.url}",
        "opentelemetry,resource=service.name=conformance",
        "opentelemetry,bsp_schedule_delay=50",
    )
    server = start_nereid(
        models.root, tmp_path / "log", [f"--trace-config={one}" for one in settings]
    )
    try:
        server.wait_for()
        assert echo(server.http_url).status == 200
        poll_until("four spans", lambda: len(collector.spans()) == 4, explain=collector.text)
    finally:
        server.stop()
    by_name = {span["Name"]: span for span in collector.spans()}
    root, model, compute = by_name["InferRequest"], by_name["echo"], by_name["compute"]
    assert (root["Parent ID"], root["Kind"]) == ("", "Server")
    assert (model["Parent ID"], model["Kind"]) == (root["ID"], "Internal")
    assert compute["Parent ID"] == by_name["batch"]["Parent ID"] == model["ID"]
    assert len({span["Trace ID"] for span in by_name.values()}) == 1
    text = collector.text()
    assert "-> service.name: Str(conformance)" in text
    assert "-> triton.model_name: Str(echo)" in text
    assert "-> nereid.batch.requests: Int(1)" in text
    assert "-> Name: COMPUTE_START" in text
    assert text.count("SpanLink #0") == 2
