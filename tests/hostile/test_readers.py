# SPDX-License-Identifier: Apache-2.0
"""Clients that request much, read nothing, and meanwhile send something to seem alive."""

from __future__ import annotations

import contextlib
import json
import socket

import pytest

from conftest import ServerFactory
from hostile.clients import (
    INFER,
    assert_memory,
    assert_well_served,
    gauge,
    slow_reader,
    wait_until_idle,
)
from support.poll import poll_until
from support.process_memory import MIB, resident
from support.repository import ModelRepository

BYTES = 4 * MIB


def large_request(binary: bool) -> bytes:
    outputs = [{"name": "OUTPUT0", "parameters": {"binary_data": binary}}]
    tensor = {
        "name": "INPUT0",
        "datatype": "FP32",
        "shape": [BYTES // 4],
        "parameters": {"binary_data_size": BYTES},
    }
    document = json.dumps({"inputs": [tensor], "outputs": outputs}).encode()
    head = (
        f"POST {INFER} HTTP/1.1\r\nHost: h\r\nInference-Header-Content-Length: {len(document)}\r\n"
        f"Content-Length: {len(document) + BYTES}\r\n\r\n"
    )
    return head.encode() + document + bytes(BYTES)


def ask(reader: socket.socket, binary: bool) -> None:
    with contextlib.suppress(ConnectionError):  # a server that is full may have refused meanwhile
        reader.sendall(large_request(binary))


@pytest.mark.parametrize("binary", [True, False])
def test_who_sends_instead_of_reading_is_cut_off(
    server_factory: ServerFactory, model_repository: ModelRepository, binary: bool
) -> None:
    limit = 64 * MIB
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository, f"--max-in-flight-bytes={limit}", "--http-header-timeout-secs=1"
    )
    assert_well_served(server)
    at_rest = resident(server)
    readers = []
    try:
        for _ in range(12):
            reader = slow_reader(server.http_url)
            readers.append(reader)
            ask(reader, binary)

        def all_are_given_up() -> bool:
            for reader in readers:
                with contextlib.suppress(OSError):
                    reader.send(b"x", socket.MSG_DONTWAIT)
            return gauge(server, "nereid_in_flight_bytes") == 0

        assert_well_served(server)
        poll_until("all are given up", all_are_given_up, 60)
    finally:
        for reader in readers:
            reader.close()
    assert gauge(server, "nereid_http_slow_clients") > 0
    wait_until_idle(server)
    assert_well_served(server)
    assert_memory(server, at_rest, limit)


def test_answers_that_nobody_reads_stay_within_the_limit(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """An answer is charged with the size of its JSON text, which is three times its tensor's."""
    limit = 48 * MIB
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--max-in-flight-bytes={limit}")
    assert_well_served(server)
    at_rest = resident(server)
    readers = []
    try:
        for _ in range(24):
            reader = slow_reader(server.http_url)
            readers.append(reader)
            ask(reader, binary=False)
        assert_well_served(server)
        assert gauge(server, "nereid_in_flight_bytes") <= limit
        assert_memory(server, at_rest, limit)
    finally:
        for reader in readers:
            reader.close()
    wait_until_idle(server)
