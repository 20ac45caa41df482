# SPDX-License-Identifier: Apache-2.0
"""The console's port of a running server."""

from __future__ import annotations

import re

from support import raw_http
from support.poll import poll_until
from support.raw_http import HttpAnswer
from support.server_process import ServerProcess

LINK = re.compile(r"^Console: http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})$", re.MULTILINE)


class Console:
    """A server's console port, asked with its token unless a test says otherwise."""

    def __init__(self, server: ServerProcess) -> None:
        link = poll_until(
            "the console's link", lambda: LINK.search(server.stderr_text()), 60, server.log_text
        )
        assert link is not None
        self.server = server
        self.url = f"127.0.0.1:{link[1]}"
        self.token = link[2]

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        token: str | None = None,
        **headers: str,
    ) -> HttpAnswer:
        sent = {"Host": self.url, "Authorization": f"Bearer {token or self.token}", **headers}
        return request(self.url, method, path, body, sent)

    def ask_without_token(self, path: str) -> HttpAnswer:
        return request(self.url, "GET", path, None, {"Host": self.url})

    def check(self) -> None:
        """The page is there, and its API for who has the token."""
        page = self.ask_without_token("/")
        assert page.status == 200, page.body
        assert b"<title>" in page.body
        assert self.ask_without_token("/v2/nereid/live").status == 401
        assert self.ask("GET", "/v2/nereid/live").status == 200


def request(
    url: str, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> HttpAnswer:
    """Only with these headers: http.client would add its own Host."""
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    with raw_http.RawConnection(url) as connection:
        connection.send("\r\n".join([*lines, "", ""]).encode() + (body or b""))
        return connection.read_answer(method)
