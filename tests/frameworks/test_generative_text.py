# SPDX-License-Identifier: Apache-2.0
"""Text in, text out: the backend generative with a tokenizer, by all protocols."""

from __future__ import annotations

import json
import queue
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
import tritonclient.grpc

from frameworks import generative_networks, openvino_networks
from frameworks.generative_networks import END, text_of, tokens_of
from support import raw_http
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository, parameters_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "generative").is_dir() or not openvino_networks.WHEEL.is_dir(),
    reason="the backend generative is not staged: make stage BACKENDS=openvino",
)

EXACT = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": "1"}
# Letters, longer tokens, and the bytes of characters, so that some are whole and others are not.
# Eight blocks of 32 tokens: two layers, keys and values, two heads of 32 floats.
FEW_BLOCKS = 8 * 32 * 2 * 2 * 2 * 32 * 4
LIKELY = {*tokens_of("cd the abéa 🦜"), *(byte + 1 for byte in "é🦜".encode())}
BIAS = {str(token): 100 for token in LIKELY}
PROMPT = "the prompt: é"
NEW_TOKENS = 60
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"


def save_text_models(repository: ModelRepository) -> None:
    generative_networks.save(repository.add("bare", None) / "1", tokenizer=True)
    config = f'backend: "generative"\n{parameters_text(EXACT)}'
    generative_networks.save(repository.add("tokens", config) / "1")
    one = 'output { name: "text_output" data_type: TYPE_STRING dims: [ 1 ] }'
    generative_networks.save(
        repository.add("one_text", f"{config}\n{one}") / "1", tokenizer=True
    )
    for name in ("chat", "half", "broken", "swapped"):
        generative_networks.save(repository.add(name, config) / "1", tokenizer=True)
    root = repository.root
    brief = parameters_text({**EXACT, "default_max_tokens": "7"})
    generative_networks.save(
        repository.add("brief", f'backend: "generative"\n{brief}') / "1", tokenizer=True
    )
    single = {**EXACT, "max_sequences": "1", "default_priority_level": "3"}
    generative_networks.save(
        repository.add("one_by_one", f'backend: "generative"\n{parameters_text(single)}') / "1",
        tokenizer=True,
    )
    few = parameters_text({**EXACT, "kv_cache_bytes": str(FEW_BLOCKS)})
    generative_networks.save(
        repository.add("few_blocks", f'backend: "generative"\n{few}') / "1", tokenizer=True
    )
    (root / "chat/1/chat_template.jinja").write_text(TEMPLATE)
    (root / "half/1/openvino_detokenizer.xml").unlink()
    (root / "broken/1/openvino_tokenizer.xml").write_text("<net")
    for kind in ("xml", "bin"):
        shutil.copy(
            root / f"swapped/1/openvino_tokenizer.{kind}",
            root / f"swapped/1/openvino_detokenizer.{kind}",
        )
    tensor = 'input { name: "text_input" data_type: TYPE_STRING dims: [ 1 ] }'
    generative_networks.save(repository.add("no_tokenizer", f"{config}\n{tensor}") / "1")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("generative_text")
    repository = ModelRepository(folder / "models")
    save_text_models(repository)
    process = start_nereid(repository.root, folder / "log", ["--exit-on-error=false"])
    try:
        process.wait_for("/v2/health/live")
        process.wait_for("/v2/models/chat/ready")
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="module")
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"http://{server.http_url}/v1", api_key="none", max_retries=0) as made:
        yield made


def asked(text: str = PROMPT, count: int = NEW_TOKENS, **parameters: Any) -> dict[str, Any]:
    chosen = {"temperature": 0, "ignore_eos": True, "logit_bias": BIAS, **parameters}
    return {"text_input": text, "max_tokens": count, "sampling_parameters": json.dumps(chosen)}


def generate(server: ServerProcess, document: dict[str, Any], model: str = "chat") -> Any:
    answer = raw_http.post_json(server.http_url, f"/v2/models/{model}/generate", document)
    assert answer.status == 200, answer.body
    return answer.json()


