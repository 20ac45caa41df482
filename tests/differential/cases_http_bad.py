# SPDX-License-Identifier: Apache-2.0
"""The bad HTTP requests of the differential test."""

from __future__ import annotations

import zlib

from differential.cases import HttpCase
from differential.http_requests import (
    FLOATS,
    FP32_INPUT,
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


SHARED_MEMORY_UNREGISTER = [
    ("system", "/v2/systemsharedmemory/unregister"),
    ("cuda", "/v2/cudasharedmemory/unregister"),
]


def bad_routes() -> list[HttpCase]:
    return [
        # One model of the repository cannot load.
        get("http-bad-not-ready", "/v2/health/ready"),
        get("http-bad-route", "/v2/nothing"),
        get("http-bad-route-root", "/"),
        get("http-bad-route-trailing-slash", "/v2/"),
        get("http-bad-route-model-slash", "/v2/models/matrix/"),
        get("http-bad-route-version-text", "/v2/models/matrix/versions/one"),
        HttpCase("http-bad-method-post-metadata", "POST", "/v2", b""),
        HttpCase("http-bad-method-head", "HEAD", "/v2"),
        HttpCase("http-bad-method-delete-model", "DELETE", "/v2/models/matrix"),
        HttpCase("http-bad-method-put-infer", "PUT", infer_path("matrix"), b"{}"),
        get("http-bad-method-get-infer", infer_path("matrix")),
        get("http-bad-method-get-index", "/v2/repository/index"),
        get("http-bad-unknown-model-metadata", "/v2/models/nobody"),
        get("http-bad-unknown-model-ready", "/v2/models/nobody/ready"),
        get("http-bad-unknown-model-config", "/v2/models/nobody/config"),
        get("http-bad-unknown-model-stats", "/v2/models/nobody/stats"),
        get("http-bad-unknown-version-metadata", "/v2/models/matrix/versions/9"),
        get("http-bad-unknown-version-ready", "/v2/models/matrix/versions/9/ready"),
        get("http-bad-unknown-version-stats", "/v2/models/matrix/versions/9/stats"),
        get("http-bad-huge-version", "/v2/models/matrix/versions/99999999999999999999"),
        get("http-bad-broken-metadata", "/v2/models/broken"),
        get("http-bad-broken-ready", "/v2/models/broken/ready"),
        infer("http-bad-unknown-model", "nobody", [FP32_INPUT]),
        infer("http-bad-broken-model", "broken", [FP32_INPUT]),
        HttpCase(
            "http-bad-unknown-version",
            "POST",
            "/v2/models/matrix/versions/9/infer",
            encode({"inputs": [FP32_INPUT]}),
        ),
        HttpCase("http-bad-index-ready", "POST", "/v2/repository/index", b'{"ready":"yes"}'),
    ]


def bad_extensions() -> list[HttpCase]:
    """Extensions that Triton has and Nereid does not."""
    status = [
        get("http-bad-shm-system-status", "/v2/systemsharedmemory/status"),
        get("http-bad-shm-cuda-status", "/v2/cudasharedmemory/status"),
        get("http-bad-trace-setting", "/v2/trace/setting"),
        get("http-bad-trace-setting-model", "/v2/models/matrix/trace/setting"),
        get("http-bad-trace-unknown", "/v2/models/nobody/trace/setting"),
    ]
    unregister = [
        HttpCase(f"http-bad-shm-{kind}-unregister", "POST", path, b"")
        for kind, path in SHARED_MEMORY_UNREGISTER
    ]
    return [*status, *unregister, *bad_trace_settings()]


def bad_trace_settings() -> list[HttpCase]:
    bodies = {
        "empty": b"",
        "file": b'{"trace_file":"x"}',
        "type-level": b'{"trace_level":"OFF"}',
        "type-word": b'{"trace_level":[1]}',
        "type-rate": b'{"trace_rate":5}',
        "level-mixed": b'{"trace_level":["OFF","TENSORS"]}',
        "level-unknown": b'{"trace_level":["ALL"]}',
        "rate": b'{"trace_rate":"x"}',
        "rate-large": b'{"trace_rate":"2147483648"}',
        "count": b'{"trace_count":"-2"}',
        "count-large": b'{"trace_count":"2147483648"}',
        "frequency": b'{"log_frequency":"often"}',
        "nowhere": b'{"trace_level":["TIMESTAMPS"]}',
    }
    return [
        HttpCase(f"http-bad-trace-{name}", "POST", "/v2/trace/setting", body)
        for name, body in bodies.items()
    ]


def bad_json() -> list[HttpCase]:
    model = "identity_fp32"
    nested = b"[" * 10_000 + b"]" * 10_000
    return [
        infer_text("http-bad-json-empty", model, ""),
        infer_text("http-bad-json-cut", model, '{"inputs":[{"name":"INPUT0",'),
        infer_text("http-bad-json-word", model, "hello"),
        infer_text("http-bad-json-trailing", model, encode({"inputs": [FP32_INPUT]}) + b"}"),
        infer_text("http-bad-json-comma", model, '{"inputs":[],}'),
        infer_text("http-bad-json-array", model, "[1, 2]"),
        infer_text(
            "http-bad-json-number-too-big",
            model,
            '{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32","data":[1e400]}]}',
        ),
        infer_text("http-bad-json-not-utf8", model, b'{"id":"\xff\xfe","inputs":[]}'),
        infer_text(
            "http-bad-json-nested",
            model,
            b'{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32","data":' + nested + b"}]}",
        ),
        infer_text("http-bad-inputs-absent", model, "{}"),
        infer_text("http-bad-inputs-empty", model, '{"inputs":[]}'),
        infer_text("http-bad-inputs-object", model, '{"inputs":{}}'),
        infer_text("http-bad-inputs-numbers", model, '{"inputs":[1]}'),
        infer_text(
            "http-bad-name-absent", model, '{"inputs":[{"shape":[1],"datatype":"FP32","data":[1]}]}'
        ),
        infer("http-bad-name-number", model, [{**FP32_INPUT, "name": 3}]),
        infer_text(
            "http-bad-shape-absent",
            model,
            '{"inputs":[{"name":"INPUT0","datatype":"FP32","data":[1]}]}',
        ),
        infer("http-bad-shape-text", model, [tensor("FP32", ["3"], [1, 2, 3])]),
        infer("http-bad-shape-negative", model, [tensor("FP32", [-3], [1, 2, 3])]),
        infer("http-bad-shape-fraction", model, [tensor("FP32", [1.5], [1])]),
        infer("http-bad-shape-overflow", model, [tensor("FP32", [2**62, 4], [1])]),
        infer_text(
            "http-bad-datatype-absent",
            model,
            '{"inputs":[{"name":"INPUT0","shape":[1],"data":[1]}]}',
        ),
        infer("http-bad-datatype-unknown", model, [tensor("FLOAT", [3], [1, 2, 3])]),
        infer("http-bad-datatype-other", model, [tensor("INT32", [3], [1, 2, 3])]),
        infer("http-bad-data-absent", model, [tensor("FP32", [3])]),
        infer("http-bad-data-object", model, [tensor("FP32", [3], {})]),
        infer("http-bad-data-too-many", model, [tensor("FP32", [3], [1, 2, 3, 4])]),
        infer("http-bad-data-too-few", model, [tensor("FP32", [3], [1, 2])]),
        infer("http-bad-data-text", model, [tensor("FP32", [1], ["1"])]),
        infer("http-bad-data-null", model, [tensor("FP32", [1], [None])]),
        infer("http-bad-data-bool", model, [tensor("FP32", [1], [True])]),
        infer("http-bad-data-fraction-int", "identity_int32", [tensor("INT32", [1], [1.5])]),
        infer("http-bad-data-range-int8", "identity_int8", [tensor("INT8", [1], [128])]),
        infer("http-bad-data-range-int32", "identity_int32", [tensor("INT32", [1], [2**31])]),
        infer_text(
            "http-bad-data-range-fp32",
            "identity_fp32",
            '{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32","data":[1e39]}]}',
        ),
        infer("http-bad-data-negative-uint", "identity_uint8", [tensor("UINT8", [1], [-1])]),
        infer("http-bad-data-number-bool", "identity_bool", [tensor("BOOL", [1], [1])]),
        infer("http-bad-data-number-string", "identity_string", [tensor("BYTES", [1], [1])]),
        infer("http-bad-data-fp16", "identity_fp16", [tensor("FP16", [1], [1.0])]),
        infer("http-bad-data-bf16", "identity_bf16", [tensor("BF16", [1], [1.0])]),
        infer_binary(
            "http-bad-output-not-utf8",
            "identity_string",
            [binary_tensor("BYTES", [1], 8)],
            strings(b"\xff\xfeA\0"),
        ),
        infer("http-bad-output-fp16-json", "identity_fp16", [tensor("FP16", [0], [])]),
    ]


def bad_semantics() -> list[HttpCase]:
    first = tensor("INT32", [2], [1, 2])
    second = tensor("INT32", [2], [3, 4], "INPUT1")
    return [
        infer("http-bad-input-missing", "pair", [first]),
        infer(
            "http-bad-input-extra", "identity_fp32", [FP32_INPUT, {**FP32_INPUT, "name": "MORE"}]
        ),
        infer("http-bad-input-unknown", "identity_fp32", [{**FP32_INPUT, "name": "NOBODY"}]),
        infer("http-bad-input-twice", "pair", [first, first]),
        infer("http-bad-required-missing", "optional", [tensor("INT32", [1], [1], "INPUT1")]),
        infer("http-bad-rank", "cube", [tensor("INT32", [8], list(range(8)))]),
        infer("http-bad-dimension", "matrix", [tensor("FP32", [1, 4], [1, 2, 3, 4])]),
        infer("http-bad-batch-too-large", "batched", [tensor("FP32", [5, 2], [1] * 10)]),
        infer("http-bad-batch-dimension", "batched", [tensor("FP32", [1, 3], [1, 2, 3])]),
        infer("http-bad-batch-absent", "batched", [tensor("FP32", [2], [1, 2])]),
        infer("http-bad-batch-zero", "batched", [tensor("FP32", [0, 2], [])]),
        infer("http-bad-output-unknown", "pair", [first, second], outputs=[output("NOBODY")]),
        infer("http-bad-output-twice", "pair", [first, second], outputs=[output(), output()]),
        infer("http-bad-outputs-object", "pair", [first, second], outputs={}),
        infer("http-bad-output-name-absent", "pair", [first, second], outputs=[{}]),
        infer(
            "http-bad-class-string",
            "identity_string",
            [tensor("BYTES", [1], ["a"])],
            outputs=[output(classification=1)],
        ),
        infer(
            "http-bad-class-bool",
            "identity_bool",
            [tensor("BOOL", [1], [True])],
            outputs=[output(classification=1)],
        ),
        infer(
            "http-bad-class-text",
            "labelled",
            [tensor("FP32", [1, 4], SCORES[0])],
            outputs=[output(classification="2")],
        ),
        infer(
            "http-bad-binary-data-text", "pair", [first, second], outputs=[output(binary_data="x")]
        ),
        infer("http-bad-id-number", "pair", [first, second], id=7),
        infer("http-bad-parameters-array", "pair", [first, second], parameters=[1]),
        infer("http-bad-parameter-object", "pair", [first, second], parameters={"deep": {}}),
        infer("http-bad-parameter-null", "pair", [first, second], parameters={"nothing": None}),
        infer("http-bad-parameter-reserved", "pair", [first, second], parameters={"triton_x": 1}),
        infer("http-bad-priority-text", "pair", [first, second], parameters={"priority": "high"}),
        infer("http-bad-timeout-negative", "pair", [first, second], parameters={"timeout": -1}),
        infer("http-bad-sequence-start", "pair", [first, second], parameters={"sequence_start": 1}),
        infer(
            "http-bad-binary-output-text",
            "pair",
            [first, second],
            parameters={"binary_data_output": "yes"},
        ),
        infer(
            "http-bad-shm-unknown",
            "identity_fp32",
            [
                tensor(
                    "FP32",
                    [3],
                    parameters={"shared_memory_region": "nobody", "shared_memory_byte_size": 12},
                )
            ],
        ),
    ]


def bad_binary() -> list[HttpCase]:
    model = "identity_fp32"
    whole = [binary_tensor("FP32", [3], 12)]
    body = encode({"inputs": [FP32_INPUT]})
    return [
        infer_binary("http-bad-tail-short", model, whole, FLOATS[:8]),
        infer_binary("http-bad-tail-long", model, whole, FLOATS + b"\0\0"),
        infer_binary("http-bad-tail-none", model, whole, b""),
        infer_binary("http-bad-size-small", model, [binary_tensor("FP32", [3], 8)], FLOATS[:8]),
        infer_binary("http-bad-size-large", model, [binary_tensor("FP32", [2], 12)], FLOATS),
        infer_binary(
            "http-bad-size-text",
            model,
            [tensor("FP32", [3], parameters={"binary_data_size": "12"})],
            FLOATS,
        ),
        infer_binary(
            "http-bad-size-and-data",
            model,
            [{**FP32_INPUT, "parameters": {"binary_data_size": 12}}],
            FLOATS,
        ),
        infer("http-bad-size-without-header", model, whole),
        infer_binary("http-bad-header-length-text", model, whole, FLOATS, "many"),
        infer_binary("http-bad-header-length-negative", model, whole, FLOATS, "-5"),
        infer_binary("http-bad-header-length-beyond", model, whole, FLOATS, "100000"),
        infer_binary("http-bad-header-length-huge", model, whole, FLOATS, "99999999999"),
        infer_binary("http-bad-header-length-cuts-json", model, whole, FLOATS, "10"),
        infer_binary(
            "http-bad-string-cut",
            "identity_string",
            [binary_tensor("BYTES", [1], 5)],
            b"\x09\0\0\0a",
        ),
        infer_binary(
            "http-bad-string-indicator",
            "identity_string",
            [binary_tensor("BYTES", [1], 2)],
            b"\x01\0",
        ),
        infer_binary(
            "http-bad-string-few",
            "identity_string",
            [binary_tensor("BYTES", [2], 5)],
            strings(b"a"),
        ),
        infer_binary(
            "http-bad-string-many",
            "identity_string",
            [binary_tensor("BYTES", [1], 10)],
            strings(b"a", b"b"),
        ),
        infer_raw("http-bad-raw-two-inputs", "pair", FLOATS),
        infer_raw("http-bad-raw-free-shape", "free_shape", FLOATS),
        infer_raw("http-bad-raw-string-shape", "identity_string", b"text"),
        infer_raw("http-bad-raw-size", "cube", FLOATS),
        infer_raw("http-bad-raw-odd", "identity_fp32", FLOATS[:7]),
        infer_raw("http-bad-raw-empty", "cube", b""),
        HttpCase(
            "http-bad-encoding-unknown",
            "POST",
            infer_path(model),
            body,
            [("Content-Encoding", "br")],
        ),
        HttpCase(
            "http-bad-gzip-damaged", "POST", infer_path(model), body, [("Content-Encoding", "gzip")]
        ),
        HttpCase(
            "http-bad-deflate-damaged",
            "POST",
            infer_path(model),
            zlib.compress(body)[:-8],
            [("Content-Encoding", "deflate")],
        ),
    ]


def bad_cases() -> list[HttpCase]:
    return [*bad_routes(), *bad_extensions(), *bad_json(), *bad_semantics(), *bad_binary()]
