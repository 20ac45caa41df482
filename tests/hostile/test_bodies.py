# SPDX-License-Identifier: Apache-2.0
"""Bodies that are announced but not sent, or sent very slowly."""

from __future__ import annotations

from conftest import ServerFactory
from hostile.clients import (
    announce,
    assert_memory,
    assert_well_served,
    gauge,
    has_answer,
    send_until_refused,
    wait_until_idle,
)
from support.poll import poll_until
from support.process_memory import MIB, resident
from support.repository import ModelRepository

LARGEST_BODY = 2147483647
FIRST_STEP = 64 << 10
REQUEST_COST = 8 << 10


def test_announcements_cost_one_step_each(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """An announcement reserves only one step of memory. Two used to take all of it."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--max-in-flight-bytes={4 << 30}")
    assert_well_served(server)
    at_rest = resident(server)
    connections = [announce(server.http_url, LARGEST_BODY) for _ in range(300)]
    try:
        for connection in connections:
            connection.send(b"x")
        most = 300 * (FIRST_STEP + REQUEST_COST)
        poll_until("all are read", lambda: gauge(server, "nereid_in_flight_bytes") == most)
        assert_well_served(server)
        assert_memory(server, at_rest, most)
    finally:
        for connection in connections:
            connection.close()
    wait_until_idle(server)


def test_announced_chunks_cost_nothing(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--max-in-flight-bytes={16 * MIB}")
    head = b"POST /v2/models/echo/infer HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    head += b"b00000\r\n"
    connections = [announce(server.http_url, 0) for _ in range(50)]
    try:
        for connection in connections:
            connection.read_answer("POST")
            connection.send(head + b"x" * 10)
        assert_well_served(server)
        assert gauge(server, "nereid_in_flight_bytes") <= 50 * (4096 + REQUEST_COST)
        assert not any(has_answer(connection) for connection in connections)
    finally:
        for connection in connections:
            connection.close()


def test_two_that_take_all_they_get_keep_nobody_out(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    limit = 32 * MIB
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository, f"--max-in-flight-bytes={limit}", "--http-header-timeout-secs=10"
    )
    assert_well_served(server)
    at_rest = resident(server)
    with announce(server.http_url, 20 * MIB) as first, announce(server.http_url, 20 * MIB) as second:
        send_until_refused(first, 20 * MIB - 1)
        # Sent is not received: a server that still reads would refuse the first one, which has more.
        all_of_it = 20 * MIB + REQUEST_COST
        poll_until("all is paid", lambda: gauge(server, "nereid_in_flight_bytes") >= all_of_it)
        send_until_refused(second, 20 * MIB - 1)
        refused = second.read_answer("POST")
        assert refused.status == 503
        assert f"server limit 'in-flight bytes' of {limit} is exhausted" in refused.error()
        assert "--max-in-flight-bytes" in refused.error()
        assert_well_served(server)
        # The server gives the other connection up, because it still sends nothing.
        assert first.read_answer("POST").status == 408
    assert gauge(server, "nereid_http_slow_clients") == 1
    wait_until_idle(server)
    assert_memory(server, at_rest, limit)


def test_a_drip_is_cut_off(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository, "--http-header-timeout-secs=1", f"--max-in-flight-bytes={4 << 30}"
    )
    with announce(server.http_url, LARGEST_BODY) as connection:

        def answered_after_another_byte() -> bool:
            if not has_answer(connection):
                connection.send(b"x")
            return has_answer(connection)

        poll_until("the drip is cut off", answered_after_another_byte)
        answer = connection.read_answer("POST")
        assert answer.status == 408
        assert "less than 1024 bytes per second" in answer.error()
    assert gauge(server, "nereid_http_slow_clients") == 1
    assert_well_served(server)


def test_a_body_that_can_never_fit(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--max-in-flight-bytes=1000000")
    with announce(server.http_url, 900_000) as connection:
        answer = connection.read_answer("POST")
        assert answer.status == 413
        assert "the 750000 bytes that one request may take" in answer.error()
        assert "--max-in-flight-bytes" in answer.error()
    assert_well_served(server)
