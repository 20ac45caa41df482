# SPDX-License-Identifier: Apache-2.0
"""Raw HTTP: the tests control the bytes on the wire."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

TIMEOUT_SECONDS = 30.0

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class HttpAnswer:
    """Status, headers in order of arrival, and the body as it came (not decompressed)."""

    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The value of the first header `name`, in any case; None when absent."""
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    def json(self) -> Any:
        return json.loads(self.body)

    def error(self) -> str:
        """The text of an error body, in OpenAI's form or the usual one; fails if the body is not an
        error."""
        document = self.json()
        error = document.get("error") if isinstance(document, dict) else None
        text = error.get("message") if isinstance(error, dict) else error
        assert isinstance(text, str), self.body
        return text


def split_url(url: str) -> tuple[str, int]:
    host, port = url.rsplit(":", 1)
    return host, int(port)


def request(
    url: str,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Headers = (),
    timeout: float = TIMEOUT_SECONDS,
) -> HttpAnswer:
    """Sends one request on a separate connection. Header order and case are kept."""
    host, port = split_url(url)
    connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        given = {name.lower() for name, _ in headers}
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None and not given & {"content-length", "transfer-encoding"}:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        return read_answer(connection.getresponse())
    finally:
        connection.close()


def read_answer(response: http.client.HTTPResponse) -> HttpAnswer:
    return HttpAnswer(response.status, list(response.getheaders()), response.read())


def get(url: str, path: str, headers: Headers = ()) -> HttpAnswer:
    return request(url, "GET", path, None, headers)


def post(url: str, path: str, body: bytes = b"", headers: Headers = ()) -> HttpAnswer:
    return request(url, "POST", path, body, headers)


def post_json(url: str, path: str, document: Any, headers: Headers = ()) -> HttpAnswer:
    return post(url, path, json.dumps(document).encode(), headers)


def infer_document(inputs: Sequence[Mapping[str, Any]], **members: Any) -> dict[str, Any]:
    return {**members, "inputs": list(inputs)}


def binary_infer(
    url: str, model: str, document: Mapping[str, Any], tail: bytes, headers: Headers = ()
) -> HttpAnswer:
    """An inference request whose tensors follow the JSON part as raw bytes."""
    head = json.dumps(document).encode()
    return post(
        url,
        f"/v2/models/{model}/infer",
        head + tail,
        [("Inference-Header-Content-Length", str(len(head))), *headers],
    )


class RawConnection:
    """A socket that speaks HTTP only as far as the test does; for pipelining and broken bodies."""

    def __init__(self, url: str, timeout: float = TIMEOUT_SECONDS) -> None:
        self.socket = socket.create_connection(split_url(url), timeout=timeout)
        self._reader = self.socket.makefile("rb")

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def read_answer(self, method: str = "GET") -> HttpAnswer:
        """Reads exactly one answer, and nothing of the next."""
        response = http.client.HTTPResponse(_LentSocket(self._reader), method=method)  # type: ignore[arg-type]
        response.begin()
        return read_answer(response)

    def at_end(self) -> bool:
        """Waits until the server closes (True) or sends something (False)."""
        try:
            return self._reader.read(1) == b""
        except ConnectionResetError:
            return True

    def close(self) -> None:
        self._reader.close()
        self.socket.close()


class _LentSocket:
    """Lends a reader to an HTTPResponse, which closes its argument once the body is read."""

    def __init__(self, reader: BinaryIO) -> None:
        self._reader = reader
        self.closed = False

    def makefile(self, _mode: str) -> _LentSocket:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True
