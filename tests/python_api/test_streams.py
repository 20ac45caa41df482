# SPDX-License-Identifier: Apache-2.0
"""Many responses to one request, and asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import nereid_server
import numpy as np
import pytest


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_a_stream_gives_all_responses(server: nereid_server.Server) -> None:
    responses = list(server.model("decoupled").stream({"INPUT0": ints(5)}))
    assert [response["OUTPUT0"].tolist() for response in responses] == [[5]] * 5
    assert list(server.model("silent").stream({"INPUT0": ints(5)})) == []
    assert len(list(server.model("identity_int32").stream({"INPUT0": ints(1)}))) == 1


def test_a_stream_raises_errors(server: nereid_server.Server) -> None:
    stream = server.model("fails_some").stream({"INPUT0": ints(-1)})
    with pytest.raises(nereid_server.InvalidArgumentError):
        next(stream)
    assert list(stream) == []


def test_a_stream_can_be_cancelled(server: nereid_server.Server) -> None:
    stream = server.model("wait_for_cancel").stream({"INPUT0": ints(1)})
    stream.cancel()
    with pytest.raises(nereid_server.CancelledError):
        next(stream)
    with server.model("wait_for_cancel").stream({"INPUT0": ints(1)}) as closed:
        pass
    assert list(closed) == []


def test_a_dropped_stream_is_cancelled(server: nereid_server.Server) -> None:
    model = server.model("wait_for_cancel")
    for _ in range(3):  # each would hold the only instance for 20 seconds
        model.stream({"INPUT0": ints(1)})
    stream = model.stream({"INPUT0": ints(1)}, timeout=10)
    stream.cancel()
    with pytest.raises(nereid_server.CancelledError):
        next(stream)


# `repeat` releases the request at once, sends one response, and would go on for ten hours.
LONG = {
    "IN": np.arange(600, dtype=np.int32),
    "DELAY": np.array([0] + [60_000] * 599, np.uint32),
    "WAIT": np.zeros(1, np.uint32),
}


def by_cancel(model: nereid_server.Model) -> None:
    stream = model.stream(LONG)
    assert next(stream)["OUT"] == [0]
    stream.cancel()
    with pytest.raises(nereid_server.CancelledError):
        next(stream)
    assert list(stream) == []


def by_close(model: nereid_server.Model) -> None:
    stream = model.stream(LONG)
    next(stream)
    stream.close()
    assert list(stream) == []


def by_del(model: nereid_server.Model) -> None:
    stream = model.stream(LONG)
    next(stream)
    del stream


def by_break(model: nereid_server.Model) -> None:
    with model.stream(LONG) as stream:
        for _ in stream:
            break


def by_timeout_of_infer(model: nereid_server.Model) -> None:
    with pytest.raises(TimeoutError):
        model.infer(LONG, timeout=0.1)


def by_timeout_of_stream(model: nereid_server.Model) -> None:
    stream = model.stream(LONG, timeout=0.1)
    next(stream)
    with pytest.raises(TimeoutError):
        next(stream)
    stream.cancel()


def by_async_cancel(model: nereid_server.Model) -> None:
    async def leave() -> None:
        stream = model.async_stream(LONG)
        await stream.__anext__()
        stream.cancel()
        with pytest.raises(nereid_server.CancelledError):
            await stream.__anext__()

    asyncio.run(leave())


def by_aclose(model: nereid_server.Model) -> None:
    async def leave() -> None:
        async with model.async_stream(LONG) as stream:
            async for _ in stream:
                break

    asyncio.run(leave())


def by_wait_for(model: nereid_server.Model) -> None:
    async def leave() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(model.async_infer(LONG), 0.1)

    asyncio.run(leave())


def by_cancelled_task(model: nereid_server.Model) -> None:
    async def leave() -> None:
        seen = asyncio.Event()

        async def read() -> None:
            async for _ in model.async_stream(LONG):
                seen.set()

        task = asyncio.ensure_future(read())
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())


@pytest.mark.parametrize(
    "leave",
    [
        by_cancel,
        by_close,
        by_del,
        by_break,
        by_timeout_of_infer,
        by_timeout_of_stream,
        by_async_cancel,
        by_aclose,
        by_wait_for,
        by_cancelled_task,
    ],
)
def test_a_request_that_the_model_has_released_can_be_left(
    models: Path, leave: Callable[[nereid_server.Model], None]
) -> None:
    # The server could not stop in time if the model went on.
    with nereid_server.Server({"repeat": models / "repeat"}, exit_timeout=20) as server:
        leave(server.model("repeat"))


@pytest.mark.asyncio
async def test_async_infer(server: nereid_server.Server) -> None:
    model = server.model("batched")
    values = [np.full((1, 2), number, np.float32) for number in range(100)]
    responses = await asyncio.gather(*(model.async_infer({"INPUT0": value}) for value in values))
    for value, response in zip(values, responses):
        assert (response["OUTPUT0"] == value).all()
    with pytest.raises(nereid_server.InvalidArgumentError):
        await server.model("fails_some").async_infer({"INPUT0": ints(-1)})
    with pytest.raises(nereid_server.InvalidArgumentError, match="answered with 2 responses.*async_stream"):
        await server.model("decoupled").async_infer({"INPUT0": ints(2)})


@pytest.mark.asyncio
async def test_the_loop_goes_on(server: nereid_server.Server) -> None:
    waiting = asyncio.ensure_future(server.model("slow").async_infer({"INPUT0": ints(1)}))
    turns = 0
    while not waiting.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 100
    assert (await waiting)["OUTPUT0"].tolist() == [1]


@pytest.mark.asyncio
async def test_a_cancelled_task_cancels_its_request(server: nereid_server.Server) -> None:
    model = server.model("wait_for_cancel")
    task = asyncio.ensure_future(model.async_infer({"INPUT0": ints(1)}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The instance is free again.
    stream = model.async_stream({"INPUT0": ints(1)})
    stream.cancel()
    with pytest.raises(nereid_server.CancelledError):
        await stream.__anext__()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(model.async_infer({"INPUT0": ints(1)}), 0.01)


@pytest.mark.asyncio
async def test_async_streams(server: nereid_server.Server) -> None:
    values = [
        response["OUTPUT0"].tolist()
        async for response in server.model("decoupled").async_stream({"INPUT0": ints(4)})
    ]
    assert values == [[4]] * 4
    async with server.model("wait_for_cancel").async_stream({"INPUT0": ints(1)}) as stream:
        pass
    assert [response async for response in stream] == []


def test_each_loop_has_its_own_waker(server: nereid_server.Server) -> None:
    async def ask() -> list:
        return (await server.model("identity_int32").async_infer({"INPUT0": ints(3)}))[
            "OUTPUT0"
        ].tolist()

    for _ in range(3):
        assert asyncio.run(ask()) == [3]
