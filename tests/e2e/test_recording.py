# SPDX-License-Identifier: Apache-2.0
"""What the server remembers of its work: /v2/nereid, the trace file and `nereid explain`."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.ensembles import add_ensemble, step_text
from support.metrics import read_metrics
from support.model_control import EXPLICIT, group
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.stage import server_binary

OPEN = "--allow-nereid-api=true"
TOGETHER = 4
DELAY_US = 200_000
ONE = [1]


def infer(server: ServerProcess, model: str, request_id: str, protocol: str = "http") -> None:
    module: Any = tritonclient.http if protocol == "http" else tritonclient.grpc
    url = server.http_url if protocol == "http" else server.grpc_url
    with module.InferenceServerClient(url) as client:
        tensor = module.InferInput("INPUT0", [1, 1] if model == "batched" else ONE, "FP32")
        tensor.set_data_from_numpy(np.ones(tensor.shape(), dtype=np.float32))
        assert client.infer(model, [tensor], request_id=request_id).as_numpy("OUTPUT0") == [1]


def get(server: ServerProcess, path: str) -> Any:
    answer = raw_http.get(server.http_url, path)
    assert answer.status == 200, answer
    return answer.json()


def recorded(server: ServerProcess, request_id: str, count: int = 1) -> list[Any]:
    """The records of an id. They are written when request and execution have ended, which may be
    after the answer."""

    def look() -> list[Any]:
        found = get(server, f"/v2/nereid/requests/{request_id}")["requests"]
        complete = all("execution" in request for request in found if "batch" in request)
        return found if complete and len(found) >= count else []

    return poll_until(f"the record of {request_id}", look)


def explain(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), "explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    repository = ModelRepository(tmp_path_factory.mktemp("models"))
    repository.add_identity("echo", "FP32", ONE)
    repository.add_identity(
        "batched",
        "FP32",
        ONE,
        max_batch_size=TOGETHER,
        extra=f"dynamic_batching {{ max_queue_delay_microseconds: {DELAY_US} }}",
    )
    repository.add_identity(
        "talk", "FP32", ONE, max_batch_size=2, extra="sequence_batching { direct { } }"
    )
    add_ensemble(
        repository,
        "twice",
        [tensor_text("INPUT0", "FP32", ONE)],
        [tensor_text("OUTPUT0", "FP32", ONE)],
        [
            step_text("echo", {"INPUT0": "INPUT0"}, {"OUTPUT0": "between"}),
            step_text("echo", {"INPUT0": "between"}, {"OUTPUT0": "OUTPUT0"}),
        ],
    )
    return repository


@pytest.fixture(scope="module")
def server(
    models: ModelRepository, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    started = start_nereid(models.root, tmp_path_factory.mktemp("logs"), [OPEN])
    started.wait_for("/v2/health/ready")
    yield started
    started.stop()


def assert_adds_up(request: Any) -> None:
    assert sum(request["phases_ns"].values()) == request["latency_ns"], request


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_request_is_found_by_its_id(server: ServerProcess, protocol: str) -> None:
    infer(server, "echo", f"one/{protocol}", protocol)
    (request,) = recorded(server, f"one%2F{protocol}")
    assert (request["id"], request["model"], request["outcome"]) == (f"one/{protocol}", "echo", "ok")
    assert request["execution"]["members"] == [f"one/{protocol}"]
    assert request["execution"]["number"] == request["batch"]
    assert_adds_up(request)


def test_a_batch_says_why_it_left_and_who_was_in_it(server: ServerProcess) -> None:
    infer(server, "batched", "alone")
    (alone,) = recorded(server, "alone")
    assert alone["execution"]["reason"] == "delay_over"
    assert alone["phases_ns"]["queue"] >= DELAY_US * 1000
    names = [f"together-{i}" for i in range(TOGETHER)]
    with ThreadPoolExecutor(TOGETHER) as pool:
        list(pool.map(lambda name: infer(server, "batched", name), names))
    batches = {}
    for name in names:
        (request,) = recorded(server, name)
        assert_adds_up(request)
        batches[request["batch"]] = request["execution"]
    assert sum(batch["requests"] for batch in batches.values()) == TOGETHER
    assert sorted(sum((batch["members"] for batch in batches.values()), [])) == names
    for batch in batches.values():
        assert batch["reason"] == ("full" if batch["requests"] == TOGETHER else "delay_over")


def test_requests_of_sequences_have_the_slot_of_their_sequence(server: ServerProcess) -> None:
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        tensor = tritonclient.http.InferInput("INPUT0", [1, 1], "FP32")
        tensor.set_data_from_numpy(np.ones([1, 1], dtype=np.float32))
        for step in range(2):
            for sequence in (17, "camera"):
                client.infer(
                    "talk",
                    [tensor],
                    request_id=f"{sequence}-{step}",
                    sequence_id=sequence,
                    sequence_start=step == 0,
                    sequence_end=step == 1,
                )
    for sequence, slot in (("17", 0), ("camera", 1)):
        for step in range(2):
            (request,) = recorded(server, f"{sequence}-{step}")
            assert (request["sequence"], request["sequence_slot"]) == (sequence, slot)
    trace = get(server, "/v2/nereid/trace?model=talk")["traceEvents"]
    lines = {e["tid"]: e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    shown = Counter((lines[e["tid"]], e["name"]) for e in trace if e.get("cat") == "slot")
    assert shown == {
        ("talk_0 slot 0", "sequence 17"): 2,
        ("talk_0 slot 1", "sequence camera"): 2,
    }
    done = explain("camera-1", f"--url=http://{server.http_url}")
    assert "It belonged to sequence camera, which had slot 1 of the instance.\n" in done.stdout


def test_the_timeline_shows_the_batches_that_the_metrics_count(server: ServerProcess) -> None:
    infer(server, "batched", "for-the-metrics")
    recorded(server, "for-the-metrics")
    timeline = get(server, "/v2/nereid/models/batched/versions/1/timeline")
    counted = {
        dict(labels)["reason"]: int(value)
        for (name, labels), value in read_metrics(server.metrics_url).items()
        if name == "nereid_batch_count" and dict(labels)["model"] == "batched"
    }
    assert Counter(execution["reason"] for execution in timeline["executions"]) == counted
    newest = timeline["requests"][0]
    later = get(server, f"/v2/nereid/models/batched/timeline?since={timeline['now_ns']}&limit=5")
    assert (later["requests"], later["executions"]) == ([], [])
    assert len(get(server, "/v2/nereid/models/batched/timeline?limit=1")["requests"]) == 1
    assert newest["start_ns"] + newest["latency_ns"] <= timeline["now_ns"]


def test_instances_that_come_in_place_are_kept_apart(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """One instance executes one batch at a time, also after their number has changed."""

    def load(count: int) -> None:
        model_repository.add_identity(
            "slow", parameters={"execute_delay_ms": "20"}, extra=group(count)
        )
        answer = raw_http.post(server.http_url, "/v2/repository/models/slow/load")
        assert answer.status == 200, answer.body

    model_repository.add_identity("slow", parameters={"execute_delay_ms": "20"}, extra=group(1))
    server = server_factory(model_repository, EXPLICIT, OPEN, "--load-model=slow")
    ends: dict[str, int] = {}
    for count in (4, 2, 4):
        load(count)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda _: infer(server, "slow", ""), range(24)))
        timeline = get(server, "/v2/nereid/models/slow/timeline?limit=1000")
        ends.clear()
        for execution in sorted(timeline["executions"], key=lambda e: e["start_ns"]):
            name = execution["instance"]
            assert execution["start_ns"] >= ends.get(name, 0), f"{name} runs two at a time"
            ends[name] = execution["end_ns"]
            assert execution["requests"] == 1
            assert len(execution["members"]) <= 1, "of a model that does not batch"
        assert set(timeline["instances"]) == set(ends)
    assert len(ends) == 4


def test_the_steps_of_an_ensemble(server: ServerProcess) -> None:
    infer(server, "twice", "through-both")
    found = recorded(server, "through-both", 3)
    (whole,) = [request for request in found if request["model"] == "twice"]
    assert [step["model"] for step in whole["steps"]] == ["echo", "echo"]
    assert [step["step"] for step in whole["steps"]] == [0, 1]
    assert all(step["step_of"] == whole["ensemble"] for step in whole["steps"])
    # Not compared with the latencies of the steps, which also count their release: it may be late.
    assert whole["phases_ns"]["steps"] > 0
    assert_adds_up(whole)


def test_models_and_what_they_do(server: ServerProcess) -> None:
    models = {model["name"]: model for model in get(server, "/v2/nereid/models")["models"]}
    assert set(models) == {"batched", "echo", "talk", "twice"}
    assert models["echo"]["state"] == "READY"
    assert models["echo"]["queued"] == 0
    assert models["echo"]["recording"] is True


def test_the_trace_file(server: ServerProcess) -> None:
    infer(server, "echo", "in-the-trace")
    recorded(server, "in-the-trace")
    events = get(server, "/v2/nereid/trace?model=echo")["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "b", "e"}
    spans = [event for event in events if event["ph"] in "be"]
    for span in {event["id"] for event in spans}:
        depth = 0
        for event in (event for event in spans if event["id"] == span):
            depth += 1 if event["ph"] == "b" else -1
            assert depth >= 0
        assert depth == 0
    assert any(event["name"] == "in-the-trace" for event in spans)
    whole = get(server, "/v2/nereid/trace")["traceEvents"]
    assert {event["pid"] for event in whole} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    "path, text",
    [
        (
            "/v2/nereid/trace?limit=10001",
            "parameter 'limit' of the query is '10001': it must be a whole number up to 10000",
        ),
        (
            "/v2/nereid/models/echo/timeline?from=1",
            "unknown parameter 'from' in the query: this route has since, limit",
        ),
    ],
)
def test_wrong_parameters(server: ServerProcess, path: str, text: str) -> None:
    answer = raw_http.get(server.http_url, path)
    assert (answer.status, answer.error()) == (400, text)


# -- Who may see it --------------------------------------------------------------------------------


def test_it_is_off_by_default_and_opens_with_a_key(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    closed = server_factory(models, "--owner-socket=false")
    answer = raw_http.get(closed.http_url, "/v2/nereid/models")
    assert answer.status == 403
    assert answer.error() == (
        "the API group 'nereid' is switched off: start the server with --allow-nereid-api=true, or "
        "with --http-restricted-api=nereid:<key>=<value> for clients that know the value"
    )
    done = explain("echo", f"--url=http://{closed.http_url}")
    assert done.returncode == 1
    assert "it answers HTTP 403: the API group 'nereid' is switched off" in done.stderr
    guarded = server_factory(models, "--http-restricted-api=nereid:console-key=sesame")
    assert raw_http.get(guarded.http_url, "/v2/nereid/models").status == 403
    opened = raw_http.get(guarded.http_url, "/v2/nereid/models", [("console-key", "sesame")])
    assert opened.status == 200


def test_nothing_is_remembered_where_nobody_wants_it(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    server = server_factory(models, OPEN, "--recorder-events=0")
    infer(server, "echo", "forgotten")
    assert get(server, "/v2/nereid/requests/forgotten")["requests"] == []
    assert get(server, "/v2/nereid/models/echo/timeline")["recording"] is False
    done = explain("--model=echo", f"--url=http://{server.http_url}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--recorder-events=0" in done.stdout


# -- nereid explain --------------------------------------------------------------------------------


def lines(done: subprocess.CompletedProcess[str]) -> Sequence[str]:
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.splitlines()


def test_explain(server: ServerProcess) -> None:
    url = f"--url=http://{server.http_url}"
    infer(server, "batched", "why so slow?")
    recorded(server, "why%20so%20slow%3F")
    of_request = lines(explain("why so slow?", url))
    assert of_request[0].startswith("Request 'why so slow?' of model batched version 1: ok in ")
    assert (
        "The batch left the queue because its oldest request had waited for the queue delay."
        in of_request
    )
    of_model = lines(explain("batched", url))
    assert of_model[0].startswith("Model batched version 1: the last ")
    assert any(line.startswith("Requests spend the largest part of their time") for line in of_model)
    slowest = of_model[next(i for i, line in enumerate(of_model) if line.startswith("  slowest ")) + 1]
    assert re.fullmatch(r"  [\d.]+ ms +[\d.]+ s  \w+ \d+ % +(alone|1 of \d+), \w+  +\S.*", slowest)
    assert "\033" not in "".join([*of_request, *of_model]), "no terminal, no colours"
    as_json = json.loads("\n".join(lines(explain("--model=batched:1", "--json", url))))
    assert as_json["model"] == "batched"
    nobody = explain("nobody", url)
    assert nobody.returncode == 1
    assert "serves no model 'nobody' and remembers no request with that id" in nobody.stderr


def test_explain_without_a_server(tmp_path: Path) -> None:
    done = explain("echo", "--url=http://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("nereid explain: http://127.0.0.1:1: ")
