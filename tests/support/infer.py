# SPDX-License-Identifier: Apache-2.0
"""Inference requests on the identity models that many tests use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from support import raw_http
from support.raw_http import HttpAnswer


def echo_document(values: Sequence[float] = (1.0, 2.0), **members: Any) -> dict[str, Any]:
    """A good request for a model that echoes FP32 tensors of any length."""
    tensor = {
        "name": "INPUT0",
        "shape": [len(values)],
        "datatype": "FP32",
        "data": list(values),
    }
    return {**members, "inputs": [tensor]}


def echo(url: str, model: str = "echo", values: Sequence[float] = (1.0, 2.0)) -> HttpAnswer:
    return raw_http.post_json(url, f"/v2/models/{model}/infer", echo_document(values))


def assert_serving(url: str, model: str = "echo") -> None:
    """Checks that the server is live and that `model` still gives right answers."""
    assert raw_http.get(url, "/v2/health/live").status == 200
    answer = echo(url, model, (3.5, -1.0))
    assert answer.status == 200, answer.body
    assert answer.json()["outputs"][0]["data"] == [3.5, -1.0]


class InBackground:
    """One request on a separate thread; `answer` waits for it."""

    def __init__(self, url: str, model: str) -> None:
        self._answer: HttpAnswer | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, args=(url, model), daemon=True)
        self._thread.start()

    def _run(self, url: str, model: str) -> None:
        try:
            self._answer = echo(url, model)
        except Exception as error:  # handed to the test's thread
            self._error = error

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def answer(self, seconds: float = 30.0) -> HttpAnswer:
        self._thread.join(seconds)
        assert self.is_done(), f"no answer within {seconds} s"
        if self._error is not None:
            raise self._error
        assert self._answer is not None
        return self._answer
