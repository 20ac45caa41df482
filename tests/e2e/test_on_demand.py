# SPDX-License-Identifier: Apache-2.0
"""Models that their first request loads, and that leave for others (--model-control-mode=ondemand)."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tritonclient.grpc as grpc_client

from conftest import ServerFactory
from support import raw_http
from support.infer import echo
from support.metrics import metric
from support.model_control import index
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

ON_DEMAND = "--model-control-mode=ondemand"
BYTES = 1000
NOT_LOADED = "not loaded: its next request loads it"


def add_models(models: ModelRepository, count: int) -> list[str]:
    names = [f"m{number}" for number in range(count)]
    for name in names:
        models.add_identity(name, parameters={"nereid.memory_bytes": str(BYTES)})
    return names


def infer(server: ServerProcess, model: str, value: float = 1.0) -> None:
    """Asks until the model answers, as Retry-After says; the answer has to be right."""
    while True:
        answer = echo(server.http_url, model, [value])
        if answer.status == 200:
            assert answer.json()["outputs"][0]["data"] == [value]
            return
        assert answer.status == 503, answer.body
        assert int(answer.header("Retry-After") or "0") >= 1
        time.sleep(0.01)  # sooner than it says: the test has little time


def loaded(server: ServerProcess) -> set[str]:
    return {name for (name, version), (state, _) in index(server).items() if version and state == "READY"}


def number(server: ServerProcess, name: str) -> float:
    return metric(server.metrics_url, f"nereid_on_demand_{name}")


def infer_is_refused(server: ServerProcess, model: str, text: str = "needs 1000 bytes") -> None:
    def refused() -> bool:
        answer = echo(server.http_url, model)
        return answer.status == 503 and text in answer.error()

    poll_until(f"{model} is refused", refused)


def test_the_first_request_loads(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 3)
    server = server_factory(model_repository, ON_DEMAND)
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
    assert raw_http.get(server.http_url, "/v2/models/m1/ready").status == 200
    assert index(server)["m1", ""] == ("READY", NOT_LOADED)
    first = echo(server.http_url, "m1")
    assert first.status == 503
    assert first.header("Retry-After") == "1"
    assert "model 'm1' is being loaded" in first.error()
    infer(server, "m1")
    assert index(server)["m1", "1"] == ("READY", "")
    assert loaded(server) == {"m1"}
    assert number(server, "loads") == 1


def test_over_grpc(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 2)
    server = server_factory(model_repository, ON_DEMAND)
    with grpc_client.InferenceServerClient(server.grpc_url) as client:
        assert client.is_model_ready("m0")
        with pytest.raises(grpc_client.InferenceServerException, match="is being loaded") as error:
            client.get_model_metadata("m0")
        assert error.value.status() == "StatusCode.UNAVAILABLE"
        poll_until("m0 is loaded", lambda: loaded(server) == {"m0"})
        assert client.get_model_metadata("m0").name == "m0"


def test_unknown_models_and_lists_load_nothing(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository, 3)
    server = server_factory(model_repository, ON_DEMAND)
    for name in ("x", "..", "m9"):
        assert echo(server.http_url, name).status == 404
    assert raw_http.get(server.http_url, "/v1/models").json()["data"] == []
    assert raw_http.get(server.http_url, "/v2/models/x/ready").status != 200
    assert number(server, "waiting") == number(server, "loads") == 0


def test_the_least_recently_used_leaves(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository, 4)
    server = server_factory(
        model_repository, ON_DEMAND, f"--memory-budget={2 * BYTES}", "--load-model=m0"
    )
    assert loaded(server) == {"m0"}
    infer(server, "m1")
    infer(server, "m2")
    assert loaded(server) == {"m0", "m2"}
    assert index(server)["m1", ""] == ("READY", f"{NOT_LOADED} ({BYTES} bytes)")
    assert number(server, "evictions") == 1
    # Loaded by name, m2 stays until it is unloaded by name.
    assert raw_http.post(server.http_url, "/v2/repository/models/m2/load").status == 200
    infer_is_refused(server, "m1")
    assert loaded(server) == {"m0", "m2"}
    assert raw_http.post(server.http_url, "/v2/repository/models/m2/unload").status == 200
    infer(server, "m3")
    assert loaded(server) == {"m0", "m3"}


def test_what_cannot_fit_is_refused(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 1)
    server = server_factory(model_repository, ON_DEMAND, f"--memory-budget={BYTES - 1}")
    infer_is_refused(server, "m0", "needs 1000 bytes, and at most 999")
    assert not raw_http.get(server.http_url, "/v2/models/m0/ready").status == 200


def test_idle_models_leave(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    add_models(model_repository, 1)
    server = server_factory(model_repository, ON_DEMAND, "--idle-unload-secs=1")
    infer(server, "m0")
    poll_until("m0 is unloaded", lambda: loaded(server) == set())
    assert number(server, "idle_unloads") == 1
    infer(server, "m0")


def test_many_clients_and_models(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    names = add_models(model_repository, 30)
    server = server_factory(model_repository, ON_DEMAND, f"--memory-budget={6 * BYTES}")

    def run(client: int) -> None:
        chosen = random.Random(client)
        for turn in range(12):
            skewed = min(chosen.randrange(30), chosen.randrange(30))
            model = names[skewed] if client % 2 else names[(client + turn) % 30]
            infer(server, model, float(client * 100 + turn))

    with ThreadPoolExecutor(32) as clients:
        for done in [clients.submit(run, client) for client in range(32)]:
            done.result()
    assert number(server, "evictions") > 0
    assert number(server, "failed_loads") == 0
    assert number(server, "bytes") <= 7 * BYTES
    log = server.stderr_text()
    assert "failed to" not in log
