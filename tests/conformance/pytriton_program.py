# SPDX-License-Identifier: Apache-2.0
"""A program on nvidia-pytriton, as its users write them.

    python pytriton_program.py serve HTTP_PORT GRPC_PORT METRICS_PORT
    python pytriton_program.py ask HTTP_PORT GRPC_PORT

`serve` binds three models and serves until SIGINT; at the end it prints how the server ended. SIGUSR1
makes it print what its threads do. `ask` uses the package's clients, and the official one for what
they do not have.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http
from pytriton.client import DecoupledModelClient, ModelClient
from pytriton.client.exceptions import PyTritonClientInferenceServerError
from pytriton.decorators import batch
from pytriton.model_config import DynamicBatcher, ModelConfig, Tensor
from pytriton.proxy.types import Request
from pytriton.triton import Triton, TritonConfig, TritonSecurityConfig
from tritonclient.utils import InferenceServerException

HOST = "127.0.0.1"
TOKEN = "key-of-the-test"
COMPLAINT = "negative numbers cannot be doubled"

Arrays = dict[str, np.ndarray]


class Doubler:
    """One instance of the model `double`."""

    @batch
    def infer(self, VALUES: np.ndarray) -> Arrays:
        if (VALUES < 0).any():
            raise ValueError(COMPLAINT)
        return {"DOUBLED": VALUES * 2}


@batch
def greet(NAME: np.ndarray) -> Arrays:
    return {"GREETING": np.char.add(b"Hello ", NAME.astype(np.bytes_))}


def count(requests: list[Request]) -> Iterator[list[Arrays]]:
    """Answers each request with the numbers below its own, one after the other."""
    (request,) = requests
    for number in range(int(request["LIMIT"][0])):
        yield [{"NUMBER": np.array([number], dtype=np.int32)}]


def tensor(name: str, data_type: Any, dim: int = -1) -> list[Tensor]:
    return [Tensor(name=name, dtype=data_type, shape=(dim,))]


def config(http_port: int, grpc_port: int, metrics_port: int) -> TritonConfig:
    """What a deployment without GPUs may set."""
    return TritonConfig(
        id="pytriton",
        log_verbose=1,
        exit_timeout_secs=20,
        exit_on_error=True,
        strict_readiness=True,
        allow_http=True,
        http_address=HOST,
        http_port=http_port,
        http_header_forward_pattern="x-.*",
        http_thread_count=4,
        allow_grpc=True,
        grpc_address=HOST,
        grpc_port=grpc_port,
        grpc_header_forward_pattern="x-.*",
        grpc_infer_allocation_pool_size=16,
        grpc_use_ssl=False,
        grpc_infer_response_compression_level="low",
        grpc_keepalive_time=60000,
        grpc_keepalive_timeout=20000,
        grpc_keepalive_permit_without_calls=True,
        grpc_http2_max_pings_without_data=0,
        grpc_http2_min_recv_ping_interval_without_data=10000,
        grpc_http2_max_ping_strikes=3,
        allow_metrics=True,
        allow_gpu_metrics=False,
        allow_cpu_metrics=True,
        metrics_interval_ms=1000,
        metrics_port=metrics_port,
        metrics_address=HOST,
        allow_sagemaker=False,
        allow_vertex_ai=False,
        metrics_config=["counter_latencies=true", "summary_latencies=true"],
        cache_config=["local,size=1048576"],
        buffer_manager_thread_count=2,
    )


def say(words: str) -> None:
    """Not to the standard output: the package writes the server's log there, in parts of lines."""
    sys.stderr.write(words + "\n")


