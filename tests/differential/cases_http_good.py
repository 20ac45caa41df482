# SPDX-License-Identifier: Apache-2.0
"""The good HTTP requests of the differential test."""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import replace

from differential.cases import HttpCase
from differential.http_requests import (
    BFLOATS,
    FLOATS,
    FP32_INPUT,
    HALVES,
    PIXELS,
    SCORES,
    binary_tensor,
    encode,
    get,
    infer,
    infer_binary,
    infer_path,
    infer_raw,
    infer_text,
    output,
    strings,
    tensor,
)


def good_statistics() -> list[HttpCase]:
    use = [
        infer("unused", "counted", [tensor("FP32", [batch, 1], [1] * batch)])
        for batch in (1, 1, 2, 5)
    ]
    metrics = HttpCase("http-good-metrics", "GET", "/metrics", service="metrics")
    return [
        get("http-good-statistics", "/v2/models/quiet/stats"),
        HttpCase(
            "http-good-statistics-counted", "GET", "/v2/models/counted/stats", before=tuple(use)
        ),
        metrics,
    ]


def good_health_and_metadata() -> list[HttpCase]:
    index = HttpCase("http-good-index", "POST", "/v2/repository/index", b"")
    index_ready = HttpCase(
        "http-good-index-ready", "POST", "/v2/repository/index", b'{"ready":true}'
    )
    return [
        get("http-good-live", "/v2/health/live"),
        get("http-good-server-metadata", "/v2"),
        get("http-good-model-ready", "/v2/models/batched/ready"),
        get("http-good-version-ready", "/v2/models/versions/versions/2/ready"),
        get("http-good-model-metadata", "/v2/models/batched"),
        get("http-good-model-metadata-versions", "/v2/models/versions"),
        get("http-good-version-metadata", "/v2/models/versions/versions/2"),
        get("http-good-metadata-reshape", "/v2/models/reshaped"),
        get("http-good-metadata-string", "/v2/models/identity_string"),
        get("http-good-config", "/v2/models/matrix/config"),
        get("http-good-config-batched", "/v2/models/batched/config"),
        get("http-good-config-reshape", "/v2/models/reshaped/config"),
        get("http-good-config-optional", "/v2/models/optional/config"),
        get("http-good-config-labels", "/v2/models/labelled/config"),
        get("http-good-query-ignored", "/v2/models/matrix?verbose=1"),
        index,
        index_ready,
    ]


def good_json() -> list[HttpCase]:
    return [
        infer("http-good-json-bool", "identity_bool", [tensor("BOOL", [3], [True, False, True])]),
        infer("http-good-json-int8", "identity_int8", [tensor("INT8", [3], [-128, 0, 127])]),
        infer("http-good-json-uint8", "identity_uint8", [tensor("UINT8", [2], [0, 255])]),
        infer("http-good-json-int16", "identity_int16", [tensor("INT16", [2], [-32768, 32767])]),
        infer("http-good-json-uint16", "identity_uint16", [tensor("UINT16", [2], [0, 65535])]),
        infer("http-good-json-uint32", "identity_uint32", [tensor("UINT32", [1], [4294967295])]),
        infer(
            "http-good-json-int64",
            "identity_int64",
            [tensor("INT64", [2], [-(2**63), 2**63 - 1])],
        ),
        infer("http-good-json-uint64", "identity_uint64", [tensor("UINT64", [1], [2**64 - 1])]),
        infer("http-good-json-fp32", "identity_fp32", [FP32_INPUT]),
        infer("http-good-json-fp32-integers", "identity_fp32", [tensor("FP32", [3], [1, -2, 0])]),
        infer(
            "http-good-json-fp32-range",
            "identity_fp32",
            [tensor("FP32", [4], [1e-45, 3.4e38, -0.0, 16777216])],
        ),
        infer_text(
            "http-good-json-fp32-nan-infinity",
            "identity_fp32",
            '{"inputs":[{"name":"INPUT0","shape":[3],"datatype":"FP32",'
            '"data":[NaN,Infinity,-Infinity]}]}',
        ),
        infer("http-good-json-fp64", "identity_fp64", [tensor("FP64", [3], [0.1, 1e300, 1e-7])]),
        infer(
            "http-good-json-string",
            "identity_string",
            [tensor("BYTES", [3], ["plain", "", 'zwölf "quoted" \\ \u0001 \U0001f600'])],
        ),
        infer(
            "http-good-json-nested", "cube", [tensor("INT32", [2, 2, 2], [[[1, 2], [3, 4]]] * 2)]
        ),
        infer("http-good-json-flat", "cube", [tensor("INT32", [2, 2, 2], list(range(8)))]),
        infer("http-good-json-empty", "identity_fp32", [tensor("FP32", [0], [])]),
        infer("http-good-json-batch", "batched", [tensor("FP32", [2, 2], [[1, 2], [3, 4]])]),
        infer("http-good-json-reshape", "reshaped", [tensor("FP32", [4], [1, 2, 3, 4])]),
        infer("http-good-json-scalar", "scalar", [tensor("FP32", [2, 1], [7, 8])]),
        infer("http-good-optional-absent", "optional", [tensor("INT32", [1], [5])]),
        infer("http-good-id", "identity_fp32", [FP32_INPUT], id='my "id"'),
        infer(
            "http-good-parameters",
            "identity_fp32",
            [FP32_INPUT],
            parameters={"text": "a", "number": 3, "flag": True, "priority": 1, "timeout": 10**7},
        ),
        infer_text(
            "http-good-unknown-members",
            "identity_fp32",
            encode({"surprise": {"deep": [1]}, "inputs": [FP32_INPUT]}),
        ),
        HttpCase(
            "http-good-explicit-version",
            "POST",
            "/v2/models/versions/versions/2/infer",
            encode({"inputs": [tensor("INT32", [1], [2])]}),
        ),
    ]


