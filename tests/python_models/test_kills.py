# SPDX-License-Identifier: Apache-2.0
"""`kill -9` of a model's process at any point, of the server, and of both. While the server lives,
every request is answered and other models' answers are right; afterwards nothing is left behind.

`tools/dev python-ends` does this 200 times at random and 10 times at each point.
"""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from python_models.left_behind import marked, zombies
from python_models.servers import OURS, why_not
from python_models.victims import STREAM_LENGTH, Answer, InBackground, Victims
from support.poll import poll_until

KILLS = int(os.environ.get("NEREID_PYTHON_KILLS", "6"))
PER_POINT = int(os.environ.get("NEREID_PYTHON_KILLS_PER_POINT", "2"))
SEED = int(os.environ.get("NEREID_PYTHON_KILLS_SEED", "1"))
PER_SERVER = 10  # limited, because the delay before a restart grows with each kill
# The answer to a request whose process was killed contains this.
SIGNAL = re.compile(r"SIGKILL|signal 9\b")
# A BLS call to a model that is not ready meanwhile gets the same error as in Triton.
NOT_BACK_YET = "Failed for execute the inference request. Model 'waits' is not ready."

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(bool(why_not(OURS)), reason=why_not(OURS) or "there"),
    pytest.mark.timeout(180 + 10 * KILLS + 60 * PER_POINT),
]
X = list(range(STREAM_LENGTH))


@pytest.fixture
def victims(tmp_path: Path) -> Iterator[Victims]:
    """A server, ended by SIGTERM unless the test has ended it."""
    made = Victims(tmp_path)
    try:
        yield made
        made.server.stop()
    finally:
        made.server.kill()
    made.check_nothing_left()


class Steady:
    """A client of a model that is never killed. Each answer has to be right."""

    def __init__(self, victims: Victims) -> None:
        self._victims = victims
        self._stop = threading.Event()
        self._client = InBackground(self._run)

    def _run(self) -> int:
        answers = 0
        while not self._stop.is_set():
            answer = self._victims.ask("steady", [answers])
            assert answer.is_right([answers]), (answers, answer.values, answer.error)
            answers += 1
        return answers

    def __enter__(self) -> Steady:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._stop.set()
        answers = self._client.result()
        assert kind is not None or answers > 0


def check_answered(answer: Answer, x: list[int]) -> None:
    """Checks that the answer is right, or an error that says what has happened."""
    assert not answer.lost
    if answer.error is None:
        assert answer.is_right(x), answer.values
    else:
        assert SIGNAL.search(answer.error) or NOT_BACK_YET in answer.error, answer.error


def start_afresh(victims: Victims, model: str) -> None:
    """Reloads a model, which resets the growing delay before its process is restarted."""
    assert victims.control("unload", model) == ""
    poll_until("no process of it", lambda: not victims.processes_of(model))
    assert victims.control("load", model) == ""


def kill_in_load(victims: Victims, point: str) -> None:
    assert victims.control("unload", "stops") == ""
    poll_until("no process of it", lambda: not victims.processes_of("stops"))
    victims.stop_at("stops", point)
    load = InBackground(lambda: victims.control("load", "stops"))
    pid = victims.wait_at("stops", point)
    victims.go_on("stops", point)  # in case the load is tried again
    victims.kill(pid)
    error = load.result()
    assert not error or SIGNAL.search(error), error
    if error:
        assert victims.control("load", "stops") == ""
    victims.wait_well("stops")


def kill_under(
    victims: Victims, model: str, asked: str, point: str, ask: Callable[[], Answer]
) -> None:
    """Kills the process of `model` while a request to `asked` waits."""
    start_afresh(victims, model)
    victims.stop_at(model, point)
    request = InBackground(ask)
    pid = victims.wait_at(model, point)
    victims.go_on(model, point)
    victims.kill(pid)
    check_answered(request.result(), X)
    victims.wait_well(asked)


def kill_caller(victims: Victims) -> None:
    """Kills a caller's process while it waits for the answer to its BLS call."""
    start_afresh(victims, "calls")
    (caller,) = victims.processes_of("calls")
    victims.stop_at("waits", "callee")
    request = InBackground(lambda: victims.ask("calls", X))
    victims.wait_at("waits", "callee")
    victims.kill(caller)
    answer = request.result()
    victims.go_on("waits", "callee")
    check_answered(answer, X)
    victims.wait_well("calls")