def events(server: ServerProcess, document: dict[str, Any], model: str = "chat") -> list[Any]:
    path = f"/v2/models/{model}/generate_stream"
    answer = raw_http.post_json(server.http_url, path, {**document, "stream": True})
    lines = [line for line in answer.body.decode().split("\n\n") if line]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def flat(parts: list[Any]) -> list[int]:
    return [token for part in parts for token in (part if isinstance(part, list) else [part])]


def test_a_text_is_that_of_its_tokens(server: ServerProcess) -> None:
    answer = generate(server, asked())
    tokens = answer["output_ids"]
    assert len(tokens) == NEW_TOKENS
    assert answer["text_output"] == text_of(tokens)
    assert any(character in answer["text_output"] for character in "é🦜")
    assert answer["finish_reason"] == "length"
    assert answer["num_input_tokens"] == len(tokens_of(PROMPT))
    assert answer["num_output_tokens"] == NEW_TOKENS
    by_tokens = {**asked(), "input_ids": tokens_of(PROMPT)}
    del by_tokens["text_input"]
    assert generate(server, by_tokens)["text_output"] == answer["text_output"]


def test_parts_of_a_stream_are_the_text(server: ServerProcess) -> None:
    whole = generate(server, asked())
    parts = events(server, asked())
    assert len(parts) > 10
    assert "".join(part["text_output"] for part in parts) == whole["text_output"]
    assert flat([part["output_ids"] for part in parts]) == whole["output_ids"]
    assert sum(part["num_output_tokens"] for part in parts) == NEW_TOKENS
    assert [part["finish_reason"] for part in parts[:-1]] == [""] * (len(parts) - 1)
    assert parts[-1]["finish_reason"] == "length"
    assert all(part["text_output"] for part in parts[:-1])


def test_texts_in_company(server: ServerProcess) -> None:
    prompts = [f"{number} {PROMPT}" for number in range(8)]
    alone = [generate(server, asked(prompt))["text_output"] for prompt in prompts]
    assert len(set(alone)) > 1
    with ThreadPoolExecutor(16) as threads:
        many = list(
            threads.map(lambda one: generate(server, asked(one))["text_output"], prompts * 2)
        )
    assert many == alone * 2


def stop_in(answer: dict[str, Any]) -> str:
    """A part of the text that begins and ends within tokens, and is not there before."""
    text = answer["text_output"]
    pieces = [text_of([token]) for token in answer["output_ids"]]
    for begin in range(20, len(text) - 4):
        stop = text[begin : begin + 4]
        if text.index(stop) == begin and not any(stop in piece for piece in pieces):
            return stop
    raise AssertionError(f"no part of {text!r} is there only once")


def test_stop_strings_across_tokens(server: ServerProcess) -> None:
    whole = generate(server, asked())
    text = whole["text_output"]
    stop = stop_in(whole)
    before = text[: text.index(stop)]
    stopped = generate(server, asked(stop=["never", stop]))
    assert (stopped["text_output"], stopped["finish_reason"]) == (before, "stop")
    assert len(stopped["output_ids"]) < NEW_TOKENS
    assert whole["output_ids"][: len(stopped["output_ids"])] == stopped["output_ids"]
    with_stop = generate(server, asked(stop=stop, include_stop_str_in_output=True))
    assert with_stop["text_output"] == before + stop
    parts = events(server, asked(stop=stop))
    assert "".join(part["text_output"] for part in parts) == before
    assert parts[-1]["finish_reason"] == "stop"
    late = generate(server, asked(stop=stop, min_tokens=NEW_TOKENS))
    assert late["text_output"] == text


def test_logprobs(server: ServerProcess) -> None:
    """Each token's, and none unless they are wanted."""
    assert "logprobs" not in generate(server, asked())
    whole = generate(server, asked(logprobs=3))
    tokens = json.loads(whole["logprobs"])
    assert [int(next(iter(token))) for token in tokens] == whole["output_ids"]
    assert whole["output_ids"] == generate(server, asked())["output_ids"]
    for token in tokens:
        chosen, *others = token.values()
        others = sorted([*others, chosen], key=lambda one: one["rank"])[:3]
        assert [one["rank"] for one in others] == [1, 2, 3]
        logprobs = [one["logprob"] for one in others]
        assert logprobs == sorted(logprobs, reverse=True)
        assert sum(np.exp(logprobs)) <= 1 + 1e-6
    parts = events(server, asked(logprobs=3))
    assert [one for part in parts for one in json.loads(part["logprobs"])] == tokens


