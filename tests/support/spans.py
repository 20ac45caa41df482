# SPDX-License-Identifier: Apache-2.0
"""What tests of spans share: a server that sends them, and how they belong together."""

from __future__ import annotations

from collections.abc import Sequence

from conftest import ServerFactory
from support.ensembles import add_ensemble, step_text
from support.otlp_collector import SentSpan
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess

UNSET, ERROR = 0, 2  # codes of a status


def add_models(repository: ModelRepository) -> None:
    """`echo`, and the ensemble `chain` of it twice."""
    repository.add_identity("echo")
    add_ensemble(
        repository,
        "chain",
        [tensor_text("IN", "FP32", (-1,))],
        [tensor_text("OUT", "FP32", (-1,))],
        [
            step_text("echo", {"INPUT0": "IN"}, {"OUTPUT0": "between"}),
            step_text("echo", {"INPUT0": "between"}, {"OUTPUT0": "OUT"}),
        ],
    )


def start(
    factory: ServerFactory,
    models: ModelRepository,
    url: str,
    *settings: str,
    options: Sequence[str] = (),
    **more: object,
) -> ServerProcess:
    all_settings = (
        "mode=opentelemetry",
        "level=TIMESTAMPS",
        *(() if any(one.startswith("rate=") for one in settings) else ("rate=1",)),
        f"opentelemetry,url={url}/v1/traces",
        "opentelemetry,bsp_schedule_delay=50",
        *settings,
    )
    traces = (f"--trace-config={one}" for one in all_settings)
    return factory(models, *traces, *options, **more)


def children_of(spans: list[SentSpan], parent: SentSpan) -> list[SentSpan]:
    return [one for one in spans if one.span.parent_span_id == parent.span.span_id]


def place_of(one: SentSpan) -> tuple[bytes, bytes]:
    return (one.span.trace_id, one.span.span_id)


def links_of(one: SentSpan) -> set[tuple[bytes, bytes]]:
    return {(link.trace_id, link.span_id) for link in one.span.links}


def only(spans: list[SentSpan], name: str) -> SentSpan:
    (found,) = [one for one in spans if one.name == name]
    return found
