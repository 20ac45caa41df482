# SPDX-License-Identifier: Apache-2.0
"""The gRPC requests of the differential test: good ones and bad ones."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tritonclient.grpc import service_pb2 as pb

from differential.cases import GrpcCase
from differential.http_requests import BFLOATS, FLOATS, HALVES, PIXELS, strings

HEALTH_CHECK = "grpc.health.v1.Health/Check"


def tensor(
    datatype: str, shape: Sequence[int], name: str = "INPUT0", **contents: Sequence[Any]
) -> pb.ModelInferRequest.InferInputTensor:
    """One input; `contents`, such as fp32_contents=[1.0], uses the typed form."""
    message = pb.ModelInferRequest.InferInputTensor(name=name, datatype=datatype, shape=shape)
    for field, values in contents.items():
        getattr(message.contents, field).extend(values)
    return message


def infer(
    case: str,
    model: str,
    inputs: Sequence[Any],
    raw: Sequence[bytes] = (),
    outputs: Sequence[Any] = (),
    version: str = "",
    id: str = "",
    **parameters: Any,
) -> GrpcCase:
    request = pb.ModelInferRequest(
        model_name=model,
        model_version=version,
        id=id,
        inputs=inputs,
        outputs=outputs,
        raw_input_contents=raw,
    )
    for key, value in parameters.items():
        set_parameter(request.parameters[key], value)
    return GrpcCase(case, "ModelInfer", request)


def set_parameter(parameter: pb.InferParameter, value: Any) -> None:
    if isinstance(value, bool):
        parameter.bool_param = value
    elif isinstance(value, int):
        parameter.int64_param = value
    elif isinstance(value, float):
        parameter.double_param = value
    else:
        parameter.string_param = value


def output(
    name: str = "OUTPUT0", **parameters: Any
) -> pb.ModelInferRequest.InferRequestedOutputTensor:
    message = pb.ModelInferRequest.InferRequestedOutputTensor(name=name)
    for key, value in parameters.items():
        set_parameter(message.parameters[key], value)
    return message


def shm_tensor(region: str, size: int) -> pb.ModelInferRequest.InferInputTensor:
    message = tensor("FP32", [3])
    message.parameters["shared_memory_region"].string_param = region
    message.parameters["shared_memory_byte_size"].int64_param = size
    return message


FP32 = tensor("FP32", [3])
PAIR = [tensor("INT32", [2]), tensor("INT32", [2], "INPUT1")]
PAIR_RAW = [struct.pack("<2i", 1, 2), struct.pack("<2i", 3, 4)]
SCORES = struct.pack("<4f", 0.1, 0.7, 0.05, 0.15)


def good_admin() -> list[GrpcCase]:
    return [
        GrpcCase("grpc-good-live", "ServerLive", pb.ServerLiveRequest()),
        GrpcCase("grpc-good-not-ready", "ServerReady", pb.ServerReadyRequest()),
        GrpcCase("grpc-good-metadata", "ServerMetadata", pb.ServerMetadataRequest()),
        GrpcCase("grpc-good-model-ready", "ModelReady", pb.ModelReadyRequest(name="matrix")),
        GrpcCase(
            "grpc-good-model-metadata", "ModelMetadata", pb.ModelMetadataRequest(name="batched")
        ),
        GrpcCase(
            "grpc-good-version-metadata",
            "ModelMetadata",
            pb.ModelMetadataRequest(name="versions", version="2"),
        ),
        GrpcCase("grpc-good-config", "ModelConfig", pb.ModelConfigRequest(name="batched")),
        GrpcCase(
            "grpc-good-statistics", "ModelStatistics", pb.ModelStatisticsRequest(name="quiet")
        ),
        GrpcCase("grpc-good-index", "RepositoryIndex", pb.RepositoryIndexRequest()),
        GrpcCase("grpc-good-index-ready", "RepositoryIndex", pb.RepositoryIndexRequest(ready=True)),
        GrpcCase("grpc-good-health", HEALTH_CHECK, b""),
    ]


def good_infer() -> list[GrpcCase]:
    return [
        infer("grpc-good-raw-fp32", "identity_fp32", [FP32], [FLOATS]),
        infer("grpc-good-raw-fp16", "identity_fp16", [tensor("FP16", [2])], [HALVES]),
        infer("grpc-good-raw-bf16", "identity_bf16", [tensor("BF16", [2])], [BFLOATS]),
        infer(
            "grpc-good-raw-string",
            "identity_string",
            [tensor("BYTES", [2])],
            [strings(b"ab", b"\xff")],
        ),
        infer("grpc-good-raw-empty", "identity_fp32", [tensor("FP32", [0])], [b""]),
        infer("grpc-good-fp32", "identity_fp32", [tensor("FP32", [2], fp32_contents=[1.5, -2.25])]),
        infer("grpc-good-fp64", "identity_fp64", [tensor("FP64", [1], fp64_contents=[1e300])]),
        infer(
            "grpc-good-bool", "identity_bool", [tensor("BOOL", [2], bool_contents=[True, False])]
        ),
        infer("grpc-good-int8", "identity_int8", [tensor("INT8", [2], int_contents=[-128, 127])]),
        infer("grpc-good-int16", "identity_int16", [tensor("INT16", [1], int_contents=[-32768])]),
        infer(
            "grpc-good-int64", "identity_int64", [tensor("INT64", [1], int64_contents=[-(2**63)])]
        ),
        infer("grpc-good-uint8", "identity_uint8", [tensor("UINT8", [1], uint_contents=[255])]),
        infer(
            "grpc-good-uint64",
            "identity_uint64",
            [tensor("UINT64", [1], uint64_contents=[2**64 - 1])],
        ),
        infer(
            "grpc-good-string",
            "identity_string",
            [tensor("BYTES", [2], bytes_contents=[b"a\0b", b""])],
        ),
        infer("grpc-good-id", "identity_fp32", [FP32], [FLOATS], id="an id"),
        infer(
            "grpc-good-parameters", "identity_fp32", [FP32], [FLOATS], text="a", number=1, flag=True
        ),
        infer("grpc-good-two", "pair", PAIR, PAIR_RAW),
        infer("grpc-good-outputs", "pair", PAIR, PAIR_RAW, [output("OUTPUT1")]),
        infer("grpc-good-version", "versions", [tensor("INT32", [1])], [b"\1\0\0\0"], version="3"),
        infer("grpc-good-batch", "batched", [tensor("FP32", [2, 2])], [SCORES]),
        infer("grpc-good-reshape", "reshaped", [tensor("FP32", [4])], [SCORES]),
        infer(
            "grpc-good-class",
            "labelled",
            [tensor("FP32", [1, 4])],
            [SCORES],
            [output(classification=2)],
        ),
    ]


def good_onnx() -> list[GrpcCase]:
    image = tensor("FP32", [1, 64], "image")
    typed = tensor("FP32", [1, 64], "image", fp32_contents=PIXELS)
    pixels = struct.pack("<64f", *PIXELS)
    return [
        GrpcCase("grpc-good-onnx-config", "ModelConfig", pb.ModelConfigRequest(name="digits")),
        infer("grpc-good-onnx-digit-only", "digits_batched", [image], [pixels], [output("digit")]),
        replace(infer("grpc-good-onnx", "digits", [image], [pixels]), golden=False),
        replace(infer("grpc-good-onnx-typed", "digits", [typed]), golden=False),
    ]


def bad_admin() -> list[GrpcCase]:
    return [
        GrpcCase("grpc-bad-ready-unknown", "ModelReady", pb.ModelReadyRequest(name="nobody")),
        GrpcCase("grpc-bad-ready-broken", "ModelReady", pb.ModelReadyRequest(name="broken")),
        GrpcCase(
            "grpc-bad-metadata-unknown", "ModelMetadata", pb.ModelMetadataRequest(name="nobody")
        ),
        GrpcCase(
            "grpc-bad-metadata-version",
            "ModelMetadata",
            pb.ModelMetadataRequest(name="matrix", version="9"),
        ),
        GrpcCase(
            "grpc-bad-metadata-version-text",
            "ModelMetadata",
            pb.ModelMetadataRequest(name="matrix", version="one"),
        ),
        GrpcCase("grpc-bad-config-unknown", "ModelConfig", pb.ModelConfigRequest(name="nobody")),
        GrpcCase(
            "grpc-bad-stats-unknown", "ModelStatistics", pb.ModelStatisticsRequest(name="nobody")
        ),
        GrpcCase(
            "grpc-bad-stats-version",
            "ModelStatistics",
            pb.ModelStatisticsRequest(name="matrix", version="9"),
        ),
        GrpcCase("grpc-bad-metadata-name-empty", "ModelMetadata", pb.ModelMetadataRequest()),
    ]


def bad_extensions() -> list[GrpcCase]:
    """Extensions that Triton has and Nereid does not."""
    return [
        GrpcCase(
            "grpc-bad-shm-system-status",
            "SystemSharedMemoryStatus",
            pb.SystemSharedMemoryStatusRequest(),
        ),
        GrpcCase(
            "grpc-bad-shm-cuda-status", "CudaSharedMemoryStatus", pb.CudaSharedMemoryStatusRequest()
        ),
        # The settings are a map, which Triton writes in another order each time.
        GrpcCase("grpc-bad-trace-setting", "TraceSetting", pb.TraceSettingRequest(), golden=False),
        *bad_trace_settings(),
    ]


def bad_trace_settings() -> list[GrpcCase]:
    def of(name: str, key: str, *values: str, golden: bool = True) -> GrpcCase:
        request = pb.TraceSettingRequest()
        request.settings[key].value.extend(values)
        return GrpcCase(f"grpc-bad-trace-{name}", "TraceSetting", request, golden=golden)

    return [
        GrpcCase("grpc-bad-trace-model", "TraceSetting", pb.TraceSettingRequest(model_name="no")),
        of("file", "trace_file", "x"),
        of("level-mixed", "trace_level", "OFF", "TENSORS"),
        of("level-unknown", "trace_level", "ALL", golden=False),
        of("rate", "trace_rate", "x"),
        of("rate-twice", "trace_rate", "1", "2"),
        of("nowhere", "trace_level", "TIMESTAMPS"),
    ]


def bad_infer() -> list[GrpcCase]:
    return [
        infer("grpc-bad-model-unknown", "nobody", [FP32], [FLOATS]),
        infer("grpc-bad-model-empty", "", [FP32], [FLOATS]),
        infer("grpc-bad-model-broken", "broken", [FP32], [FLOATS]),
        infer("grpc-bad-version", "matrix", [FP32], [FLOATS], version="9"),
        infer("grpc-bad-version-text", "matrix", [FP32], [FLOATS], version="one"),
        infer("grpc-bad-inputs-none", "identity_fp32", []),
        infer("grpc-bad-input-missing", "pair", PAIR[:1], PAIR_RAW[:1]),
        infer("grpc-bad-input-unknown", "identity_fp32", [tensor("FP32", [3], "NOBODY")], [FLOATS]),
        infer("grpc-bad-input-twice", "pair", [PAIR[0], PAIR[0]], PAIR_RAW),
        infer("grpc-bad-datatype-unknown", "identity_fp32", [tensor("FLOAT", [3])], [FLOATS]),
        infer("grpc-bad-datatype-other", "identity_fp32", [tensor("INT32", [3])], [FLOATS]),
        infer("grpc-bad-rank", "cube", [tensor("INT32", [8])], [bytes(32)]),
        infer("grpc-bad-shape-negative", "identity_fp32", [tensor("FP32", [-3])], [FLOATS]),
        infer("grpc-bad-size-small", "identity_fp32", [FP32], [FLOATS[:8]]),
        infer("grpc-bad-size-large", "identity_fp32", [FP32], [FLOATS + b"\0"]),
        infer("grpc-bad-raw-none", "identity_fp32", [FP32]),
        infer("grpc-bad-raw-too-many", "identity_fp32", [FP32], [FLOATS, FLOATS]),
        infer("grpc-bad-raw-too-few", "pair", PAIR, PAIR_RAW[:1]),
        infer(
            "grpc-bad-raw-and-contents",
            "identity_fp32",
            [tensor("FP32", [3], fp32_contents=[1, 2, 3])],
            [FLOATS],
        ),
        infer(
            "grpc-bad-contents-few", "identity_fp32", [tensor("FP32", [3], fp32_contents=[1, 2])]
        ),
        infer(
            "grpc-bad-contents-type", "identity_fp32", [tensor("FP32", [3], int_contents=[1, 2, 3])]
        ),
        infer(
            "grpc-bad-contents-range", "identity_int8", [tensor("INT8", [2], int_contents=[1, 128])]
        ),
        infer("grpc-bad-contents-fp16", "identity_fp16", [tensor("FP16", [1], fp32_contents=[1])]),
        infer("grpc-bad-string-cut", "identity_string", [tensor("BYTES", [1])], [b"\x09\0\0\0a"]),
        infer("grpc-bad-batch-too-large", "batched", [tensor("FP32", [5, 2])], [bytes(40)]),
        infer("grpc-bad-output-unknown", "pair", PAIR, PAIR_RAW, [output("NOBODY")]),
        infer(
            "grpc-bad-class-text",
            "labelled",
            [tensor("FP32", [1, 4])],
            [SCORES],
            [output(classification="two")],
        ),
        infer("grpc-bad-parameter-reserved", "identity_fp32", [FP32], [FLOATS], triton_x=1),
        infer("grpc-bad-priority-text", "identity_fp32", [FP32], [FLOATS], priority="high"),
        infer("grpc-bad-timeout-text", "identity_fp32", [FP32], [FLOATS], timeout="soon"),
        infer("grpc-bad-sequence-start", "identity_fp32", [FP32], [FLOATS], sequence_start="yes"),
        infer("grpc-bad-sequence-id", "identity_fp32", [FP32], [FLOATS], sequence_id=True),
        infer("grpc-bad-shm-unknown", "identity_fp32", [shm_tensor("nobody", 12)]),
    ]


def good_cases() -> list[GrpcCase]:
    return [*good_admin(), *good_infer(), *good_onnx()]


def bad_cases() -> list[GrpcCase]:
    return [*bad_admin(), *bad_extensions(), *bad_infer()]