def test_logprobs_are_those_of_the_network(server: ServerProcess) -> None:
    """All tokens together are certain, and sampling changes nothing."""
    first = json.loads(generate(server, asked(count=1, logprobs=20))["logprobs"])[0]
    other = json.loads(generate(server, asked(count=1, logprobs=20, logit_bias={"98": 100}))["logprobs"])[0]
    chosen = list(other.items())[0]
    assert (chosen[0], chosen[1]["decoded_token"]) == ("98", "a")
    shared = first.keys() & other.keys()
    assert len(shared) >= 19
    assert all(first[token] == other[token] for token in shared)


def test_choices(server: ServerProcess) -> None:
    """Each is the text of its own seed, streamed and whole, and the prompt is computed once."""

    def cached() -> float:
        return metric(server.metrics_url, "nereid_generation_cached_tokens", model="chat")

    prompt = "a prompt of more than sixty-four bytes, that nobody else has: 8261904"
    drawn: dict[str, Any] = {"temperature": 2, "logit_bias": {}, "seed": 7, "count": 20}
    before = cached()
    whole = generate(server, asked(prompt, n=4, **drawn))
    poll_until("blocks found", lambda: cached() >= before + 3 * 64)
    alone = [generate(server, asked(prompt, **{**drawn, "seed": 7 + i})) for i in range(4)]
    assert whole["text_output"] == [one["text_output"] for one in alone]
    assert len(set(whole["text_output"])) == 4
    assert whole["output_ids"] == [token for one in alone for token in one["output_ids"]]
    assert whole["num_output_tokens"] == [20] * 4
    assert whole["num_input_tokens"] == len(tokens_of(prompt))
    assert whole["finish_reason"] == ["length"] * 4
    parts = events(server, asked(prompt, n=4, **drawn))
    texts = ["".join(part["text_output"][i] for part in parts) for i in range(4)]
    assert texts == whole["text_output"]
    reasons = ["".join(part["finish_reason"][i] for part in parts) for i in range(4)]
    assert reasons == ["length"] * 4


def test_choices_that_end_at_different_times(server: ServerProcess) -> None:
    drawn: dict[str, Any] = {"temperature": 2, "logit_bias": {str(END): 4}, "ignore_eos": False, "seed": 3}
    whole = generate(server, asked(n=8, count=40, logprobs=0, **drawn))
    counts = whole["num_output_tokens"]
    assert len(set(counts)) > 3
    assert [len(json.loads(one)) for one in whole["logprobs"]] == counts
    assert sum(counts) == len(whole["output_ids"])
    parts = events(server, asked(n=8, count=40, **drawn))
    texts = ["".join(part["text_output"][i] for part in parts) for i in range(8)]
    assert texts == whole["text_output"]
    reasons = ["".join(part["finish_reason"][i] for part in parts) for i in range(8)]
    assert reasons == whole["finish_reason"] == ["stop" if n < 40 else "length" for n in counts]


def test_an_end_token_is_no_text(server: ServerProcess) -> None:
    document = asked(ignore_eos=False, logit_bias={str(END): 100}, min_tokens=5)
    answer = generate(server, document)
    assert (len(answer["output_ids"]), answer["output_ids"][-1]) == (6, END)
    assert answer["text_output"] == text_of(answer["output_ids"][:-1])
    assert answer["finish_reason"] == "stop"


def test_without_configuration(server: ServerProcess) -> None:
    config = raw_http.get(server.http_url, "/v2/models/bare/config").json()
    assert [one["name"] for one in config["input"]] == [
        "text_input",
        "input_ids",
        "max_tokens",
        "stream",
        "sampling_parameters",
    ]
    assert all(one["optional"] for one in config["input"])
    assert [one["name"] for one in config["output"]] == [
        "text_output",
        "output_ids",
        "logprobs",
        "finish_reason",
        "num_input_tokens",
        "num_output_tokens",
    ]
    assert "top_k" in config["parameters"]["openai.takes"]["string_value"]
    # It has no chat template.
    assert "openai.chat_template" not in config["parameters"]
    assert len(generate(server, asked(), "bare")["output_ids"]) == NEW_TOKENS


