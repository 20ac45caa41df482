# SPDX-License-Identifier: Apache-2.0
"""Queues under load, with official clients: priorities, limits, time-outs, order, batch sizes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from support.infer import InBackground, echo
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

LONG_MS = 1500  # an execution whose end queued requests must not wait for
SHORT_MS = 600  # an execution during which a queue can be filled

FULL = "[request id: <id_unknown>] Exceeds maximum queue size"
LATE = "Request timeout expired"


def batching(text: str) -> str:
    return f"dynamic_batching {{ {text} }}"


def delayed(milliseconds: int | str) -> dict[str, str]:
    return {"execute_delay_ms": str(milliseconds), "nereid.inline_execution": "false"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("queues")
    models = ModelRepository(folder / "models")

    def add(name: str, policy: str, parameters: dict[str, str], instances: int = 1) -> None:
        extra = f"{batching(policy)} instance_group {{ count: {instances} kind: KIND_CPU }}"
        models.add_identity(name, extra=extra, parameters=parameters)

    add("levels", "priority_levels: 3 default_priority_level: 2", delayed(SHORT_MS))
    add("narrow", "default_queue_policy { max_queue_size: 2 }", delayed(SHORT_MS))
    add(
        "patient",
        "default_queue_policy { default_timeout_microseconds: 400000 "
        "allow_timeout_override: true }",
        delayed(LONG_MS),
    )
    add(
        "late_last",
        "default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 1400000 }",
        delayed(2000),
    )
    add("may_ask", "default_queue_policy { allow_timeout_override: true }", delayed(LONG_MS))
    add("cancelled", "", delayed(LONG_MS))
    uneven = delayed("1-100")
    add("ordered", "preserve_ordering: true", uneven, instances=2)
    add("unordered", "", uneven, instances=2)
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


class Calls:
    """Requests of the official gRPC client; records when and how each one ends."""

    def __init__(self, server: ServerProcess, model: str, shape: Sequence[int] = (1,)) -> None:
        self._server = server
        self._values = np.zeros(shape, np.float32)
        self._model = model
        self._client = tritonclient.grpc.InferenceServerClient(server.grpc_url)
        self._changed = threading.Condition()
        self._sent = 0
        self.ended: list[tuple[str, float, Any]] = []  # name, time, error or None

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def send(self, name: str, **options: Any) -> None:
        tensor = tritonclient.grpc.InferInput("INPUT0", list(self._values.shape), "FP32")
        tensor.set_data_from_numpy(self._values)

        def note(result: Any, error: Any) -> None:
            del result
            with self._changed:
                self.ended.append((name, time.monotonic(), error))
                self._changed.notify_all()

        self._client.async_infer(self._model, [tensor], note, **options)
        self._sent += 1

    def send_and_see_queued(self, name: str, **options: Any) -> None:
        """Sends a request, and returns when it is in the queue."""
        before = pending(self._server, self._model)
        self.send(name, **options)
        poll_until(f"'{name}' is queued", lambda: pending(self._server, self._model) > before)

    def keep_busy(self) -> None:
        """Sends a request, and returns when the model's instance executes it."""
        self.send("busy")
        # Checked twice, because no metric shows a request that is about to enter the queue.
        for _ in range(2):
            poll_until("the instance works", self._works)

    def _works(self) -> bool:
        in_flight = metric(self._server.metrics_url, "nereid_in_flight_bytes")
        return in_flight > 0 and pending(self._server, self._model) == 0

    def wait(self) -> list[str]:
        """Waits for all calls; returns their names in the order in which they have ended."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.ended) == self._sent, timeout=30)
        return [name for name, _, _ in self.ended]

    def end_of(self, name: str) -> tuple[float, Any]:
        with self._changed:
            assert self._changed.wait_for(
                lambda: any(ended == name for ended, _, _ in self.ended), timeout=30
            )
        return next((at, error) for ended, at, error in self.ended if ended == name)


def pending(server: ServerProcess, model: str) -> float:
    return metric(server.metrics_url, "nv_inference_pending_request_count", model=model)


def failures(server: ServerProcess, model: str, reason: str) -> int:
    name = "nv_inference_request_failure"
    return int(metric(server.metrics_url, name, model=model, reason=reason))


def test_priorities_order_a_backlog(server: ServerProcess) -> None:
    with Calls(server, "levels") as calls:
        calls.keep_busy()
        for name, priority in [("last", 3), ("default", 0), ("beyond", 9), ("urgent", 1)]:
            calls.send_and_see_queued(name, priority=priority)
        assert calls.wait() == ["busy", "urgent", "default", "beyond", "last"]


def test_a_full_queue_refuses_at_once(server: ServerProcess) -> None:
    with Calls(server, "narrow") as calls:
        calls.keep_busy()
        calls.send_and_see_queued("first")
        calls.send_and_see_queued("second")
        calls.send("third")
        _, error = calls.end_of("third")
        assert (error.status(), error.message()) == ("StatusCode.UNAVAILABLE", FULL)
        answer = echo(server.http_url, "narrow")
        assert answer.status == 503
        assert answer.json() == {"error": FULL}
        assert failures(server, "narrow", "REJECTED") == 2
        calls.wait()
    assert echo(server.http_url, "narrow").status == 200


def test_a_time_out_is_answered_while_the_instance_works(server: ServerProcess) -> None:
    with Calls(server, "patient") as calls:
        calls.keep_busy()
        start = time.monotonic()
        calls.send("default")
        calls.send("hasty", timeout=100_000)
        calls.send("no_longer", timeout=60_000_000)
        over_http = InBackground(server.http_url, "patient")
        hasty_at, error = calls.end_of("hasty")
        assert (error.status(), error.message()) == ("StatusCode.UNAVAILABLE", LATE)
        assert 0.1 <= hasty_at - start, "after its own time"
        for name in ("default", "no_longer"):
            at, error = calls.end_of(name)
            assert (error.status(), error.message()) == ("StatusCode.UNAVAILABLE", LATE)
            assert 0.4 <= at - start
            assert hasty_at < at, "not with the others"
        answer = over_http.answer()
        assert answer.status == 503
        assert answer.json() == {"error": LATE}
        assert "busy" not in [name for name, _, _ in calls.ended], "the instance still works"
        assert failures(server, "patient", "REJECTED") == 4
        assert calls.wait()[-1] == "busy"


def test_a_time_out_without_a_default(server: ServerProcess) -> None:
    with Calls(server, "may_ask") as calls:
        calls.keep_busy()
        calls.send("asks", timeout=100_000)
        calls.send("does_not")
        _, error = calls.end_of("asks")
        assert error.message() == LATE
        assert calls.wait() == ["asks", "busy", "does_not"]


def test_requests_that_are_late_run_after_the_others(server: ServerProcess) -> None:
    with Calls(server, "late_last") as calls:
        calls.keep_busy()
        calls.send_and_see_queued("late")
        time.sleep(1.0)  # so that only the first one has timed out when the instance is free
        calls.send_and_see_queued("in_time")
        assert calls.wait() == ["busy", "in_time", "late"]
    assert failures(server, "late_last", "REJECTED") == 0


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_a_client_that_gives_up_is_dropped_from_the_queue(
    server: ServerProcess, protocol: str
) -> None:
    before = failures(server, "cancelled", "CANCELED")
    with Calls(server, "cancelled") as calls:
        calls.keep_busy()
        if protocol == "grpc":
            calls.send("gives_up", client_timeout=0.2)
            _, error = calls.end_of("gives_up")
            assert error.status() == "StatusCode.DEADLINE_EXCEEDED"
        else:
            with tritonclient.http.InferenceServerClient(
                server.http_url, network_timeout=0.2
            ) as client:
                tensor = tritonclient.http.InferInput("INPUT0", [1], "FP32")
                tensor.set_data_from_numpy(np.zeros(1, np.float32))
                with pytest.raises(Exception, match="timed out"):
                    client.infer("cancelled", [tensor])
        poll_until(
            "the request is dropped",
            lambda: failures(server, "cancelled", "CANCELED") == before + 1,
            deadline_seconds=1.0,
        )
        assert pending(server, "cancelled") == 0
        assert not [name for name, _, _ in calls.ended if name == "busy"]
        assert calls.wait()[-1] == "busy"


def inversions(calls: Calls) -> int:
    """The number of calls that ended clearly before one that was sent earlier."""
    ends = {int(name): at for name, at, _ in calls.ended}
    return sum(
        any(ends[number] < ends[earlier] - 0.01 for earlier in range(number)) for number in ends
    )


@pytest.mark.parametrize("model", ["ordered", "unordered"])
def test_responses_leave_in_the_order_of_the_requests(server: ServerProcess, model: str) -> None:
    with Calls(server, model) as calls:
        for number in range(24):
            calls.send(str(number))
            time.sleep(0.005)  # so that they reach the server in this order
        calls.wait()
        assert all(error is None for _, _, error in calls.ended)
        if model == "ordered":
            assert inversions(calls) == 0
        else:
            assert inversions(calls) > 0, "otherwise this test shows nothing"


def histogram(client: Any, model: str) -> dict[int, int]:
    """Executions by batch size."""
    statistics = client.get_inference_statistics(model)["model_stats"][0]
    return {
        entry["batch_size"]: entry["compute_infer"]["count"]
        for entry in statistics["batch_stats"]
    }


# The batches that nine simultaneous requests form, by policy.
HELD = 9
HISTOGRAMS = [
    ("plain", "", {8: 1, 1: 1}),
    ("fours", "preferred_batch_size: [ 4 ]", {4: 2, 1: 1}),
    (
        "two_or_six",
        # Long enough for all requests to be sent, even on a busy machine.
        "preferred_batch_size: [ 2, 6 ] max_queue_delay_microseconds: 2000000",
        {6: 1, 2: 1, 1: 1},
    ),
    ("levels", "priority_levels: 2 default_priority_level: 1", {8: 1, 1: 1}),
]


@pytest.fixture(scope="module")
def holding_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("held")
    models = ModelRepository(folder / "models")
    for name, policy, _ in HISTOGRAMS:
        models.add_identity(name, dims=(1,), max_batch_size=8, extra=batching(policy))
    env = {"TRITONSERVER_DELAY_SCHEDULER": str(HELD)}
    server = start_nereid(models.root, folder / "log", env=env)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("model, _policy, expected", HISTOGRAMS)
def test_batch_sizes_are_those_of_the_policy(
    holding_server: ServerProcess, model: str, _policy: str, expected: dict[int, int]
) -> None:
    with (
        Calls(holding_server, model, (1, 1)) as calls,
        tritonclient.http.InferenceServerClient(holding_server.http_url) as client,
    ):
        for number in range(HELD - 1):
            calls.send(str(number))
        poll_until("all are queued", lambda: pending(holding_server, model) == HELD - 1)
        assert histogram(client, model) == {}, "nothing runs before there are enough"
        calls.send("last")
        calls.wait()
        assert all(error is None for _, _, error in calls.ended)
        poll_until("statistics", lambda: histogram(client, model) == expected)


def test_full_in_flight_bytes_refuse_at_once_and_return(
    server_factory: Callable[..., ServerProcess], model_repository: ModelRepository
) -> None:
    model_repository.add_identity("slow", parameters=delayed(LONG_MS))
    # 16,000 bytes, the same for a possible aligned copy, 8,192 for the request, and 16,000 for the
    # answer fit; 26,000 more do not.
    server = server_factory(model_repository, "--max-in-flight-bytes=70000")

    def in_flight() -> float:
        return metric(server.metrics_url, "nereid_in_flight_bytes")

    with Calls(server, "slow", (4000,)) as fits, Calls(server, "slow", (6500,)) as does_not_fit:
        fits.keep_busy()
        does_not_fit.send("refused")
        _, error = does_not_fit.end_of("refused")
        assert error.status() == "StatusCode.UNAVAILABLE"
        answer = echo(server.http_url, "slow", [1.5] * 5000)
        assert answer.status == 503
        assert "is exhausted" in answer.json()["error"]
        assert not fits.ended, "the first is still at work"
        fits.wait()
        poll_until("all bytes are returned", lambda: in_flight() == 0)
        fits.send("again")
        fits.wait()
        assert [error for _, _, error in fits.ended] == [None, None]
