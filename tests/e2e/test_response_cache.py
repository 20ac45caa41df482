# SPDX-License-Identifier: Apache-2.0
"""The response cache as clients see it: hits, misses, counts, and caches that fail or are slow."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from conftest import ServerFactory
from support import raw_http
from support.infer import InBackground, echo
from support.metrics import metric, read_metrics
from support.nereid import start_nereid
from support.poll import poll_until
from support.redis import RedisServer
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess

CACHED = "response_cache { enable: true }"
LOCAL = "--cache-config=local,size=10000000"


def add_models(repository: ModelRepository) -> None:
    repository.add_identity("echo", "FP32", extra=CACHED)
    repository.add_identity("matrix", "INT32", (-1, -1), extra=CACHED)
    repository.add_identity("text", "STRING", extra=CACHED)
    repository.add_identity("pair", "INT32", (2,), tensors=2, max_batch_size=4, extra=CACHED)
    repository.add_identity("plain", "FP32")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server with the local cache; each test uses different values."""
    folder = tmp_path_factory.mktemp("response_cache")
    models = ModelRepository(folder / "models")
    add_models(models)
    started = start_nereid(models.root, folder / "log", [LOCAL])
    try:
        started.wait_for()
        yield started
    finally:
        started.stop()


def statistics(server: ServerProcess, model: str) -> dict[str, int]:
    """Counts of one model, which have to be the same over HTTP and gRPC.

    A cache that has its own threads may store and count a response after the client has got it.
    Then the two answers differ for a moment.
    """

    def agreed() -> dict[str, int] | None:
        answer = raw_http.get(server.http_url, f"/v2/models/{model}/stats").json()
        one = answer["model_stats"][0]
        with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
            over_grpc = client.get_inference_statistics(model).model_stats[0].inference_stats
        stats = one["inference_stats"]
        if stats["cache_hit"]["count"]:
            assert stats["cache_hit"]["ns"] > 0
        counted = {name: stats[name]["count"] for name in ("success", "cache_hit", "cache_miss")}
        if any(getattr(over_grpc, name).count != count for name, count in counted.items()):
            return None
        return {**counted, "executions": one["execution_count"]}

    found = poll_until("the same counts over HTTP and gRPC", agreed)
    assert found is not None
    return found


def await_statistics(server: ServerProcess, model: str, expected: dict[str, int]) -> None:
    """Waits for the expected counts, for a cache that has its own threads."""
    poll_until(
        f"counts {expected}",
        lambda: statistics(server, model) == expected,
        10,
        lambda: str(statistics(server, model)),
    )


class Change:
    """The change of a model's counts until `of_counts` is called."""

    def __init__(self, server: ServerProcess, model: str) -> None:
        self._server, self._model = server, model
        self._before = statistics(server, model)

    def of_counts(self) -> dict[str, int]:
        after = statistics(self._server, self._model)
        return {name: after[name] - count for name, count in self._before.items()}


def counts(hits: int, misses: int) -> dict[str, int]:
    """The expected counts of a model whose misses were all stored."""
    return {
        "success": hits + misses,
        "cache_hit": hits,
        "cache_miss": misses,
        "executions": misses,
    }


def ask(
    module: Any,
    url: str,
    model: str,
    tensors: list[np.ndarray],
    outputs: list[str] | None = None,
    datatype: str = "INT32",
    **options: Any,
) -> list[np.ndarray]:
    """Sends one request of an official client to an identity model; returns the outputs."""
    inputs = []
    for i, tensor in enumerate(tensors):
        one = module.InferInput(f"INPUT{i}", list(tensor.shape), datatype)
        one.set_data_from_numpy(tensor)
        inputs.append(one)
    asked = None if outputs is None else [module.InferRequestedOutput(name) for name in outputs]
    with module.InferenceServerClient(url) as client:
        result = client.infer(model, inputs, outputs=asked, **options)
    names = outputs or [f"OUTPUT{i}" for i in range(len(tensors))]
    return [result.as_numpy(name) for name in names]


