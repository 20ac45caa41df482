#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks whether parcels will be late.

    ask.py [localhost:8000]

Exit status: 0 the server answered, 1 it refused, 2 nobody answers.
Needs: tritonclient[http], numpy.
"""

import sys

import numpy as np
import tritonclient.http as http

PARCELS = [  # carrier, weekday, distance in km, weight in kg
    ("bike", "tue", 12, 0.5),
    ("truck", "mon", 400, 8.0),
    ("ship", "sun", 900, 25.0),
]


def main():
    texts = np.array([parcel[:2] for parcel in PARCELS], np.object_)
    numbers = np.array([parcel[2:] for parcel in PARCELS], np.float32)
    inputs = [
        http.InferInput("texts", texts.shape, "BYTES"),
        http.InferInput("numbers", numbers.shape, "FP32"),
    ]
    inputs[0].set_data_from_numpy(texts)
    inputs[1].set_data_from_numpy(numbers)
    url = sys.argv[1] if len(sys.argv) > 1 else "localhost:8000"
    try:
        with http.InferenceServerClient(url) as client:
            answer = client.infer("parcels", inputs)
    except http.InferenceServerException as error:
        print(f"error: {error.message()}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"error: no server answers at {url} ({error}); start it as README.md says, or name "
            "its address: ask.py HOST:PORT",
            file=sys.stderr,
        )
        return 2
    labels = answer.as_numpy("label").ravel()
    probabilities = answer.as_numpy("probabilities")
    for parcel, label, row in zip(PARCELS, labels, probabilities):
        print(f"{parcel[0]} on {parcel[1]}: {label.decode()} ({row.max():.0%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
