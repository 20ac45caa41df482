# SPDX-License-Identifier: Apache-2.0
"""--rate-limit=execution_count: instances wait for the resources that their models name."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import InBackground, echo
from support.poll import poll_until
from support.repository import ModelRepository

ON = "--rate-limit=execution_count"
DELAY_MILLISECONDS = 250


def add(
    repository: ModelRepository,
    name: str,
    resources: str,
    priority: int = 0,
    count: int = 1,
    delay_milliseconds: int = DELAY_MILLISECONDS,
) -> None:
    """Adds a model whose execution takes some time and needs `resources`."""
    limiter = f"rate_limiter {{ {resources} priority: {priority} }}"
    repository.add_identity(
        name,
        extra=f"instance_group {{ kind: KIND_CPU count: {count} {limiter} }}",
        parameters={"execute_delay_ms": str(delay_milliseconds)},
    )


def resource(name: str, count: int, is_global: bool = False) -> str:
    return f'resources {{ name: "{name}" count: {count} global: {str(is_global).lower()} }}'


def test_who_needs_the_same_takes_turns(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "one", resource("R", 2), count=2)
    add(model_repository, "two", resource("R", 2), priority=2)
    add(model_repository, "free", "")
    server = server_factory(model_repository, ON, "--rate-limit-resource=R:3")
    started = time.monotonic()
    asked = [InBackground(server.http_url, name) for name in ("one", "one", "two", "two")]
    free = InBackground(server.http_url, "free")
    assert free.answer().status == 200
    for request in asked:
        assert request.answer().status == 200
    # Three resources suffice for only one execution at a time.
    assert time.monotonic() - started >= 4 * DELAY_MILLISECONDS / 1000


def test_priorities_divide_a_busy_resource(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    names = ("first", "second")
    for priority, name in enumerate(names, start=1):
        add(model_repository, name, resource("R", 1), priority, delay_milliseconds=5)
    server = server_factory(model_repository, ON)
    url = server.http_url
    stop = threading.Event()

    def ask(name: str) -> None:
        while not stop.is_set():
            assert echo(url, name).status == 200

    def executions() -> list[int]:
        statistics = raw_http.get(url, "/v2/models/stats").json()["model_stats"]
        counts = {model["name"]: model["execution_count"] for model in statistics}
        return [counts[name] for name in names]

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, name) for name in names for _ in range(4)]
        try:
            poll_until("both models are busy", lambda: min(executions()) >= 5)
            begin = executions()
            poll_until("a hundred executions", lambda: executions()[0] >= begin[0] + 100)
            first, second = (now - then for now, then in zip(executions(), begin, strict=True))
        finally:
            stop.set()
    for one in asked:
        one.result()
    assert 1.6 <= first / second <= 2.4, (first, second)


def test_without_limits_there_is_what_the_neediest_needs(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "one", resource("R", 4) + resource("G", 1, is_global=True))
    add(model_repository, "two", resource("R", 3) + resource("S", 2))
    server = server_factory(model_repository, ON, "--log-verbose=1")
    for count in ("Resource: R\\t Count: 4", "Resource: S\\t Count: 2", "Resource: G\\t Count: 1"):
        server.wait_for_log(count)
    started = time.monotonic()
    asked = [InBackground(server.http_url, name) for name in ("one", "two")]
    for request in asked:
        assert request.answer().status == 200
    assert time.monotonic() - started >= 2 * DELAY_MILLISECONDS / 1000


def test_a_limit_for_one_resource_leaves_the_others_alone(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "one", resource("R", 1) + resource("S", 1))
    server = server_factory(model_repository, ON, "--rate-limit-resource=R:2")
    assert InBackground(server.http_url, "one").answer().status == 200


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--rate-limit-resource=resource1:-1"], "Got -1"),
        (
            ["--rate-limit-resource=resource1:1"],
            'Resource count for "resource1" is limited to 1 which will prevent scheduling of one '
            "or more model instances, the minimum required count is 4",
        ),
        (
            [],
            'Resource "resource2" is present as both global and device-specific resource in the '
            "model configuration.",
        ),
    ],
)
def test_what_cannot_work_does_not_start(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    options: list[str],
    text: str,
) -> None:
    if options:
        add(model_repository, "one", resource("resource1", 4))
    else:
        both = resource("resource2", 1) + resource("resource2", 1, is_global=True)
        add(model_repository, "one", both)
    server = server_factory(model_repository, ON, *options, wait_for=None)
    assert server.wait_exit() == 1
    assert text in server.log_text().replace('\\"', '"')


def test_off_nobody_looks_at_it(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "one", resource("R", 4) + resource("R", 4, is_global=True))
    server = server_factory(model_repository, "--rate-limit-resource=R:1")
    assert InBackground(server.http_url, "one").answer().status == 200
    server.wait_for_log("have no effect: it is off (--rate-limit)")
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
