# SPDX-License-Identifier: Apache-2.0
"""A collector of OpenTelemetry: takes spans by OTLP over HTTP, and keeps them.

Nereid sends protobuf, Triton JSON.
"""

from __future__ import annotations

import base64
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from support.poll import poll_until
from support.server_process import LOOPBACK


def _with_base64(value: Any) -> Any:
    """OTLP writes ids in JSON as hexadecimal numbers, protobuf's reader expects base64."""
    if isinstance(value, list):
        return [_with_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {
        key: base64.b64encode(bytes.fromhex(one)).decode() if key in ids else _with_base64(one)
        for key, one in value.items()
    }


def read_request(content_type: str, body: bytes) -> ExportTraceServiceRequest:
    if content_type != "application/json":
        return ExportTraceServiceRequest.FromString(body)
    document = _with_base64(json.loads(body))
    return json_format.ParseDict(
        document, ExportTraceServiceRequest(), ignore_unknown_fields=True
    )


def attributes_of(attributes: list[KeyValue]) -> dict[str, object]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@dataclass
class SentSpan:
    """A span, with what its message says about the sender."""

    span: Span
    resource: dict[str, object]
    scope: str

    @property
    def name(self) -> str:
        return self.span.name

    @property
    def attributes(self) -> dict[str, object]:
        return attributes_of(list(self.span.attributes))

    @property
    def events(self) -> list[str]:
        return [event.name for event in self.span.events]


@dataclass
class Message:
    path: str
    headers: dict[str, str]
    spans: list[SentSpan] = field(default_factory=list)


class OtlpCollector:
    """Answers with `status` from now on."""

    def __init__(self) -> None:
        self.status = 200
        self._lock = threading.Lock()
        self._messages: list[Message] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                collector._take(self.path, headers, body)
                self.send_response(collector.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _take(self, path: str, headers: dict[str, str], body: bytes) -> None:
        request = read_request(headers["content-type"], body)
        message = Message(path, headers)
        for resource_spans in request.resource_spans:
            resource = attributes_of(list(resource_spans.resource.attributes))
            for scope_spans in resource_spans.scope_spans:
                message.spans += [
                    SentSpan(span, resource, scope_spans.scope.name) for span in scope_spans.spans
                ]
        with self._lock:
            self._messages.append(message)

    def messages(self) -> list[Message]:
        with self._lock:
            return list(self._messages)

    def spans(self) -> list[SentSpan]:
        return [span for message in self.messages() for span in message.spans]

    def await_spans(self, count: int) -> list[SentSpan]:
        poll_until(f"{count} spans", lambda: len(self.spans()) >= count)
        return self.spans()