def serve(http_port: int, grpc_port: int, metrics_port: int) -> None:
    faulthandler.register(signal.SIGUSR1)
    security = TritonSecurityConfig(access_token=TOKEN)
    triton = Triton(config=config(http_port, grpc_port, metrics_port), security_config=security)
    triton.bind(
        model_name="double",
        infer_func=[Doubler().infer, Doubler().infer],
        inputs=tensor("VALUES", np.float32),
        outputs=tensor("DOUBLED", np.float32),
        config=ModelConfig(
            max_batch_size=8, batcher=DynamicBatcher(max_queue_delay_microseconds=1000)
        ),
    )
    triton.bind(
        model_name="greet",
        infer_func=greet,
        inputs=tensor("NAME", np.bytes_, 1),
        outputs=tensor("GREETING", np.bytes_, 1),
        config=ModelConfig(max_batch_size=4, response_cache=True),
    )
    triton.bind(
        model_name="count",
        infer_func=count,
        inputs=tensor("LIMIT", np.int32, 1),
        outputs=tensor("NUMBER", np.int32, 1),
        config=ModelConfig(batching=False, decoupled=True),
    )
    triton.run()
    # The package does not tell how its server ended.
    command = triton._triton_server._tritonserver_running_cmd
    say("serving")
    triton.serve()
    say(f"the server ended with {command.exit_code}")


def ask_double(url: str) -> None:
    values = np.array([[1.5, -0.0], [3, 1e30]], dtype=np.float32)
    with ModelClient(url, "double") as client:
        assert client.model_config.model_name == "double"
        assert client.model_config.max_batch_size == 8
        assert client.infer_batch(values)["DOUBLED"].tolist() == (values * 2).tolist()
        assert client.infer_sample(values[1])["DOUBLED"].tolist() == (values[1] * 2).tolist()
        try:
            client.infer_batch(VALUES=-np.ones((1, 3), dtype=np.float32))
            raise AssertionError("the error of the callable is lost")
        except PyTritonClientInferenceServerError as error:
            assert COMPLAINT in str(error), error
        assert client.infer_batch(VALUES=values[:1])["DOUBLED"].tolist() == [[3, 0]]


def ask_greet(url: str) -> None:
    with ModelClient(url, "greet") as client:
        names = np.array([["Ada".encode()], ["Gödel".encode()]])
        for _ in range(2):
            greetings = client.infer_batch(names)["GREETING"]
            assert [one.decode() for (one,) in greetings] == ["Hello Ada", "Hello Gödel"]


def ask_count(url: str) -> None:
    with DecoupledModelClient(url, "count") as client:
        numbers = [answer["NUMBER"].tolist() for answer in client.infer_sample(np.int32([3]))]
    assert numbers == [[0], [1], [2]], numbers


def ask_settings(http: str, grpc: str) -> None:
    """Log and trace settings, and statistics, are open to those who have the token."""
    http_client = tritonclient.http.InferenceServerClient(http)
    grpc_client = tritonclient.grpc.InferenceServerClient(grpc)
    http_key = {"triton-access-token": TOKEN}
    grpc_key = {"triton-grpc-protocol-triton-access-token": TOKEN}
    assert http_client.get_log_settings(headers=http_key)["log_verbose_level"] == 1
    assert http_client.get_trace_settings(headers=http_key)["trace_level"] == ["OFF"]
    settings = grpc_client.get_log_settings(headers=grpc_key).settings
    assert settings["log_verbose_level"].uint32_param == 1
    settings = grpc_client.get_trace_settings(headers=grpc_key).settings
    assert list(settings["trace_level"].value) == ["OFF"]
    statistics = http_client.get_inference_statistics("greet", headers=http_key)
    (greet,) = statistics["model_stats"]
    assert greet["inference_stats"]["cache_hit"]["count"] > 0, greet
    for client in (http_client, grpc_client):
        for call in (client.get_log_settings, client.get_trace_settings):
            try:
                call()
                raise AssertionError(f"{call} needs no token")
            except InferenceServerException:
                pass
        client.close()


def ask(http_port: int, grpc_port: int) -> None:
    http, grpc = f"{HOST}:{http_port}", f"{HOST}:{grpc_port}"
    for url in (f"http://{http}", f"grpc://{grpc}"):
        ask_double(url)
        ask_greet(url)
    ask_count(f"grpc://{grpc}")
    ask_settings(http, grpc)
    print("all answers are right")


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](*map(int, sys.argv[2:]))
