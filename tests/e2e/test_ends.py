# SPDX-License-Identifier: Apache-2.0
"""Models, agents and servers end explicitly: everything that they held is released at their end."""

from __future__ import annotations

import os
import random
import signal
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.ends import (
    check_journal,
    descriptors,
    left_in,
    load_with_files,
    processes_of_session,
    threads,
    unload,
    wait_empty,
)
from support.infer import assert_serving, echo
from support.model_control import EXPLICIT
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

# Number of loads and unloads in the test that ends servers at random. A long run uses 1000.
ITERATIONS = int(os.environ.get("NEREID_ENDS_ITERATIONS", "40"))
PER_SERVER = 20


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files of the servers of one test."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def start(
    factory: ServerFactory, repository: ModelRepository, temporary: Path, *options: str
) -> ServerProcess:
    return factory(
        repository,
        *options,
        env={"TMPDIR": str(temporary)},
        wait_for="/v2/health/live",
    )


def test_sigterm_ends_files_and_agents(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    temporary: Path,
    tmp_path: Path,
) -> None:
    for name in ("a", "b"):
        model_repository.add_identity(name)
    server = start(server_factory, model_repository, temporary, EXPLICIT)
    journal = tmp_path / "journal"
    for name in ("a", "b"):
        assert load_with_files(server.http_url, name, journal).status == 200
        assert_serving(server.http_url, name)
    assert left_in(temporary), "the models are served from here"
    server.stop()
    assert left_in(temporary) == []
    check_journal(journal, 2)
    assert journal.read_text().count("testing: fini") == 1


def test_unload_ends_files_although_threads_have_looked_the_model_up(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    temporary: Path,
    tmp_path: Path,
) -> None:
    model_repository.add_identity("a")
    server = start(
        server_factory, model_repository, temporary, EXPLICIT, "--http-thread-count=4"
    )
    journal = tmp_path / "journal"
    assert load_with_files(server.http_url, "a", journal).status == 200
    for _ in range(32):  # enough for several event loops to use the model
        assert_serving(server.http_url, "a")
    assert unload(server.http_url, "a").status == 200
    # From here on, no request is sent to a model.
    wait_empty(temporary, server)
    check_journal(journal, 1)


def test_a_failed_load_leaves_nothing(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    temporary: Path,
    tmp_path: Path,
) -> None:
    model_repository.add_identity("a")
    server = start(server_factory, model_repository, temporary, EXPLICIT)
    bad = {"config": '{"backend": "nowhere"}', "file:1/weights": "YQ=="}
    path = "/v2/repository/models/a/load"
    assert raw_http.post_json(server.http_url, path, {"parameters": bad}).status == 400
    assert left_in(temporary) == []


def test_the_next_start_clears_what_a_kill_left(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    temporary: Path,
    tmp_path: Path,
) -> None:
    model_repository.add_identity("a")
    lives = start(server_factory, model_repository, temporary, EXPLICIT)
    assert load_with_files(lives.http_url, "a", tmp_path / "lives").status == 200
    kept = left_in(temporary)
    killed = start(server_factory, model_repository, temporary, EXPLICIT)
    assert load_with_files(killed.http_url, "a", tmp_path / "killed").status == 200
    killed.kill()
    assert len(left_in(temporary)) > len(kept), "there is something to clear"
    (temporary / "nereid_model_stranger").mkdir()  # belongs to no server
    third = start(server_factory, model_repository, temporary, EXPLICIT)
    (temporary / "nereid_model_stranger").rmdir()
    assert left_in(temporary) == kept
    third.wait_for_log("which a process that is gone left behind")
    assert_serving(lives.http_url, "a")


