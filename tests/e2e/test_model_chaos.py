# SPDX-License-Identifier: Apache-2.0
"""Clients send requests while everything about their models changes; no request may fail.

Each actor makes its seeded changes in the same order every time; their timing relative to the
requests is chance. To run it for longer, with another order, or against a server under a sanitizer
(see CONTRIBUTING.md):

    NEREID_CHAOS_SECONDS=60 NEREID_CHAOS_SEED=7 pytest -s tests/e2e/test_model_chaos.py

With NEREID_CHAOS_FAULTS, one in so many operations of the server fails at random: creating a
thread, opening or reading a file; and one in so many reads and sends is cut short. A model may then
fail to load, and is loaded again; but still no request may fail, and no answer may be wrong. This
needs a library that `tools/build.sh release nereid_faults` builds:

    NEREID_CHAOS_FAULTS=threads=200,files=50,shorts=20 pytest -s tests/e2e/test_model_chaos.py

In runs of at least 60 seconds, resident memory has to be within 10 % of its base 30 seconds after
the end. The base is taken after a tenth of the time. Shorter runs would show only a leak of whole
models. NEREID_CHAOS_SANITIZED=1 leaves this check out.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from conftest import ServerFactory
from support.chaos_actors import (
    NUMBER,
    VECTOR,
    Actor,
    ComingActor,
    EchoActor,
    EnsembleActor,
    OnnxActor,
    WalkActor,
)
from support.chaos_clients import (
    DEADLINE_SECONDS,
    Client,
    GrpcWalker,
    VectorClient,
    Walker,
    Watcher,
    World,
    run_together,
)
from support.ensembles import step_text
from support.model_control import EXPLICIT, index
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess

FAULTS = os.environ.get("NEREID_CHAOS_FAULTS", "")
FAULTS_LIBRARY = os.environ.get(
    "NEREID_FAULTS_LIBRARY",
    str(Path(__file__).parents[2] / "build/release/tests/conformance/capi/libnereid_faults.so"),
)
SECONDS = float(os.environ.get("NEREID_CHAOS_SECONDS", "3"))
SEED = os.environ.get("NEREID_CHAOS_SEED", "1")
SANITIZED = os.environ.get("NEREID_CHAOS_SANITIZED") == "1"
LONG_SECONDS = 60
REST_SECONDS = 30
ALWAYS_THERE = ("echo", "plus", "pipe", "walk", "walks")
MODELS = (*ALWAYS_THERE, "coming", "coming_pipe")


def vector_pipe(member: str) -> tuple[tuple[list[str], list[str]], list[str]]:
    """Tensors and steps of an ensemble of `member` and then the model `plus`."""
    outputs = [tensor_text("OUTPUT0", *VECTOR), tensor_text("VERSION", *NUMBER)]
    steps = [
        step_text(member, {"INPUT0": "INPUT0"}, {"OUTPUT0": "middle"}),
        step_text("plus", {"INPUT0": "middle"}, {"OUTPUT0": "OUTPUT0", "VERSION": "VERSION"}),
    ]
    return ([tensor_text("INPUT0", *VECTOR)], outputs), steps


def make_actors(models: ModelRepository, world: World) -> list[Actor]:
    numbers = [tensor_text(name, *NUMBER) for name in ("OUTPUT", "VERSION")]
    # No actor changes this ensemble; it is unloaded and loaded with its member.
    EnsembleActor("coming_pipe", models, world, SEED, *vector_pipe("coming")).prepare()
    walks = [step_text("walk", {"INPUT": "INPUT"}, {"OUTPUT": "OUTPUT", "VERSION": "VERSION"})]
    return [
        EchoActor("echo", models, world, SEED),
        OnnxActor("plus", models, world, SEED),
        EnsembleActor("pipe", models, world, SEED, *vector_pipe("echo")),
        WalkActor("walk", models, world, SEED),
        EnsembleActor(
            "walks", models, world, SEED, ([tensor_text("INPUT", *NUMBER)], numbers), walks, 4
        ),
        ComingActor("coming", models, world, SEED),
    ]


def make_clients(server: ServerProcess, world: World) -> list[Client]:
    vectors = [  # model, and the model whose version it returns or with which it is unloaded
        ("echo", "echo"),
        ("plus", "plus"),
        ("pipe", "plus"),
        ("pipe", "plus"),
        ("coming", "coming"),
        ("coming_pipe", "coming"),
    ]
    walks = [(walker, model) for walker in (Walker, GrpcWalker) for model in ("walk", "walks")]
    return [
        *(VectorClient(model, of, world, server) for model, of in vectors),
        *(
            walker(i, model, "walk", world, server)
            for i, (walker, model) in enumerate(walks)
        ),
        Watcher(ALWAYS_THERE, world, server),
    ]


def act_together(actors: Sequence[Actor], seconds: float) -> None:
    """Runs all actors at the same time."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(actors)) as threads:
        running = [threads.submit(actor.act_until, stop) for actor in actors]
        try:
            wait(running, timeout=seconds, return_when=FIRST_EXCEPTION)
        finally:
            stop.set()
    for one in running:
        one.result()


