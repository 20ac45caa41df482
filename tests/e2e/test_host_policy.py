# SPDX-License-Identifier: Apache-2.0
"""The processors on which instances' threads run, and instances that never get work."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from conftest import ServerFactory
from support.infer import InBackground, assert_serving
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

DELAY_MILLISECONDS = 150


def threads(server: ServerProcess, prefix: str) -> dict[str, str]:
    """The allowed processors of the server's threads whose names begin with `prefix`, by name."""
    found = {}
    for status in Path(f"/proc/{server.process.pid}/task").glob("*/status"):
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if fields["Name"].strip().startswith(prefix):
            found[fields["Name"].strip()] = fields["Cpus_allowed_list"].strip()
    return found


def instances(server: ServerProcess, prefix: str, count: int) -> dict[str, str]:
    return poll_until(
        f"{count} threads {prefix}*",
        lambda: found if len(found := threads(server, prefix)) == count else None,
    )


def test_threads_run_where_their_policy_says(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    core = str(max(os.sched_getaffinity(0)))
    named = 'instance_group { kind: KIND_CPU count: 1 host_policy: "mine" }'
    model_repository.add_identity("echo", extra="instance_group { kind: KIND_CPU count: 2 }")
    model_repository.add_identity("named", extra=named)
    model_repository.add_identity("other", extra="instance_group { kind: KIND_MODEL count: 1 }")
    free = server_factory(model_repository)
    assert_serving(free.http_url)
    (everywhere,) = set(instances(free, "echo_0_", 2).values())

    by_kind = server_factory(model_repository, f"--host-policy=cpu,cpu-cores={core}")
    assert set(instances(by_kind, "echo_0_", 2).values()) == {core}
    assert set(instances(by_kind, "named_0_", 1).values()) == {everywhere}
    assert set(instances(by_kind, "other_0_", 1).values()) == {everywhere}
    assert_serving(by_kind.http_url)

    by_name = server_factory(
        model_repository,
        f"--host-policy=mine,cpu-cores={core}-{core}",
        "--host-policy=mine,numa-node=0",
    )
    assert set(instances(by_name, "named_0_", 1).values()) == {core}
    assert set(instances(by_name, "echo_0_", 2).values()) == {everywhere}
    assert_serving(by_name.http_url, "named")


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        ("cpu,cpu-cores=one", "host policy setting 'cpu-cores' format is"),
        ("unused,numa-node=x", "host policy setting 'numa-node' is the number of a node. Got x"),
        ("cpu,cpu-cores=1023", "Unable to set NUMA thread affinity: Invalid argument"),
        ("cpu,memory=1", "Unsupported host policy setting 'memory' is specified"),
    ],
)
def test_a_policy_that_cannot_be(
    server_factory: ServerFactory, model_repository: ModelRepository, policy: str, text: str
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--host-policy={policy}", wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(text)


def test_passive_instances_are_there_and_get_no_work(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    groups = (
        "instance_group { kind: KIND_CPU count: 1 } "
        "instance_group { kind: KIND_CPU count: 2 passive: true }"
    )
    model_repository.add_identity(
        "slow", extra=groups, parameters={"execute_delay_ms": str(DELAY_MILLISECONDS)}
    )
    server = server_factory(model_repository)
    assert sorted(instances(server, "slow_", 3)) == ["slow_0_0", "slow_1_0", "slow_1_1"]
    started = time.monotonic()
    for request in [InBackground(server.http_url, "slow") for _ in range(3)]:
        assert request.answer().status == 200
    # The requests run one after the other, because only one instance gets work.
    assert time.monotonic() - started >= 3 * DELAY_MILLISECONDS / 1000


def test_a_model_of_passive_instances_does_not_load(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("idle", extra="instance_group { count: 2 passive: true }")
    server = server_factory(model_repository, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("model 'idle' has no instance that takes requests: all are passive")
