#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the server which digit an image shows, with the official tritonclient.

    digits_client.py                          over HTTP, localhost:8000
    digits_client.py --protocol grpc          over gRPC, localhost:8001
    digits_client.py --index 42 --model digits_batched

The image is one of the 1,797 handwritten digits that come with scikit-learn; the first ten are in this
file, so that they can do without it. Exit status: 0 the answer is right, 1 it is wrong or the server refused
the request, 2 no server or a bad option.

Needs: tritonclient[http,grpc], numpy; for images from 10 on scikit-learn.
"""

import argparse
import sys

import numpy as np

DEFAULT_URLS = {"http": "localhost:8000", "grpc": "localhost:8001"}
# One character per grey level, from paper to ink.
INK = " .:-=+*#%@"
MAX_PIXEL = 16
IMAGE_COUNT = 1797
# One character per grey level, 64 for an image of 8x8. Image N shows the digit N.
LEVELS = "0123456789abcdefg"
FIRST_IMAGES = (
    "005d910000dfaf5003f20b8004c008800580098004b01c7002e5ac00006da000",  # 0
    "000cd500000bg900003fg60007fgg200001gg300001gg600001gg600000bga00",  # 1
    "0004fc00003gfe00008d8g000016fb00018df10009gg500003dggb500003bg90",  # 2
    "007fd10008d6f400021dd000002fb1000001cc1000001a8000845e90007dd900",  # 3
    "0001b00000078000001d6220007f098005ga0g6004fgdg100003fa000002g400",  # 4
    "00ca000000egge0000dgfa1000bgg70000047g7000004g900054cg40009gga00",  # 5
    "000cd000005g800000dg300000ed000000fc720000dgdg30007gbf800019fb30",  # 6
    "0078dgf100774bc000008d100488ff6002bff400000g5000009f100000d50000",  # 7
    "009e810000ceec00009a0f40003gce20004gg20003g8ad2001f13g8000bgfb10",  # 8
    "00bc000002gggd0003gcae0001g1cf0000dg9f20000309b000009f40009cd300",  # 9
)
TIMEOUT_SECONDS = 10.0


class ServerUnreachable(Exception):
    """No server answers at the address."""


def ask_http(url: str, model: str, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sends one image over HTTP; returns the probabilities and the digit."""
    import tritonclient.http as http

    image_input = http.InferInput("image", list(image.shape), "FP32")
    image_input.set_data_from_numpy(image)
    with http.InferenceServerClient(
        url, connection_timeout=TIMEOUT_SECONDS, network_timeout=TIMEOUT_SECONDS
    ) as client:
        try:
            answer = client.infer(model, [image_input])
        except OSError as error:
            raise ServerUnreachable(str(error)) from error
    return answer.as_numpy("probabilities"), answer.as_numpy("digit")


def ask_grpc(url: str, model: str, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sends one image over gRPC; returns the probabilities and the digit."""
    import tritonclient.grpc as grpc
    from tritonclient.utils import InferenceServerException

    image_input = grpc.InferInput("image", list(image.shape), "FP32")
    image_input.set_data_from_numpy(image)
    with grpc.InferenceServerClient(url) as client:
        try:
            answer = client.infer(model, [image_input], client_timeout=TIMEOUT_SECONDS)
        except InferenceServerException as error:
            # A model that is not ready is UNAVAILABLE as well, but then the server is live.
            if error.status() == "StatusCode.UNAVAILABLE" and not is_live(client):
                raise ServerUnreachable("connection failed") from error
            raise
    return answer.as_numpy("probabilities"), answer.as_numpy("digit")


def is_live(client) -> bool:
    """Whether a server answers the gRPC client at all."""
    from tritonclient.utils import InferenceServerException

    try:
        return client.is_server_live(client_timeout=TIMEOUT_SECONDS)
    except InferenceServerException:
        return False


def draw(image: np.ndarray) -> str:
    """The 64 pixel values as eight lines of text, two characters to a pixel."""
    levels = (image.reshape(8, 8) * (len(INK) - 1) / MAX_PIXEL).astype(int)
    return "\n".join("    " + "".join(INK[level] * 2 for level in row) for row in levels)


def load_image(index: int) -> tuple[np.ndarray, int]:
    """An image of the data set as a batch of one, and the digit that it shows."""
    if not 0 <= index < IMAGE_COUNT:
        raise ValueError(f"--index must be from 0 to {IMAGE_COUNT - 1}, got {index}")
    if index < len(FIRST_IMAGES):
        levels = [LEVELS.index(level) for level in FIRST_IMAGES[index]]
        return np.array([levels], dtype=np.float32), index
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ValueError(f"image {index} comes with scikit-learn, which is not installed") from None
    images, labels = load_digits(return_X_y=True)
    return images[index : index + 1].astype(np.float32), int(labels[index])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--protocol", choices=("http", "grpc"), default="http")
    parser.add_argument("--url", help="host:port; default: localhost:8000, for gRPC localhost:8001")
    parser.add_argument("--model", default="digits", help="digits (default) or digits_batched")
    parser.add_argument("--index", type=int, default=3, help="which image, 0..1796 (default 3)")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    url = args.url or DEFAULT_URLS[args.protocol]
    try:
        image, label = load_image(args.index)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2

    from tritonclient.utils import InferenceServerException

    ask = ask_http if args.protocol == "http" else ask_grpc
    try:
        probabilities, digit = ask(url, args.model, image)
    except ServerUnreachable as error:
        print(
            f"error: no server answers {args.protocol} at {url} ({error}).\n"
            "Start one with `make run`, or name its address with --url HOST:PORT.",
            file=sys.stderr,
        )
        return 2
    except InferenceServerException as error:
        print(f"error: the server refused the request: {error}", file=sys.stderr)
        return 1

    predicted = int(digit[0, 0])
    print(draw(image))
    print(f"{args.model} over {args.protocol}: this is a {predicted}", end=" ")
    print(f"(probability {probabilities[0, predicted]:.1%})")
    if predicted != label:
        print(f"wrong: image {args.index} shows a {label}")
        return 1
    print(f"right: image {args.index} is labelled {label}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
