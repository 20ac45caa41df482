"""--rate-limit=execution_count: instances wait for the resources that their models name."""

from __future__ import annotations

import time

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import InBackground
from support.repository import ModelRepository

ON = "--rate-limit=execution_count"
DELAY_MILLISECONDS = 250


def add(
    repository: ModelRepository, name: str, resources: str, priority: int = 0, count: int = 1
) -> None:
    """A model whose execution takes a while and needs `resources`."""
    limiter = f"rate_limiter {{ {resources} priority: {priority} }}"
    repository.add_identity(
        name,
        extra=f"instance_group {{ kind: KIND_CPU count: {count} {limiter} }}",
        parameters={"execute_delay_ms": str(DELAY_MILLISECONDS)},
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
    # Three resources are enough for one execution at a time.
    assert time.monotonic() - started >= 4 * DELAY_MILLISECONDS / 1000


def test_without_limits_there_is_what_the_neediest_needs(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "one", resource("R", 4) + resource("G", 1, is_global=True))
    add(model_repository, "two", resource("R", 3) + resource("S", 2))
    server = server_factory(model_repository, ON, "--log-verbose=1")
    for count in ("Resource: R\\t Count: 4", "Resource: S\\t Count: 2", "Resource: G\\t Count: 1"):
        assert count in server.log_text()
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
    assert "have no effect: it is off (--rate-limit)" in server.log_text()
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
