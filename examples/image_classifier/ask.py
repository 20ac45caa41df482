#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks what pictures show, and prints the three likeliest labels of each.

    ask.py [--url=localhost:8000] [FILE...]        default: the sample photos of scikit-learn

Exit status: 0 the server answered, 1 it refused, 2 nobody answers.
Needs: tritonclient[http], numpy; without FILE also scikit-learn.
"""

import argparse
import sys
from importlib import resources
from pathlib import Path

import numpy as np
import tritonclient.http as http


def sample_photos():
    folder = resources.files("sklearn.datasets.images")
    return [folder / "china.jpg", folder / "flower.jpg"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="localhost:8000")
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    args = parser.parse_args()

    # One request per file: the server makes batches of the requests of all clients.
    wanted = http.InferRequestedOutput("PROBABILITIES", class_count=3)
    failed = False
    with http.InferenceServerClient(args.url) as client:
        for file in args.files or sample_photos():
            data = np.array([[file.read_bytes()]], np.object_)
            image = http.InferInput("IMAGE", data.shape, "BYTES")
            image.set_data_from_numpy(data)
            try:
                answer = client.infer("image_classifier", [image], outputs=[wanted])
            except http.InferenceServerException as error:
                print(f"{file.name}: {error.message()}", file=sys.stderr)
                failed = True
                continue
            except OSError as error:
                print(
                    f"error: no server answers at {args.url} ({error}); start it as README.md "
                    "says, or name its address: --url=HOST:PORT",
                    file=sys.stderr,
                )
                return 2
            classes = [text.decode().split(":") for text in answer.as_numpy("PROBABILITIES")[0]]
            print(f"{file.name}:", ", ".join(f"{c[2]} {float(c[0]):.0%}" for c in classes))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
