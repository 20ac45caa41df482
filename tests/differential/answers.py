# SPDX-License-Identifier: Apache-2.0
"""Sends a case, and returns the answer as plain values that can be stored and compared."""

from __future__ import annotations

import base64
import gzip
import http.client
import json
import zlib
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict
from tritonclient.grpc import service_pb2_grpc

from differential.cases import MAIN, GrpcCase, HttpCase
from support import raw_http

TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True)
class HttpReply:
    """An HTTP answer; status 0 means that the server closed the connection without one."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return raw_http.HttpAnswer(self.status, self.headers, self.body).header(name)

    def plain_body(self) -> bytes:
        """The body without its compression."""
        match self.header("Content-Encoding"):
            case "gzip":
                return gzip.decompress(self.body)
            case "deflate":
                return zlib.decompress(self.body)
        return self.body

    def to_json(self) -> dict[str, Any]:
        return {"status": self.status, "headers": self.headers, **bytes_to_json(self.body)}

    @staticmethod
    def from_json(document: dict[str, Any]) -> HttpReply:
        headers = [(name, value) for name, value in document["headers"]]
        return HttpReply(document["status"], headers, bytes_from_json(document))


@dataclass(frozen=True)
class GrpcReply:
    """The answer to a call. `response` is the message in JSON form, or None after an error. For a
    stream that ends without an error it is a list.
    """

    code: str
    details: str
    response: Any

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "details": self.details, "response": self.response}

    @staticmethod
    def from_json(document: dict[str, Any]) -> GrpcReply:
        return GrpcReply(document["code"], document["details"], document["response"])


def bytes_to_json(body: bytes, member: str = "body") -> dict[str, str]:
    """The body as text if it is UTF-8, for readability, otherwise in base64."""
    try:
        return {member: body.decode("utf-8")}
    except UnicodeDecodeError:
        return {f"{member}_base64": base64.b64encode(body).decode("ascii")}


def bytes_from_json(document: dict[str, Any], member: str = "body") -> bytes:
    if member in document:
        return document[member].encode("utf-8")
    return base64.b64decode(document[f"{member}_base64"])


def send_http(url: str, case: HttpCase) -> HttpReply:
    try:
        answer = raw_http.request(
            url, case.method, case.path, case.body, case.headers, TIMEOUT_SECONDS
        )
    except (http.client.RemoteDisconnected, ConnectionError):
        return HttpReply(0, [], b"")
    return HttpReply(answer.status, answer.headers, answer.body)


def send_grpc(channel: grpc.Channel, case: GrpcCase) -> GrpcReply:
    if isinstance(case.request, bytes):
        call = channel.unary_unary(f"/{case.method}")
    else:
        call = getattr(service_pb2_grpc.GRPCInferenceServiceStub(channel), case.method)
    try:
        if isinstance(case.request, tuple):
            stream = call(iter(case.request), timeout=TIMEOUT_SECONDS, metadata=case.metadata)
            return GrpcReply("OK", "", [_message_to_json(one) for one in stream])
        response = call(case.request, timeout=TIMEOUT_SECONDS)
    except grpc.RpcError as error:
        return GrpcReply(error.code().name, error.details() or "", None)
    if isinstance(response, bytes):
        return GrpcReply("OK", "", {"hex": response.hex()})
    return GrpcReply("OK", "", _message_to_json(response))


def _message_to_json(message: Any) -> Any:
    return MessageToDict(message, preserving_proto_field_name=True)


def request_to_json(case: HttpCase | GrpcCase) -> dict[str, Any]:
    """The request of a case, for the golden files."""
    more: dict[str, Any] = {"before": [request_to_json(one) for one in case.before]} if case.before else {}
    if case.server != MAIN:
        more["server"] = case.server
    if isinstance(case, HttpCase):
        body = {} if case.body is None else bytes_to_json(case.body)
        return {
            "method": case.method,
            "path": case.path,
            "headers": [list(pair) for pair in case.headers],
            **body,
            **more,
        }
    if isinstance(case.request, bytes):
        return {"method": case.method, "hex": case.request.hex(), **more}
    if isinstance(case.request, tuple):
        messages = [_message_to_json(one) for one in case.request]
        metadata = {"metadata": [list(pair) for pair in case.metadata]} if case.metadata else {}
        return {"method": case.method, "messages": messages, **metadata, **more}
    return {"method": case.method, "message": _message_to_json(case.request), **more}
