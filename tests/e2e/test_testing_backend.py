# SPDX-License-Identifier: Apache-2.0
"""The effects of misbehaving backends on clients; each behaviour of backends/testing has a test.

One server has a model per behaviour. After each test, the other models have to work as before.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.raw_http import HttpAnswer, RawConnection
from support.repository import ModelRepository
from support.server_process import ServerProcess

# A delay that is long enough for two requests, sent together, to run as one batch.
TWO_TOGETHER = (
    "dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 20000000 }"
)
BEHAVIOURS = (
    "echo",
    "throws",
    "error_before_release",
    "releases_without_answer",
    "answers_twice",
    "drops_factory",
    "wrong_shape",
    "unknown_output",
    "output_properties",
    "reschedule",
    "crash_on_load",
    "fail_on_load",
    "instance_fail_on_load",
    "not_ready",
)
KEEP_MILLISECONDS = 100


def add(repository: ModelRepository, behaviour: str, extra: str = "", **parameters: str) -> None:
    """A model named after its behaviour: INT32 in batches of up to 4."""
    repository.add_identity(
        behaviour,
        "INT32",
        (1,),
        max_batch_size=4,
        extra=extra,
        parameters={"behaviour": behaviour, **parameters},
        backend="testing",
    )


@pytest.fixture(scope="module")
def misbehaving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("misbehaving")
    models = ModelRepository(folder / "models")
    for behaviour in BEHAVIOURS:
        add(models, behaviour)
    add(models, "slow", delay_ms="50")
    add(models, "fails_some", TWO_TOGETHER)
    add(models, "error_after_releasing_some", TWO_TOGETHER)
    add(models, "keep_requests", delay_ms=str(KEEP_MILLISECONDS))
    add(models, "uses_released", times="0")
    add(models, "wait_for_cancel", delay_ms="60000")
    add(models, "decoupled", "model_transaction_policy { decoupled: true }", responses="3")
    server = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


@pytest.fixture
def url(misbehaving: ServerProcess) -> Iterator[str]:
    """The server's address; afterwards a well-behaved model still has to answer."""
    yield misbehaving.http_url
    assert misbehaving.is_alive(), misbehaving.log_text()[-2000:]
    assert_echo(ask(misbehaving.http_url, "echo", 7), 7)


def document(value: int) -> dict[str, object]:
    tensor = {"name": "INPUT0", "shape": [1, 1], "datatype": "INT32", "data": [value]}
    return {"inputs": [tensor]}


def ask(url: str, model: str, value: int = 1) -> HttpAnswer:
    return raw_http.post_json(url, f"/v2/models/{model}/infer", document(value))


def assert_echo(answer: HttpAnswer, value: int) -> None:
    assert answer.status == 200, answer.body
    assert answer.json()["outputs"][0]["data"] == [value]


def assert_error(answer: HttpAnswer, status: int, words: str) -> None:
    assert answer.status == status, answer.body
    assert words in answer.error()


