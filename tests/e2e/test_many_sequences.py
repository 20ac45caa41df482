# SPDX-License-Identifier: Apache-2.0
"""A thousand sequences at a time, over all protocols, with clients that disappear in the middle.

Every answer has to be the sum of the values that the sequence has sent so far.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import zip_longest

import aiohttp
import grpc
import pytest
from tritonclient.grpc import service_pb2_grpc

from support.metrics import metric
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.sequences import (
    START_CONTROL,
    add_accumulator,
    initial_text,
    numbers,
    sequence_request,
    state_text,
)
from support.server_process import ServerProcess

SEED = 20261121
UNARY, STREAMED, HTTP = 350, 350, 300
STREAMS = 7
LONGEST = 8  # most requests of a sequence
DYING = 40  # further clients, which disappear while a request is in progress
IN_ORDER = 60
PENDING = "nv_inference_pending_request_count"
# Longer than any client here pauses, even on a slow machine.
IDLE = "max_sequence_idle_microseconds: 5000000\n"
TIMEOUT_SECONDS = 60


@dataclass
class Walk:
    """A sequence, with the waiting times for its answers."""

    id: int
    values: list[int]
    waits: list[float] = field(default_factory=list)

    def steps(self) -> Iterator[tuple[int, bool, bool, int]]:
        """Yields (value, start, end, expected sum)."""
        total = 0
        for i, value in enumerate(self.values):
            total += value
            yield value, i == 0, i == len(self.values) - 1, total


def make_walks(count: int, first_id: int, seed: int) -> list[Walk]:
    chance = random.Random(seed)
    return [
        Walk(
            first_id + i,
            [chance.randint(-1000, 1000) for _ in range(chance.randint(1, LONGEST))],
        )
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("many_sequences")
    models = ModelRepository(folder / "models")
    two = "instance_group { kind: KIND_CPU count: 2 }"
    state = START_CONTROL + state_text()
    oldest = "oldest { max_candidate_sequences: 32 preferred_batch_size: [ 8 ] }\n"
    add_accumulator(models, "many", IDLE + oldest + state, max_batch_size=16, extra=two)
    add_accumulator(models, "direct", IDLE + "direct { }\n" + state, max_batch_size=16, extra=two)
    zero = state_text(extra=initial_text((1,), "zero_data: true"))
    one = "instance_group { kind: KIND_CPU count: 1 }"
    add_accumulator(models, "in_order", IDLE + "direct { }\n" + zero, max_batch_size=0, extra=one)
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def open_stub(
    server: ServerProcess,
) -> AsyncIterator[service_pb2_grpc.GRPCInferenceServiceStub]:
    async with grpc.aio.insecure_channel(server.grpc_url) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


async def walk_unary(
    stub: service_pb2_grpc.GRPCInferenceServiceStub, model: str, walk: Walk
) -> None:
    for value, start, end, total in walk.steps():
        began = time.monotonic()
        answer = await stub.ModelInfer(
            sequence_request(model, value, walk.id, start, end), timeout=TIMEOUT_SECONDS
        )
        walk.waits.append(time.monotonic() - began)
        assert numbers(answer) == [total], walk.id


async def walk_http(
    session: aiohttp.ClientSession, server: ServerProcess, model: str, walk: Walk
) -> None:
    url = f"http://{server.http_url}/v2/models/{model}/infer"
    for value, start, end, total in walk.steps():
        document = {
            "inputs": [{"name": "INPUT", "datatype": "INT32", "shape": [1, 1], "data": [value]}],
            "parameters": {"sequence_id": walk.id, "sequence_start": start, "sequence_end": end},
        }
        began = time.monotonic()
        async with session.post(url, json=document) as answer:
            body = await answer.json()
            assert answer.status == 200, body
        walk.waits.append(time.monotonic() - began)
        assert body["outputs"][0]["data"] == [total], walk.id


async def walk_stream(
    stub: service_pb2_grpc.GRPCInferenceServiceStub, model: str, walks: list[Walk]
) -> None:
    """Sends all walks on one stream, step by step, without waiting for the answers, which come in
    order."""
    rounds = zip_longest(*([(walk, step) for step in walk.steps()] for walk in walks))
    plan = [step for steps in rounds for step in steps if step is not None]
    call = stub.ModelStreamInfer(timeout=TIMEOUT_SECONDS)
    sent: list[float] = []

    async def write() -> None:
        for walk, (value, start, end, _) in plan:
            sent.append(time.monotonic())
            await call.write(sequence_request(model, value, walk.id, start, end))
        await call.done_writing()

    writer = asyncio.create_task(write())
    for i, (walk, (_, _, _, total)) in enumerate(plan):
        response = await call.read()
        assert response is not grpc.aio.EOF, "the stream ended early"
        assert not response.error_message, response.error_message
        assert response.infer_response.id == str(walk.id)
        assert numbers(response.infer_response) == [total], walk.id
        walk.waits.append(time.monotonic() - sent[i])
    await writer
    assert await call.read() is grpc.aio.EOF


async def die_unary(
    stub: service_pb2_grpc.GRPCInferenceServiceStub, model: str, walk: Walk
) -> None:
    """Sends some requests, then disappears while a request is in progress."""
    for i, value in enumerate(walk.values):
        await stub.ModelInfer(sequence_request(model, value, walk.id, start=i == 0))
    call = stub.ModelInfer(sequence_request(model, 1, walk.id))
    await asyncio.sleep(0.01)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


async def die_stream(server: ServerProcess, model: str, walks: list[Walk]) -> None:
    """Begins sequences on a stream, then cuts the stream and closes its connection."""
    async with open_stub(server) as stub:
        call = stub.ModelStreamInfer()
        for walk in walks:
            for i, value in enumerate(walk.values):
                await call.write(sequence_request(model, value, walk.id, start=i == 0))
        await call.read()
        call.cancel()


async def everybody(server: ServerProcess, model: str, walks: list[Walk], dead: list[Walk]) -> None:
    unary, streamed, http = (
        walks[:UNARY],
        walks[UNARY : UNARY + STREAMED],
        walks[UNARY + STREAMED :],
    )
    limits = aiohttp.ClientTimeout(total=TIMEOUT_SECONDS)
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        open_stub(server) as stub,
        aiohttp.ClientSession(connector=connector, timeout=limits) as session,
    ):
        await asyncio.gather(
            *(walk_unary(stub, model, walk) for walk in unary),
            *(walk_stream(stub, model, streamed[i::STREAMS]) for i in range(STREAMS)),
            *(walk_http(session, server, model, walk) for walk in http),
            *(die_unary(stub, model, walk) for walk in dead[::2]),
            die_stream(server, model, dead[1::2]),
        )


@pytest.mark.parametrize("model", ["many", "direct"])
def test_a_thousand_sequences(
    server: ServerProcess, model: str, record_property: pytest.RecordProperty
) -> None:
    first_id = 10_000 if model == "many" else 20_000
    walks = make_walks(UNARY + STREAMED + HTTP, first_id, SEED)
    dead = make_walks(DYING, first_id + len(walks), SEED + 1)
    began = time.monotonic()
    asyncio.run(everybody(server, model, walks, dead))
    took = time.monotonic() - began
    requests = sum(len(walk.values) for walk in walks)
    assert [len(walk.waits) for walk in walks] == [len(walk.values) for walk in walks]
    longest = max(max(walk.waits) for walk in walks)
    record_property("longest_wait_s", round(longest, 3))
    print(
        f"{model}: {len(walks)} sequences, {requests} requests in {took:.1f} s, "
        f"longest wait {longest:.2f} s"
    )
    # The sequences of clients that disappeared leave nothing behind, in slots or in queues.
    deadline = time.monotonic() + 20
    while metric(server.metrics_url, PENDING, model=model) > 0:
        assert time.monotonic() < deadline, "requests of clients that went away are still pending"
        time.sleep(0.05)


def test_the_backlog_is_served_in_order(server: ServerProcess) -> None:
    """With one slot, a sequence begins when the previous one has ended."""
    began: list[int] = []

    async def two_steps(
        stub: service_pb2_grpc.GRPCInferenceServiceStub, sequence: int
    ) -> None:
        await stub.ModelInfer(sequence_request("in_order", 1, sequence, True, batched=False))
        began.append(sequence)
        answer = sequence_request("in_order", 2, sequence, end=True, batched=False)
        assert numbers(await stub.ModelInfer(answer)) == [3]

    async def run() -> None:
        async with open_stub(server) as stub:
            # This sequence keeps the slot until all others have arrived, one after the other.
            first = sequence_request("in_order", 1, 29_999, True, batched=False)
            await stub.ModelInfer(first)
            tasks = []
            for waiting in range(1, IN_ORDER + 1):
                tasks.append(asyncio.create_task(two_steps(stub, 30_000 + waiting)))
                while metric(server.metrics_url, PENDING, model="in_order") < waiting:
                    await asyncio.sleep(0.002)
            last = sequence_request("in_order", 1, 29_999, end=True, batched=False)
            await stub.ModelInfer(last)
            await asyncio.gather(*tasks)

    asyncio.run(run())
    assert began == list(range(30_001, 30_001 + IN_ORDER))
