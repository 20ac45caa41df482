# SPDX-License-Identifier: Apache-2.0
"""Cases with BLS: models that call other models, and models that load others."""

from __future__ import annotations

from python_models.steps import (
    Case,
    Infer,
    Load,
    Metrics,
    Ready,
    Stream,
    Together,
    fp32,
    int32,
    tensor,
    text,
)

_ERRORS = (
    "in_initialize",
    "unknown_model",
    "unknown_version",
    "not_loaded",
    "too_few_inputs",
    "unknown_input",
    "wrong_type",
    "wrong_shape",
    "unknown_output",
    "no_outputs_named",
    "raising_model",
    "error_of_a_request",
    "no_sequence",
    "async_without_a_loop",
    "bad_timeout",
)
_CODES = (
    "UNKNOWN",
    "INTERNAL",
    "NOT_FOUND",
    "INVALID_ARG",
    "UNAVAILABLE",
    "UNSUPPORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
)
_DECOUPLED = (
    "all",
    "last_with_final",
    "twice",
    "broken_off",
    "by_hand",
    "dropped",
    "with_errors",
    "without_the_flag",
    "of_a_plain_model",
)
_METRICS = (
    "counter down",
    "counter set",
    "counter observe",
    "gauge observe",
    "histogram increment",
    "histogram set",
    "other kind",
    "labels a list",
    "labels with numbers",
    "buckets a number",
    "no buckets",
    "unwanted buckets",
    "kind a number",
    "after its family",
    "bad name",
    "no name",
    "unordered buckets",
)
_CONTROL = ("life", "with_a_configuration", "with_files", "mistakes", "model_dir")


def _bls(model: str) -> Infer:
    a, b = fp32("A", 1, 2, 3, 4), fp32("B", 0.5, 0.25, 0, -1)
    return Infer("bls_exec", (text("MODEL", model), a, b))


def _misuse(how: str) -> Infer:
    return Infer("metrics", (text("HOW", f"misuse:{how}"),))


def _read(how: str, count: int) -> Infer:
    return Infer("bls_decoupled", (int32("COUNT", count), text("HOW", how)))


CASES: tuple[Case, ...] = (
    Case("bls-exec", (_bls("add_sub"),)),
    Case("bls-ensemble", (_bls("pipeline"),)),
    Case("bls-exec-together", (Together((_bls("add_sub"),) * 6),)),
    Case("ensemble-of-python", (Infer("pipeline", (fp32("A", 1, 2, 3, 4), fp32("B", 4, 3, 2, 1))),)),
    Case("bls-async", (Infer("bls_async", (fp32("VALUES", 1, 2, 3, 4),)),)),
    *(
        Case(f"bls-decoupled-{how.replace('_', '-')}-{count}", (_read(how, count),))
        for how in _DECOUPLED
        for count in ((0, 1, 4) if how in ("all", "last_with_final") else (4,))
        if (how, count) != ("last_with_final", 0)
    ),
    Case("bls-decoupled-many", (_read("all", 300),)),
    Case("bls-decoupled-async", (Stream(Infer("bls_decoupled_async", (int32("COUNT", 5),))),)),
    Case("bls-sequence", (Infer("bls_sequence", (int32("VALUES", 1, 2, 3),)),)),
    Case(
        "bls-background",
        tuple(Infer("bls_background", (fp32("VALUES", n, 2, 3, 4),)) for n in (1, 2)),
    ),
    *(
        Case(f"bls-error-{how.replace('_', '-')}", (Infer("bls_errors", (text("HOW", how),)),))
        for how in _ERRORS
    ),
    *(
        Case(f"bls-code-{code.lower()}", (Infer("bls_codes", (text("CODE", code),)),))
        for code in (*_CODES, "default")
    ),
    Case("bls-information", (Infer("bls_information", (int32("X", 1),), id="outer"),)),
    Case("bls-information-text", (Infer("bls_information", (int32("X", 1),), id="text"),)),
    Case(
        "bls-cycle",
        (Infer("bls_cycle", (int32("DEPTH", 0),)), Infer("bls_cycle", (int32("DEPTH", 1),))),
        original=False,
        expected=("the bottom", "*bls_cycle*"),
    ),
    *(
        Case(f"control-{how.replace('_', '-')}", (Infer("control", (text("HOW", how),)),))
        for how in _CONTROL
    ),
    Case(
        "metrics-use",
        (Infer("metrics", (text("HOW", "use"),)), Metrics("lab_")),
    ),
    *(Case(f"metrics-{how.replace(' ', '-')}", (_misuse(how),)) for how in _METRICS),
    Case(
        "metrics-histogram-value",  # crashes Triton
        (_misuse("histogram value"),),
        original=False,
        expected=("TritonModelException: Failed to get metric value: *",),
    ),
    Case(
        "says-ready",
        (
            Load("says_ready"),
            Ready("says_ready", True),
            Infer("says_ready", (text("HOW", "not ready"),)),
            Ready("says_ready", False),
            Infer("says_ready", (text("HOW", "ready"),)),
            Ready("says_ready", True),
            Infer("says_ready", (text("HOW", "raise"),)),
            Ready("says_ready", False),
            Infer("says_ready", (text("HOW", "a number"),)),
            Ready("says_ready", False),
        ),
    ),
    Case("bls-sequence-unknown", (Infer("sequence_sum", (tensor("VALUE", "INT32", [1], (1, 1)),)),)),
)