def resident_bytes(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def settled(server: ServerProcess) -> bool:
    """Whether one version of each model serves, and none is being unloaded."""
    states = index(server)
    mine = [[state for (name, _), (state, _) in states.items() if name == m] for m in MODELS]
    return all(one.count("READY") == 1 and "UNLOADING" not in one for one in mine)


def run_phase(server: ServerProcess, world: World, do: Callable[[], None]) -> None:
    world.stop.clear()
    run_together(make_clients(server, world), world, do, 2 * DEADLINE_SECONDS)
    assert not world.failures, "\n".join([*world.failures[:10], str(world.counts())])
    poll_until("all replaced versions gone", lambda: settled(server))


def test_no_request_fails_whatever_happens(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    world = World()
    actors = make_actors(model_repository, world)
    for actor in actors:
        actor.prepare()
    faults = {"LD_PRELOAD": FAULTS_LIBRARY, "NEREID_FAULTS": f"seed={SEED},{FAULTS}"}
    server = server_factory(
        model_repository,
        EXPLICIT,
        "--load-model=*",
        "--model-load-thread-count=4",
        env=faults if FAULTS else None,
    )
    for actor in actors:
        actor.url = server.http_url

    def warm_up() -> None:
        for actor in actors:
            actor.each_once()
        act_together(actors, SECONDS / 10)  # until the allocator has enough memory

    run_phase(server, world, warm_up)
    base = resident_bytes(server)
    toggle_faults(server, actors)
    run_phase(server, world, lambda: act_together(actors, SECONDS))
    toggle_faults(server, actors)
    counts = world.counts()
    print(f"seed {SEED}: {counts}, {sum(len(actor.done) for actor in actors)} changes")
    for model in (*MODELS, "walk: sequences that outlived their version"):
        assert counts.get(model), f"{model}: nothing was tried"
    check_memory(server, base)


def toggle_faults(server: ServerProcess, actors: Sequence[Actor]) -> None:
    if not FAULTS:
        return
    server.process.send_signal(signal.SIGUSR2)
    for actor in actors:
        actor.changes_may_fail = not actor.changes_may_fail


def check_memory(server: ServerProcess, base: int) -> None:
    if SANITIZED:  # the sanitizer keeps freed memory
        return
    limit = base * 11 // 10 if SECONDS >= LONG_SECONDS else base * 5 // 4 + (16 << 20)
    poll_until(
        "memory given back",
        lambda: resident_bytes(server) <= limit,
        REST_SECONDS,
        lambda: f"{base} bytes became {resident_bytes(server)}",
    )
    print(f"resident: {base >> 10} KiB, then {resident_bytes(server) >> 10} KiB")
