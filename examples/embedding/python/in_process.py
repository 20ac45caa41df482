#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server in the process of a Python program: requests, asyncio, streams, sequences, metrics.

    python in_process.py

Needs the package nereid (`pip install`, or build/stage/python on PYTHONPATH) and numpy.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import nereid_server
import numpy as np

EXAMPLES = Path(__file__).resolve().parents[2]
REPOSITORIES = [EXAMPLES / "models", EXAMPLES / "embedding" / "models"]

THREE = """
    . . 7 f d 1 . .
    . 8 d 6 f 4 . .
    . 2 1 d d . . .
    . . 2 f b 1 . .
    . . . 1 c c 1 .
    . . . . 1 a 8 .
    . . 8 4 5 e 9 .
    . . 7 d d 9 . .
"""


def image() -> np.ndarray:
    """The digit as the model wants it: grey values from 0 to 16, the first dimension is the batch."""
    return np.array([[int(pixel.replace(".", "0"), 16) for pixel in THREE.split()]], np.float32)


def one_request(server: nereid_server.Server) -> None:
    response = server.model("digits").infer({"image": image()})  # read in place
    print("digit:", response["digit"].item())  # a view of what the model wrote


async def many_requests(server: nereid_server.Server) -> None:
    model = server.model("digits_batched")
    responses = await asyncio.gather(
        *(model.async_infer({"image": image()}, ["digit"]) for _ in range(100))
    )
    print("of 100 answers right:", sum(response["digit"].item() == 3 for response in responses))


def a_stream(server: nereid_server.Server) -> None:
    responses = server.model("countdown").stream({"FROM": [3]})  # a list takes the model's type
    print("countdown:", [response["NUMBER"].item() for response in responses])


def a_sequence(server: nereid_server.Server) -> None:
    model = server.model("running_total")
    values = [1, 2, 3]
    for place, value in enumerate(values):
        response = model.infer(
            {"VALUE": [value]},
            sequence_id="example",
            sequence_start=place == 0,
            sequence_end=place == len(values) - 1,
        )
    print("running total:", response["TOTAL"].item())


def what_went_wrong(server: nereid_server.Server) -> None:
    try:
        server.model("digits").infer({"image": np.zeros((1, 2), np.float32)})
    except nereid_server.InvalidArgumentError as error:
        print("refused:", error)


def main() -> None:
    with nereid_server.Server(REPOSITORIES) as server:  # http_port=8000 would open a port, too
        one_request(server)
        asyncio.run(many_requests(server))
        a_stream(server)
        a_sequence(server)
        what_went_wrong(server)
        images = server.metrics().value("nv_inference_count", model="digits_batched")
        print("images that digits_batched has seen:", int(images or 0))
    # Here the server has stopped. Arrays that it answered with would stay valid.


if __name__ == "__main__":
    main()