@pytest.mark.parametrize(
    ("document", "model", "error"),
    [
        (
            {"max_tokens": 3},
            "chat",
            "the request has neither of 'text_input' and 'input_ids': expected one of them",
        ),
        (
            {**asked(), "input_ids": [1]},
            "chat",
            "the request has both of 'text_input' and 'input_ids': expected one of them",
        ),
        (
            asked(n=2),
            "one_text",
            "sampling parameter 'n' is 2, and the configuration has outputs for one text: expected "
            "1, or the dimensions [ -1 ] of all outputs",
        ),
        (asked(""), "chat", "input 'text_input' is empty: expected a token or more"),
        (
            {"input_ids": [1], "sampling_parameters": '{"stop": "a"}'},
            "tokens",
            "sampling parameter 'stop' is about text, and the model has no tokenizer: expected "
            "'stop_token_ids'",
        ),
        (
            asked("a " * 5000, 1000),
            "chat",
            "the prompt of 10000 tokens and 1000 new ones are more than the 8192 tokens of the "
            "network's context",
        ),
    ],
)
def test_refusals(server: ServerProcess, document: dict[str, Any], model: str, error: str) -> None:
    answer = raw_http.post_json(server.http_url, f"/v2/models/{model}/generate", document)
    assert (answer.status, answer.error()) == (400, error)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            "half",
            "has 'openvino_tokenizer.xml' but not 'openvino_detokenizer.xml': expected both",
        ),
        ("broken", "failed to load the tokenizer in"),
        ("swapped", "openvino_detokenizer.xml' is no detokenizer: expected an input of integers"),
        ("no_tokenizer", "because there is no openvino_tokenizer.xml"),
    ],
)
def test_models_that_do_not_load(server: ServerProcess, model: str, reason: str) -> None:
    index = raw_http.post_json(server.http_url, "/v2/repository/index", {}).json()
    (found,) = [one for one in index if one["name"] == model]
    assert reason in found["reason"]
    assert "\n" not in found["reason"]


def bytes_input(name: str, value: bytes) -> Any:
    tensor = tritonclient.grpc.InferInput(name, [1], "BYTES")
    tensor.set_data_from_numpy(np.array([value], object))
    return tensor


class GrpcStream:
    """A gRPC stream with one request for a text."""

    def __init__(
        self,
        server: ServerProcess,
        document: dict[str, Any],
        text: bytes,
        model: str = "chat",
        **order: int,
    ) -> None:
        self._client = tritonclient.grpc.InferenceServerClient(server.grpc_url)
        self._results: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self._client.start_stream(callback=lambda result, error: self._results.put((result, error)))
        count = tritonclient.grpc.InferInput("max_tokens", [1], "INT64")
        count.set_data_from_numpy(np.array([document["max_tokens"]], np.int64))
        stream = tritonclient.grpc.InferInput("stream", [1], "BOOL")
        stream.set_data_from_numpy(np.array([True]))
        sampling = bytes_input("sampling_parameters", document["sampling_parameters"].encode())
        wanted = ("text_output", "finish_reason")
        outputs = [tritonclient.grpc.InferRequestedOutput(name) for name in wanted]
        self._client.async_stream_infer(
            model,
            [bytes_input("text_input", text), count, stream, sampling],
            outputs=outputs,
            **order,
        )

    def next(self) -> Any:
        result, error = self._results.get(timeout=30)
        if error is not None:
            raise error
        return result

    def close(self, cancel: bool = False) -> None:
        self._client.stop_stream(cancel_requests=cancel)
        self._client.close()


def test_stream_over_grpc(server: ServerProcess) -> None:
    """It names the outputs that it wants, and gets no others."""
    stream = GrpcStream(server, asked(), PROMPT.encode())
    text, reason = b"", b""
    while not reason:
        result = stream.next()
        assert result.as_numpy("output_ids") is None
        text += result.as_numpy("text_output")[0]
        reason = result.as_numpy("finish_reason")[0]
    stream.close()
    assert (text.decode(), reason) == (generate(server, asked())["text_output"], b"length")


def test_what_is_no_text_is_refused(server: ServerProcess) -> None:
    stream = GrpcStream(server, asked(), b"\xff")
    with pytest.raises(Exception, match="input 'text_input' is not UTF-8: expected a text"):
        stream.next()
    stream.close()


