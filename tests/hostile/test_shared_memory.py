"""Clients that misuse the memory they share with the server.

NEREID_HOSTILE_SECONDS=60 gives the long form.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from conftest import ServerFactory
from hostile.clients import assert_well_served
from support.good_client import GoodClient, GoodGrpcClient
from support.raw_http import RawConnection
from support.repository import ModelRepository
from support.server_process import ServerProcess

SECONDS = float(os.environ.get("NEREID_HOSTILE_SECONDS", "5"))
PAGE = 4096
MARGIN = 3 * PAGE + 100  # bytes before and behind the region, which nobody may read or write
REGION = 16 * PAGE
WHOLE = REGION + 2 * MARGIN
OUTSIDE, INSIDE = 0xEE, 0x11
SEGMENTS = 4
NAMES = [f"r{i}" for i in range(SEGMENTS + 1)]


class Segment:
    """A file in /dev/shm: a region between two margins."""

    def __init__(self, name: str) -> None:
        self.key = f"/nereid-hostile-{os.getpid()}-{name}"
        self.path = Path(f"/dev/shm{self.key}")
        self.restore()

    def restore(self) -> None:
        """Makes the file if it is missing, gives it its length again, and fills it."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(descriptor, WHOLE)
            os.pwrite(descriptor, bytes([OUTSIDE]) * MARGIN, 0)
            os.pwrite(descriptor, bytes([INSIDE]) * REGION, MARGIN)
            os.pwrite(descriptor, bytes([OUTSIDE]) * MARGIN, MARGIN + REGION)
        finally:
            os.close(descriptor)

    def truncate(self, size: int) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.truncate(self.path, size)

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    def margins(self) -> bytes:
        content = self.path.read_bytes()
        return content[:MARGIN] + content[MARGIN + REGION :]


class Attack:
    """Actors that run until a time, each on a thread of its own. Any exception fails the test."""

    def __init__(self, server: ServerProcess, segments: list[Segment]) -> None:
        self.server = server
        self.segments = segments
        self.answers = 0
        self.refusals = 0
        self._end = time.monotonic() + SECONDS
        self._errors: list[BaseException] = []

    def run(self, actors: list[Callable[[random.Random], None]]) -> None:
        threads = [
            threading.Thread(target=self._act, args=(actor, random.Random(seed)), daemon=True)
            for seed, actor in enumerate(actors)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS + 60)
            assert not thread.is_alive(), "a request of the hostile client has no answer"
        if self._errors:
            raise self._errors[0]

    def _act(self, actor: Callable[[random.Random], None], dice: random.Random) -> None:
        try:
            while time.monotonic() < self._end and not self._errors:
                actor(dice)
        except BaseException as error:  # handed to the test's thread
            self._errors.append(error)

    def vandal(self, dice: random.Random) -> None:
        segment = dice.choice(self.segments)
        harm = dice.randrange(6)
        if harm < 3:
            segment.truncate(dice.choice([0, 1, PAGE, MARGIN, MARGIN + 1, dice.randrange(WHOLE)]))
        elif harm == 3:
            segment.truncate(WHOLE + dice.randrange(10 * PAGE))
        elif harm == 4:
            segment.remove()
        segment.restore()
        time.sleep(dice.random() * 0.002)

    def registrar(self, dice: random.Random) -> None:
        name, segment = dice.choice(NAMES), dice.choice(self.segments)
        if dice.random() < 0.4:
            which = f"/region/{name}" if dice.random() < 0.9 else ""
            self.post(f"/v2/systemsharedmemory{which}/unregister", b"")
            return
        body = json.dumps({"key": segment.key, "offset": MARGIN, "byte_size": REGION}).encode()
        self.post(f"/v2/systemsharedmemory/region/{name}/register", body)

    def post(self, path: str, body: bytes) -> None:
        head = f"POST {path} HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        with RawConnection(self.server.http_url) as connection:
            connection.send(head.encode() + body)
            assert connection.read_answer("POST").status in (200, 400, 500)

    def user(self, dice: random.Random) -> None:
        """One inference at a boundary; its bytes come from inside the region, or are zeros."""
        size = dice.choice([4, PAGE, PAGE + 4, REGION - 4, REGION, REGION + 4])
        offset = dice.choice([0, 4, PAGE, REGION - size, REGION - 4, REGION, REGION + 4, 2**64 - 4])
        places = {
            "shared_memory_region": dice.choice(NAMES),
            "shared_memory_offset": max(offset, 0),
            "shared_memory_byte_size": size,
        }
        shared_output = dice.random() < 0.5
        text = dice.random() < 0.2
        document = {
            "inputs": [
                {
                    "name": "INPUT0",
                    "datatype": "BYTES" if text else "FP32",
                    "shape": [1] if text else [size // 4],
                    "parameters": places,
                }
            ],
            "outputs": [
                {
                    "name": "OUTPUT0",
                    "parameters": places | {"shared_memory_region": dice.choice(NAMES)}
                    if shared_output
                    else {"binary_data": True},
                }
            ],
        }
        body = json.dumps(document).encode()
        model = "texts" if text else "numbers"
        head = f"POST /v2/models/{model}/infer HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        with RawConnection(self.server.http_url) as connection:
            connection.send(head.encode() + body)
            answer = connection.read_answer("POST")
        if answer.status != 200:
            self.refusals += 1
            return
        self.answers += 1
        if not shared_output and not text:
            tensor = np.frombuffer(answer.body[-size:], np.uint8)
            assert set(np.unique(tensor)) <= {INSIDE, 0}, "bytes from outside the region"


def test_a_client_that_misuses_its_memory(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("numbers", "FP32", (-1,))
    model_repository.add_identity("texts", "STRING", (-1,))
    model_repository.add_identity("echo", "FP32", (-1,))
    server = server_factory(model_repository, "--allow-client-shm=true")
    segments = [Segment(str(i)) for i in range(SEGMENTS)]
    steady = Segment("steady")  # is never truncated, so that its margins show every stray write
    attack = Attack(server, segments)
    steadily = Attack(server, [steady])
    try:
        with GoodClient(server.http_url), GoodGrpcClient(server.grpc_url):
            attack.run(
                [attack.vandal, attack.vandal, attack.registrar, steadily.registrar]
                + [attack.user] * 3
            )
        assert attack.answers > 0 and attack.refusals > 0
        assert set(steady.margins()) == {OUTSIDE}, "a byte outside the region was written"
        assert_well_served(server)
    finally:
        for segment in [*segments, steady]:
            segment.remove()
