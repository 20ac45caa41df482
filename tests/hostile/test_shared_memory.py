# SPDX-License-Identifier: Apache-2.0
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
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import tritonclient.grpc
from tritonclient.utils import InferenceServerException

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
LONGEST = WHOLE + 10 * PAGE  # what a segment has for a moment
EDGES = [0, 1, PAGE - 1, PAGE, PAGE + 1, WHOLE - 1, WHOLE, WHOLE + 1, 2**63, 2**64 - 1]
SIZES = [4, PAGE, PAGE + 4, REGION - 4, REGION, REGION + 4]
# Milliseconds of an execution, in which regions are unregistered and truncated.
DELAY = {"execute_delay_ms": "0-3"}


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

    def __init__(self, server: ServerProcess, segments: list[Segment], longest: int) -> None:
        self.server = server
        self.segments = segments
        self.longest = longest  # bytes that a segment may have at some time
        self.answers = 0
        self.refusals = 0
        self.odd_regions = 0
        self.overtaken = 0  # times that a region was unregistered while a request used it
        self._asked: dict[str, set[object]] = {name: set() for name in NAMES}
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
            segment.truncate(dice.randrange(WHOLE, LONGEST))
        elif harm == 4:
            segment.remove()
        segment.restore()
        time.sleep(dice.random() * 0.002)

    def registrar(self, dice: random.Random) -> None:
        name, segment = dice.choice(NAMES), dice.choice(self.segments)
        if dice.random() < 0.4:
            which = f"/region/{name}" if dice.random() < 0.9 else ""
            before = set(self._asked[name])
            self.post(f"/v2/systemsharedmemory{which}/unregister", b"")
            self.overtaken += bool(before & self._asked[name])
            return
        self.register(name, segment, MARGIN, REGION)

    def surveyor(self, dice: random.Random) -> None:
        """Registers at the edges of pages and of the segment, and beyond what 64 bits hold, under
        a name of its own. What is accepted lies in the segment, and is used."""
        segment, name = dice.choice(self.segments), f"odd{self.longest}"
        offset, size = dice.choice(EDGES), dice.choice(EDGES)
        fits = size > 0 and offset + size <= self.longest
        status = self.register(name, segment, offset, size)
        if self.longest == WHOLE:
            assert (status == 200) == fits, (offset, size, status)
        elif status == 200:
            assert fits, (offset, size)
        if status == 200:
            self.odd_regions += 1
            places = {
                "shared_memory_region": name,
                "shared_memory_offset": dice.choice([0, size - 1, size, max(size - 4, 0)]),
                "shared_memory_byte_size": 4,
            }
            tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [1], "parameters": places}
            document = {"inputs": [tensor], "outputs": [{"name": "OUTPUT0"}]}
            self.post("/v2/models/numbers/infer", json.dumps(document).encode())
        self.post(f"/v2/systemsharedmemory/region/{name}/unregister", b"")

    def register(self, name: str, segment: Segment, offset: int, size: int) -> int:
        """The status of the answer."""
        body = json.dumps({"key": segment.key, "offset": offset, "byte_size": size}).encode()
        return self.post(f"/v2/systemsharedmemory/region/{name}/register", body)

    def post(self, path: str, body: bytes) -> int:
        head = f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
        with RawConnection(self.server.http_url) as connection:
            connection.send(head.encode() + body)
            status = connection.read_answer("POST").status
        assert status in (200, 400, 404, 500)
        return status

    def user(self, dice: random.Random) -> None:
        """One inference at a boundary; its bytes come from inside the region, or are zeros."""
        size = dice.choice(SIZES)
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
        model = "texts" if text else dice.choice(["numbers", "delayed"])
        path = f"/v2/models/{model}/infer"
        head = f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
        with self.asks(places["shared_memory_region"]):
            with RawConnection(self.server.http_url) as connection:
                connection.send(head.encode() + body)
                answer = connection.read_answer("POST")
        if answer.status != 200:
            self.refusals += 1
            return
        self.answers += 1
        if not shared_output and not text:
            assert_inside(np.frombuffer(answer.body[-size:], np.uint8))

    @contextlib.contextmanager
    def asks(self, name: object) -> Iterator[None]:
        """Remembers that a request uses the region until the block ends."""
        token = object()
        users = self._asked[str(name)]
        users.add(token)
        try:
            yield
        finally:
            users.discard(token)


