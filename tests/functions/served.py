# SPDX-License-Identifier: Apache-2.0
"""Functions that the tests serve. Their processes import this module."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Annotated, TypedDict

import ml_dtypes
import nereid_server
import numpy as np
from numpy.typing import NDArray

BATCH = 6
MEETING = 3

Vector = nereid_server.TensorSpec(np.float32, [4])


@nereid_server.function(inputs={"x": Vector}, outputs={"y": Vector})
def double(x):
    return {"y": 2 * x}


@nereid_server.function(max_batch_size=BATCH, max_delay_us=60_000_000)
def rows(x: NDArray[np.float32]) -> Annotated[np.ndarray, nereid_server.TensorSpec(np.int64, [1])]:
    """The size of the batch, which is complete before a request has waited for a minute."""
    return np.full((len(x), 1), len(x), np.int64)


def greet(name: str, greeting: str = "hello") -> str:
    return f"{greeting}, {name}"


def count(to: int) -> Iterator[int]:
    yield from range(to)
    if to == 3:
        raise RuntimeError("three is too many")


async def count_slowly(to: int) -> AsyncIterator[int]:
    for number in range(to):
        await asyncio.sleep(0)
        yield number


def counted(to: int) -> Iterator[int]:
    """As count, without being a generator itself."""
    return iter(range(to))


def listed(to: int) -> Iterable[int]:
    return list(range(to))


def counted_async(to: int) -> AsyncIterator[int]:
    return count_slowly(to)


async def found_async(to: int) -> Iterator[int]:
    await asyncio.sleep(0)
    return iter(range(to))


def no_iterator(to: int) -> Iterator[int]:
    return to


Halves = nereid_server.TensorSpec(ml_dtypes.bfloat16, [2])


@nereid_server.function(inputs={"x": Halves}, outputs={"y": Halves})
def halve(x):
    assert x.dtype == ml_dtypes.bfloat16
    return {"y": x / 2}


_met: list[int] = []


async def meet(number: int) -> int:
    """Answers when `MEETING` requests are there at a time, in one process."""
    _met.append(number)
    while len(_met) < MEETING:
        await asyncio.sleep(0.001)
    return number


def refuse(code: str) -> str:
    raise nereid_server.RequestError(f"refused with {code}", code)


def fail(x: NDArray[np.float64]) -> NDArray[np.float64]:
    raise ValueError("no good")


def declare_wrongly(what: str) -> Annotated[np.ndarray, nereid_server.TensorSpec(np.float32, [2])]:
    return {"shape": np.zeros(3, np.float32), "type": np.zeros(2, "U1"), "keys": {"other": 1}}[what]


class Scale:
    """One object in each process, or copies of one that exists."""

    def __init__(self, factor: float = 2.0) -> None:
        self.factor = factor
        self.process = os.getpid()

    def setup(self) -> None:
        self.set_up_in = os.getpid()

    def __call__(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        assert self.set_up_in == os.getpid()
        return x * self.factor


class Moments(TypedDict):
    mean: np.float64
    values: NDArray[np.float64]


@nereid_server.function(batched=False)
def moments(x: NDArray[np.float64]) -> Moments:
    return {"mean": x.mean(), "values": x}
