# SPDX-License-Identifier: Apache-2.0
"""Observes models that are loaded and unloaded, and sends requests to them meanwhile."""

from __future__ import annotations

import threading

from support import raw_http
from support.infer import echo
from support.poll import poll_until
from support.server_process import ServerProcess

EXPLICIT = "--model-control-mode=explicit"


def index(server: ServerProcess) -> dict[tuple[str, str], tuple[str, str]]:
    """State and reason of every model version."""
    answer = raw_http.post(server.http_url, "/v2/repository/index")
    assert answer.status == 200, answer.body
    return {
        (entry["name"], entry.get("version", "")): (
            entry.get("state", ""),
            entry.get("reason", ""),
        )
        for entry in answer.json()
    }


def group(count: int) -> str:
    return f"instance_group {{ kind: KIND_CPU count: {count} }}"


class Clients:
    """Threads that send requests without a pause; every answer must be right."""

    def __init__(self, server: ServerProcess, model: str, count: int = 3) -> None:
        self.failures: list[str] = []
        self.answers = 0
        self._url = server.http_url
        self._model = model
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(count)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive(), "a request hangs"

    def _run(self, number: int) -> None:
        while not self._stop.is_set():
            answer = echo(self._url, self._model, (float(number), 2.5))
            if answer.status != 200 or answer.json()["outputs"][0]["data"] != [float(number), 2.5]:
                self.failures.append(f"{answer.status} {answer.body!r}")
            self.answers += 1

    def wait_for_more(self, count: int = 10) -> None:
        goal = self.answers + count
        poll_until("more answers", lambda: self.answers >= goal)
