# SPDX-License-Identifier: Apache-2.0
"""Sequence models with the official clients: the controls that a model gets, the slots of
sequences, refusals, and the ends of sequences."""

from __future__ import annotations

import queue
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from onnx import TensorProto, helper
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support.metrics import metric
from support.nereid import start_nereid
from support.onnx_models import INT32, save_model
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import add_testing

ANSWER_SECONDS = 30.0
IDLE_MS = 400
LONG_IDLE_US = 30_000_000
CONTROLS = {
    "START": "kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]",
    "END": "kind: CONTROL_SEQUENCE_END int32_false_true: [ 0, 1 ]",
    "READY": "kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ]",
}
NO_START = (
    "inference request for sequence {} to model '{}' must specify the START flag on the first "
    "request of the sequence"
)
STOPPING = "Server is stopping, scheduler for model has stopped accepting new inference requests"
EXPIRED = "timeout of the corresponding sequence has been expired"


def control_text(name: str, control: str) -> str:
    return f'control_input {{ name: "{name}" control {{ {control} }} }}'


def add_mirror(
    repository: ModelRepository,
    name: str,
    max_batch_size: int = 2,
    strategy: str = "direct { }",
    idle_us: int = LONG_IDLE_US,
    corrid: str = "UINT64",
    groups: str = "{ count: 1 kind: KIND_CPU }",
    extra: str = "",
) -> None:
    """A model that returns X, and as SEEN_<control> the controls that it got with the request."""
    corrid_type = TensorProto.STRING if corrid == "STRING" else getattr(TensorProto, corrid)
    controls = {**CONTROLS, "CORRID": f"kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_{corrid}"}
    config = (
        f"max_batch_size: {max_batch_size}\n"
        'backend: "onnxruntime"\n'
        f"instance_group [ {groups} ]\n"
        f"sequence_batching {{ {strategy} max_sequence_idle_microseconds: {idle_us}\n"
        + "\n".join(control_text(*control) for control in controls.items())
        + f"}}\n{extra}\n"
    )
    folder = repository.add(name, config)
    types = {"START": INT32, "END": INT32, "READY": INT32, "CORRID": corrid_type}
    save_model(
        folder,
        [
            helper.make_node("Identity", ["X"], ["Y"]),
            *(helper.make_node("Identity", [c], [f"SEEN_{c}"]) for c in types),
        ],
        [("X", INT32, ["n", 1]), *((c, t, ["n", 1]) for c, t in types.items())],
        [("Y", INT32, ["n", 1]), *((f"SEEN_{c}", t, ["n", 1]) for c, t in types.items())],
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("sequences")
    models = ModelRepository(folder / "models")
    add_mirror(models, "direct", max_batch_size=4)
    add_mirror(models, "oldest", 4, "oldest { max_candidate_sequences: 8 }", corrid="STRING")
    add_mirror(models, "one", max_batch_size=1)
    add_mirror(models, "fleeting", idle_us=IDLE_MS * 1000, corrid="INT32")
    iterative = "sequence_batching { iterative_sequence: true }"
    add_testing(models, "iterative", "reschedule", extra=iterative, times="5")
    add_testing(models, "careless", "uses_released", extra=iterative, times="5")
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


class Client:
    """The official client of one protocol, for models with one INT32 input. Used by the thread that
    creates it."""

    def __init__(self, server: ServerProcess, protocol: str) -> None:
        self.server = server
        self.protocol = protocol
        if protocol == "http":
            self._module: Any = tritonclient.http
            self.client = tritonclient.http.InferenceServerClient(server.http_url, concurrency=8)
        else:
            self._module = tritonclient.grpc
            self.client = tritonclient.grpc.InferenceServerClient(server.grpc_url)

    def infer(
        self, model: str, value: int, sequence: int | str = 0, flags: str = "", **more: Any
    ) -> Any:
        """Sends a request. Flags: "s" for START, "e" for END."""
        tensor = self._module.InferInput("X", [1, 1], "INT32")
        tensor.set_data_from_numpy(np.full((1, 1), value, np.int32))
        return self.client.infer(
            model,
            [tensor],
            sequence_id=sequence,
            sequence_start="s" in flags,
            sequence_end="e" in flags,
            **more,
        )

    def run(self, model: str, sequence: int) -> list[int]:
        """The answers to a sequence of four requests."""
        answers = [self.infer(model, i, sequence, flags) for i, flags in enumerate("s xe")]
        assert [seen(answer, "CORRID") for answer in answers] == [[sequence]] * len(answers)
        return [answer.as_numpy("Y").item() for answer in answers]

    def refused(self, *args: Any, **kwargs: Any) -> str:
        with pytest.raises(InferenceServerException) as error:
            self.infer(*args, **kwargs)
        return str(error.value.message())


@pytest.fixture(params=["http", "grpc"])
def client(request: pytest.FixtureRequest, server: ServerProcess) -> Client:
    return Client(server, request.param)


Background = Callable[..., Future[Any]]


@pytest.fixture
def background() -> Iterator[Background]:
    """Calls a method in another thread, with a new client like the given one."""
    with ThreadPoolExecutor(8) as pool:

        def call(client: Client, method: str, *args: Any, **kwargs: Any) -> Future[Any]:
            def run() -> Any:
                return getattr(Client(client.server, client.protocol), method)(*args, **kwargs)

            return pool.submit(run)

        yield call


def seen(result: Any, *controls: str) -> list[Any]:
    return [result.as_numpy(f"SEEN_{control}").item() for control in controls]


def test_controls_of_a_sequence(client: Client) -> None:
    for i, flags in enumerate(["s", "", "e"]):
        result = client.infer("direct", 10 + i, 70, flags)
        assert result.as_numpy("Y").item() == 10 + i
        assert seen(result, "START", "END", "READY") == ["s" in flags, "e" in flags, 1]
        assert seen(result, "CORRID") == [70]
    # The sequence has ended.
    assert client.refused("direct", 0, 70) == NO_START.format(70, "direct")


def test_a_sequence_of_one_request(client: Client) -> None:
    result = client.infer("direct", 1, 71, "se")
    assert seen(result, "START", "END", "READY", "CORRID") == [1, 1, 1, 71]
    assert client.refused("direct", 0, 71) == NO_START.format(71, "direct")


def test_start_again_without_end(client: Client) -> None:
    for flags in ["s", "", "s", "e"]:
        assert seen(client.infer("direct", 1, 72, flags), "START") == ["s" in flags]


def test_ids_that_are_texts(client: Client) -> None:
    name = "sequence " + "x" * 119
    for flags in ["s", "", "e"]:
        assert seen(client.infer("oldest", 1, name, flags), "CORRID") == [name.encode()]
    assert client.refused("oldest", 0, "other") == NO_START.format("other", "oldest")
    assert (
        client.refused("oldest", 0, name + "x", "s")
        == "string correlation ID cannot be longer than 128 characters"
    )


def test_what_is_refused(client: Client) -> None:
    unknown = "[request id: <id_unknown>] "
    assert (
        client.refused("direct", 0)
        == "inference request to model 'direct' must specify a non-zero or non-empty correlation ID"
    )
    assert client.refused("direct", 0, "text", "s") == (
        unknown + "sequence batching control 'CORRID' data-type is 'BYTES', but model 'direct' "
        "expects 'UINT64'"
    )
    assert client.refused("oldest", 0, 5, "s") == (
        unknown + "sequence batching control 'CORRID' data-type is 'UINT64', but model 'oldest' "
        "expects 'BYTES'"
    )
    module: Any = tritonclient.http if client.protocol == "http" else tritonclient.grpc
    two = module.InferInput("X", [2, 1], "INT32")
    two.set_data_from_numpy(np.zeros((2, 1), np.int32))
    with pytest.raises(InferenceServerException) as error:
        client.client.infer("direct", [two], sequence_id=5, sequence_start=True)
    assert error.value.message() == (
        "inference request to model 'direct' must specify batch-size 1 due to requirements of "
        "sequence batcher"
    )
    # The metadata does not list controls, because clients do not send them.
    metadata: Any = client.client.get_model_metadata("direct")
    inputs = metadata["inputs"] if client.protocol == "http" else metadata.inputs
    names = [i["name"] if client.protocol == "http" else i.name for i in inputs]
    assert names == ["X"]


def test_an_idle_sequence_ends(client: Client) -> None:
    assert seen(client.infer("fleeting", 1, 2**32 + 9, "s"), "CORRID") == [9]
    client.infer("fleeting", 1, 2**32 + 9)
    time.sleep(3 * IDLE_MS / 1000)
    assert client.refused("fleeting", 1, 2**32 + 9) == NO_START.format(2**32 + 9, "fleeting")


def test_the_backlog(client: Client, background: Background) -> None:
    client.infer("one", 1, 80, "s")
    waiting = background(client, "infer", "one", 2, 81, "s")
    time.sleep(0.2)
    # The second sequence waits no longer than its time-out.
    late = background(client, "refused", "one", 3, 82, "s", timeout=100_000)
    assert late.result(ANSWER_SECONDS) == EXPIRED
    assert client.refused("one", 3, 82) == NO_START.format(82, "one")
    assert not waiting.done()
    client.infer("one", 1, 80, "e")
    assert waiting.result(ANSWER_SECONDS).as_numpy("Y").item() == 2
    client.infer("one", 2, 81, "e")


def test_iterative_requests(server: ServerProcess, client: Client) -> None:
    module: Any = tritonclient.http if client.protocol == "http" else tritonclient.grpc
    tensor = module.InferInput("INPUT0", [2], "INT32")
    tensor.set_data_from_numpy(np.array([3, 4], np.int32))
    executions = metric(server.metrics_url, "nv_inference_request_success", model="iterative")
    for _ in range(3):
        answer = client.client.infer("iterative", [tensor])
        assert answer.as_numpy("OUTPUT0").tolist() == [3, 4]
    assert (
        metric(server.metrics_url, "nv_inference_request_success", model="iterative")
        == executions + 3
    )
    assert metric(server.metrics_url, "nv_inference_pending_request_count", model="iterative") == 0


def test_a_backend_that_uses_requests_given_back(server: ServerProcess, client: Client) -> None:
    """Until Execute has returned, a request may be used as before, whatever it was released for."""
    module: Any = tritonclient.http if client.protocol == "http" else tritonclient.grpc
    tensor = module.InferInput("INPUT0", [2], "INT32")
    for value in range(20):
        tensor.set_data_from_numpy(np.array([value, 4], np.int32))
        answer = client.client.infer("careless", [tensor])
        assert answer.as_numpy("OUTPUT0").tolist() == [value, 4]
    assert "use of a released request" not in server.stderr_text()


@pytest.mark.parametrize("model", ["direct", "oldest"])
def test_sequences_in_a_stream(server: ServerProcess, model: str) -> None:
    answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
    sequences = 12  # more than there are slots
    lengths = [1 + s % 4 for s in range(sequences)]
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as grpc_client:
        grpc_client.start_stream(lambda result, error: answers.put((result, error)))
        for step in range(max(lengths)):
            for s in range(sequences):
                if step >= lengths[s]:
                    continue
                tensor = tritonclient.grpc.InferInput("X", [1, 1], "INT32")
                tensor.set_data_from_numpy(np.full((1, 1), step, np.int32))
                grpc_client.async_stream_infer(
                    model,
                    [tensor],
                    request_id=f"{s} {step}",
                    sequence_id=f"stream {s}" if model == "oldest" else 1000 + s,
                    sequence_start=step == 0,
                    sequence_end=step == lengths[s] - 1,
                )
        steps: dict[int, list[int]] = {s: [] for s in range(sequences)}
        for _ in range(sum(lengths)):
            result, error = answers.get(timeout=ANSWER_SECONDS)
            assert error is None, error
            s, step = map(int, result.get_response().id.split())
            assert seen(result, "START", "END") == [step == 0, step == lengths[s] - 1]
            steps[s].append(step)
        grpc_client.stop_stream()
    assert steps == {s: list(range(length)) for s, length in enumerate(lengths)}


def test_padding_is_not_counted(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    background: Background,
) -> None:
    add_mirror(model_repository, "direct", max_batch_size=4)
    server = server_factory(model_repository, env={"TRITONSERVER_DELAY_SCHEDULER": "3"})
    client = Client(server, "http")
    # The batch runs when three requests have arrived, with all three.
    first = [background(client, "infer", "direct", i, 1 + i, "s") for i in range(3)]
    for i, future in enumerate(first):
        result = future.result(ANSWER_SECONDS)
        assert result.as_numpy("Y").item() == i
        assert seen(result, "START", "READY", "CORRID") == [1, 1, 1 + i]
    statistics = client.client.get_inference_statistics("direct")["model_stats"][0]
    assert statistics["execution_count"] == 1
    # At least one of these runs in a batch with gaps; each still gets its own rows.
    for i in range(3):
        assert client.infer("direct", 7 + i, 1 + i, "e").as_numpy("Y").item() == 7 + i
    assert metric(server.metrics_url, "nv_inference_request_success", model="direct") == 6


def test_with_rate_limiter_passive_instance_and_warmup(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    background: Background,
) -> None:
    warmup = "".join(
        f'inputs {{ key: "{name}" value {{ data_type: TYPE_{kind} dims: [ 1 ] zero_data: true }} }}'
        for name, kind in [
            ("X", "INT32"),
            ("START", "INT32"),
            ("END", "INT32"),
            ("READY", "INT32"),
            ("CORRID", "UINT64"),
        ]
    )
    add_mirror(
        model_repository,
        "direct",
        groups="{ count: 2 kind: KIND_CPU rate_limiter { resources { name: 'R' count: 1 } } }, "
        "{ count: 1 kind: KIND_CPU passive: true }",
        extra=f'model_warmup {{ name: "zeros" batch_size: 1 {warmup} }}',
    )
    server = server_factory(
        model_repository, "--rate-limit=execution_count", "--rate-limit-resource=R:1"
    )

    # More sequences than the four slots of the two instances that serve.
    client = Client(server, "grpc")
    results = [background(client, "run", "direct", sequence) for sequence in range(1, 8)]
    for result in results:
        assert result.result(ANSWER_SECONDS) == [0, 1, 2, 3]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_sequences_finish_at_shutdown(
    server_factory: ServerFactory, model_repository: ModelRepository, protocol: str
) -> None:
    add_mirror(model_repository, "direct")
    server = server_factory(model_repository)
    client = Client(server, protocol)
    client.infer("direct", 1, 1, "s")
    server.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + ANSWER_SECONDS
    while (text := refusal(client, 2)) is None:
        assert time.monotonic() < deadline
    assert text == STOPPING
    assert seen(client.infer("direct", 2, 1), "START") == [0]
    assert seen(client.infer("direct", 3, 1, "e"), "END") == [1]
    assert server.wait_exit() == 0


def refusal(client: Client, sequence: int) -> str | None:
    """The error of a new sequence; None if it may begin, in which case it is ended again."""
    try:
        client.infer("direct", 0, sequence, "se")
    except InferenceServerException as error:
        return str(error.message())
    return None


def test_controls_that_the_model_does_not_have(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    errors = {
        "missing": (
            '"READY"',
            '"PREPARED"',
            "unable to load model 'missing', configuration expects 6 inputs, model provides 5: "
            "unexpected inference CONTROL_SEQUENCE_READY input 'PREPARED', allowed inputs are: X, "
            "START, END, READY, CORRID",
        ),
        "other_type": (
            "int32_false_true",
            "fp32_false_true",
            "unable to load model 'other_type', configuration expects datatype TYPE_FP32 for "
            "CONTROL_SEQUENCE_START input 'START', model provides TYPE_INT32",
        ),
        "twice": (
            '"READY"',
            '"START"',
            "sequence batching control tensor 'START' is specified for multiple control kinds "
            "for twice",
        ),
    }
    for model, (right, wrong, _) in errors.items():
        add_mirror(model_repository, model)
        config = model_repository.root / model / "config.pbtxt"
        config.write_text(config.read_text().replace(right, wrong))
    add_mirror(model_repository, "good")
    server = server_factory(
        model_repository, "--exit-on-error=false", wait_for="/v2/models/good/ready"
    )
    log = server.log_text()
    for _, _, text in errors.values():
        assert text in log
