# SPDX-License-Identifier: Apache-2.0
"""Log settings over HTTP and gRPC. Each case begins with the default settings."""

from __future__ import annotations

import json
from typing import Any

from tritonclient.grpc import service_pb2 as pb

from differential.cases import GrpcCase, HttpCase

PATH = "/v2/logging"
DEFAULTS = {
    "log_info": True,
    "log_warning": True,
    "log_error": True,
    "log_verbose_level": 0,
    "log_format": "default",
}


def _post(case: str, body: bytes | dict[str, Any], *before: HttpCase) -> HttpCase:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return HttpCase(case, "POST", PATH, content, before=before)


RESET = _post("unused", DEFAULTS)


def _set(case: str, body: bytes | dict[str, Any]) -> HttpCase:
    return _post(case, body, RESET)


def _call(case: str, **settings: Any) -> GrpcCase:
    request = pb.LogSettingsRequest()
    for name, value in settings.items():
        if isinstance(value, bool):
            request.settings[name].bool_param = value
        elif isinstance(value, int):
            request.settings[name].uint32_param = value
        else:
            request.settings[name].string_param = value
    return GrpcCase(case, "LogSettings", request, before=(RESET,))


def good_cases() -> list[HttpCase | GrpcCase]:
    changed = {
        "log_info": False,
        "log_warning": False,
        "log_verbose_level": 3,
        "log_format": "ISO8601",
    }
    bad_end = _post("unused", {"log_info": False, "log_format": "nice"})
    return [
        HttpCase("http-good-logging", "GET", PATH, before=(RESET,)),
        _set("http-good-logging-all", changed),
        _set("http-good-logging-one", {"log_error": False}),
        _set("http-good-logging-nothing", {}),
        _set("http-good-logging-null", {name: None for name in ("log_file", *DEFAULTS)}),
        HttpCase("http-good-logging-kept", "GET", PATH, before=(RESET, bad_end)),
        _call("grpc-good-logging"),
        _call("grpc-good-logging-all", **changed),
        _call("grpc-good-logging-one", log_error=False),
    ]


def bad_cases() -> list[HttpCase | GrpcCase]:
    return [
        _set("http-bad-logging-empty", b""),
        _set("http-bad-logging-cut", b'{"log_info":'),
        _set("http-bad-logging-file", {"log_file": "x.log"}),
        _set("http-bad-logging-format", {"log_format": "nice"}),
        _set("http-bad-logging-number", {"log_info": 1}),
        _set("http-bad-logging-text", {"log_warning": "true"}),
        _set("http-bad-logging-level-text", {"log_verbose_level": "1"}),
        _set("http-bad-logging-level-negative", {"log_verbose_level": -1}),
        _set("http-bad-logging-format-number", {"log_format": 1}),
        _set("http-bad-logging-unknown", {"log_colour": True}),
        _call("grpc-bad-logging-unknown", log_colour=True),
        _call("grpc-bad-logging-file", log_file="x.log"),
        _call("grpc-bad-logging-number", log_info=1),
        _call("grpc-bad-logging-level-text", log_verbose_level="1"),
        _call("grpc-bad-logging-format", log_format="nice"),
        _call("grpc-bad-logging-format-number", log_format=1),
    ]
