# SPDX-License-Identifier: Apache-2.0
"""Clients that misbehave, in a separate process. The load is bounded: each attack has a fixed
number of connections and fixed pauses between requests, whatever the server does.

    python -m racetrack.attacks NAME HOST:PORT      until SIGTERM; then prints the outcome as JSON

The process runs only when no other process needs the processor (SCHED_IDLE), so that it disturbs
the server but not the measured client.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

LARGE_FLOATS = 1 << 20  # elements of a tensor of the model identity_large
SLOW_MODEL = "slow"


class Victim:
    """The server under attack, and its answers. Owned by one event loop."""

    def __init__(self, address: str) -> None:
        self.address = address
        host, port = address.rsplit(":", 1)
        self._host, self._port = host, int(port)
        self.sent = 0
        self.outcomes: Counter[str] = Counter()  # by status, or "closed"

    async def connect(
        self, receive_buffer: int = 0
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        sock = socket.socket()
        sock.setblocking(False)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        await asyncio.get_running_loop().sock_connect(sock, (self._host, self._port))
        return await asyncio.open_connection(sock=sock, limit=1 << 16)

    async def read_answer(self, reader: asyncio.StreamReader) -> None:
        """Reads and counts one answer; its body is discarded."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = 0
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(":")
            if name == "content-length":
                length = int(value)
        while length > 0:
            piece = await reader.read(min(length, 1 << 16))
            if not piece:
                raise ConnectionResetError
            length -= len(piece)
        self.outcomes[head.split(" ", 2)[1]] += 1


def post(model: str, body: bytes, *headers: str) -> bytes:
    lines = [f"POST /v2/models/{model}/infer HTTP/1.1", "Host: x", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body


def tiny(model: str) -> bytes:
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [16], "data": [0] * 16}
    return post(model, json.dumps({"inputs": [tensor]}).encode())


Client = Callable[[Victim], Awaitable[None]]


async def repeat_request(victim: Victim, request: bytes, pause: float) -> None:
    """One connection that sends the same request again and again."""
    reader, writer = await victim.connect()
    try:
        while True:
            victim.sent += 1
            writer.write(request)
            await writer.drain()
            await victim.read_answer(reader)
            await asyncio.sleep(pause)
    finally:
        writer.close()


def many_inputs() -> Client:
    one = '{{"name":"i{}","datatype":"FP32","shape":[1],"data":[1]}}'
    inputs = ",".join(one.format(i) for i in range(100_000))
    request = post("identity_small", f'{{"inputs":[{inputs}]}}'.encode())
    return lambda victim: repeat_request(victim, request, pause=1)


def bombs() -> Client:
    body = gzip.compress(b" " * (60 << 20), mtime=0)
    request = post("identity_small", body, "Content-Encoding: gzip")
    return lambda victim: repeat_request(victim, request, pause=1)


def tiny_flood() -> Client:
    request = tiny(SLOW_MODEL)
    return lambda victim: repeat_request(victim, request, pause=0.05)


def announced_bodies() -> Client:
    head = post("identity_small", b"").replace(b"Length: 0", b"Length: 2147483647")

    async def client(victim: Victim) -> None:
        reader, writer = await victim.connect()
        try:
            victim.sent += 1
            writer.write(head)
            await victim.read_answer(reader)  # if an answer comes, it is a refusal
        finally:
            writer.close()

    return client


def dripping_bodies() -> Client:
    head = post("identity_small", b"").replace(b"Length: 0", b"Length: 1048576")

    async def client(victim: Victim) -> None:
        reader, writer = await victim.connect()
        try:
            victim.sent += 1
            writer.write(head)
            answer = asyncio.ensure_future(victim.read_answer(reader))
            while not answer.done():
                writer.write(b" ")
                await asyncio.wait([answer], timeout=0.5)
            await answer
        finally:
            writer.close()

    return client


def slow_readers() -> Client:
    tail = bytes(4 * LARGE_FLOATS)
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [LARGE_FLOATS]}
    tensor["parameters"] = {"binary_data_size": len(tail)}
    document = {"inputs": [tensor], "parameters": {"binary_data_output": True}}
    head = json.dumps(document).encode()
    request = post(
        "identity_large", head + tail, f"Inference-Header-Content-Length: {len(head)}"
    )

    async def client(victim: Victim) -> None:
        reader, writer = await victim.connect(receive_buffer=4096)
        try:
            victim.sent += 1
            writer.write(request)
            await writer.drain()
            await reader.readexactly(16)
            for _ in range(40):  # sends some bytes at times, so that the connection is not idle
                await asyncio.sleep(0.1)
                writer.write(b"\r\n")
            victim.outcomes["left unread"] += 1
        finally:
            writer.transport.abort()

    return client


def pipelined_flood() -> Client:
    batch = b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n" * 500

    async def client(victim: Victim) -> None:
        reader, writer = await victim.connect()
        try:
            while True:
                victim.sent += 500
                writer.write(batch)
                await writer.drain()
                for _ in range(500):
                    await victim.read_answer(reader)
                await asyncio.sleep(0.5)
        finally:
            writer.close()

    return client


@dataclass(frozen=True)
class Attack:
    """One kind of hostile load."""

    title: str
    connections: int
    make: Callable[[], Client] = field(repr=False)


ATTACKS = {
    "many-inputs": Attack("100,000 inputs, once a second on each", 2, many_inputs),
    "announced-bodies": Attack("announce 2 GiB and send nothing", 64, announced_bodies),
    "dripping-bodies": Attack("a body of 1 MiB, two bytes a second", 256, dripping_bodies),
    "slow-readers": Attack("ask for 4 MiB, read nothing, send a line now and then", 8, slow_readers),
    "pipelined-flood": Attack("500 pipelined requests, twice a second", 4, pipelined_flood),
    "tiny-flood": Attack("small requests to a model that is slow", 512, tiny_flood),
    "bombs": Attack("64 KiB of gzip that are 60 MiB, once a second on each", 2, bombs),
}


async def keep_on(victim: Victim, client: Client) -> None:
    """Runs one connection after the other, with a pause after the server has closed one."""
    while True:
        try:
            await client(victim)
        except (OSError, asyncio.IncompleteReadError):
            victim.outcomes["closed"] += 1
        await asyncio.sleep(0.2)


async def run(attack: Attack, address: str) -> Victim:
    """Runs the attack until SIGTERM."""
    victim, client = Victim(address), attack.make()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    tasks = [asyncio.ensure_future(keep_on(victim, client)) for _ in range(attack.connections)]
    await stop.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return victim


def main() -> int:
    name, address = sys.argv[1:]
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    victim = asyncio.run(run(ATTACKS[name], address))
    print(json.dumps({"sent": victim.sent, "outcomes": victim.outcomes}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
