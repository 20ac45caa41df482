# SPDX-License-Identifier: Apache-2.0
"""Streams and decoupled models: generate over HTTP, ModelStreamInfer over gRPC."""

from __future__ import annotations

from typing import Any

from tritonclient.grpc import service_pb2 as pb

from differential.cases import GrpcCase, HttpCase
from differential.http_requests import encode, infer, tensor
from support.streaming import repeat_request, vector_request

FINAL = {"triton_enable_empty_final_response": True}


def generate(case: str, model: str, document: Any, *headers: tuple[str, str]) -> HttpCase:
    return HttpCase(case, "POST", f"/v2/models/{model}/generate", encode(document), headers)


def generate_stream(case: str, model: str, document: Any) -> HttpCase:
    return HttpCase(case, "POST", f"/v2/models/{model}/generate_stream", encode(document))


def repeat(values: list[int], delays: list[int] | None = None, **members: Any) -> dict[str, Any]:
    return {"IN": values, "DELAY": delays or [0] * len(values), "WAIT": 0, **members}


def stream(case: str, *requests: pb.ModelInferRequest, metadata: Any = ()) -> GrpcCase:
    return GrpcCase(case, "ModelStreamInfer", requests, metadata=metadata)


def good_generate() -> list[HttpCase]:
    return [
        generate("http-good-generate-text", "identity_string", {"INPUT0": "a\n\u00e9"}),
        generate("http-good-generate-list", "identity_string", {"INPUT0": ["a", "b"]}),
        generate("http-good-generate-int", "identity_int32", {"INPUT0": -5, "id": "7"}),
        generate("http-good-generate-empty", "identity_int32", {"INPUT0": [], "id": ""}),
        generate("http-good-generate-bool", "identity_bool", {"INPUT0": True}),
        generate("http-good-generate-float", "identity_fp32", b'{"INPUT0":[1.5,NaN]}'),
        generate("http-good-generate-matrix", "matrix", {"INPUT0": [1, 2, 3, 4, 5, 6]}),
        generate("http-good-generate-batch", "batched", {"INPUT0": [1, 2, 3, 4]}),
        generate(
            "http-good-generate-parameters",
            "identity_int32",
            {"INPUT0": 1, "stream": False, "t": 0.5, "parameters": {"stop": "x", "n": 2}},
        ),
        generate(
            "http-good-generate-nested-input", "identity_int32", {"parameters": {"INPUT0": [1, 2]}}
        ),
        generate("http-good-generate-decoupled", "repeat", repeat([7])),
        generate("http-good-generate-two-responses", "repeat", repeat([1, 2])),
        generate("http-good-generate-no-response", "repeat", repeat([])),
        generate_stream("http-good-events", "repeat", repeat([4, 2], id="x")),
        generate_stream("http-good-no-events", "repeat", repeat([])),
        generate_stream("http-good-event", "identity_int32", {"INPUT0": [1, 2]}),
    ]


def bad_generate() -> list[HttpCase]:
    texts = {
        "empty": b"",
        "cut": b"{",
        "array": b"[]",
        "number": b"5",
        "more": b'{"INPUT0":1}x',
        "id-number": b'{"INPUT0":1,"id":5}',
        "twice": b'{"INPUT0":1,"INPUT0":2}',
        "missing": b"{}",
        "wrong-type": b'{"INPUT0":"x"}',
        "real": b'{"INPUT0":1.5}',
        "nested-array": b'{"INPUT0":[[1,2],[3,4]]}',
        "parameter-array": b'{"INPUT0":1,"PARAMS":[1]}',
        "parameter-null": b'{"INPUT0":1,"PARAMS":null}',
        "parameters-number": b'{"INPUT0":1,"parameters":5}',
        "parameters-nested": b'{"INPUT0":1,"parameters":{"nested":{}}}',
    }
    named = [
        generate(f"http-bad-generate-{name}", "identity_int32", text)
        for name, text in texts.items()
    ]
    encoding = ("Content-Encoding", "gzip")
    return [
        *named,
        generate("http-bad-generate-model", "nobody", {}),
        generate("http-bad-generate-encoding", "identity_int32", {"INPUT0": 1}, encoding),
        generate("http-bad-generate-shape", "matrix", {"INPUT0": [1, 2]}),
        generate("http-bad-generate-fp16", "identity_fp16", {"INPUT0": 1}),
        generate("http-bad-generate-string", "identity_string", {"INPUT0": 1}),
        generate("http-bad-generate-fails", "fails_some", {"INPUT0": -1}),
        generate("http-bad-generate-mismatch", "repeat", repeat([1], [0, 0])),
        generate_stream("http-bad-events-model", "nobody", {}),
        generate_stream("http-bad-events-missing", "identity_int32", {}),
        generate_stream("http-bad-events-fails", "fails_some", {"INPUT0": -1}),
        generate_stream("http-bad-events-mismatch", "repeat", repeat([1], [0, 0])),
        infer(
            "http-bad-decoupled",
            "repeat",
            [
                tensor("INT32", [1], [1], "IN"),
                tensor("UINT32", [1], [0], "DELAY"),
                tensor("UINT32", [1], [0], "WAIT"),
            ],
        ),
        HttpCase("http-bad-method-generate", "GET", "/v2/models/repeat/generate"),
    ]


def good_streams() -> list[GrpcCase]:
    def echo(id: str) -> pb.ModelInferRequest:
        return vector_request("identity_fp32", "FP32", [1.5], id=id)

    return [
        stream("grpc-good-stream-none"),
        stream("grpc-good-stream-echo", echo("a"), echo("b"), echo("")),
        stream("grpc-good-stream-repeat", repeat_request([4, 2, 0], id="r")),
        stream("grpc-good-stream-no-response", repeat_request([], id="r")),
        stream("grpc-good-stream-final", repeat_request([4], id="r", **FINAL)),
        stream("grpc-good-stream-only-final", repeat_request([], id="r", **FINAL)),
        stream(
            "grpc-good-stream-echo-final",
            vector_request("identity_fp32", "FP32", [1.5], id="a", **FINAL),
        ),
        stream(
            "grpc-good-stream-errors",
            vector_request("nobody", "FP32", [1], id="n"),
            vector_request("identity_fp32", "INT32", [1], id="type"),
            vector_request("fails_some", "INT32", [-1], id="f"),
            vector_request("identity_fp32", "FP32", [1], id="p", triton_x=1),
            echo("ok"),
        ),
        stream("grpc-good-stream-mismatch", repeat_request([1], [0, 0], id="m")),
        stream("grpc-good-stream-strict", echo("a"), metadata=[("triton_grpc_error", "true")]),
        stream(
            "grpc-good-stream-not-strict",
            vector_request("fails_some", "INT32", [-1], id="f"),
            metadata=[("triton_grpc_error", "1")],
        ),
    ]


def bad_streams() -> list[GrpcCase]:
    return [
        stream(
            "grpc-bad-stream-strict",
            vector_request("fails_some", "INT32", [-1], id="f"),
            metadata=[("triton_grpc_error", "true")],
        ),
        GrpcCase("grpc-bad-decoupled", "ModelInfer", repeat_request([1])),
    ]


def good_cases() -> list[HttpCase | GrpcCase]:
    return [*good_generate(), *good_streams()]


def bad_cases() -> list[HttpCase | GrpcCase]:
    return [*bad_generate(), *bad_streams()]
