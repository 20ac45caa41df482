# SPDX-License-Identifier: Apache-2.0
"""A closed load of HTTP requests that are sent again when they fail, and what became of each."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

SOCKET_SECONDS = 60.0
TRIES = 50
PAUSE_SECONDS = 0.1


@dataclass(frozen=True)
class Attempt:
    """One request on its way. Times are those of time.monotonic()."""

    start: float
    end: float
    ok: bool
    what: str  # the process that answered, or how it failed


@dataclass(frozen=True)
class Question:
    model: str
    body: bytes
    is_right: Callable[[bytes], bool]
    by_model: bool  # whether Ray is to look for a replica that has the model


class Load:
    """Threads that ask one question after the other. `set_clients` may be called at any time."""

    def __init__(self, port: int, questions: list[Question]) -> None:
        self._port = port
        self._questions = questions
        self._lock = threading.Lock()
        self._threads: list[tuple[threading.Thread, threading.Event]] = []
        self._attempts: list[Attempt] = []  # guarded by _lock
        self._broken: list[str] = []  # guarded by _lock

    def set_clients(self, count: int) -> None:
        while len(self._threads) > count:
            thread, end = self._threads.pop()
            end.set()
            thread.join()
        while len(self._threads) < count:
            end = threading.Event()
            thread = threading.Thread(target=self._client, args=(len(self._threads), end))
            self._threads.append((thread, end))
            thread.start()

    def attempts(self) -> list[Attempt]:
        with self._lock:
            return list(self._attempts)

    def broken(self) -> list[str]:
        """Requests that got a wrong answer, or none after many tries."""
        with self._lock:
            return list(self._broken)

    def _client(self, number: int, end: threading.Event) -> None:
        turn = number
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SOCKET_SECONDS)
        while not end.is_set():
            problem = self._ask(connection, self._questions[turn % len(self._questions)])
            if problem:
                with self._lock:
                    self._broken.append(problem)
            turn += 1
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, question: Question) -> str:
        """Sends the question until it is answered. Returns what is wrong with the answer."""
        attempt = None
        for _ in range(TRIES):
            attempt, answer = _try(connection, question)
            with self._lock:
                self._attempts.append(attempt)
            if attempt.ok:
                return "" if question.is_right(answer) else f"{question.model}: {answer[:200]!r}"
            connection.close()  # the next request opens it again
            time.sleep(PAUSE_SECONDS)
        return f"{question.model}: no answer after {TRIES} tries, the last: {attempt}"


def _try(connection: http.client.HTTPConnection, question: Question) -> tuple[Attempt, bytes]:
    start = time.monotonic()
    try:
        headers = {"serve_multiplexed_model_id": question.model} if question.by_model else {}
        connection.request("POST", f"/{question.model}", question.body, headers)
        response = connection.getresponse()
        answer = response.read()
        ok = response.status == 200
        what = response.headers["x-process"] if ok else f"{response.status} {answer[:200]!r}"
    except (OSError, http.client.HTTPException) as error:
        answer, ok, what = b"", False, repr(error)
    return Attempt(start, time.monotonic(), ok, what), answer
