# SPDX-License-Identifier: Apache-2.0
"""Compressed requests and answers."""

from __future__ import annotations

import gzip
import json
import zlib

import numpy as np
import pytest
import tritonclient.http

from support import raw_http
from support.infer import assert_serving, echo_document
from support.server_process import ServerProcess

INFER = "/v2/models/echo/infer"
LENGTH_HEADER = "Inference-Header-Content-Length"

ENCODERS = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "identity": lambda data: data,
}
DECODERS = {"gzip": gzip.decompress, "deflate": zlib.decompress}


@pytest.mark.parametrize("encoding", sorted(ENCODERS))
def test_compressed_request(identity_server: ServerProcess, encoding: str) -> None:
    body = ENCODERS[encoding](json.dumps(echo_document([0.25] * 1000)).encode())
    answer = raw_http.post(identity_server.http_url, INFER, body, [("Content-Encoding", encoding)])
    assert answer.status == 200, answer.body
    assert answer.json()["outputs"][0]["data"] == [0.25] * 1000


@pytest.mark.parametrize("encoding", sorted(DECODERS))
def test_compressed_answer(identity_server: ServerProcess, encoding: str) -> None:
    body = json.dumps(echo_document([0.25] * 1000)).encode()
    answer = raw_http.post(identity_server.http_url, INFER, body, [("Accept-Encoding", encoding)])
    assert answer.status == 200
    assert answer.header("Content-Encoding") == encoding
    plain = DECODERS[encoding](answer.body)
    assert len(plain) > len(answer.body)
    assert json.loads(plain)["outputs"][0]["data"] == [0.25] * 1000


def test_best_encoding_is_chosen_by_weight(identity_server: ServerProcess) -> None:
    def chosen(accept: str) -> str | None:
        body = json.dumps(echo_document()).encode()
        headers = [("Accept-Encoding", accept)]
        return raw_http.post(identity_server.http_url, INFER, body, headers).header(
            "Content-Encoding"
        )

    assert chosen("deflate;q=0.2, gzip;q=0.9") == "gzip"
    assert chosen("deflate, gzip") == "deflate"
    assert chosen("br") is None
    assert chosen("identity, gzip;q=0.5") is None


def test_compressed_binary_counts_plain_bytes(identity_server: ServerProcess) -> None:
    tensor = bytes(1000)
    document = {
        "inputs": [
            {
                "name": "INPUT0",
                "shape": [len(tensor)],
                "datatype": "UINT8",
                "parameters": {"binary_data_size": len(tensor)},
            }
        ],
        "parameters": {"binary_data_output": True},
    }
    start = json.dumps(document).encode()
    headers = [
        (LENGTH_HEADER, str(len(start))),
        ("Content-Encoding", "gzip"),
        ("Accept-Encoding", "gzip"),
    ]
    body = gzip.compress(start + tensor)
    answer = raw_http.post(identity_server.http_url, "/v2/models/bytes/infer", body, headers)
    assert answer.status == 200, answer.body
    plain = gzip.decompress(answer.body)
    assert plain[int(answer.header(LENGTH_HEADER) or 0) :] == tensor


@pytest.mark.parametrize("encoding", sorted(DECODERS))
def test_large_tensor_with_the_official_client(
    identity_server: ServerProcess, encoding: str
) -> None:
    """4 MiB that compress badly: other threads than the I/O threads (de)compress such bodies."""
    module = tritonclient.http
    tensor = np.random.default_rng(7).standard_normal(1 << 20, dtype=np.float32)
    given = module.InferInput("INPUT0", tensor.shape, "FP32")
    given.set_data_from_numpy(tensor)
    with module.InferenceServerClient(identity_server.http_url) as client:
        for _ in range(3):
            result = client.infer(
                "echo",
                [given],
                request_compression_algorithm=encoding,
                response_compression_algorithm=encoding,
            )
            np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), tensor)


@pytest.mark.parametrize("encoding", sorted(DECODERS))
def test_large_answer_says_how_it_is_compressed(
    identity_server: ServerProcess, encoding: str
) -> None:
    values = [0.25] * 100_000
    body = ENCODERS[encoding](json.dumps(echo_document(values)).encode())
    headers = [("Content-Encoding", encoding), ("Accept-Encoding", encoding)]
    answer = raw_http.post(identity_server.http_url, INFER, body, headers)
    assert answer.status == 200, answer.body
    assert answer.header("Content-Encoding") == encoding
    assert json.loads(DECODERS[encoding](answer.body))["outputs"][0]["data"] == values


def test_unknown_encoding(identity_server: ServerProcess) -> None:
    answer = raw_http.post(
        identity_server.http_url, INFER, b"whatever", [("Content-Encoding", "br")]
    )
    assert answer.status == 501
    assert answer.error() == "Unsupported compression type"
    assert answer.header("Accept-Encoding") == "gzip, deflate"


@pytest.mark.parametrize("encoding", sorted(DECODERS))
def test_damaged_compression(identity_server: ServerProcess, encoding: str) -> None:
    whole = ENCODERS[encoding](json.dumps(echo_document([1.0] * 500)).encode())
    for body in (b"this is no compressed text", whole[: len(whole) // 2], b""):
        answer = raw_http.post(
            identity_server.http_url, INFER, body, [("Content-Encoding", encoding)]
        )
        assert answer.status == 400, (body[:20], answer.body)
        assert answer.error()
    assert_serving(identity_server.http_url)
