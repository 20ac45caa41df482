# SPDX-License-Identifier: Apache-2.0
"""The models of the differential test that are loaded and unloaded, and the ensembles.

Each case has its own models, so that it does not depend on other cases.
"""

from __future__ import annotations

from pathlib import Path

from support.ensembles import add_ensemble, step_text
from support.repository import ModelRepository, tensor_text
from support.streaming import add_testing

# Loaded at the start, together with the members of the ensembles.
LOADED = (
    "chain",
    "counted_chain",
    "fork",
    "batched_chain",
    "failing_chain",
    "nested",
    "left_out",
    "left_out_input",
    "left_out_required",
    "unanswered",
    "reshaped",
    "reshaped_batch",
)
IN, OUT = {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"}
# Each of these models is for one case.
FREE = [
    f"{protocol}_{what}"
    for protocol in ("http", "grpc")
    for what in ("load", "again", "config", "files", "unload", "gone", "bad_override", "stats")
] + ["http_kept", "http_forgotten", "http_never"]


def _vector(name: str, data_type: str = "INT32") -> str:
    return tensor_text(name, data_type, (-1,))


def write_managed_repository(root: Path) -> Path:
    models = ModelRepository(root)
    for name in ("echo", "inner", *FREE):
        models.add_identity(name, "INT32")
    models.add_identity("floats", "FP32")
    models.add_identity("batched", "FP32", (2,), max_batch_size=4)
    models.add_identity("pair", "INT32", (2,), tensors=2)
    models.add_identity("two_versions", "INT32", versions=(1, 2), extra=_ALL_VERSIONS)
    add_testing(models, "fails_some", "fails_some")
    models.add_identity("no_backend", "INT32", backend="nonesuch")
    models.add("no_config", "nonsense {")
    models.add("no_versions", _config("identity"), ())
    _add_ensembles(models)
    _add_bad_ensembles(models)
    return models.root


_ALL_VERSIONS = "version_policy { all { } }"


def _config(backend: str) -> str:
    return f'backend: "{backend}"\ninput [ {_vector("INPUT0")} ]\noutput [ {_vector("OUTPUT0")} ]\n'


def _chain(models: ModelRepository, name: str, *members: str) -> None:
    tensors = ["INPUT0", *(f"between_{i}" for i in range(1, len(members))), "OUTPUT0"]
    steps = [
        step_text(member, {"INPUT0": tensors[i]}, {"OUTPUT0": tensors[i + 1]})
        for i, member in enumerate(members)
    ]
    add_ensemble(models, name, [_vector("INPUT0")], [_vector("OUTPUT0")], steps)


def _add_ensembles(models: ModelRepository) -> None:
    _chain(models, "chain", "echo", "echo")
    _chain(models, "nested", "chain", "inner")
    _chain(models, "failing_chain", "echo", "fails_some")
    for name in ("counted", "counted_last"):
        models.add_identity(name, "INT32")
    _chain(models, "counted_chain", "counted", "counted_last")
    for protocol in ("http", "grpc"):
        for what in ("alone", "member"):
            models.add_identity(f"{protocol}_{what}_part", "INT32")
            _chain(models, f"{protocol}_{what}_chain", f"{protocol}_{what}_part")
    add_ensemble(
        models,
        "fork",
        [_vector("INPUT0")],
        [_vector("OUTPUT0"), _vector("OUTPUT1")],
        [step_text("echo", IN, OUT), step_text("inner", IN, {"OUTPUT0": "OUTPUT1"})],
    )
    add_ensemble(
        models,
        "batched_chain",
        [tensor_text("INPUT0", "FP32", (2,))],
        [tensor_text("OUTPUT0", "FP32", (2,))],
        [step_text("batched", IN, OUT)],
        4,
    )
    _add_left_out(models)
    _add_reshaped(models)


def _add_left_out(models: ModelRepository) -> None:
    """Ensembles whose first step returns no OUTPUT1, because it gets no INPUT1."""
    models.add("maybe_pair", _pair("optional: true"))
    models.add("whole_pair", _pair(""))
    outputs = {"OUTPUT0": "OUTPUT0", "OUTPUT1": "OUTPUT1"}
    both = [_vector("OUTPUT0"), _vector("OUTPUT1")]
    add_ensemble(
        models, "left_out", [_vector("INPUT0")], both, [step_text("maybe_pair", IN, outputs)]
    )
    first = step_text("maybe_pair", IN, {"OUTPUT0": "a", "OUTPUT1": "b"})
    for name, last in (("left_out_input", "maybe_pair"), ("left_out_required", "whole_pair")):
        second = step_text(last, {"INPUT0": "a", "INPUT1": "b"}, outputs)
        add_ensemble(models, name, [_vector("INPUT0")], both, [first, second])
    add_testing(models, "silent", "decoupled", responses="0")
    _chain(models, "unanswered", "silent")


def _pair(second: str) -> str:
    inputs = f'{_vector("INPUT0")}, {tensor_text("INPUT1", "INT32", (-1,), second)}'
    outputs = f'{_vector("OUTPUT0")}, {_vector("OUTPUT1")}'
    return f'backend: "identity"\ninput [ {inputs} ]\noutput [ {outputs} ]\n'


def _add_reshaped(models: ModelRepository) -> None:
    models.add_identity("square", "FP32", (2, 2))
    models.add_identity("squares", "FP32", (2, 2), max_batch_size=4)
    reshape = "reshape { shape: [ 2, 2 ] }"
    tensors = [[tensor_text(name, "FP32", (4,), reshape)] for name in ("INPUT0", "OUTPUT0")]
    add_ensemble(models, "reshaped", *tensors, [step_text("square", IN, OUT)])
    add_ensemble(models, "reshaped_batch", *tensors, [step_text("squares", IN, OUT)], 4)
    add_ensemble(models, "bad_reshape", *tensors, [step_text("floats4", IN, OUT)])
    models.add_identity("floats4", "FP32", (4,))


def _add_bad_ensembles(models: ModelRepository) -> None:
    def add(name: str, *steps: str, inputs: str = "", outputs: str = "") -> None:
        add_ensemble(
            models,
            name,
            [inputs or _vector("INPUT0")],
            [outputs or _vector("OUTPUT0")],
            list(steps),
        )

    add("bad_no_member", step_text("nobody", IN, OUT))
    add("bad_no_input", step_text("echo", {"INPUT9": "INPUT0"}, OUT))
    add("bad_no_output", step_text("echo", IN, {"OUTPUT9": "OUTPUT0"}))
    add("bad_missing_input", step_text("pair", IN, OUT))
    add("bad_type", step_text("floats", IN, OUT))
    pair = step_text("pair", {**IN, "INPUT1": "INPUT0"}, OUT)
    add("bad_shape", pair, inputs=tensor_text("INPUT0", "INT32", (3,)))
    add("bad_batch", step_text("batched", IN, OUT), inputs=tensor_text("INPUT0", "FP32", (2,)))
    add("bad_unused", step_text("echo", IN, {"OUTPUT0": "elsewhere"}))
    add("bad_circle", step_text("bad_circle", IN, OUT))
    add("bad_member_fails", step_text("no_backend", IN, OUT))
    add("bad_twice", step_text("echo", IN, OUT), step_text("inner", IN, OUT))
    add("bad_no_steps")
