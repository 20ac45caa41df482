# SPDX-License-Identifier: Apache-2.0
"""Latency of a request inside the process, by the Python package: a call and its answer, one at a time.

    calls.py MODELS BACKENDS MODEL blocking|asynchronous COUNT

The counterpart of calls.c, with the same arguments and the same output. The answer counts when it is an
array.
"""

from __future__ import annotations

import asyncio
import sys
import time

import nereid_server
import numpy as np

VALUES = 16
WARM_UP = 2000


def check(question: np.ndarray, answer: np.ndarray) -> None:
    if answer.tobytes() != question.tobytes():
        sys.exit("the answer is not the question")


def blocking(model: nereid_server.Model, count: int) -> "list[int]":
    times = []
    for turn in range(WARM_UP + count):
        question = np.arange(turn, turn + VALUES, dtype=np.float32)
        begin = time.perf_counter_ns()
        answer = model.infer({"INPUT0": question})["OUTPUT0"]
        times.append(time.perf_counter_ns() - begin)
        check(question, answer)
    return times


async def asynchronous(model: nereid_server.Model, count: int) -> "list[int]":
    times = []
    for turn in range(WARM_UP + count):
        question = np.arange(turn, turn + VALUES, dtype=np.float32)
        begin = time.perf_counter_ns()
        answer = (await model.async_infer({"INPUT0": question}))["OUTPUT0"]
        times.append(time.perf_counter_ns() - begin)
        check(question, answer)
    return times


def main() -> None:
    models, backends, name, way, count = sys.argv[1:]
    with nereid_server.Server(models, backend_directory=backends) as server:
        model = server.model(name)
        if way == "blocking":
            times = blocking(model, int(count))
        else:
            times = asyncio.run(asynchronous(model, int(count)))
    print(*times[WARM_UP:], sep="\n")


if __name__ == "__main__":
    main()