@pytest.mark.parametrize("choices", [1, 3])
def test_a_cancelled_stream_gives_its_blocks_back(server: ServerProcess, choices: int) -> None:
    def value(name: str, model: str = "chat") -> float:
        return metric(server.metrics_url, f"nereid_generation_{name}", model=model)

    stream = GrpcStream(server, asked(count=2500, n=choices), PROMPT.encode())
    assert stream.next().as_numpy("text_output")[0]
    poll_until("blocks in use", lambda: value("blocks_used") > 0)
    poll_until("all choices", lambda: value("requests_running") == choices)
    stream.close(cancel=True)
    poll_until("all blocks back", lambda: value("blocks_used") == 0)
    assert value("requests_running") == 0
    assert value("blocks", "few_blocks") == 8


def test_an_urgent_request_comes_first(server: ServerProcess) -> None:
    """By a parameter of the request, and by a sampling parameter."""

    def preemptions() -> float:
        return metric(server.metrics_url, "nereid_generation_preemptions", model="one_by_one")

    stream = GrpcStream(server, asked(count=4000), PROMPT.encode(), "one_by_one")
    assert stream.next().as_numpy("text_output")[0]
    for request in ({**asked(count=3), "priority": 1, "tenant": "me"}, asked(count=3, priority=2)):
        before = preemptions()
        assert len(generate(server, request, "one_by_one")["output_ids"]) == 3
        poll_until("preempted", lambda before=before: preemptions() == before + 1)
    before = preemptions()
    other = GrpcStream(server, asked(count=1), PROMPT.encode(), "one_by_one", priority=1)
    assert other.next().as_numpy("finish_reason")[0] == b"length"
    poll_until("preempted over gRPC", lambda: preemptions() == before + 1)
    other.close()
    stream.close(cancel=True)


def test_a_timeout_ends_a_request(server: ServerProcess) -> None:
    document = {**asked(count=8000), "timeout": 20000}
    answer = raw_http.post_json(server.http_url, "/v2/models/chat/generate", document)
    error = "the request was not complete within its timeout of 20000 microseconds"
    assert (answer.status, answer.error()) == (503, error)


def test_a_timeout_ends_a_stream(server: ServerProcess) -> None:
    stream = GrpcStream(server, asked(count=8000), PROMPT.encode(), timeout=20000)
    with pytest.raises(Exception, match="not complete within its timeout of 20000 microseconds"):
        while stream.next():
            pass
    stream.close()


def test_a_tenant_is_a_text(server: ServerProcess) -> None:
    document = {**asked(count=3), "tenant": 3}
    answer = raw_http.post_json(server.http_url, "/v2/models/chat/generate", document)
    assert (answer.status, answer.error()) == (
        400,
        "parameter 'tenant' is no text: expected a name",
    )


def test_metrics(server: ServerProcess) -> None:
    def value(name: str) -> float:
        return metric(
            server.metrics_url, f"nereid_generation_{name}", model="bare", version="1"
        )

    def values() -> dict[str, float]:
        names = ("prompt_tokens", "tokens", "cached_tokens")
        found = {name: value(name) for name in names}
        for which in ("first", "next"):
            found[which] = value(f"{which}_token_duration_seconds_count")
        return found

    before = values()
    prompt = "one prompt of more than 32 tokens, which fill a block"
    for _ in range(2):
        generate(server, asked(prompt, 10), "bare")
    poll_until("all tokens counted", lambda: values()["tokens"] == before["tokens"] + 20)
    added = {name: value - before[name] for name, value in values().items()}
    assert added == {
        "prompt_tokens": 2 * len(tokens_of(prompt)),
        "tokens": 20,
        "cached_tokens": 32,
        "first": 2,
        "next": 18,
    }


# ---- The routes of OpenAI's API, by its official client.
GREEDY: dict[str, Any] = {"temperature": 0, "max_tokens": NEW_TOKENS}
FURTHER = {"ignore_eos": True, "logit_bias": BIAS}


def test_models(client: openai.OpenAI) -> None:
    names = {model.id for model in client.models.list()}
    assert {"chat", "bare"} <= names
    assert "tokens" not in names