def pair(*values: int) -> list[np.ndarray]:
    return [np.array([[value, value + 1]], np.int32) for value in values]


def test_hit_over_both_protocols(server: ServerProcess) -> None:
    change = Change(server, "pair")
    tensors = pair(10, 20)
    for module, url in (
        (tritonclient.http, server.http_url),
        (tritonclient.grpc, server.grpc_url),
        (tritonclient.http, server.http_url),
        (tritonclient.grpc, server.grpc_url),
    ):
        for got, sent in zip(ask(module, url, "pair", tensors), tensors, strict=True):
            np.testing.assert_array_equal(got, sent)
            assert got.shape == sent.shape
    assert change.of_counts() == counts(hits=3, misses=1)


def test_strings_and_json(server: ServerProcess) -> None:
    change = Change(server, "text")
    tensor = np.array(["a", "", "ü" * 300], np.object_)
    for module, url in (
        (tritonclient.http, server.http_url),
        (tritonclient.grpc, server.grpc_url),
    ):
        (got,) = ask(module, url, "text", [tensor], datatype="BYTES")
        assert [text.decode() for text in got] == list(tensor)
    document = raw_http.infer_document(
        [{"name": "INPUT0", "shape": [3], "datatype": "BYTES", "data": list(tensor)}], id="mine"
    )
    answer = raw_http.post_json(server.http_url, "/v2/models/text/infer", document).json()
    assert answer["outputs"][0]["data"] == list(tensor)
    assert answer["id"] == "mine", "the id is that of the request"
    assert change.of_counts() == counts(hits=2, misses=1)


def test_what_differs_is_asked_anew(server: ServerProcess) -> None:
    """Requests with different bytes, shape, requested outputs or parameters are not equal."""
    url = server.http_url
    change = Change(server, "pair")
    for _ in range(2):
        ask(tritonclient.http, url, "pair", pair(30, 40))
        ask(tritonclient.http, url, "pair", pair(30, 41))
        (only,) = ask(tritonclient.http, url, "pair", pair(30, 40), outputs=["OUTPUT1"])
        np.testing.assert_array_equal(only, pair(40)[0])
        ask(tritonclient.http, url, "pair", pair(30, 40), parameters={"name": "value"})
        ask(tritonclient.http, url, "pair", pair(30, 40), parameters={"name": 1})
    assert change.of_counts() == counts(hits=5, misses=5)

    change = Change(server, "matrix")
    for shape in ((2, 3), (3, 2), (2, 3), (3, 2)):
        numbers = np.arange(6, dtype=np.int32).reshape(shape)
        (got,) = ask(tritonclient.http, url, "matrix", [numbers])
        assert got.shape == shape
    assert change.of_counts() == counts(hits=2, misses=2)


def test_id_priority_and_timeout_do_not_count(server: ServerProcess) -> None:
    change = Change(server, "pair")
    url = server.http_url
    ask(tritonclient.http, url, "pair", pair(50, 60), request_id="1")
    ask(tritonclient.http, url, "pair", pair(50, 60), request_id="2", timeout=10_000_000)
    assert change.of_counts() == counts(hits=1, misses=1)


