# SPDX-License-Identifier: Apache-2.0
"""Ensembles in the differential test, over HTTP and gRPC."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tritonclient.grpc import service_pb2 as pb

from differential import cases_grpc
from differential.cases import ON_DEMAND, GrpcCase, HttpCase
from differential.cases_control import control, load, unload
from differential.cases_streams import generate, stream
from differential.http_requests import binary_tensor, get, infer, infer_binary, output, tensor

ONE = [output("OUTPUT1")]
INTS = tensor("INT32", [3], [1, -2, 3])
ROWS = tensor("FP32", [2, 2], [[0.5, 1], [2, 4]])
RAW_INTS = struct.pack("<3i", 1, -2, 3)
GRPC_INTS = cases_grpc.tensor("INT32", [3])
BAD_ENSEMBLES = (
    "no_member",
    "no_input",
    "no_output",
    "missing_input",
    "type",
    "shape",
    "batch",
    "unused",
    "circle",
    "member_fails",
    "twice",
    "no_steps",
    "reshape",
)
# The parameters of a request, by its position in its sequence.
SEQUENCE = {
    "start": {"sequence_id": 5, "sequence_start": True},
    "middle": {"sequence_id": 5},
    "end": {"sequence_id": 5, "sequence_end": True},
    "text": {"sequence_id": "a name", "sequence_start": True, "sequence_end": True},
}
IN_SEQUENCE = {what: {"outputs": ONE, "parameters": members} for what, members in SEQUENCE.items()}


def here(case: HttpCase, before: Sequence[HttpCase] = ()) -> HttpCase:
    return replace(case, server=ON_DEMAND, before=tuple(before))


def good_http() -> list[HttpCase]:
    use = [infer("unused", "counted_chain", [INTS])] * 3
    member = [unload("http_member_part")]
    return [
        *(
            here(get(f"http-good-ensemble-{what}", f"/v2/models/{model}{path}"))
            for what, model, path in (
                ("config", "chain", "/config"),
                ("config-batched", "batched_chain", "/config"),
                ("metadata", "fork", ""),
                ("metadata-batched", "batched_chain", ""),
                ("ready", "nested", "/ready"),
                ("statistics", "batched_chain", "/stats"),
            )
        ),
        here(get("http-good-ensemble-statistics-counted", "/v2/models/counted_chain/stats"), use),
        here(get("http-good-member-statistics", "/v2/models/counted_last/stats"), use),
        here(infer("http-good-ensemble", "chain", [INTS], id="an id")),
        here(infer("http-good-ensemble-nested", "nested", [INTS])),
        here(infer("http-good-ensemble-batch", "batched_chain", [ROWS])),
        # Only one output, because Triton writes the two in the order in which they arrive.
        here(infer("http-good-ensemble-one-output", "fork", [INTS], outputs=ONE)),
        here(
            infer_binary(
                "http-good-ensemble-binary",
                "chain",
                [binary_tensor("INT32", [3], 12)],
                RAW_INTS,
                outputs=[output("OUTPUT0", binary_data=True)],
            )
        ),
        *(
            here(infer(f"http-good-ensemble-sequence-{what}", "fork", [INTS], **members))
            for what, members in IN_SEQUENCE.items()
        ),
        here(
            infer("http-good-ensemble-sequence-nested", "nested", [INTS], parameters=SEQUENCE["end"])
        ),
        here(generate("http-good-ensemble-generate", "chain", {"INPUT0": [1, 2]})),
        here(infer("http-good-ensemble-left-out", "left_out", [INTS])),
        here(infer("http-good-ensemble-left-out-input", "left_out_input", [INTS])),
        here(infer("http-good-ensemble-left-out-alone", "left_out", [INTS], outputs=ONE)),
        here(infer("http-good-ensemble-reshape", "reshaped", [tensor("FP32", [4], [1, 2, 3, 4])])),
        here(
            infer(
                "http-good-ensemble-reshape-batch",
                "reshaped_batch",
                [tensor("FP32", [2, 4], [[1, 2, 3, 4], [5, 6, 7, 8]])],
            )
        ),
        here(get("http-good-ensemble-reshape-metadata", "/v2/models/reshaped_batch")),
        here(
            infer("http-good-ensemble-alone", "http_alone_chain", [INTS]),
            [load("http_alone_chain")],
        ),
        here(
            infer("http-good-ensemble-member-back", "http_member_chain", [INTS]),
            [load("http_member_chain"), *member, load("http_member_part")],
        ),
    ]


def bad_http() -> list[HttpCase]:
    floats = tensor("FP32", [3], [1, 2, 3])
    many = tensor("FP32", [5, 2], [[0, 0]] * 5)
    return [
        *(
            control(f"http-bad-ensemble-{what.replace('_', '-')}", "load", f"bad_{what}")
            for what in BAD_ENSEMBLES
        ),
        here(infer("http-bad-ensemble-step", "failing_chain", [tensor("INT32", [1], [-1])])),
        here(infer("http-bad-ensemble-left-out", "left_out_required", [INTS])),
        here(infer("http-bad-ensemble-unanswered", "unanswered", [INTS])),
        here(infer("http-bad-ensemble-input", "chain", [{**INTS, "name": "NOBODY"}])),
        here(infer("http-bad-ensemble-input-missing", "chain", [])),
        here(infer("http-bad-ensemble-datatype", "chain", [floats])),
        here(infer("http-bad-ensemble-rank", "chain", [tensor("INT32", [1, 2], [[1, 2]])])),
        here(infer("http-bad-ensemble-rows", "batched_chain", [many])),
        here(infer("http-bad-ensemble-output", "chain", [INTS], outputs=[output("NOBODY")])),
        here(
            infer("http-bad-ensemble-member-gone", "http_member_chain", [INTS]),
            [load("http_member_chain"), unload("http_member_part")],
        ),
        here(
            get("http-bad-ensemble-gone-ready", "/v2/models/http_member_chain/ready"),
            [load("http_member_chain"), unload("http_member_part")],
        ),
        here(
            infer("http-bad-dependents-gone", "http_alone_part", [INTS]),
            [load("http_alone_chain"), unload("http_alone_chain", unload_dependents=True)],
        ),
    ]


def asked(case: str, method: str, request: Any, *before: HttpCase) -> GrpcCase:
    return GrpcCase(case, method, request, before=before, server=ON_DEMAND)


def inferred(case: str, model: str, *inputs: Any, **more: Any) -> GrpcCase:
    made = cases_grpc.infer(case, model, inputs or [GRPC_INTS], **{"raw": [RAW_INTS], **more})
    return replace(made, server=ON_DEMAND)


def in_sequence(model: str) -> list[pb.ModelInferRequest]:
    """The requests of one sequence."""
    return [
        inferred("unused", model, **SEQUENCE[what]).request for what in ("start", "middle", "end")
    ]


def good_grpc() -> list[GrpcCase]:
    use = [infer("unused", "counted_chain", [INTS])]
    return [
        asked("grpc-good-ensemble-config", "ModelConfig", pb.ModelConfigRequest(name="fork")),
        asked("grpc-good-ensemble-metadata", "ModelMetadata", pb.ModelMetadataRequest(name="fork")),
        asked("grpc-good-ensemble-ready", "ModelReady", pb.ModelReadyRequest(name="nested")),
        asked(
            "grpc-good-ensemble-statistics",
            "ModelStatistics",
            pb.ModelStatisticsRequest(name="counted_chain"),
            *use,
        ),
        inferred("grpc-good-ensemble", "chain", id="an id"),
        *(
            inferred(f"grpc-good-ensemble-sequence-{what}", "chain", **parameters)
            for what, parameters in SEQUENCE.items()
        ),
        inferred("grpc-good-ensemble-left-out", "left_out"),
        replace(
            stream("grpc-good-ensemble-stream-sequence", *in_sequence("chain")), server=ON_DEMAND
        ),
        inferred("grpc-good-ensemble-outputs", "fork", outputs=[cases_grpc.output("OUTPUT1")]),
        replace(
            inferred("grpc-good-ensemble-member-back", "grpc_member_chain"),
            before=(load("grpc_member_chain"), unload("grpc_member_part"), load("grpc_member_part")),
        ),
    ]


def bad_grpc() -> list[GrpcCase]:
    gone = (load("grpc_member_chain"), unload("grpc_member_part"))
    step = cases_grpc.tensor("INT32", [1], int_contents=[-1])
    return [
        inferred("grpc-bad-ensemble-step", "failing_chain", step, raw=[]),
        inferred("grpc-bad-ensemble-left-out", "left_out_required"),
        inferred("grpc-bad-ensemble-input", "chain", cases_grpc.tensor("INT32", [3], "NOBODY")),
        inferred("grpc-bad-ensemble-datatype", "chain", cases_grpc.tensor("FP32", [3])),
        inferred("grpc-bad-ensemble-output", "chain", outputs=[cases_grpc.output("NOBODY")]),
        replace(inferred("grpc-bad-ensemble-member-gone", "grpc_member_chain"), before=gone),
        asked(
            "grpc-bad-ensemble-member-gone-metadata",
            "ModelMetadata",
            pb.ModelMetadataRequest(name="grpc_member_chain"),
            *gone,
        ),
    ]


def good_cases() -> list[HttpCase | GrpcCase]:
    return [*good_http(), *good_grpc()]


def bad_cases() -> list[HttpCase | GrpcCase]:
    return [*bad_http(), *bad_grpc()]