def kill_in_finalize(victims: Victims) -> None:
    victims.stop_at("stops", "finalize")
    unload = InBackground(lambda: victims.control("unload", "stops"))
    pid = victims.wait_at("stops", "finalize")
    victims.go_on("stops", "finalize")
    victims.kill(pid)
    assert unload.result() == ""
    poll_until("no process of it", lambda: not victims.processes_of("stops"))
    assert victims.control("load", "stops") == ""
    victims.wait_well("stops")


POINTS: dict[str, Callable[[Victims], None]] = {
    "import": lambda v: kill_in_load(v, "import"),
    "initialize": lambda v: kill_in_load(v, "initialize"),
    "execute": lambda v: kill_under(v, "stops", "stops", "execute", lambda: v.ask("stops", X)),
    "stream": lambda v: kill_under(v, "streams", "streams", "stream", lambda: v.ask_stream(X)),
    "caller": kill_caller,
    "callee": lambda v: kill_under(v, "waits", "calls", "callee", lambda: v.ask("calls", X)),
    "finalize": kill_in_finalize,
}


@pytest.mark.parametrize("point", POINTS)
def test_a_model_killed_at_each_point(victims: Victims, point: str) -> None:
    with Steady(victims):
        for _ in range(PER_POINT):
            POINTS[point](victims)
    victims.unload_all()


@pytest.mark.parametrize("both", [False, True])
def test_the_server_killed_at_a_point(tmp_path: Path, both: bool) -> None:
    """The server is killed while one request is executed and another one streams."""
    victims = Victims(tmp_path)
    victims.stop_at("stops", "execute")
    victims.stop_at("streams", "stream")
    requests = [
        InBackground(lambda: victims.ask("stops", X)),
        InBackground(lambda: victims.ask_stream(X)),
    ]
    pids = [victims.wait_at("stops", "execute"), victims.wait_at("streams", "stream")]
    if both:
        victims.kill(pids[0])
    victims.kill_server()
    for request in requests:
        answer = request.result()
        assert answer.lost or SIGNAL.search(answer.error or ""), answer.error
    victims.check_nothing_left()


class Clients:
    """Send requests without a pause to the models that are killed. While the server lives, each
    request has to be answered."""

    MODELS = ("stops", "calls", "streams")

    def __init__(self, victims: Victims) -> None:
        self._victims = victims
        self._stop = threading.Event()
        self._server_may_end = threading.Event()
        self._clients = [InBackground(lambda m=m: self._run(m)) for m in self.MODELS]

    def _run(self, model: str) -> dict[str, int]:
        counts = {"right": 0, "killed": 0, "lost": 0}
        while not self._stop.is_set():
            x = self._victims.fresh()
            answer = self._victims.ask_stream(x) if model == "streams" else self._victims.ask(model, x)
            if answer.lost:
                assert self._server_may_end.is_set(), f"{model}: no answer"
                counts["lost"] += 1
                break
            check_answered(answer, x)
            counts["right" if answer.error is None else "killed"] += 1
        return counts

    def server_may_end(self) -> None:
        self._server_may_end.set()

    def end(self) -> dict[str, dict[str, int]]:
        self._stop.set()
        return {m: client.result() for m, client in zip(self.MODELS, self._clients)}


def one_server(folder: Path, chance: random.Random, kills: int) -> None:
    victims = Victims(folder)
    clients = Clients(victims)
    with Steady(victims):
        for _ in range(kills - 1):
            model = chance.choice(("stops", "waits", "calls", "streams"))
            pids = poll_until(f"a process of {model}", lambda: victims.processes_of(model))
            victims.kill(chance.choice(pids))
            if chance.random() < 0.5:
                victims.wait_well("calls" if model == "waits" else model)
        pid = victims.server.process.pid
        poll_until("no zombie", lambda: not zombies(pid))
    ending = chance.choice(("SIGTERM", "SIGKILL", "both"))
    clients.server_may_end()
    if ending == "SIGTERM":
        clients.end()
        victims.unload_all()
        victims.server.stop()
    else:
        if ending == "both":
            for model in ("stops", "streams"):
                for pid in victims.processes_of(model):
                    victims.kill(pid)
        victims.kill_server()
        clients.end()
    assert victims.server.process.pid not in marked(victims.mark)
    victims.check_nothing_left()


def test_killed_at_random_under_load(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    for number, done in enumerate(range(0, KILLS, PER_SERVER)):
        one_server(tmp_path / str(number), chance, min(PER_SERVER, KILLS - done))