class GrpcAttack(Attack):
    """The same misuse with the official client over gRPC."""

    def grpc_user(self, dice: random.Random) -> None:
        with tritonclient.grpc.InferenceServerClient(self.server.grpc_url) as client:
            for _ in range(50):
                try:
                    self.step(client, dice)
                except InferenceServerException as error:
                    allowed = ("INVALID_ARGUMENT", "INTERNAL", "NOT_FOUND", "ALREADY_EXISTS")
                    assert str(error.status()).endswith(allowed), error
                    self.refusals += 1

    def step(self, client: tritonclient.grpc.InferenceServerClient, dice: random.Random) -> None:
        name, chance = dice.choice(NAMES), dice.random()
        if chance < 0.1:
            client.unregister_system_shared_memory(name)
        elif chance < 0.3:
            client.register_system_shared_memory(
                name, dice.choice(self.segments).key, REGION, offset=MARGIN
            )
        else:
            self.infer(client, name, dice)

    def infer(
        self, client: tritonclient.grpc.InferenceServerClient, name: str, dice: random.Random
    ) -> None:
        size = dice.choice(SIZES)
        offset = max(0, dice.choice([0, 4, PAGE, REGION - size, REGION, 2**63 - 4]))
        tensor = tritonclient.grpc.InferInput("INPUT0", [size // 4], "FP32")
        tensor.set_shared_memory(name, size, offset)
        output = tritonclient.grpc.InferRequestedOutput("OUTPUT0")
        shared_output = dice.random() < 0.5
        if shared_output:
            output.set_shared_memory(dice.choice(NAMES), size, offset)
        model = dice.choice(["numbers", "delayed"])
        result = client.infer(model, [tensor], outputs=[output], client_timeout=60)
        self.answers += 1
        if not shared_output:
            assert_inside(result.as_numpy("OUTPUT0").view(np.uint8))


def assert_inside(tensor: np.ndarray) -> None:
    assert set(np.unique(tensor)) <= {INSIDE, 0}, "bytes from outside the region"


def test_a_client_that_misuses_its_memory(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("numbers", "FP32", (-1,))
    model_repository.add_identity("delayed", "FP32", (-1,), parameters=DELAY)
    model_repository.add_identity("texts", "STRING", (-1,))
    model_repository.add_identity("echo", "FP32", (-1,))
    server = server_factory(model_repository, "--allow-client-shm=true")
    segments = [Segment(str(i)) for i in range(SEGMENTS)]
    steady = Segment("steady")  # is never truncated, so that its margins show every stray write
    attack = Attack(server, segments, LONGEST)
    steadily = Attack(server, [steady], WHOLE)
    others = GrpcAttack(server, [*segments, steady], LONGEST)
    try:
        with GoodClient(server.http_url), GoodGrpcClient(server.grpc_url):
            attack.run(
                [attack.vandal, attack.vandal, attack.registrar, steadily.registrar]
                + [attack.surveyor, steadily.surveyor, others.grpc_user]
                + [attack.user] * 3
            )
        for one in (attack, others):
            assert one.answers > 0 and one.refusals > 0
        assert attack.odd_regions > 0 and steadily.odd_regions > 0
        assert attack.overtaken > 0
        assert set(steady.margins()) == {OUTSIDE}, "a byte outside the region was written"
        assert_well_served(server)
    finally:
        for segment in [*segments, steady]:
            segment.remove()
