# SPDX-License-Identifier: Apache-2.0
"""Large JSON texts: what is made of them is paid for, and reading them holds up nobody else."""

from __future__ import annotations

import concurrent.futures
import contextlib
import time

import pytest

from conftest import ServerFactory
from hostile.clients import assert_memory, assert_well_served, gauge, wait_until_idle
from support import raw_http
from support.process_memory import MIB, resident
from support.raw_http import HttpAnswer, RawConnection
from support.repository import ModelRepository

LIMIT = 100 * MIB
ADMINISTRATION = (
    "/v2/logging",
    "/v2/trace/setting",
    "/v2/models/echo/trace/setting",
    "/v2/repository/index",
    "/v2/repository/models/echo/load",
    "/v2/repository/models/echo/unload",
    "/v2/systemsharedmemory/region/r/register",
    "/v2/systemsharedmemory/unregister",
    "/v2/cudasharedmemory/unregister",
)


def test_bodies_of_administration_are_paid_for(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """A tree takes up to twenty times the memory of its text."""
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository,
        f"--max-in-flight-bytes={LIMIT}",
        "--model-control-mode=explicit",
        "--load-model=echo",
        "--allow-client-shm=true",
    )
    assert_well_served(server)
    at_rest = resident(server)
    body = b'{"x":[' + b"0," * (30 * MIB) + b"0]}"
    for path in ADMINISTRATION:
        with RawConnection(server.http_url) as connection:
            head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            with contextlib.suppress(ConnectionError):  # refused before it was all sent
                connection.send(head.encode() + body)
            answer = connection.read_answer("POST")
        assert answer.status in (413, 503), f"{path}: {answer.status} {answer.body!r}"
        assert answer.error()
    assert_memory(server, at_rest, LIMIT)
    wait_until_idle(server)
    assert_well_served(server)


def probe_while(url: str, work: concurrent.futures.Future[HttpAnswer]) -> tuple[int, float]:
    """How many probes on connections of their own were answered meanwhile, and the worst wait."""
    probes, worst = 0, 0.0
    while not work.done():
        start = time.monotonic()
        assert raw_http.get(url, "/v2/health/live").status == 200
        worst = max(worst, time.monotonic() - start)
        probes += 1
    return probes, worst


# What only the careful reader knows, and what both know.
@pytest.mark.parametrize("first", ["NaN", "0.5"])
@pytest.mark.parametrize("method", ["generate", "generate_stream"])
def test_large_generate_bodies_hold_up_nobody(
    server_factory: ServerFactory, model_repository: ModelRepository, method: str, first: str
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--http-thread-count=1")
    assert_well_served(server)
    count = 8_000_000
    body = f'{{"INPUT0":[{first}' + ",0.25" * (count - 1) + "]}"
    path = f"/v2/models/echo/{method}"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        start = time.monotonic()
        work = pool.submit(raw_http.post, server.http_url, path, body.encode())
        probes, worst = probe_while(server.http_url, work)
        took = time.monotonic() - start
    answer = work.result()
    assert answer.status == 200, answer.body[:200]
    assert answer.body.count(b",0.25") == count - 1
    # One I/O thread has received, sent and probed. Had it also read or written the numbers, one
    # probe would have waited for most of the time.
    assert probes > 5
    assert worst < took / 3, f"a probe waited for {worst:.2f} s of {took:.2f} s"
    wait_until_idle(server)


def test_large_answers_hold_up_nobody(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """Few bytes come in binary, and many go out as JSON."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--http-thread-count=1")
    assert_well_served(server)
    count = 3_000_000
    tensor = {
        "name": "INPUT0",
        "datatype": "FP32",
        "shape": [count],
        "parameters": {"binary_data_size": 4 * count},
    }
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        start = time.monotonic()
        document = raw_http.infer_document([tensor])
        work = pool.submit(
            raw_http.binary_infer, server.http_url, "echo", document, bytes(range(4)) * count
        )
        probes, worst = probe_while(server.http_url, work)
        took = time.monotonic() - start
    assert work.result().status == 200
    assert len(work.result().json()["outputs"][0]["data"]) == count
    assert probes > 5
    assert worst < took / 3, f"a probe waited for {worst:.2f} s of {took:.2f} s"
    assert gauge(server, "nereid_in_flight_requests") == 0
