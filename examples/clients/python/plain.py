#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the server which digit an image shows, with nothing but Python.

    plain.py [localhost:8000 [digits]]

The tensors travel in binary form: the body is JSON, which says what the tensors are, and then their
bytes. Exit status: 0 the server answered, 1 it refused, 2 nobody answers.
"""

import json
import struct
import sys
import urllib.error
import urllib.request

LENGTH = "Inference-Header-Content-Length"
TIMEOUT_SECONDS = 10.0

# Image 3 of scikit-learn's digits, 8x8 pixels from 0 (paper) to 16 (ink).
# fmt: off
IMAGE = [
    0, 0, 7, 15, 13, 1, 0, 0,
    0, 8, 13, 6, 15, 4, 0, 0,
    0, 2, 1, 13, 13, 0, 0, 0,
    0, 0, 2, 15, 11, 1, 0, 0,
    0, 0, 0, 1, 12, 12, 1, 0,
    0, 0, 0, 0, 1, 10, 8, 0,
    0, 0, 8, 4, 5, 14, 9, 0,
    0, 0, 7, 13, 13, 9, 0, 0,
]
# fmt: on


def infer(url, model, name, numbers):
    """Sends one row of FP32 numbers. Returns the bytes of each output by name."""
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    tensor = {
        "name": name,
        "datatype": "FP32",
        "shape": [1, len(numbers)],
        "parameters": {"binary_data_size": len(data)},
    }
    head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    request = urllib.request.Request(
        f"{url}/v2/models/{model}/infer",
        data=head + data,
        headers={"Content-Type": "application/octet-stream", LENGTH: str(len(head))},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        body = response.read()
        at = int(response.headers[LENGTH])
    outputs = {}
    for output in json.loads(body[:at])["outputs"]:
        size = output["parameters"]["binary_data_size"]
        outputs[output["name"]] = body[at : at + size]
        at += size
    return outputs


def main():
    url = sys.argv[1] if len(sys.argv) > 1 else "localhost:8000"
    if "://" not in url:
        url = f"http://{url}"
    model = sys.argv[2] if len(sys.argv) > 2 else "digits"
    try:
        outputs = infer(url, model, "image", IMAGE)
    except urllib.error.HTTPError as error:
        print(f"error: {json.loads(error.read())['error']}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {url}: {error}", file=sys.stderr)
        return 2
    (digit,) = struct.unpack("<q", outputs["digit"])
    probability = struct.unpack("<10f", outputs["probabilities"])[digit]
    print(f"{model}: this is a {digit} (probability {probability:.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