def test_metrics(server: ServerProcess) -> None:
    url = server.metrics_url
    names = ("nv_cache_num_hits_per_model", "nv_cache_num_misses_per_model", "nv_inference_count")
    before = [metric(url, name, model="echo", version="1") for name in names]
    requests_before = metric(url, "nv_inference_request_success", model="echo")
    for _ in range(4):
        assert echo(server.http_url, values=(7.0, 8.0)).status == 200
    after = [metric(url, name, model="echo", version="1") for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [3, 1, 1]
    assert metric(url, "nv_inference_request_success", model="echo") == requests_before + 4
    assert metric(url, "nv_cache_hit_duration_per_model", model="echo") > 0
    assert metric(url, "nv_cache_miss_duration_per_model", model="echo") > 0

    echo(server.http_url, "plain")
    families = {name for name, labels in read_metrics(url) if ("model", "plain") in labels}
    assert "nv_inference_count" in families
    assert not any("cache" in family for family in families)
    # The cache updates its own gauges every second.
    poll_until("the gauges of the cache", lambda: metric(url, "nv_cache_num_hits") >= 3)
    assert metric(url, "nv_cache_num_entries") >= 1
    assert 0 < metric(url, "nv_cache_util") < 1


def test_plain_model_is_not_cached(server: ServerProcess) -> None:
    change = Change(server, "plain")
    for _ in range(3):
        echo(server.http_url, "plain", (1.5,))
    assert change.of_counts() == {
        "success": 3,
        "cache_hit": 0,
        "cache_miss": 0,
        "executions": 3,
    }


def test_many_clients_at_once(server: ServerProcess) -> None:
    """Every client gets the answer to its own request, from the model or from the cache."""
    change = Change(server, "pair")
    threads, each, distinct = 8, 40, 10
    wrong: list[str] = []

    def run(number: int) -> None:
        module, url = (
            (tritonclient.http, server.http_url)
            if number % 2
            else (tritonclient.grpc, server.grpc_url)
        )
        for i in range(each):
            tensors = pair(1000 + (i * 3 + number) % distinct, 2000)
            for got, sent in zip(ask(module, url, "pair", tensors), tensors, strict=True):
                if not np.array_equal(got, sent):
                    wrong.append(f"{got} for {sent}")

    clients = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert not wrong
    change_of = change.of_counts()
    assert change_of["success"] == threads * each
    assert change_of["cache_miss"] == distinct
    assert change_of["cache_hit"] >= threads * (each - distinct)


def test_pipelined_hits_come_in_order(server: ServerProcess) -> None:
    values = [float(value) for value in range(60)]
    for value in values[:30]:
        echo(server.http_url, values=(value,))
    with raw_http.RawConnection(server.http_url) as connection:
        for value in values:
            body = (
                '{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32","data":[%s]}]}' % value
            ).encode()
            head = f"POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}"
            connection.send(head.encode() + b"\r\n\r\n" + body)
        for value in values:
            answer = connection.read_answer("POST")
            assert answer.status == 200
            assert answer.json()["outputs"][0]["data"] == [value]


# -- A small cache, and caches that fail -----------------------------------------------------------


def test_too_large_entry_is_served_and_logged(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository)
    server = server_factory(model_repository, "--response-cache-byte-size=500")
    change = Change(server, "echo")
    for _ in range(2):
        assert echo(server.http_url, values=tuple(range(400))).status == 200
        assert echo(server.http_url, values=(1.0,)).status == 200
    assert change.of_counts() == {
        "success": 4,
        "cache_hit": 1,
        "cache_miss": 3,
        "executions": 3,
    }
    server.wait_for_log("Failed to insert key [")


@pytest.mark.parametrize("behaviour", ["lookup_throws", "insert_fails"])
def test_failing_cache_fails_no_request(
    server_factory: ServerFactory, model_repository: ModelRepository, behaviour: str
) -> None:
    add_models(model_repository)
    server = server_factory(model_repository, f"--cache-config=testing,behaviour={behaviour}")
    for _ in range(3):
        assert echo(server.http_url).json()["outputs"][0]["data"] == [1.0, 2.0]
        for got, sent in zip(
            ask(tritonclient.grpc, server.grpc_url, "pair", pair(1, 2)), pair(1, 2), strict=True
        ):
            np.testing.assert_array_equal(got, sent)
    assert statistics(server, "echo")["cache_hit"] == 0
    assert statistics(server, "echo")["executions"] == 3
    server.wait_for_log("in cache 'testing': ")


def test_slow_cache_holds_no_io_thread(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_models(model_repository)
    server = server_factory(
        model_repository,
        "--cache-config=testing,behaviour=works",
        "--cache-config=testing,lookup_ms=1500",
        "--http-thread-count=1",
    )
    url = server.http_url
    waiting = [InBackground(url, "echo") for _ in range(3)]
    started = time.monotonic()
    while time.monotonic() < started + 0.5:
        assert raw_http.get(url, "/v2/health/live").status == 200
        assert echo(url, "plain").status == 200
    assert not any(one.is_done() for one in waiting)
    for one in waiting:
        assert one.answer().json()["outputs"][0]["data"] == [1.0, 2.0]
    assert echo(url).status == 200
    assert statistics(server, "echo")["cache_hit"] >= 1


# -- Starts that fail ------------------------------------------------------------------------------


def assert_start_fails(
    server_factory: ServerFactory, repository: ModelRepository, words: str, *options: str
) -> None:
    server = server_factory(repository, *options, wait_for=None)
    assert server.wait_exit() != 0
    assert words.lower() in server.log_text().lower(), server.log_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--cache-config=local,size=8192", "--cache-config=redis,key=value"],
            "found multiple cache configurations",
        ),
        (
            ["--response-cache-byte-size=12345", "--cache-config=local,size=67890"],
            "Error: Incompatible flags --response-cache-byte-size and --cache-config",
        ),
        (["--cache-config=nobody,a=b"], "unable to find 'libtritoncache_nobody.so' for cache"),
        (["--cache-config=local,size=many"], "'size' must be a number of bytes above 0"),
        (["--cache-config=testing,behaviour=refuses"], "this cache refuses to initialise"),
        (["--cache-config=redis,port=6379"], "Must at a minimum specify"),
        (
            ["--cache-config=redis,host=localhost", "--cache-config=redis,port=nonexistent"],
            "failed to connect to Redis (localhost:0): Connection refused",
        ),
    ],
)
def test_bad_cache_options(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    options: list[str],
    words: str,
) -> None:
    assert_start_fails(server_factory, model_repository, words, *options)


