# SPDX-License-Identifier: Apache-2.0
"""Trace files of both servers, after the same requests with the same settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tritonclient.http

from differential.original_server import prepare, start_original
from support import raw_http, trace_files
from support.infer import echo, echo_document
from support.nereid import start_nereid
from support.otlp_collector import OtlpCollector, SentSpan
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.spans import add_models
from support.stage import backend_directory

# Only Nereid reports it (row `trace-backend-inputs`).
OURS_ALONE = "TENSOR_BACKEND_INPUT"


@pytest.fixture
def models(tmp_path: Path) -> ModelRepository:
    repository = ModelRepository(tmp_path / "models")
    add_models(repository)
    return repository


def start(
    tmp_path: Path, models: ModelRepository, which: str, options: list[str]
) -> ServerProcess:
    logs = tmp_path / f"log-{which}"
    if which == "nereid":
        return start_nereid(models.root, logs, options)
    return start_original(
        prepare(tmp_path / "original"),
        models.root,
        logs,
        backend_directory=backend_directory(),
        options=options,
    )


def run_both(
    tmp_path: Path,
    models: ModelRepository,
    settings: list[str],
    use: Callable[[ServerProcess], None],
) -> list[Path]:
    """The folders of the traces of Triton and of Nereid."""
    folders = []
    for name in ("original", "nereid"):
        folder = tmp_path / f"traces-{name}"
        folder.mkdir()
        folders.append(folder)
        options = [f"--trace-config={setting}" for setting in settings]
        options.append(f"--trace-config=triton,file={folder}/log")
        server = start(tmp_path, models, name, options)
        try:
            server.wait_for()
            use(server)
        finally:
            server.stop()
    return folders


def chain(server: ServerProcess) -> None:
    document = echo_document((1.0, 0.5), id="mine")
    document["inputs"][0]["name"] = "IN"
    assert raw_http.post_json(server.http_url, "/v2/models/chain/infer", document).status == 200


def seen(path: Path) -> list[Any]:
    """What both files have to say, without times and ids."""
    traces = trace_files.read(path)
    return sorted(
        (
            trace.model,
            trace.version,
            trace.request_id,
            traces[trace.parent].model if trace.parent else "",
            sorted((name, len(times)) for name, times in trace.times.items()),
            sorted(str(tensor) for tensor in trace.tensors if tensor[0] != OURS_ALONE),
        )
        for trace in traces.values()
    )


def test_times_and_tensors(tmp_path: Path, models: ModelRepository) -> None:
    def use(server: ServerProcess) -> None:
        assert echo(server.http_url).status == 200
        chain(server)

    original, ours = run_both(
        tmp_path, models, ["level=TIMESTAMPS", "level=TENSORS", "rate=1"], use
    )
    assert [path.name for path in original.iterdir()] == ["log"]
    assert seen(original / "log") == seen(ours / "log")


@pytest.mark.parametrize(
    "settings",
    [
        ["rate=6"],
        ["rate=1", "triton,log-frequency=2"],
        ["rate=1", "count=3"],
        ["rate=1", "count=9"],
        ["rate=2", "count=3", "triton,log-frequency=2"],
    ],
    ids=lambda settings: " ".join(settings),
)
def test_files(tmp_path: Path, models: ModelRepository, settings: list[str]) -> None:
    def use(server: ServerProcess) -> None:
        for _ in range(7):
            assert echo(server.http_url).status == 200

    original, ours = run_both(tmp_path, models, ["level=TIMESTAMPS", *settings], use)
    assert trace_files.counts(original) == trace_files.counts(ours)


def test_changes_of_settings(tmp_path: Path, models: ModelRepository) -> None:
    answers: list[list[Any]] = []

    def use(server: ServerProcess) -> None:
        client = tritonclient.http.InferenceServerClient(server.http_url)
        log: list[Any] = []
        answers.append(log)

        def change(model: str, settings: dict[str, Any]) -> None:
            client.update_trace_settings(model_name=model, settings=settings)
            for name in ("", "echo", "chain"):
                shown = dict(client.get_trace_settings(name))
                shown.pop("trace_file")
                log.append((model, settings, name, shown))

        def send(requests: int) -> None:
            for _ in range(requests):
                assert echo(server.http_url).status == 200

        send(2)
        change("echo", {"trace_rate": "1", "trace_count": "9"})
        send(2)
        change("echo", {"trace_rate": "2"})
        send(2)
        change("", {"log_frequency": "4", "trace_rate": "3"})
        change("", {"trace_count": "20"})
        change("echo", {"trace_count": None, "trace_level": ["TIMESTAMPS", "TENSORS"]})
        send(4)
        change("echo", {"trace_rate": None, "trace_level": None, "trace_count": None})
        send(6)
        change("", {"trace_rate": None, "trace_level": ["OFF"], "log_frequency": None})
        send(1)
        change("", {"trace_count": None, "trace_level": None})

    folders = run_both(tmp_path, models, ["level=TIMESTAMPS", "rate=5", "count=30"], use)
    assert answers[0] == answers[1]
    assert trace_files.counts(folders[0]) == trace_files.counts(folders[1])


def spans_seen(spans: list[SentSpan]) -> list[Any]:
    """What both servers send, without ids and times, and without what only Nereid adds."""
    names = {span.span.span_id: span.name for span in spans}
    return sorted(
        (
            span.name,
            names.get(span.span.parent_span_id, span.span.parent_span_id.hex()),
            span.span.trace_state,
            sorted(event for event in span.events if event != "TENSOR_BACKEND_INPUT"),
            sorted(
                (key, str(value))
                for key, value in span.attributes.items()
                if not key.startswith("nereid.") and "trace_" not in key
            ),
        )
        for span in spans
        if span.name != "batch"
    )


def test_spans(tmp_path: Path, models: ModelRepository) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169242424-01"
    seen_by = []
    for which in ("original", "nereid"):
        collector = OtlpCollector()
        settings = [
            "mode=opentelemetry",
            "level=TIMESTAMPS",
            "rate=1",
            f"opentelemetry,url={collector.url}/v1/traces",
        ]
        server = start(tmp_path, models, which, [f"--trace-config={one}" for one in settings])
        try:
            server.wait_for()
            chain(server)
            answer = raw_http.post_json(
                server.http_url,
                "/v2/models/echo/infer",
                echo_document(),
                headers=[("traceparent", parent), ("tracestate", "a=b")],
            )
            assert answer.status == 200
        finally:
            server.stop()
            spans = collector.spans()
            collector.stop()
        assert {span.resource["service.name"] for span in spans} == {"triton-inference-server"}
        seen_by.append(spans_seen(spans))
    assert seen_by[0] == seen_by[1]
