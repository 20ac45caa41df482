# SPDX-License-Identifier: Apache-2.0
"""Clients of the chaos test: each thread sends requests without a pause and checks every answer.

A client records errors and continues. Every request has a deadline, so none can hang.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from tritonclient.grpc import service_pb2_grpc

from support import raw_http
from support.infer import echo_document
from support.sequences import numbers, sequence_request
from support.server_process import ServerProcess

DEADLINE_SECONDS = 20.0
LIVE_SEQUENCES = 6  # sequences that each Walker has at a time
LONGEST_SEQUENCE = 120


class World:
    """The state that the clients and the actors that change models share. Thread-safe."""

    def __init__(self) -> None:
        self.newest: Counter[str] = Counter()  # newest version of each model that is surely loaded
        # Odd while a model may be unloaded; changed before it is unloaded and after it is loaded.
        self.comings: Counter[str] = Counter()
        self.failures: list[str] = []
        self.stop = threading.Event()
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._began = time.monotonic()

    def count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1

    def fail(self, what: str) -> None:
        with self._lock:
            self.failures.append(f"{time.monotonic() - self._began:.3f} s: {what}")

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._counts.items()))


class Client(threading.Thread):
    """Sends requests until the world stops. An exception, including a time-out, is a failure."""

    def __init__(self, name: str, world: World, server: ServerProcess) -> None:
        super().__init__(name=name, daemon=True)
        self.world = world
        self.server = server

    def run(self) -> None:
        try:
            self.ask()
        except Exception as error:  # recorded as a failure of the test
            self.world.fail(f"{self.name}: {type(error).__name__}: {error}")

    def ask(self) -> None:
        raise NotImplementedError


class HttpClient(Client):
    """A client with one connection, which stays open."""

    def __init__(self, name: str, world: World, server: ServerProcess) -> None:
        super().__init__(name, world, server)
        host, port = raw_http.split_url(server.http_url)
        self._connection = http.client.HTTPConnection(host, port, timeout=DEADLINE_SECONDS)

    def request(self, method: str, path: str, document: Any = None) -> raw_http.HttpAnswer:
        body = None if document is None else json.dumps(document).encode()
        self._connection.request(method, path, body)
        return raw_http.read_answer(self._connection.getresponse())


class VectorClient(HttpClient):
    """Sends vectors to a model that repeats them and may also return its version."""

    def __init__(self, model: str, versions_of: str, world: World, server: ServerProcess) -> None:
        super().__init__(f"vectors to {model}", world, server)
        self._model = model
        self._versions_of = versions_of

    def ask(self) -> None:
        number = 0
        while not self.world.stop.is_set():
            number += 1
            comings = self.world.comings[self._versions_of]
            newest = self.world.newest[self._versions_of]
            answer = self.request(
                "POST", f"/v2/models/{self._model}/infer", echo_document((float(number), 2.5))
            )
            there = comings % 2 == 0 and comings == self.world.comings[self._versions_of]
            if answer.status != 200 and not there:
                self.world.count(f"{self._model}: away")
                continue
            self.world.count(self._model)
            wrong = self._wrong(answer, number, newest)
            if wrong:
                self.world.fail(f"{self.name}: {wrong}")

    def _wrong(self, answer: raw_http.HttpAnswer, number: int, newest: int) -> str:
        if answer.status != 200:
            return f"{answer.status} {answer.body!r}"
        document = answer.json()
        outputs = {output["name"]: output["data"] for output in document["outputs"]}
        if outputs["OUTPUT0"] != [float(number), 2.5]:
            return f"{number} became {outputs['OUTPUT0']}"
        version = outputs["VERSION"][0] if "VERSION" in outputs else int(document["model_version"])
        return f"version {version} answers after {newest} was loaded" if version < newest else ""


@dataclass
class Walk:
    """The state of one sequence."""

    id: int
    left: int  # requests to send
    version: int = 0  # 0: none yet
    total: int = 0


class Walker(HttpClient):
    """Sends several sequences at a time. Each has to stay on one version and return its sum."""

    def __init__(
        self, number: int, model: str, versions_of: str, world: World, server: ServerProcess
    ) -> None:
        super().__init__(f"sequences {number} of {model}", world, server)
        self.model = model
        self._versions_of = versions_of
        self._first_id = 1 + number * 1_000_000
        self._random = random.Random(number)

    def ask(self) -> None:
        walks: list[Walk] = []
        made = 0
        while walks or not self.world.stop.is_set():
            if len(walks) < LIVE_SEQUENCES and not self.world.stop.is_set():
                made += 1
                length = self._random.randint(1, LONGEST_SEQUENCE)
                walks.append(Walk(self._first_id + made, length))
            self._random.shuffle(walks)
            walks = [walk for walk in walks if self._step(walk)]

    def _step(self, walk: Walk) -> bool:
        """Sends the next request of a sequence; returns whether the sequence continues."""
        walk.left = 1 if self.world.stop.is_set() else walk.left
        newest = self.world.newest[self._versions_of]
        start, end = walk.version == 0, walk.left == 1
        value = self._random.randint(-1000, 1000)
        answers = self.send(value, walk.id, start, end)
        self.world.count(self.model)
        walk.total += value
        walk.left -= 1
        if start:
            walk.version = answers["VERSION"][0]
            if walk.version < newest:
                self.world.fail(f"{self.name}: {walk} begins after version {newest} was loaded")
        if answers["VERSION"] != [walk.version] or answers["OUTPUT"] != [walk.total]:
            self.world.fail(f"{self.name}: {walk} got {answers}")
        if end and newest > walk.version:
            self.world.count(f"{self.model}: sequences that outlived their version")
        return not end

    def send(self, value: int, sequence: int, start: bool, end: bool) -> dict[str, list[int]]:
        """Returns the answer's outputs. An error ends the thread."""
        tensor = {"name": "INPUT", "datatype": "INT32", "shape": [1, 1], "data": [value]}
        flags = {"sequence_id": sequence, "sequence_start": start, "sequence_end": end}
        document = raw_http.infer_document([tensor], parameters=flags)
        answer = self.request("POST", f"/v2/models/{self.model}/infer", document)
        if answer.status != 200:
            raise AssertionError(f"sequence {sequence}: {answer.status} {answer.body!r}")
        return {output["name"]: output["data"] for output in answer.json()["outputs"]}