def test_decoupled_model_with_cache_does_not_load(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    decoupled = "model_transaction_policy { decoupled: true }"
    model_repository.add_identity("decoupled", backend="testing", extra=CACHED + decoupled)
    assert_start_fails(
        server_factory,
        model_repository,
        "Response Cache does not currently support model decoupled with 'decoupled' transaction "
        "policy. Please disable the response cache.",
        LOCAL,
    )


# -- Redis -----------------------------------------------------------------------------------------


def redis_options(redis: RedisServer, **settings: str) -> list[str]:
    all_settings = {"host": LOOPBACK, "port": str(redis.port), **settings}
    return [f"--cache-config=redis,{name}={value}" for name, value in all_settings.items()]


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    started = RedisServer(tmp_path / "redis")
    yield started
    started.stop()


def kept(redis: RedisServer) -> int:
    """The number of responses in Redis."""
    return int(redis.command("DBSIZE").removeprefix(":"))


def test_redis_is_shared_between_servers(
    server_factory: ServerFactory, model_repository: ModelRepository, redis: RedisServer
) -> None:
    add_models(model_repository)
    first = server_factory(model_repository, *redis_options(redis))
    second = server_factory(model_repository, *redis_options(redis))
    (got,) = ask(tritonclient.http, first.http_url, "matrix", [np.eye(3, dtype=np.int32)])
    poll_until("the response in Redis", lambda: kept(redis) == 1)
    for server in (first, second):
        for module, url in (
            (tritonclient.http, server.http_url),
            (tritonclient.grpc, server.grpc_url),
        ):
            (got,) = ask(module, url, "matrix", [np.eye(3, dtype=np.int32)])
            np.testing.assert_array_equal(got, np.eye(3, dtype=np.int32))
    await_statistics(first, "matrix", counts(hits=2, misses=1))
    await_statistics(second, "matrix", counts(hits=2, misses=0))


@pytest.mark.parametrize("ttl", ["", "100"])
def test_redis_forgets_after_a_time(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    redis: RedisServer,
    ttl: str,
) -> None:
    add_models(model_repository)
    options = redis_options(redis, ttl_seconds=ttl) if ttl else redis_options(redis)
    server = server_factory(model_repository, *options)
    assert echo(server.http_url).status == 200
    poll_until("the response in Redis", lambda: kept(redis) == 1)
    left = int(redis.command(f"TTL {redis_keys(redis)[0]}").removeprefix(":"))
    assert 0 < left <= 100 if ttl else left == -1  # it never ends


def test_redis_that_goes_away_and_comes_back(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    add_models(model_repository)
    redis = RedisServer(tmp_path / "redis")
    try:
        server = server_factory(model_repository, *redis_options(redis))
        echo(server.http_url)
        poll_until("the response in Redis", lambda: kept(redis) == 1)
        assert echo(server.http_url).status == 200
        await_statistics(server, "echo", counts(hits=1, misses=1))
        redis.stop()
        for _ in range(20):
            assert echo(server.http_url).status == 200
        assert statistics(server, "echo")["cache_hit"] == 1
        server.wait_for_log("Failed to look up a response of model 'echo' in cache 'redis'")
        redis = RedisServer(tmp_path / "redis", port=redis.port)

        def hit_again() -> bool:
            assert echo(server.http_url).status == 200
            return statistics(server, "echo")["cache_hit"] > 1

        poll_until("a hit in the new Redis", hit_again, 10)
        # Another program changes the same Redis.
        redis.command("FLUSHALL")
        echo(server.http_url, values=(9.0,))
        poll_until("the response in Redis", lambda: kept(redis) >= 1)
        for key in redis_keys(redis):
            redis.command(f"SET {key} damaged")
        before = statistics(server, "echo")
        assert echo(server.http_url, values=(9.0,)).json()["outputs"][0]["data"] == [9.0]
        after = statistics(server, "echo")
        assert after["cache_hit"] == before["cache_hit"]
        assert after["executions"] == before["executions"] + 1
    finally:
        redis.stop()


def test_redis_that_hangs_delays_few(
    server_factory: ServerFactory, model_repository: ModelRepository, redis: RedisServer
) -> None:
    add_models(model_repository)
    server = server_factory(model_repository, *redis_options(redis, socket_timeout="500"))
    echo(server.http_url)
    poll_until("the response in Redis", lambda: kept(redis) == 1)
    redis.process.send_signal(signal.SIGSTOP)
    try:
        started = time.monotonic()
        for _ in range(20):
            assert echo(server.http_url).status == 200
        assert time.monotonic() - started < 5.0, "20 time-outs take 10 seconds"
    finally:
        redis.process.send_signal(signal.SIGCONT)

    def hit_again() -> bool:
        assert echo(server.http_url).status == 200
        return statistics(server, "echo")["cache_hit"] > 0

    poll_until("a hit", hit_again, 10)


def redis_keys(redis: RedisServer) -> list[str]:
    """The keys in Redis."""
    with socket.create_connection((LOOPBACK, redis.port), timeout=5) as connection:
        connection.sendall(b"KEYS *\r\n")
        reader = connection.makefile("rb")
        count = int(reader.readline()[1:])
        lines = [reader.readline() for _ in range(2 * count)]
    return [line.decode().strip() for line in lines[1::2]]


def test_redis_password(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    add_models(model_repository)
    redis = RedisServer(tmp_path / "redis", password="redis123!")
    options = redis_options(redis)
    try:
        given = server_factory(model_repository, *redis_options(redis, password="redis123!"))
        echo(given.http_url)
        found = server_factory(
            model_repository, *options, env={"TRITONCACHE_REDIS_PASSWORD": "redis123!"}
        )

        def hit() -> bool:
            return echo(found.http_url).status == 200 and statistics(found, "echo")["cache_hit"] > 0

        poll_until("a hit", hit)
        wrong = [*options, "--cache-config=redis,password=x"]
        assert_start_fails(server_factory, model_repository, "WRONGPASS", *wrong)
        assert_start_fails(
            server_factory, model_repository, "NOAUTH Authentication required", *options
        )
    finally:
        redis.stop()
