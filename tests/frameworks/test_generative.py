# SPDX-License-Identifier: Apache-2.0
"""The backend generative gives the tokens of the runtime's own execution of the same file."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc

from frameworks import generative_networks, openvino_networks
from support import raw_http
from support.poll import poll_until
from support.nereid import start_nereid
from support.repository import ModelRepository, parameters_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "generative").is_dir() or not openvino_networks.WHEEL.is_dir(),
    reason="the backend generative is not staged: make stage BACKENDS=openvino",
)

# So that the order of additions, and with it the tokens, are the same in all company.
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": "1"}
GREEDY = {"temperature": 0, "ignore_eos": True}
# Eight blocks of 32 tokens: two layers, keys and values, two heads of 32 floats.
FEW_BLOCKS = 8 * 32 * 2 * 2 * 2 * 32 * 4
NEW_TOKENS = 40


def prompts() -> list[list[int]]:
    """Of several lengths around that of a block; pairs of them begin alike."""
    random = np.random.default_rng(3)
    lengths = (1, 5, 31, 32, 33, 64, 70, 100)
    begun = [random.integers(1, 257, length).tolist() for length in lengths]
    return begun + [[*one, 7, 8, 9] for one in begun[3:]]


class Alone:
    """The file in the runtime, as optimum runs it: with states, one token after the other."""

    def __init__(self, path: Path) -> None:
        runtime = openvino_networks.import_openvino()
        settings = {
            "INFERENCE_PRECISION_HINT": "f32",
            "KV_CACHE_PRECISION": "f32",
            "INFERENCE_NUM_THREADS": 1,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0",
        }
        self._request = runtime.Core().compile_model(str(path), "CPU", settings).create_infer_request()

    def tokens(self, prompt: Sequence[int], count: int) -> list[int]:
        self._request.reset_state()
        tokens: list[int] = []
        new, past = list(prompt), 0
        while len(tokens) < count:
            whole = past + len(new)
            results = self._request.infer(
                {
                    "input_ids": np.array([new]),
                    "attention_mask": np.ones((1, whole), np.int64),
                    "position_ids": np.arange(past, whole)[None],
                    "beam_idx": np.zeros(1, np.int32),
                }
            )
            logits = next(iter(results.values()))
            past, new = whole, [int(logits[0, -1].argmax())]
            tokens += new
        return tokens


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("generative")
    repository = ModelRepository(folder / "models")
    generative_networks.save(repository.add("bare", None) / "1")
    for name, parameters in {
        "small": {},
        "few_blocks": {"kv_cache_bytes": str(FEW_BLOCKS), "max_step_tokens": "24", "max_sequences": "8"},
        "uncached": {"prefix_cache": "false"},
        "no_block": {"kv_cache_bytes": "100"},
    }.items():
        config = f'backend: "generative"\n{parameters_text({**EXACT, **parameters})}'
        generative_networks.save(repository.add(name, config) / "1")
    networks = repository.add("no_decoder", 'backend: "generative"') / "1"
    openvino_networks.save_mlp(folder / "mlp.onnx")
    openvino_networks.onnx_to_ir(folder / "mlp.onnx", networks / "openvino_model.xml")
    process = start_nereid(repository.root, folder / "log", ["--exit-on-error=false"])
    try:
        process.wait_for("/v2/health/live")
        process.wait_for("/v2/models/bare/ready")
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[list[int]]:
    folder = tmp_path_factory.mktemp("alone")
    generative_networks.save(folder)
    alone = Alone(folder / "openvino_model.xml")
    return [alone.tokens(prompt, NEW_TOKENS) for prompt in prompts()]


def greedy(prompt: Sequence[int], count: int = NEW_TOKENS, **parameters: Any) -> dict[str, Any]:
    chosen = json.dumps({**GREEDY, **parameters})
    return {"input_ids": list(prompt), "max_tokens": count, "sampling_parameters": chosen}


def generate(server: ServerProcess, model: str, document: dict[str, Any]) -> raw_http.HttpAnswer:
    return raw_http.post_json(server.http_url, f"/v2/models/{model}/generate", document)


def tokens_of(server: ServerProcess, model: str, document: dict[str, Any]) -> list[int]:
    answer = generate(server, model, document)
    assert answer.status == 200, answer.body
    tokens = answer.json()["output_ids"]
    return tokens if isinstance(tokens, list) else [tokens]


@pytest.mark.parametrize("model", ["small", "few_blocks", "uncached"])
def test_tokens_alone(server: ServerProcess, expected: list[list[int]], model: str) -> None:
    for prompt, tokens in zip(prompts(), expected, strict=True):
        assert tokens_of(server, model, greedy(prompt)) == tokens


@pytest.mark.parametrize("model", ["small", "few_blocks", "uncached"])
def test_tokens_in_company(server: ServerProcess, expected: list[list[int]], model: str) -> None:
    """In `few_blocks` all sequences together need several times the blocks that there are."""
    many = list(zip(prompts(), expected, strict=True)) * 3
    with ThreadPoolExecutor(len(many)) as threads:
        answers = list(threads.map(lambda one: tokens_of(server, model, greedy(one[0])), many))
    assert answers == [tokens for _, tokens in many]


def test_without_configuration(server: ServerProcess) -> None:
    config = raw_http.get(server.http_url, "/v2/models/bare/config").json()
    assert config["backend"] == "generative"
    assert config["model_transaction_policy"] == {"decoupled": True}
    assert [one["name"] for one in config["input"]] == [
        "input_ids",
        "max_tokens",
        "stream",
        "sampling_parameters",
    ]
    assert [one["name"] for one in config["output"]] == [
        "output_ids",
        "logprobs",
        "finish_reason",
        "num_input_tokens",
        "num_output_tokens",
    ]
    document = {"input_ids": [5, 7], "sampling_parameters": '{"ignore_eos": true}'}
    assert len(tokens_of(server, "bare", document)) == 512


def test_stream_over_http(server: ServerProcess, expected: list[list[int]]) -> None:
    """A token comes alone, or with those that followed while the client did not read."""
    document = {**greedy(prompts()[2]), "stream": True}
    path = "/v2/models/small/generate_stream"
    answer = raw_http.post_json(server.http_url, path, document)
    lines = [line for line in answer.body.decode().split("\n\n") if line]
    parts = [json.loads(line.removeprefix("data: "))["output_ids"] for line in lines]
    assert len(parts) > 1
    flat = [token for part in parts for token in (part if isinstance(part, list) else [part])]
    assert flat == expected[2]


class Stream:
    """A gRPC stream of requests."""

    def __init__(self, server: ServerProcess) -> None:
        self._client = tritonclient.grpc.InferenceServerClient(server.grpc_url)
        self._results: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self._client.start_stream(callback=lambda result, error: self._results.put((result, error)))

    def send(self, model: str, prompt: Sequence[int], count: int, **parameters: Any) -> None:
        values = {
            "input_ids": (np.array(prompt, np.int64), "INT64"),
            "max_tokens": (np.array([count], np.int64), "INT64"),
            "stream": (np.array([True]), "BOOL"),
            "sampling_parameters": (np.array([json.dumps({**GREEDY, **parameters})], object), "BYTES"),
        }
        inputs = []
        for name, (value, datatype) in values.items():
            tensor = tritonclient.grpc.InferInput(name, list(value.shape), datatype)
            tensor.set_data_from_numpy(value)
            inputs.append(tensor)
        self._client.async_stream_infer(model, inputs)

    def next(self) -> list[int]:
        result, error = self._results.get(timeout=30)
        if error is not None:
            raise error
        return result.as_numpy("output_ids").tolist()

    def close(self, cancel: bool = False) -> None:
        self._client.stop_stream(cancel_requests=cancel)
        self._client.close()


def test_stream_over_grpc(server: ServerProcess, expected: list[list[int]]) -> None:
    stream = Stream(server)
    stream.send("small", prompts()[4], NEW_TOKENS)
    tokens: list[int] = []
    while len(tokens) < NEW_TOKENS:
        tokens += stream.next()
    stream.close()
    assert tokens == expected[4]


def test_cancellation(server: ServerProcess) -> None:
    """A cancelled request ends long before its last token."""

    def ended() -> int:
        statistics = raw_http.get(server.http_url, "/v2/models/uncached/stats").json()
        responses = statistics["model_stats"][0]["response_stats"].values()
        return sum(one["cancel"]["count"] for one in responses)

    before = ended()
    stream = Stream(server)
    stream.send("uncached", [5, 7, 9], 8000)
    assert stream.next() != []
    stream.close(cancel=True)
    poll_until("the end of the request", lambda: ended() == before + 1)


def test_end_of_a_sequence(server: ServerProcess, expected: list[list[int]]) -> None:
    prompt, tokens = prompts()[1], expected[1]
    end = tokens[4]
    first = tokens.index(end)
    assert tokens_of(server, "small", greedy(prompt, stop_token_ids=[end])) == tokens[: first + 1]
    later = tokens_of(server, "small", greedy(prompt, stop_token_ids=[end], min_tokens=first + 1))
    assert later[:first] == tokens[:first]
    assert later[first] != end
    limited = {"input_ids": prompt, "sampling_parameters": json.dumps({**GREEDY, "max_tokens": 3})}
    assert tokens_of(server, "small", limited) == tokens[:3]


def test_the_network_says_what_ends_a_sequence(server: ServerProcess) -> None:
    """Its configuration names token 0."""
    wanted = {"temperature": 0, "logit_bias": {str(generative_networks.END): 100}}
    document = {"input_ids": [5, 7], "max_tokens": 5, "sampling_parameters": json.dumps(wanted)}
    assert tokens_of(server, "small", document) == [generative_networks.END]
    document["sampling_parameters"] = json.dumps({**wanted, "ignore_eos": True})
    assert tokens_of(server, "small", document) == [generative_networks.END] * 5


def test_the_same_seed_gives_the_same_tokens(server: ServerProcess) -> None:
    def drawn(seed: int) -> list[int]:
        return tokens_of(server, "small", greedy([5, 7, 9], temperature=1.5, seed=seed))

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


@pytest.mark.parametrize(
    ("model", "document", "error"),
    [
        ("small", greedy([]), "input 'input_ids' is empty: expected a token or more"),
        (
            "small",
            greedy([1, 261]),
            "input 'input_ids' has the token 261: expected tokens from 0 to 260",
        ),
        ("small", greedy([1], 0), "'max_tokens' is 0: expected 1 to 1073741824"),
        (
            "small",
            greedy([1, 2], 8191),
            "the prompt of 2 tokens and 8191 new ones are more than the 8192 tokens of the network's context",
        ),
        (
            "few_blocks",
            greedy([1, 2], 256),
            "the prompt of 2 tokens and 256 new ones never fit into the 256 tokens for which there is memory "
            "(parameter 'kv_cache_bytes')",
        ),
        (
            "small",
            greedy([1], top_p=2),
            "sampling parameter 'top_p' is 2: expected a number from 0 to 1",
        ),
    ],
)
def test_refusals(server: ServerProcess, model: str, document: dict[str, Any], error: str) -> None:
    answer = generate(server, model, document)
    assert (answer.status, answer.error()) == (400, error)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("no_block", "parameter 'kv_cache_bytes' is 100: expected 32768 or more, the size of a block"),
        ("no_decoder", "has no input 'input_ids': expected a decoder with states"),
    ],
)
def test_models_that_do_not_load(server: ServerProcess, model: str, reason: str) -> None:
    index = raw_http.post_json(server.http_url, "/v2/repository/index", {}).json()
    (found,) = [one for one in index if one["name"] == model]
    assert reason in found["reason"]