class GrpcWalker(Walker):
    """The same over gRPC."""

    def ask(self) -> None:
        with grpc.insecure_channel(self.server.grpc_url) as channel:
            self._stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            super().ask()

    def send(self, value: int, sequence: int, start: bool, end: bool) -> dict[str, list[int]]:
        request = sequence_request(self.model, value, sequence, start, end)
        answer = self._stub.ModelInfer(request, timeout=DEADLINE_SECONDS)
        return {name: numbers(answer, name) for name in ("OUTPUT", "VERSION")}


class Watcher(HttpClient):
    """Sends all requests other than inference, to models that are never unloaded."""

    def __init__(self, models: Sequence[str], world: World, server: ServerProcess) -> None:
        super().__init__("watcher", world, server)
        self._models = models

    def ask(self) -> None:
        while not self.world.stop.is_set():
            for model in self._models:
                for what in ("", "/ready", "/config", "/stats"):
                    self._check("GET", f"/v2/models/{model}{what}")
            index = self._check("POST", "/v2/repository/index").json()
            for model in self._models:
                states = [entry.get("state") for entry in index if entry["name"] == model]
                if "READY" not in states:
                    self.world.fail(f"watcher: {model} has the states {states}")

    def _check(self, method: str, path: str) -> raw_http.HttpAnswer:
        answer = self.request(method, path)
        self.world.count("looked at")
        if answer.status != 200:
            self.world.fail(f"watcher: {path}: {answer.status} {answer.body!r}")
        return answer


def run_together(
    clients: Sequence[Client], world: World, do: Callable[[], None], join_seconds: float
) -> None:
    """Runs `do` while the clients send requests. Fails if one of the clients does not end."""
    for client in clients:
        client.start()
    try:
        do()
    finally:
        world.stop.set()
        for client in clients:
            client.join(join_seconds)
    hanging = [client.name for client in clients if client.is_alive()]
    assert not hanging, f"hanging: {hanging}"
