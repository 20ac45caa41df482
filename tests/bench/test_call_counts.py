# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/call_counts.py: whose calls were counted."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from racetrack import call_counts
from racetrack.call_counts import Calls, Frame

SERVER = "/opt/nereid/bin/nereid"
OUR_NEW = Frame(SERVER, "New", "/project/src/allocator/operators.cc")
OURS = Frame(SERVER, "_ZN6nereid4WorkEv", "/project/src/frontends/grpc/work.cc")
ASIO = Frame(SERVER, "_ZN5boost4postEv", "/usr/include/boost/asio/post.hpp")
VECTOR = Frame(SERVER, "_M_realloc_insert", "/usr/include/c++/12/bits/vector.tcc")
NGHTTP2 = Frame("/usr/lib/libnghttp2.so.14")


@pytest.mark.parametrize(
    ("stack", "owner"),
    [
        ((OURS,), "ours"),
        ((OUR_NEW, VECTOR, OURS, NGHTTP2), "ours"),
        ((OUR_NEW, ASIO, OURS), "Boost"),
        ((NGHTTP2, OURS), "nghttp2"),
        ((Frame("/lib/libabsl_strings.so.1"), OURS), "ours"),
        ((Frame("/usr/lib/libjemalloc.so.2"), OUR_NEW, OURS), "jemalloc"),
        (
            (VECTOR, Frame("/opt/nereid/backends/identity/libtriton_identity.so", "f", "/p/src/f")),
            "model",
        ),
        ((Frame("/opt/nereid/lib/libtritonserver.so"),), "ours"),
        ((Frame("/lib/x86_64-linux-gnu/libc.so.6"),), "other"),
        ((), "other"),
    ],
)
def test_a_call_belongs_to_the_first_that_did_not_pass_it_on(
    stack: tuple[Frame, ...], owner: str
) -> None:
    assert Calls("allocations", 1, stack).owner() == owner


def test_counts_per_request() -> None:
    calls = [
        Calls("allocations", 30, (OURS,)),
        Calls("allocations", 10, (VECTOR, OURS)),
        Calls("allocations", 5, (NGHTTP2,)),
        Calls("locks", 20, (ASIO,)),
    ]
    counts = call_counts.per_request(calls, 10)
    assert counts["allocations"] == {"ours": 4.0, "nghttp2": 0.5}
    assert counts["locks"] == {"Boost": 2.0}
    assert counts["system calls"] == {}


def test_each_counting_ends_with_a_record_of_zeros(tmp_path: Path) -> None:
    def record(kind: int, count: int) -> bytes:
        return struct.pack("=30Q", kind, count, *[0] * 28)

    end = record(0, 0)
    file = tmp_path / "counts"
    file.write_bytes(record(0, 16) + record(1, 32) + end + end + record(5, 48) + end)
    countings = call_counts.read_counts(file, maps="")
    assert [[(call.kind, call.count) for call in calls] for calls in countings] == [
        [("allocations", 16), ("locks", 32)],
        [],
        [("system calls", 48)],
    ]
