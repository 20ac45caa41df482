# SPDX-License-Identifier: Apache-2.0
"""Compressed bodies that grow a thousandfold, and JSON texts whose parsed form is large."""

from __future__ import annotations

import gzip
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import ServerFactory
from hostile.clients import INFER, assert_memory, assert_well_served, wait_until_idle
from support import raw_http
from support.process_memory import MIB, resident
from support.repository import ModelRepository


def packed(coding: str, plain: bytes) -> bytes:
    return gzip.compress(plain, 9) if coding == "gzip" else zlib.compress(plain, 9)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_bombs_stay_within_the_limit(
    server_factory: ServerFactory, model_repository: ModelRepository, coding: str
) -> None:
    limit = 64 * MIB
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--max-in-flight-bytes={limit}")
    assert_well_served(server)
    at_rest = resident(server)
    large = packed(coding, b" " * (256 * MIB))  # beyond --http-max-input-size, and the limit
    middling = packed(coding, b" " * (24 * MIB))

    def send(body: bytes) -> raw_http.HttpAnswer:
        return raw_http.post(server.http_url, INFER, body, [("Content-Encoding", coding)])

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, [large, middling] * 12))
        assert_well_served(server)
    assert {answer.status for answer in answers} <= {400, 503}
    assert all(
        "'in-flight bytes'" in answer.error() or "exceeds the maximum" in answer.error()
        for answer in answers[::2]
    )
    wait_until_idle(server)
    assert_memory(server, at_rest, limit)


def test_trees_of_json_stay_within_the_limit(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """A NaN makes the server use the careful reader, whose tree is twenty times the text's size."""
    limit = 64 * MIB
    model_repository.add_identity("echo")
    server = server_factory(model_repository, f"--max-in-flight-bytes={limit}")
    assert_well_served(server)
    at_rest = resident(server)
    count = 6_000_000
    body = b'{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[%d],"data":[NaN' % count
    body += b",0" * (count - 1) + b"]}]}"

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: raw_http.post(server.http_url, INFER, body), range(8)))
    assert {answer.status for answer in answers} == {503}
    assert all("'in-flight bytes'" in answer.error() for answer in answers)
    assert_well_served(server)
    wait_until_idle(server)
    assert_memory(server, at_rest, limit)