def test_completions(server: ServerProcess, client: openai.OpenAI) -> None:
    text = generate(server, asked())["text_output"]
    whole = client.completions.create(model="chat", prompt=PROMPT, **GREEDY, extra_body=FURTHER)
    assert (whole.choices[0].text, whole.choices[0].finish_reason) == (text, "length")
    assert whole.usage is not None
    counts = (whole.usage.prompt_tokens, whole.usage.completion_tokens)
    assert counts == (len(tokens_of(PROMPT)), NEW_TOKENS)
    parts = list(
        client.completions.create(
            model="chat",
            prompt=PROMPT,
            stream=True,
            stream_options={"include_usage": True},
            **GREEDY,
            extra_body=FURTHER,
        )
    )
    assert "".join(part.choices[0].text for part in parts if part.choices) == text
    assert parts[-1].usage == whole.usage


def test_chats(server: ServerProcess, client: openai.OpenAI) -> None:
    """With the template that lies beside the model, and no configuration for it."""
    messages: list[Any] = [
        {"role": "system", "content": "be é"},
        {"role": "user", "content": "the"},
    ]
    prompt = "<|im_start|>system\nbe é<|im_end|>\n<|im_start|>user\nthe<|im_end|>\n"
    prompt += "<|im_start|>assistant\n"
    answer = generate(server, asked(prompt))
    stop = stop_in(answer)
    text = answer["text_output"]
    whole = client.chat.completions.create(
        model="chat", messages=messages, **GREEDY, extra_body=FURTHER
    )
    (choice,) = whole.choices
    assert (choice.message.content, choice.finish_reason) == (text, "length")
    parts = list(
        client.chat.completions.create(
            model="chat", messages=messages, stop=[stop], stream=True, **GREEDY, extra_body=FURTHER
        )
    )
    contents = [part.choices[0].delta.content or "" for part in parts]
    assert "".join(contents) == text[: text.index(stop)]
    assert parts[-1].choices[0].finish_reason == "stop"
    with pytest.raises(openai.BadRequestError, match="'<|im_end|>'"):
        client.chat.completions.create(
            model="chat", messages=[{"role": "user", "content": "a<|im_end|>"}], **GREEDY
        )


def test_logprobs_of_completions(client: openai.OpenAI) -> None:
    chosen: dict[str, Any] = {**GREEDY, "logprobs": 2, "extra_body": FURTHER}
    whole = client.completions.create(model="chat", prompt=PROMPT, **chosen).choices[0]
    found = whole.logprobs
    assert found is not None and found.tokens and found.token_logprobs and found.text_offset
    assert found.top_logprobs is not None
    assert len(found.tokens) == len(found.token_logprobs) == NEW_TOKENS
    assert len(found.top_logprobs) == len(found.text_offset) == NEW_TOKENS
    assert all(1 <= len(top) <= 3 for top in found.top_logprobs)
    assert all(
        top[token] == logprob
        for token, logprob, top in zip(
            found.tokens, found.token_logprobs, found.top_logprobs, strict=True
        )
        if token != "\ufffd"
    )
    whole_tokens = [token for token in found.tokens if token != "\ufffd"]
    assert len(whole_tokens) > 10
    assert all(token in whole.text for token in whole_tokens)
    parts = client.completions.create(model="chat", prompt=PROMPT, stream=True, **chosen)
    pieces = [part.choices[0].logprobs for part in parts if part.choices]
    for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset"):
        joined = [one for piece in pieces if piece for one in getattr(piece, name)]
        assert joined == getattr(found, name)


def test_logprobs_of_chats(client: openai.OpenAI) -> None:
    chosen: dict[str, Any] = {
        "messages": [{"role": "user", "content": "the"}],
        "logprobs": True,
        "top_logprobs": 4,
        "temperature": 0,
        "max_tokens": 9,
        "extra_body": {"ignore_eos": True, "logit_bias": {"98": 100}},
    }
    whole = client.chat.completions.create(model="chat", **chosen).choices[0]
    assert whole.logprobs is not None and whole.logprobs.content
    assert [token.token for token in whole.logprobs.content] == ["a"] * 9
    assert all(token.bytes == [97] for token in whole.logprobs.content)
    assert all(len(token.top_logprobs) == 4 for token in whole.logprobs.content)
    assert whole.logprobs.content[0].top_logprobs[0].logprob >= whole.logprobs.content[0].logprob
    parts = client.chat.completions.create(model="chat", stream=True, **chosen)
    pieces = [part.choices[0].logprobs for part in parts]
    joined = [one for piece in pieces if piece for one in piece.content or []]
    assert joined == whole.logprobs.content
    with pytest.raises(openai.BadRequestError, match="'top_logprobs' should be there only if"):
        client.chat.completions.create(model="chat", **{**chosen, "logprobs": False})


