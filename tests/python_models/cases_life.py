# SPDX-License-Identifier: Apache-2.0
"""Cases of loading, completion of configurations, the module itself, logs, and failures."""

from __future__ import annotations

from python_models.steps import (
    Case,
    Config,
    Infer,
    Load,
    Log,
    Stream,
    Together,
    Unload,
    both,
    config,
    fp32,
    int32,
    over_http,
    tensor,
    text,
)

# These models are loaded by cases; all others are loaded at the server's start.
LATER = frozenset(
    {
        "auto_simple",
        "auto_partly",
        "auto_decoupled",
        "auto_fails",
        "raises_in_import",
        "syntax_error",
        "no_class",
        "no_file",
        "raises_in_initialize",
        "raises_in_constructor",
        "exits_in_initialize",
        "dies_in_initialize",
        "raises_in_finalize",
        "controlled",
        "says_ready",
    }
)
_COMPLETED = ("max_batch_size", "input", "output", "dynamic_batching", "model_transaction_policy")
# Models that cannot be loaded. Triton waits forever for a model without a file.
_BROKEN = (
    "raises_in_import",
    "syntax_error",
    "no_class",
    "raises_in_initialize",
    "raises_in_constructor",
    "exits_in_initialize",
    "dies_in_initialize",
)
_EXECUTE = (
    "raise",
    "nested",
    "silent",
    "exit",
    "interrupt",
    "model exception",
    "two lines",
    "nothing",
    "a dict",
    "a generator",
    "a response",
    "too many",
    "too few",
    "wrong elements",
    "tensors",
    "stopped loop",
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
    "default",
    "with outputs",
)
_AUTO = ("type", "batch", "nothing", "dict", "raise", "assert", "bad type")


def _tensor(name: str) -> dict[str, object]:
    return {"name": name, "data_type": "TYPE_INT32", "dims": [3]}


def _auto_config(how: str) -> str:
    return config(
        {
            "backend": "python",
            "max_batch_size": 4,
            "input": [_tensor("IN")],
            "output": [_tensor("OUT")],
            "parameters": {"how": {"string_value": how}},
        }
    )


def _execute(how: str) -> Infer:
    return Infer("execute_fails", (text("HOW", how),))


def _code(name: str) -> Infer:
    return Infer("error_codes", (tensor("CODE", "BYTES", [name], (1, 1)),))


CASES: tuple[Case, ...] = (
    Case(
        "auto-simple",
        (
            Load("auto_simple"),
            Config("auto_simple", _COMPLETED),
            Infer("auto_simple", (tensor("IN", "FP32", [1, 2], (1, 2)),)),
        ),
    ),
    Case(
        "auto-partly",
        (
            Load("auto_partly"),
            Config("auto_partly", _COMPLETED),
            Infer("auto_partly", (tensor("IN", "INT32", [1, 2, 3], (1, 3)),)),
        ),
    ),
    Case(
        "auto-decoupled",
        (
            Load("auto_decoupled"),
            Config("auto_decoupled", _COMPLETED),
            Stream(Infer("auto_decoupled", (int32("IN", 1),))),
        ),
    ),
    *(Case(f"auto-fails-{how.replace(' ', '-')}", (Load("auto_fails", _auto_config(how)),)) for how in _AUTO),
    Case("auto-rules", (Infer("auto_rules", (int32("X", 1),)),)),
    *(Case(f"load-{model.replace('_', '-')}", (Load(model),)) for model in _BROKEN),
    Case("load-no-file", (Load("no_file"),), original=False, expected=("*no_file*model.py*",)),
    Case("no-execute", (Infer("no_execute", (int32("X", 1),)),)),
    Case(
        "raises-in-finalize",
        (
            Load("raises_in_finalize"),
            Infer("raises_in_finalize", (int32("X", 3),)),
            Unload("raises_in_finalize"),
        ),
    ),
    *(
        case
        for how in _EXECUTE
        for case in (Case(f"execute-{how.replace(' ', '-')}", (_execute(how), _execute("well"))),)
    ),
    *both("execute-raise-over", _execute("raise")),
    *(case for name in _CODES for case in both(f"code-{name.lower().replace(' ', '-')}", _code(name))),
    Case("codes-together", (Together(tuple(_code(n) for n in ("none", "NOT_FOUND", "none"))),)),
    *both("init-args", Infer("init_args", (text("HOW", "a"),))),
    Case("multi-file", (Infer("multi_file", (text("HOW", "a"),)),)),
    Case("named-file", (Infer("named_file", (text("HOW", "a"),)),)),
    Case(
        "logger",
        (
            Log("probe: in initialize", 1),
            Infer("logger", (text("HOW", "a"),)),
            Log("probe: log_", 3),  # not the verbose one
            *(Log(f"probe: {how}", 1) for how in ("plain", "info", "warning", "error", "named")),
            Log(" end", 1),
        ),
    ),
    Case("logger-lines", (Infer("logger", (text("HOW", "a"),)), Log("probe: grüße", 1))),
    Case(
        "prints",
        (
            Infer("prints", (text("HOW", "a"),)),
            Log("probe: to std", 2, ordered=False, bare=True),
            Log("probe: half a line", 1, bare=True),
            Log("probe: printed in initialize", 1, bare=True),
        ),
    ),
    *(
        Case(f"constructors-{what}", (Infer("constructors", (text("HOW", what),)),))
        for what in ("tensors", "requests", "responses", "errors")
    ),
    Case("pure-functions", (Infer("pure_functions", (text("HOW", "a"),)),)),
    *both(
        "information",
        Infer(
            "information",
            (int32("X", 1),),
            id="a b",
            timeout=3_000_000,
            priority=0,
            parameters=(("text", "grüße"), ("number", 7), ("yes", True)),
        ),
    ),
    *both("information-none", Infer("information", (int32("X", 1),))),
    *both("information-outputs", Infer("information", (int32("X", 1),), ("REPORT",))),
    *both("information-sequence", Infer("information", (int32("X", 1),), sequence=7, start=True)),
    *both("information-text-id", Infer("information", (int32("X", 1),), sequence="s", end=True)),
    Case(
        "information-float", (Infer("information", (int32("X", 1),), parameters=(("real", 1.5),)),)
    ),
    Case("response-parameters", both("", Infer("response_parameters", (text("HOW", "a"),)))[0].steps),
    Case("unload-and-load", (Unload("add_sub"), Load("add_sub"), Infer("add_sub", (
        fp32("INPUT0", 1, 2, 3, 4), fp32("INPUT1", 1, 1, 1, 1))))),
)
