#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the models of this folder, one after the other, and shows what they answer.

    examples/python/ask.py [--http=localhost:8000] [--grpc=localhost:8001]
                           [--metrics=localhost:8002] [MODEL...]

Exit status: 0 all answers are right, 1 one is wrong or the server refused, 2 nobody answers.
Each function below is a client of one model.
"""

import argparse
import queue
import sys
import urllib.request

import numpy as np
import tritonclient.grpc
import tritonclient.http

A = np.array([[1, 2, 3, 4]], np.float32)
B = np.array([[10, 20, 30, 40]], np.float32)


def http_input(name, array, type_name):
    tensor = tritonclient.http.InferInput(name, array.shape, type_name)
    tensor.set_data_from_numpy(array)
    return tensor


def text_input(name, *texts, shape=None):
    array = np.array([text.encode() for text in texts], np.object_)
    return http_input(name, array.reshape(shape or array.shape), "BYTES")


def ask(addresses, model, inputs):
    """The answer's tensors by name."""
    with tritonclient.http.InferenceServerClient(addresses.http) as client:
        result = client.infer(model, inputs)
        names = [output["name"] for output in result.get_response()["outputs"]]
        return {name: result.as_numpy(name) for name in names}


def add_sub(addresses):
    answer = ask(addresses, "add_sub", [http_input("A", A, "FP32"), http_input("B", B, "FP32")])
    yield "1 + 10 ...", answer["SUM"].tolist(), (A + B).tolist()
    yield "1 - 10 ...", answer["DIFFERENCE"].tolist(), (A - B).tolist()


def completes_itself(addresses):
    answer = ask(addresses, "completes_itself", [text_input("TEXT", "nereid", shape=(1, 1))])
    yield "the length of 'nereid'", answer["LENGTH"].tolist(), [[6]]


def chooses(addresses):
    inputs = [http_input("A", A, "FP32"), http_input("B", B, "FP32")]
    answer = ask(addresses, "chooses", [text_input("MODEL", "add_sub"), *inputs])
    yield "the sum, by add_sub", answer["SUM"].tolist(), (A + B).tolist()
    try:
        ask(addresses, "chooses", [text_input("MODEL", "nobody"), *inputs])
    except tritonclient.http.InferenceServerException as error:
        yield "the sum, by nobody", "nobody" in str(error), True
    else:
        yield "the sum, by nobody", "an answer", "an error"


def asks_both(addresses):
    answer = ask(addresses, "asks_both", [http_input("A", A, "FP32")])
    yield "1 + 1 ...", answer["TWICE"].tolist(), (A + A).tolist()
    yield "1 - 1 ...", answer["NOTHING"].tolist(), (A - A).tolist()


def repeats(addresses):
    answers = queue.Queue()
    with tritonclient.grpc.InferenceServerClient(addresses.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        tensor = tritonclient.grpc.InferInput("VALUE", [1], "INT32")
        tensor.set_data_from_numpy(np.array([3], np.int32))
        client.async_stream_infer("repeats", [tensor], enable_empty_final_response=True)
        values = []
        while True:
            result, error = answers.get(timeout=30)
            if error is not None:
                raise error
            if result.get_response().parameters["triton_final_response"].bool_param:
                break
            values.append(result.as_numpy("VALUE").item())
    yield "3, again and again", values, [3, 3, 3]


def adds_up(addresses):
    answer = ask(addresses, "adds_up", [http_input("VALUE", np.array([4], np.int32), "INT32")])
    yield "4 + 4 + 4 + 4", answer["TOTAL"].tolist(), [16]


def counts(addresses):
    def counted():
        with urllib.request.urlopen(f"http://{addresses.metrics}/metrics") as page:
            for line in page.read().decode().splitlines():
                if line.startswith("example_texts{"):
                    return float(line.rsplit(" ", 1)[1])
        return None

    before = counted()
    answer = ask(addresses, "counts", [text_input("TEXT", "a", "b", "c")])
    yield "texts in the request", answer["COUNT"].tolist(), [3]
    yield "more texts on the metrics page", counted() - before, 3.0


MODELS = {
    function.__name__: function
    for function in (add_sub, completes_itself, chooses, asks_both, repeats, adds_up, counts)
}


def all_right(options):
    right = True
    for name in options.models or MODELS:
        for question, answer, expected in MODELS[name](options):
            verdict = "" if answer == expected else f"  WRONG, expected {expected}"
            right = right and answer == expected
            print(f"{name}: {question}: {answer}{verdict}")
    return right


def main():
    parser = argparse.ArgumentParser(description="Asks the example models in Python.")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--http", default="localhost:8000", help="default: %(default)s")
    parser.add_argument("--grpc", default="localhost:8001", help="default: %(default)s")
    parser.add_argument("--metrics", default="localhost:8002", help="default: %(default)s")
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error(f"there is no model {name!r}; there are {', '.join(MODELS)}")
    try:
        return 0 if all_right(options) else 1
    except tritonclient.http.InferenceServerException as error:
        print(f"error: {error.message()}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"error: no server answers at {options.http} ({error}); start it as README.md says, "
            "or name its addresses: --http, --grpc and --metrics",
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main())
