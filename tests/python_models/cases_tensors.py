# SPDX-License-Identifier: Apache-2.0
"""Cases with inputs and outputs of every kind."""

from __future__ import annotations

from python_models.steps import Case, Infer, Together, both, fp32, int32, tensor, text

_TYPES = {
    "BOOL": (True, False, True),
    "UINT8": (0, 1, 255),
    "UINT16": (0, 1, 65535),
    "UINT32": (0, 1, 2**32 - 1),
    "UINT64": (0, 1, 2**64 - 1),
    "INT8": (-128, 0, 127),
    "INT16": (-32768, 0, 32767),
    "INT32": (-(2**31), 0, 2**31 - 1),
    "INT64": (-(2**63), 0, 2**63 - 1),
    "FP16": (-1.5, 0.0, 65504.0),
    "FP32": (-1.5, 0.1, 3.0e38),
    "FP64": (-1.5, 0.1, 1.0e308),
    "BYTES": ("a", b"\x00\xff", "grüße"),
}


def _types(names: tuple[str, ...]) -> Infer:
    inputs = tuple(
        tensor(f"IN_{'STRING' if name == 'BYTES' else name}", name, _TYPES[name]) for name in names
    )
    outputs = tuple(one.name.replace("IN_", "OUT_") for one in inputs)
    return Infer("types", inputs, (*outputs, "REPORT"))


def _batch(*rows: tuple[int, ...]) -> Infer:
    shape = (len(rows), len(rows[0]))
    a = tensor("INPUT0", "INT32", [value for row in rows for value in row], shape)
    b = tensor("INPUT1", "INT32", range(shape[0] * shape[1]), shape)
    return Infer("add_sub_batch", (a, b))


def _dlpack(how: str) -> Infer:
    return Infer("dlpack", (tensor("INPUT", "FP32", [1, 2, 3, 4], (2, 2)), text("HOW", how)))


_AB = (fp32("INPUT0", 1, 2, 3, 4), fp32("INPUT1", 0.5, -1, 1e10, 0))
_WORDS = tensor("TEXT", "BYTES", ["abc", b"\x00\x01", "", "grüße"], (2, 2))
_HOW_SHAPES = ("as configured", "scalar", "too long", "other rank", "other type", "text", "twice", "nothing")

CASES: tuple[Case, ...] = (
    *both("add-sub", Infer("add_sub", _AB)),
    *both("add-sub-one-output", Infer("add_sub", _AB, ("DIFFERENCE",))),
    *both("add-sub-id", Infer("add_sub", _AB, ("SUM",), id="own id")),
    *both("add-sub-missing-input", Infer("add_sub", _AB[:1])),
    *both("add-sub-wrong-shape", Infer("add_sub", (fp32("INPUT0", 1), _AB[1]))),
    *both("batch-of-one", _batch((1, 2))),
    *both("batch-of-three", _batch((1, 2), (3, 4), (5, 6))),
    *both("batch-too-large", _batch(*[(1, 2)] * 9)),
    Case(
        "batches-together",
        (Together(tuple(_batch((n, n + 1), (2, 3)) for n in range(12))),),
    ),
    Case("batches-ragged", (Together((_batch((1, 2)), _batch((1, 2, 3)), _batch((5,)))),)),
    *both("strings", Infer("strings", (_WORDS,))),
    *both("strings-empty", Infer("strings", (tensor("TEXT", "BYTES", [], (1, 0)),))),
    *both("string-kinds", Infer("string_kinds", (text("TEXT", "one", "three"),))),
    *both(
        "zero-size",
        Infer("zero_size", (tensor("NUMBERS", "FP32", [], (0, 3)), tensor("TEXT", "BYTES", []))),
    ),
    *both("scalar", Infer("scalars", (tensor("INPUT", "FP64", [2.25], (1, 1)),))),
    *(case for name in _TYPES for case in both(f"type-{name.lower()}", _types((name,)))),
    *both("types-all", _types(tuple(_TYPES))),
    Case("types-empty", (Infer("types", (tensor("IN_FP16", "FP16", []),), ("OUT_FP16", "REPORT")),)),
    Case(
        "bf16",
        (Infer("bf16", (tensor("INPUT", "BF16", [1.0, -2.5, 0.1, 3e38], (2, 2)),)),),
    ),
    Case("dlpack", (_dlpack("tensors"),)),
    Case(
        "dlpack-of-numpy",  # crashes Triton's process
        (_dlpack("numpy"),),
        original=False,
        expected=("*DLPack tensor is not contiguous. Only contiguous DLPack tensors*",),
    ),
    Case(
        "shared-outputs",
        tuple(Infer("shared_outputs", (int32("INPUT", n, n + 1, n + 2, n + 3),)) for n in (1, 5, 9)),
    ),
    *(
        case
        for how in _HOW_SHAPES
        for case in both(
            f"output-{how.replace(' ', '-')}", Infer("output_shapes", (text("HOW", how),))
        )
    ),
    Case(
        "pruning",
        (
            Infer("pruning", (int32("X", 1),)),
            Infer("pruning", (int32("X", 2),), ("FIRST",)),
            Infer("pruning", (int32("X", 3),), ("SECOND",)),
            Infer("pruning", (int32("X", 3),), ("SECOND", "NEVER")),
            Infer("pruning", (int32("X", 4),), ("NEVER",)),
            Infer("pruning", (int32("X", 5),), ("UNKNOWN",)),
        ),
    ),
)