@pytest.mark.parametrize("stop", [None, "a"])
def test_choices_of_chats(client: openai.OpenAI, stop: str | None) -> None:
    chosen: dict[str, Any] = {
        "messages": [{"role": "user", "content": "the"}],
        "n": 3,
        "seed": 5,
        "temperature": 1.5,
        "max_tokens": 30,
        "stop": stop,
        "extra_body": {"ignore_eos": True, "logit_bias": {"98": 3}},
    }
    whole = client.chat.completions.create(model="chat", **chosen)
    assert [choice.index for choice in whole.choices] == [0, 1, 2]
    contents = [choice.message.content for choice in whole.choices]
    assert len(set(contents)) == 3
    assert whole.usage is not None
    if stop is None:
        assert whole.usage.completion_tokens == 90
    parts = list(
        client.chat.completions.create(
            model="chat", stream=True, stream_options={"include_usage": True}, **chosen
        )
    )
    texts = [""] * 3
    reasons: list[list[str]] = [[], [], []]
    for part in parts:
        for choice in part.choices:
            texts[choice.index] += choice.delta.content or ""
            reasons[choice.index] += [choice.finish_reason] if choice.finish_reason else []
    assert texts == contents
    assert reasons == [[choice.finish_reason] for choice in whole.choices]
    assert parts[-1].usage == whole.usage


def test_a_seed_gives_the_same_text(client: openai.OpenAI) -> None:
    def drawn(seed: int) -> str:
        chosen = {"seed": seed, "temperature": 1.5, "max_tokens": 30}
        answer = client.completions.create(
            model="chat", prompt=PROMPT, **chosen, extra_body=FURTHER
        )
        return answer.choices[0].text

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


@pytest.mark.parametrize(("model", "count"), [("chat", 512), ("brief", 7)])
def test_without_max_tokens_the_default_holds(
    server: ServerProcess, client: openai.OpenAI, model: str, count: int
) -> None:
    further = {"ignore_eos": True, "logit_bias": {"98": 100}}
    text = client.completions.create(
        model=model, prompt=PROMPT, temperature=0, extra_body=further
    )
    assert (text.choices[0].text, text.choices[0].finish_reason) == ("a" * count, "length")
    by_tokens = {"input_ids": [98], "sampling_parameters": json.dumps(further)}
    assert generate(server, by_tokens, model)["output_ids"] == [98] * count


def test_without_max_tokens_an_answer_has_the_room_that_there_is(client: openai.OpenAI) -> None:
    whole = client.completions.create(
        model="few_blocks",
        prompt=PROMPT,
        temperature=0,
        stop="🦜",
        extra_body={"logit_bias": {"98": 100}},
    )
    assert whole.usage is not None
    assert whole.usage.total_tokens == 256
    assert whole.choices[0].text == "a" * whole.usage.completion_tokens
    assert whole.choices[0].finish_reason == "length"


@pytest.mark.parametrize(
    "field", [{"suffix": "end"}, {"best_of": 2}, {"beams": 4}]
)
def test_fields_that_are_refused(client: openai.OpenAI, field: dict[str, Any]) -> None:
    (name,) = field
    with pytest.raises(openai.BadRequestError, match=f"'{name}'") as caught:
        client.completions.create(model="chat", prompt=PROMPT, extra_body=field)
    assert caught.value.param == name


def test_a_value_that_the_backend_refuses(client: openai.OpenAI) -> None:
    expected = "sampling parameter 'top_k' is -2: expected an integer"
    with pytest.raises(openai.BadRequestError, match=expected):
        client.completions.create(model="chat", prompt=PROMPT, extra_body={"top_k": -2})
