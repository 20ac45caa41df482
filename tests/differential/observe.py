# SPDX-License-Identifier: Apache-2.0
"""The parts of an answer that have to be equal on both servers, as named aspects with a text each.

Numbers that differ between runs (durations, time of the last inference) are replaced.
Floating-point numbers of a JSON answer are compared twice: by value (aspect json) and as written
(json-floats).
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from typing import Any

from differential.answers import GrpcReply, HttpReply

CRASH = "crash"
# Header fields that do not depend on the answer.
_IGNORED_HEADERS = {
    "content-length",
    "transfer-encoding",
    "connection",
    "date",
    "server",
    "keep-alive",
}
_FLOAT = re.compile(r"-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-?NaN|-?Infinity")
_VOLATILE = re.compile(r'("(?:ns|last_inference)":)\s*\d+')
_VOLATILE_MEMBERS = {"ns", "last_inference"}
_MAPS = {"parameters", "settings"}


@dataclass(frozen=True)
class Difference:
    case: str
    aspect: str
    original: str
    nereid: str

    def __str__(self) -> str:
        answers = f"    original: {self.original}\n    Nereid:   {self.nereid}"
        return f"{self.case}: {self.aspect}\n{answers}"


def compare(case: str, original: Any, nereid: Any) -> list[Difference]:
    """All differing aspects; only 'answer' if one server refuses what the other serves."""
    kinds = outcome(original), outcome(nereid)
    if kinds[0] != kinds[1]:
        return [Difference(case, "answer", summary(original), summary(nereid))]
    if kinds[0] == CRASH:
        return []
    left, right = observe(original), observe(nereid)
    return [
        Difference(case, aspect, left.get(aspect, ""), right.get(aspect, ""))
        for aspect in sorted(left.keys() | right.keys())
        if left.get(aspect, "") != right.get(aspect, "")
    ]


def outcome(reply: HttpReply | GrpcReply) -> str:
    """'ok', 'error' or 'crash'."""
    if isinstance(reply, HttpReply):
        if reply.status == 0:
            return CRASH
        return "ok" if reply.status == 200 else "error"
    return CRASH if reply.code == CRASH else "ok" if reply.code == "OK" else "error"


def summary(reply: HttpReply | GrpcReply) -> str:
    """Status and error text in one line."""
    if outcome(reply) == CRASH:
        return CRASH
    if isinstance(reply, HttpReply):
        return f"{reply.status} {http_error(reply) or ''}".strip()
    return f"{reply.code} {reply.details}".strip()


_MAPS = {"parameters", "settings"}


def observe(reply: HttpReply | GrpcReply) -> dict[str, str]:
    return _observe_http(reply) if isinstance(reply, HttpReply) else _observe_grpc(reply)


def _observe_grpc(reply: GrpcReply) -> dict[str, str]:
    if reply.code != "OK":
        return {"status": reply.code, "error": reply.details}
    response = _without_volatile(reply.response)
    return {"status": reply.code, "response": json.dumps(response, separators=(",", ":"))}


def _without_volatile(value: Any) -> Any:
    """The value without members that vary, which protobuf's JSON form omits if they are 0.

    Parameters and settings are sorted, because they are maps, which have no order.
    """
    if isinstance(value, dict):
        return {
            key: _without_volatile(dict(sorted(member.items())) if key in _MAPS else member)
            for key, member in value.items()
            if key not in _VOLATILE_MEMBERS
        }
    return [_without_volatile(one) for one in value] if isinstance(value, list) else value


def _observe_http(reply: HttpReply) -> dict[str, str]:
    names = {name.lower() for name, _ in reply.headers} - _IGNORED_HEADERS
    seen = {
        "status": str(reply.status),
        "headers": " ".join(sorted(names)),
        "content-type": reply.header("Content-Type") or "",
        "content-encoding": reply.header("Content-Encoding") or "",
        "accept-encoding": reply.header("Accept-Encoding") or "",
    }
    error = http_error(reply)
    if error is not None:
        return {**seen, "error": error}
    if reply.body.startswith(b"# HELP"):
        return {**seen, **_observe_metrics(reply.body.decode())}
    head, tail = _split(reply)
    text = _VOLATILE.sub(r"\1<varies>", head.decode("utf-8", errors="backslashreplace"))
    return {
        **seen,
        "binary": tail.hex(),
        "json-text": _FLOAT.sub("<float>", text),
        "json-floats": " ".join(_FLOAT.findall(text)),
        "json": _canonical(head),
    }


def _observe_metrics(text: str) -> dict[str, str]:
    """One aspect per metric family: its help, its type, and the names of its labels."""
    families: dict[str, str] = {}
    for name, help_text in re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE):
        kind = re.search(rf"^# TYPE {name} (\S+)$", text, re.MULTILINE)
        samples = re.findall(rf"^{name}(?:\{{(.*)\}})? \S+$", text, re.MULTILINE)
        labels = sorted({" ".join(re.findall(r'(\w+)="', sample)) for sample in samples})
        families[f"metric {name}"] = f"{kind.group(1) if kind else '?'}; {help_text}; {labels}"
    return families


def http_error(reply: HttpReply) -> str | None:
    """The text of an error body; None if the body is not an error."""
    try:
        document = json.loads(reply.plain_body().decode("utf-8", errors="backslashreplace"))
    except ValueError:
        return None
    if isinstance(document, dict) and isinstance(document.get("error"), str):
        return document["error"]
    return None


def _split(reply: HttpReply) -> tuple[bytes, bytes]:
    body = reply.plain_body()
    length = int(reply.header("Inference-Header-Content-Length") or len(body))
    return body[:length], body[length:]


def _canonical(head: bytes) -> str:
    """The document with its members in their order, and with FP32 values as such."""
    try:
        document = json.loads(_VOLATILE.sub(r"\g<1>0", head.decode("utf-8")))
    except ValueError:
        return repr(head)
    if isinstance(document, dict):
        for output in document.get("outputs", []):
            if output.get("datatype") == "FP32" and "data" in output:
                output["data"] = [struct.pack("<f", value).hex() for value in output["data"]]
    return json.dumps(document, separators=(",", ":"))
