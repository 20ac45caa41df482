# SPDX-License-Identifier: Apache-2.0
"""Health of servers that have a problem from the start."""

from __future__ import annotations

from tritonclient.grpc import service_pb2 as pb

from differential.cases import NOWHERE, UNREADABLE, VERSIONLESS, GrpcCase, HttpCase

LIVE, READY = "/v2/health/live", "/v2/health/ready"


def _get(case: str, path: str, server: str) -> HttpCase:
    return HttpCase(case, "GET", path, server=server)


def _call(case: str, method: str, server: str) -> GrpcCase:
    """A case whose request is empty."""
    return GrpcCase(case, method, getattr(pb, f"{method}Request")(), server=server)


def good_cases() -> list[HttpCase | GrpcCase]:
    return [
        _get("http-good-unreadable-ready", READY, UNREADABLE),
        _call("grpc-good-unreadable-ready", "ServerReady", UNREADABLE),
        _call("grpc-good-versionless-ready", "ServerReady", VERSIONLESS),
        _call("grpc-good-nowhere-live", "ServerLive", NOWHERE),
        _call("grpc-good-nowhere-ready", "ServerReady", NOWHERE),
        _call("grpc-good-metadata-nowhere", "ServerMetadata", NOWHERE),
    ]


def bad_cases() -> list[HttpCase | GrpcCase]:
    return [
        _get("http-bad-not-ready-versionless", READY, VERSIONLESS),
        _get("http-bad-not-ready-nowhere", READY, NOWHERE),
        _get("http-bad-not-live-nowhere", LIVE, NOWHERE),
        _get("http-bad-nowhere-model", "/v2/models/echo", NOWHERE),
        HttpCase("http-bad-nowhere-infer", "POST", "/v2/models/echo/infer", b"{}", server=NOWHERE),
    ]