def good_outputs() -> list[HttpCase]:
    pair = [tensor("INT32", [2], [1, 2]), tensor("INT32", [2], [3, 4], "INPUT1")]
    scores = [tensor("FP32", [2, 4], SCORES)]
    return [
        infer("http-good-outputs-all", "pair", pair),
        infer("http-good-outputs-subset", "pair", pair, outputs=[output("OUTPUT1")]),
        infer("http-good-outputs-none", "pair", pair, outputs=[]),
        infer("http-good-outputs-reversed", "pair", pair, outputs=[output("OUTPUT1"), output()]),
        infer(
            "http-good-outputs-mixed",
            "pair",
            pair,
            outputs=[output("OUTPUT0", binary_data=True), output("OUTPUT1", binary_data=False)],
        ),
        infer("http-good-outputs-binary", "pair", pair, parameters={"binary_data_output": True}),
        infer("http-good-class", "labelled", scores, outputs=[output(classification=2)]),
        infer(
            "http-good-class-binary",
            "labelled",
            scores,
            outputs=[output(classification=9, binary_data=True)],
        ),
        infer(
            "http-good-class-integers",
            "identity_int32",
            [tensor("INT32", [3], [5, -7, 9])],
            outputs=[output(classification=3)],
        ),
    ]


def good_binary() -> list[HttpCase]:
    binary = {"parameters": {"binary_data_output": True}}
    return [
        infer_binary(
            "http-good-binary-fp16",
            "identity_fp16",
            [binary_tensor("FP16", [2], 4)],
            HALVES,
            **binary,
        ),
        infer_binary(
            "http-good-binary-bf16",
            "identity_bf16",
            [binary_tensor("BF16", [2], 4)],
            BFLOATS,
            **binary,
        ),
        infer_binary(
            "http-good-binary-fp32",
            "identity_fp32",
            [binary_tensor("FP32", [3], 12)],
            FLOATS,
            **binary,
        ),
        infer_binary(
            "http-good-binary-in-json-out",
            "identity_fp32",
            [binary_tensor("FP32", [3], 12)],
            FLOATS,
        ),
        infer_binary(
            "http-good-binary-string",
            "identity_string",
            [binary_tensor("BYTES", [2], 11)],
            strings(b"ab", b"\xff"),
            **binary,
        ),
        infer_binary(
            "http-good-binary-empty",
            "identity_fp32",
            [binary_tensor("FP32", [0], 0)],
            b"",
            **binary,
        ),
        infer_binary(
            "http-good-binary-and-json",
            "pair",
            [binary_tensor("INT32", [2], 8), tensor("INT32", [2], [3, 4], "INPUT1")],
            struct.pack("<2i", 1, 2),
        ),
        infer_raw("http-good-raw", "identity_fp32", FLOATS),
        infer_raw("http-good-raw-fixed", "cube", struct.pack("<8i", *range(8))),
        infer_raw("http-good-raw-batched", "batched", struct.pack("<2f", 1, 2)),
        infer_raw("http-good-raw-string", "raw_string", b"as it is"),
    ]


def good_compression() -> list[HttpCase]:
    body = encode({"inputs": [FP32_INPUT]})
    path = infer_path("identity_fp32")

    def send(case: str, data: bytes, *headers: tuple[str, str]) -> HttpCase:
        return HttpCase(case, "POST", path, data, headers)

    return [
        send("http-good-gzip-in", gzip.compress(body, mtime=0), ("Content-Encoding", "gzip")),
        send("http-good-deflate-in", zlib.compress(body), ("Content-Encoding", "deflate")),
        send("http-good-identity-in", body, ("Content-Encoding", "identity")),
        send("http-good-gzip-out", body, ("Accept-Encoding", "gzip")),
        send("http-good-deflate-out", body, ("Accept-Encoding", "deflate;q=0.9, gzip;q=0.1")),
        send("http-good-encoding-unknown-out", body, ("Accept-Encoding", "br, *")),
    ]


def good_onnx() -> list[HttpCase]:
    image = tensor("FP32", [1, 64], PIXELS, "image")
    images = tensor("FP32", [3, 64], PIXELS + PIXELS[::-1] + [0.0] * 64, "image")
    binary = binary_tensor("FP32", [1, 64], 256, "image")
    computed = [
        infer("http-good-onnx-one", "digits", [image]),
        infer("http-good-onnx-three", "digits_batched", [images]),
        infer_binary(
            "http-good-onnx-binary",
            "digits",
            [binary],
            struct.pack("<64f", *PIXELS),
            parameters={"binary_data_output": True},
        ),
        infer(
            "http-good-onnx-class",
            "digits_batched",
            [images],
            outputs=[output("probabilities", classification=3)],
        ),
    ]
    return [
        get("http-good-onnx-metadata", "/v2/models/digits"),
        get("http-good-onnx-config", "/v2/models/digits/config"),
        get("http-good-onnx-config-batched", "/v2/models/digits_batched/config"),
        infer("http-good-onnx-digit-only", "digits", [images], outputs=[output("digit")]),
        *(replace(case, golden=False) for case in computed),
    ]


def good_cases() -> list[HttpCase]:
    return [
        *good_statistics(),
        *good_health_and_metadata(),
        *good_json(),
        *good_outputs(),
        *good_binary(),
        *good_compression(),
        *good_onnx(),
    ]