def ask_together(url: str, model: str, *values: int) -> dict[int, HttpAnswer]:
    """Sends all values at once, each on its own connection; returns the answers by value."""
    answers: dict[int, HttpAnswer] = {}

    def run(value: int) -> None:
        answers[value] = ask(url, model, value)

    threads = [threading.Thread(target=run, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.keys() == set(values)
    return answers


def failures(server: ServerProcess, model: str) -> float:
    return metric(server.metrics_url, "nv_inference_request_failure", model=model, reason="BACKEND")


def test_echo(url: str) -> None:
    assert_echo(ask(url, "echo", 5), 5)


def test_output_properties(url: str, misbehaving: ServerProcess) -> None:
    """A backend that asks where its outputs will be is told so over both protocols."""
    assert_echo(ask(url, "output_properties", 5), 5)
    request = service_pb2.ModelInferRequest(model_name="output_properties")
    tensor = request.inputs.add(name="INPUT0", datatype="INT32", shape=[1, 1])
    tensor.contents.int_contents.append(6)
    with grpc.insecure_channel(misbehaving.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        answer = stub.ModelInfer(request, timeout=30)
    assert answer.raw_output_contents[0] == (6).to_bytes(4, "little")


def test_slow(url: str) -> None:
    assert_echo(ask(url, "slow", 5), 5)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("throws", "ModelInstanceExecute threw on purpose"),
        ("error_before_release", "ModelInstanceExecute failed on purpose"),
    ],
)
def test_failing_execution(url: str, misbehaving: ServerProcess, model: str, words: str) -> None:
    """The instance continues: the second request fails like the first, and both are counted."""
    before = failures(misbehaving, model)
    for _ in range(2):
        assert_error(ask(url, model), 500, words)
    poll_until("two failures counted", lambda: failures(misbehaving, model) == before + 2)


def test_error_of_one_request_stays_with_it(url: str) -> None:
    answers = ask_together(url, "fails_some", 3, -3)
    assert_echo(answers[3], 3)
    assert_error(answers[-3], 400, "refused the value -3 on purpose")


def test_error_after_some_are_released(url: str) -> None:
    """If Execute answers one of two requests and then fails, the other request gets the error."""
    answers = ask_together(url, "error_after_releasing_some", 1, 2)
    assert sorted(answer.status for answer in answers.values()) == [200, 500]
    for value, answer in answers.items():
        if answer.status == 200:
            assert_echo(answer, value)
        else:
            assert "ModelInstanceExecute failed on purpose" in answer.error()


def test_requests_kept_after_execute(url: str) -> None:
    answers = ask_together(url, "keep_requests", *range(8))
    for value, answer in answers.items():
        assert_echo(answer, value)


def test_release_without_answer(url: str) -> None:
    for _ in range(2):
        assert ask(url, "releases_without_answer").status == 500


def test_use_of_released_requests(url: str, misbehaving: ServerProcess) -> None:
    """Until Execute has returned, a released request may be used as before."""
    for value in range(20):
        assert_echo(ask(url, "uses_released", value), value)
        assert grpc_infer(misbehaving, "uses_released", 30).result().raw_output_contents
    poll_until(
        "each request counted twice, as reported",
        lambda: metric(misbehaving.metrics_url, "nv_inference_count", model="uses_released") == 80,
    )
    assert "use of a released request" not in misbehaving.stderr_text()


def test_factory_dropped_without_final_response(url: str) -> None:
    for _ in range(2):
        assert ask(url, "drops_factory").status == 500


def test_second_answer_is_refused_and_logged(url: str, misbehaving: ServerProcess) -> None:
    for value in (4, 5):
        assert_echo(ask(url, "answers_twice", value), value)
    poll_until("a complaint in the log", lambda: "answers_twice" in misbehaving.stderr_text())


def test_output_of_another_shape(url: str) -> None:
    """The server passes on the shape that the model has given its output."""
    answer = ask(url, "wrong_shape")
    assert answer.status == 200, answer.body
    assert answer.json()["outputs"][0]["shape"] == [1, 2]


def test_unknown_output(url: str) -> None:
    assert_error(
        ask(url, "unknown_output"),
        400,
        "unexpected inference output 'NOT_AN_OUTPUT' for model 'unknown_output'",
    )


def test_reschedule_where_it_is_not_allowed(url: str) -> None:
    assert_error(
        ask(url, "reschedule"),
        400,
        "Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not "
        "configured to handle such a flag.",
    )


def test_decoupled_is_refused_where_one_answer_is_expected(
    url: str, misbehaving: ServerProcess
) -> None:
    assert_error(
        ask(url, "decoupled"),
        501,
        "HTTP end point doesn't support models with decoupled transaction policy",
    )
    with pytest.raises(grpc.RpcError) as caught:
        grpc_infer(misbehaving, "decoupled", 10).result()
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
    assert "doesn't support models with decoupled transaction policy" in caught.value.details()


def grpc_infer(server: ServerProcess, model: str, timeout: float) -> grpc.Future:
    tensor = service_pb2.ModelInferRequest.InferInputTensor(
        name="INPUT0", datatype="INT32", shape=[1, 1]
    )
    tensor.contents.int_contents.append(1)
    request = service_pb2.ModelInferRequest(model_name=model, inputs=[tensor])
    channel = grpc.insecure_channel(server.grpc_url)
    call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(
        request, timeout=timeout
    )
    call.add_done_callback(lambda _: channel.close())
    return call


class CancellationLog:
    """The log lines of the model wait_for_cancel since this object was created."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._running = self._count("waits for a cancellation")
        self._seen = self._count("saw the cancellation")

    def _count(self, text: str) -> int:
        return self._server.log_text().count(text)

    def wait_until_running(self) -> None:
        poll_until(
            "the backend has the request",
            lambda: self._count("waits for a cancellation") > self._running,
        )

    def wait_until_seen(self) -> None:
        poll_until(
            "the backend saw the cancellation",
            lambda: self._count("saw the cancellation") > self._seen,
        )


def waiting(server: ServerProcess) -> float:
    return metric(server.metrics_url, "nv_inference_pending_request_count", model="wait_for_cancel")


WAITING_BODY = b'{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"INT32","data":[1]}]}'
WAITING_REQUEST = (
    b"POST /v2/models/wait_for_cancel/infer HTTP/1.1\r\nHost: test\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(WAITING_BODY), WAITING_BODY)
)


def test_running_request_is_cancelled_by_disconnect(url: str, misbehaving: ServerProcess) -> None:
    log = CancellationLog(misbehaving)
    with RawConnection(url) as client:
        client.send(WAITING_REQUEST)
        log.wait_until_running()
        client.close()
        log.wait_until_seen()


def test_waiting_request_is_dropped_by_disconnect(url: str, misbehaving: ServerProcess) -> None:
    log = CancellationLog(misbehaving)
    with RawConnection(url) as running, RawConnection(url) as queued:
        running.send(WAITING_REQUEST)
        log.wait_until_running()
        queued.send(WAITING_REQUEST)
        poll_until("one waits", lambda: waiting(misbehaving) == 1)
        queued.close()
        # The request leaves the queue although the instance is still busy.
        poll_until("none waits", lambda: waiting(misbehaving) == 0)
        running.close()
        log.wait_until_seen()


def test_running_request_is_cancelled_over_grpc(misbehaving: ServerProcess, url: str) -> None:
    log = CancellationLog(misbehaving)
    call = grpc_infer(misbehaving, "wait_for_cancel", 60)
    log.wait_until_running()
    call.cancel()
    log.wait_until_seen()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("crash_on_load", "ModelInitialize threw on purpose"),
        ("fail_on_load", "ModelInitialize failed on purpose"),
        ("instance_fail_on_load", "ModelInstanceInitialize failed on purpose"),
    ],
)
def test_failing_load(url: str, model: str, words: str) -> None:
    index = raw_http.post(url, "/v2/repository/index").json()
    (entry,) = [entry for entry in index if entry["name"] == model]
    assert entry["state"] == "UNAVAILABLE"
    assert words in entry["reason"]
    assert_error(ask(url, model), 404, f"Request for unknown model: '{model}'")


def test_instance_that_says_it_is_not_ready(url: str) -> None:
    assert raw_http.get(url, "/v2/models/not_ready/ready").status != 200
    assert raw_http.get(url, "/v2/models/echo/ready").status == 200


def test_never_answered(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    """The client's deadline ends the wait, other models continue, and the server ends in time."""
    add(model_repository, "never_answers")
    add(model_repository, "echo")
    server = server_factory(model_repository, "--exit-timeout-secs=2")
    with pytest.raises(grpc.RpcError) as caught:
        grpc_infer(server, "never_answers", 0.5).result()
    assert caught.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert_echo(ask(server.http_url, "echo", 6), 6)
    with RawConnection(server.http_url) as connection:
        connection.send(b"POST /v2/models/never_answers/infer HTTP/1.1\r\nHost: test\r\n")
        started = time.monotonic()
        server.process.terminate()
        server.wait_exit(20)
        assert time.monotonic() - started < 20


@pytest.mark.parametrize("inline", ["0", "10000"])
def test_a_stack_overflow_names_model_and_backend(
    server_factory: ServerFactory, model_repository: ModelRepository, inline: str
) -> None:
    """On the instance's own thread, and on an I/O thread that executes."""
    add(model_repository, "overflow_stack")
    server = server_factory(model_repository, f"--inline-execution-max-us={inline}")
    for _ in range(20):  # so that the model is known to be short
        assert_echo(ask(server.http_url, "overflow_stack", 5), 5)
    with pytest.raises(OSError):
        ask(server.http_url, "overflow_stack", -1)
    assert server.wait_exit() == -signal.SIGSEGV
    assert (
        "the process is ending by SIGSEGV (invalid memory access) inside backend 'testing', "
        "model 'overflow_stack', function TRITONBACKEND_ModelInstanceExecute"
    ) in server.stderr_text()
