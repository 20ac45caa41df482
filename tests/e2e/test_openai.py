# SPDX-License-Identifier: Apache-2.0
"""OpenAI's API with OpenAI's own client: synchronous, asynchronous, streams, errors."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from collections.abc import Iterator

import openai
import pytest

from support.metrics import metric
from support.nereid import INTERPRETER, start_nereid
from support.openai_models import EXAMPLE, LEFT_LINE, add_openai_models
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

HELLO = [{"role": "system", "content": "Repeat."}, {"role": "user", "content": "one two three"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("openai")
    models = ModelRepository(folder / "models")
    add_openai_models(models)
    server = start_nereid(models.root, folder / "log", [INTERPRETER])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def url_of(server: ServerProcess) -> str:
    return f"http://{server.http_url}/v1"


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    """Checks after each test that nothing is in flight."""
    with openai.OpenAI(base_url=url_of(server), api_key="none", max_retries=0) as client:
        yield client
    poll_until(
        "all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0
    )


def test_models(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["endless", "letters", "parrot", "tells"]
    model = client.models.retrieve("parrot")
    assert (model.id, model.object, model.owned_by) == ("parrot", "model", "nereid")
    for name in ("echo", "nobody"):
        with pytest.raises(openai.NotFoundError) as caught:
            client.models.retrieve(name)
        assert caught.value.code == "model_not_found"


def test_a_completion(client: openai.OpenAI) -> None:
    answer = client.completions.create(model="parrot", prompt="one two three", max_tokens=2)
    assert answer.id.startswith("cmpl-")
    assert (answer.object, answer.model) == ("text_completion", "parrot")
    (choice,) = answer.choices
    assert (choice.text, choice.finish_reason, choice.index) == ("one two", "length", 0)
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (3, 2)
    assert answer.usage.total_tokens == 5


def test_a_stream_of_a_completion(client: openai.OpenAI) -> None:
    events = list(client.completions.create(model="parrot", prompt="one two", stream=True))
    assert [event.choices[0].text for event in events] == ["one ", "two", ""]
    assert [event.choices[0].finish_reason for event in events] == [None, None, "stop"]
    assert len({event.id for event in events}) == 1


def test_a_chat(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="parrot", messages=HELLO)
    (choice,) = answer.choices
    assert (choice.message.role, choice.message.content) == ("assistant", "one two three")
    assert choice.finish_reason == "stop"
    assert answer.id.startswith("chatcmpl-")


def test_a_stream_of_a_chat_with_usage(client: openai.OpenAI) -> None:
    events = list(
        client.chat.completions.create(
            model="parrot", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    )
    assert events[0].choices[0].delta.role == "assistant"
    said = [event.choices[0].delta.content for event in events[:-1]]
    assert said == ["", "one ", "two ", "three", None]
    assert [event.usage for event in events[:-1]] == [None] * 5
    assert events[-1].choices == []
    assert events[-1].usage is not None
    assert events[-1].usage.total_tokens == 6


def test_what_a_model_gets(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="tells",
        messages=HELLO,
        temperature=0.5,
        max_completion_tokens=7,
        stop=["\n"],
        user="somebody",
        extra_body={"top_k": 3},
    )
    got = json.loads(answer.choices[0].message.content or "")
    assert got["text_input"] == "system: Repeat.\nuser: one two three\nassistant:"
    assert json.loads(got["sampling_parameters"]) == {
        "temperature": 0.5,
        "max_tokens": 7,
        "stop": ["\n"],
        "top_k": 3,
    }
    assert (got["stream"], got["exclude_input_in_output"]) == (False, True)
    assert got["parameters"]["user"] == "somebody"
    assert answer.usage is None  # the model counts nothing


def test_a_model_with_one_response_streams(client: openai.OpenAI) -> None:
    events = list(client.completions.create(model="tells", prompt="x", stream=True))
    assert len(events) == 2
    assert json.loads(events[0].choices[0].text)["stream"] is True
    assert events[1].choices[0].finish_reason == "stop"


def test_embeddings(client: openai.OpenAI) -> None:
    """The client asks for base64 unless it is told otherwise, and unpacks it."""
    for form in (None, "float"):
        more = {"encoding_format": form} if form else {}
        answer = client.embeddings.create(model="letters", input=["aab", "b"], **more)
        first, second = (item.embedding for item in answer.data)
        assert first[:3] == pytest.approx([0.894427, 0.447214, 0])
        assert second[:3] == [0, 1, 0]
        assert [item.index for item in answer.data] == [0, 1]
    assert len(client.embeddings.create(model="letters", input="one").data) == 1


def test_refusals(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.completions.create(model="nobody", prompt="x")
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as wrong:
        client.chat.completions.create(model="parrot", messages=HELLO, logprobs=True)
    assert (wrong.value.param, wrong.value.type) == ("logprobs", "invalid_request_error")
    with pytest.raises(openai.BadRequestError) as wrong:
        client.completions.create(model="parrot", prompt="x", n=2)
    assert wrong.value.param == "n"
    with pytest.raises(openai.BadRequestError, match="is not served by /v1/embeddings"):
        client.embeddings.create(model="parrot", input="x")
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="letters", input=["x"] * 17)  # a batch has 16


def test_errors_of_models(client: openai.OpenAI) -> None:
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError, match="asked to fail"):
            client.completions.create(model="tells", prompt="fail", stream=stream)
    with pytest.raises(openai.InternalServerError, match="asked to fail"):
        client.completions.create(model="endless", prompt="fail")
    # In the middle of a stream.
    with pytest.raises(openai.APIError, match="asked to fail"):
        list(client.completions.create(model="endless", prompt="fail", stream=True))


def test_a_client_that_leaves_cancels(client: openai.OpenAI, server: ServerProcess) -> None:
    before = server.log_text().count(LEFT_LINE)
    stream = client.completions.create(model="endless", prompt="x", stream=True)
    next(iter(stream))
    stream.close()
    poll_until("the model noticed", lambda: server.log_text().count(LEFT_LINE) > before)


@pytest.mark.asyncio
async def test_the_asynchronous_client(server: ServerProcess) -> None:
    async with openai.AsyncOpenAI(base_url=url_of(server), api_key="none") as client:
        answer = await client.completions.create(model="parrot", prompt="one")
        assert answer.choices[0].text == "one"
        said = []
        async for event in await client.chat.completions.create(
            model="parrot", messages=HELLO, stream=True
        ):
            said.append(event.choices[0].delta.content)
        assert said == ["", "one ", "two ", "three", None]


def test_the_example(server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ask.py", f"--url={url_of(server)}"])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as ended:
        runpy.run_path(str(EXAMPLE / "ask.py"), run_name="__main__")
    assert ended.value.code == 0
    page = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert printed.getvalue().split("\n", 1)[1] in page
    assert "models: letters, parrot" in page
