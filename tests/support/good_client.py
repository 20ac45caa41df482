"""A client that behaves, beside those that do not."""

from __future__ import annotations

import threading
from types import TracebackType

from support.infer import echo
from support.raw_http import HttpAnswer


class GoodClient:
    """Sends one small request after the other while the block runs; each has to be answered right.

    Leaving the block waits for the current answer, and fails if any answer was wrong.
    """

    def __init__(self, url: str, model: str = "echo") -> None:
        self._url = url
        self._model = model
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self.answers = 0
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> GoodClient:
        self._check(echo(self._url, self._model))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(60)
        if error is not None:
            return
        assert not self._thread.is_alive(), "a request of the client that behaves has no answer"
        if self._error is not None:
            raise self._error
        self._check(echo(self._url, self._model))

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self._check(echo(self._url, self._model))
                self.answers += 1
        except BaseException as error:  # handed to the test's thread
            self._error = error

    @staticmethod
    def _check(answer: HttpAnswer) -> None:
        assert answer.status == 200, answer.body
        assert answer.json()["outputs"][0]["data"] == [1.0, 2.0]