def test_a_server_that_cannot_open_its_port_loads_no_model(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "journal"
    model_repository.add_identity("a", extra=agent_text(journal))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = start_nereid(
            model_repository.root,
            tmp_path / "log",
            [f"--metrics-port={taken.getsockname()[1]}"],
            {"TMPDIR": str(temporary)},
        )
        assert server.wait_exit() == 1
    assert not journal.exists()
    assert left_in(temporary) == []


# ---- The server ends within the exit time-out, whatever hangs.


def agent_text(journal: Path) -> str:
    """config.pbtxt of a model with an agent that keeps a journal."""
    parameter = f'parameters {{ key: "journal" value: "{journal}" }}'
    return f'model_repository_agents {{ agents {{ name: "testing" {parameter} }} }}'


def add_testing(repository: ModelRepository, behaviour: str, inline: str = "false") -> None:
    repository.add_identity(
        "m",
        "INT32",
        (1,),
        parameters={"behaviour": behaviour, "nereid.inline_execution": inline},
        backend="testing",
    )


def send(server: ServerProcess, path: str, value: int | None = None) -> socket.socket:
    """Sends a request without waiting for the answer."""
    body = b""
    if value is not None:
        tensor = f'{{"name":"INPUT0","shape":[1],"datatype":"INT32","data":[{value}]}}'
        body = f'{{"inputs":[{tensor}]}}'.encode()
    host, port = server.http_url.split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    method = "GET" if value is None else "POST"
    head = f"{method} {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    return connection


def infer(server: ServerProcess, value: int) -> socket.socket:
    return send(server, "/v2/models/m/infer", value)


def hang_execute(server: ServerProcess) -> list[socket.socket]:
    return [infer(server, -1)]


def hang_inline(server: ServerProcess) -> list[socket.socket]:
    """Makes an event loop hang: short requests let the server execute the model inline; then one
    hangs."""
    tensor = {"name": "INPUT0", "shape": [1], "datatype": "INT32", "data": [1]}
    for _ in range(200):
        path = "/v2/models/m/infer"
        assert raw_http.post_json(server.http_url, path, {"inputs": [tensor]}).status == 200
    return [infer(server, -1)]


def hang_ready(server: ServerProcess) -> list[socket.socket]:
    return [send(server, "/v2/health/ready"), send(server, "/v2/models/m/ready")]


def nothing(_: ServerProcess) -> list[socket.socket]:
    return []


@pytest.mark.parametrize(
    ("behaviour", "provoke", "said"),
    [
        ("hang_in_execute", hang_execute, "Model 'm' (version 1) has 1 in-flight inferences"),
        ("hang_in_execute", hang_inline, "Model 'm' (version 1) has 1 in-flight inferences"),
        ("hang_in_ready", hang_ready, "Model 'm' (version 1) has"),
        ("hang_in_finalize", nothing, "Model 'm' (version 1) has not been torn down yet"),
        ("hang_in_instance_finalize", nothing, "Model 'm' (version 1) has not been torn down yet"),
    ],
)
def test_the_exit_timeout_is_kept(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    temporary: Path,
    tmp_path: Path,
    behaviour: str,
    provoke: Callable[[ServerProcess], list[socket.socket]],
    said: str,
) -> None:
    journal = tmp_path / "journal"
    model_repository.add_identity("other", extra=agent_text(journal))
    inline = "true" if provoke is hang_inline else "false"
    add_testing(model_repository, behaviour, inline)
    options = ["--exit-timeout-secs=1", "--http-thread-count=1"]
    if provoke is hang_inline:
        options.append("--inline-execution-max-us=10000")
    server = start(server_factory, model_repository, temporary, *options)
    if behaviour == "hang_in_execute":
        waiting = provoke(server)
        poll_until("the request to hang", lambda: hangs(server))
    else:
        waiting = provoke(server)
    server.send_signal(signal.SIGTERM)
    assert server.wait_exit() == 1
    server.wait_for_log(said)
    # The other model has ended properly, with its agent.
    check_journal(journal, 1)
    assert left_in(temporary) == []
    del waiting


def hangs(server: ServerProcess) -> bool:
    """Whether a request has arrived that is neither answered nor in the queue of model m."""
    host, port = server.metrics_url.split(":")
    text = raw_http.get(f"{host}:{port}", "/metrics").body.decode()
    pending = counter(text, "nv_inference_pending_request_count")
    return pending == 0 and "\nnereid_in_flight_requests 1\n" in text


def counter(text: str, name: str) -> float:
    for line in text.splitlines():
        if line.startswith(name + "{"):
            return float(line.rsplit(" ", 1)[1])
    return -1


def test_a_poll_that_hangs_does_not_keep_the_server(
    server_factory: ServerFactory, model_repository: ModelRepository, temporary: Path
) -> None:
    """A pipe without a writer stands for a file on a dead file system."""
    model_repository.add_identity("echo")
    server = start(
        server_factory,
        model_repository,
        temporary,
        "--model-control-mode=poll",
        "--repository-poll-secs=1",
        "--exit-timeout-secs=1",
    )
    folder = model_repository.add("pipe", None)
    os.mkfifo(folder / "config.pbtxt")

    def is_read() -> int | None:
        try:
            return os.open(folder / "config.pbtxt", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return None

    writer = poll_until("the poll to read the pipe", is_read)
    assert writer is not None
    assert echo(server.http_url).status == 200, "a poll that hangs holds up no request"
    server.send_signal(signal.SIGTERM)
    assert server.wait_exit() == 1
    os.close(writer)
    log = server.log_text()
    assert "A look at the model repositories has not returned yet" in log
    assert "successfully unloaded 'echo' version 1" in log


def test_a_hung_finalize_holds_up_no_other_version(
    server_factory: ServerFactory, model_repository: ModelRepository, temporary: Path
) -> None:
    add_testing(model_repository, "hang_in_finalize")
    model_repository.add_identity("echo")
    server = start(
        server_factory,
        model_repository,
        temporary,
        EXPLICIT,
        "--load-model=*",
        "--exit-timeout-secs=0",
    )
    assert unload(server.http_url, "m").status == 200
    for _ in range(3):
        assert unload(server.http_url, "echo").status == 200
        assert load_with_files(server.http_url, "echo").status == 200
        assert_serving(server.http_url)
    assert unload(server.http_url, "echo").status == 200
    wait_empty(temporary, server)
    server.send_signal(signal.SIGTERM)
    assert server.wait_exit() == 1


def test_a_start_that_fails_ends_although_a_finalize_hangs(
    model_repository: ModelRepository, temporary: Path, tmp_path: Path
) -> None:
    add_testing(model_repository, "hang_in_finalize")
    model_repository.add_identity("broken", backend="nowhere")
    server = start_nereid(
        model_repository.root,
        tmp_path / "log",
        ["--exit-timeout-secs=0"],
        {"TMPDIR": str(temporary)},
    )
    assert server.wait_exit() == 1
    server.wait_for_log("Model 'm' (version 1) has not been torn down yet")
    server.wait_for_log("failed to load all models: broken")


# ---- Random ends.


def held(server: ServerProcess) -> Counter[str]:
    """The server's threads and descriptors, counted by name and target."""
    return threads(server) + descriptors(server)


class Storm:
    """Loads and unloads models with files and agents, and ends the server at random."""

    def __init__(
        self, factory: ServerFactory, repository: ModelRepository, temporary: Path, seed: int
    ) -> None:
        self._factory = factory
        self._repository = repository
        self._temporary = temporary
        self._random = random.Random(seed)
        self._models = [f"m{i}" for i in range(4)]
        for model in self._models:
            repository.add_identity(model)

    def run(self, iterations: int) -> None:
        for number, done in enumerate(range(0, iterations, PER_SERVER)):
            self._one_server(number, min(PER_SERVER, iterations - done))

    def _one_server(self, number: int, iterations: int) -> None:
        journal = self._temporary.parent / f"journal-{number}"
        server = start(self._factory, self._repository, self._temporary, EXPLICIT)
        # The next server has removed the files that a killed one left behind.
        assert left_in(self._temporary) == []
        lives = 0
        idle: Counter[str] | None = None
        for _ in range(iterations):
            model = self._random.choice(self._models)
            with_agent = self._random.random() < 0.7
            answer = load_with_files(server.http_url, model, journal if with_agent else None)
            assert answer.status == 200, answer.body
            lives += with_agent
            assert_serving(server.http_url, model)
            if self._random.random() < 0.6:
                assert unload(server.http_url, model).status == 200
            if idle is None:
                self._unload_all(server)
                idle = held(server)
        ending = self._random.choice(("unload", "SIGTERM", "SIGKILL"))
        if ending == "unload":
            self._unload_all(server)
            check_journal(journal, lives)
            assert idle is not None
            poll_until(
                "no more threads and descriptors than after the first model",
                lambda: not held(server) - idle,
                explain=lambda: f"more than there were: {held(server) - idle}",
            )
        if ending == "SIGKILL":
            server.kill()
        else:
            server.stop()
            assert left_in(self._temporary) == []
            check_journal(journal, lives)
        assert processes_of_session(server) == []

    def _unload_all(self, server: ServerProcess) -> None:
        for model in self._models:
            assert unload(server.http_url, model).status == 200
        wait_empty(self._temporary, server)


@pytest.mark.timeout(180 + ITERATIONS)
def test_nothing_is_left_however_servers_end(
    server_factory: ServerFactory, model_repository: ModelRepository, temporary: Path
) -> None:
    seed = int(os.environ.get("NEREID_ENDS_SEED", "1"))
    Storm(server_factory, model_repository, temporary, seed).run(ITERATIONS)
    start(server_factory, model_repository, temporary).stop()
    assert left_in(temporary) == []
