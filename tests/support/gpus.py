# SPDX-License-Identifier: Apache-2.0
"""The environment in which a server finds simulated GPUs (tests/support/simulated_cuda), and where it
has to place instances of models on them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from support.repository import ModelRepository
from support.stage import backend_directory

UUIDS = (
    "GPU-00000000-0405-0607-0809-0a0b0c0d0e0f",
    "GPU-00000001-1415-1617-1819-1a1b1c1d1e1f",
    "GPU-00000002-2425-2627-2829-2a2b2c2d2e2f",
)


def simulated_gpus(count: int, **settings: str | Path) -> dict[str, str]:
    """`settings`: further variables of the simulator, without its prefix and in small letters."""
    folder = backend_directory() / "testing" / "simulated_cuda"
    environment = {"LD_LIBRARY_PATH": str(folder), "SIMULATED_CUDA_GPUS": str(count)}
    for name, value in settings.items():
        environment[f"SIMULATED_CUDA_{name.upper()}"] = str(value)
    return environment

# Models of a backend that may run on GPUs, by what their configuration says of instances.
GROUPS = {
    "open": "",
    "auto": "instance_group { }",
    "gpu": "instance_group { kind: KIND_GPU }",
    "second": "instance_group { gpus: [ 1 ] }",
    "ordered": "instance_group { kind: KIND_GPU gpus: [ 2, 0 ] count: 2 }",
    "twice": "instance_group { kind: KIND_GPU gpus: [ 0, 0 ] }",
    "mixed": "instance_group { kind: KIND_GPU } instance_group { kind: KIND_CPU count: 2 }",
    "resting": "instance_group { } instance_group { passive: true gpus: [ 0 ] }",
    "model": "instance_group { kind: KIND_MODEL }",
    "unknown": "instance_group { gpus: [ 7 ] }",
    "too_high": "instance_group { kind: KIND_GPU gpus: [ 7 ] }",
    "negative": "instance_group { kind: KIND_GPU gpus: [ -1 ] }",
    "cpu_gpus": "instance_group { kind: KIND_CPU gpus: [ 0 ] }",
    "model_gpus": "instance_group { kind: KIND_MODEL gpus: [ 0 ] }",
}
NO_SUCH_GPU = (
    "specifies invalid or unsupported gpu id {gpu}. GPUs with at least the minimum required CUDA "
    "compute compatibility of 6.000000 are: {gpus}"
)
NONE_AVAILABLE = "has kind KIND_GPU but no GPUs are available"
SOME_NAMED = "has kind {kind} but specifies one or more GPUs"

# What becomes of each model with that many GPUs: the places of its instances, or the reason why it is
# not served.
PLACES: dict[int, dict[str, list[str] | str]] = {
    3: {
        "open": ["open_0 on GPU 0", "open_0 on GPU 1", "open_0 on GPU 2"],
        "auto": ["auto_0_0 on GPU 0", "auto_0_0 on GPU 1", "auto_0_0 on GPU 2"],
        "gpu": ["gpu_0_0 on GPU 0", "gpu_0_0 on GPU 1", "gpu_0_0 on GPU 2"],
        "second": ["second_0_0 on GPU 1"],
        "ordered": [f"ordered_0_{i} on GPU {gpu}" for i in (0, 1) for gpu in (2, 0)],
        "twice": ["twice_0_0 on GPU 0", "twice_0_0 on GPU 0"],
        "mixed": [
            *(f"mixed_0_0 on GPU {gpu}" for gpu in (0, 1, 2)),
            "mixed_1_0 on CPU 0",
            "mixed_1_1 on CPU 0",
        ],
        "resting": [
            *(f"resting_0_0 on GPU {gpu}" for gpu in (0, 1, 2)),
            "resting_1_0 on GPU 0, passive",
        ],
        "model": ["model_0_0 on MODEL 0"],
        "unknown": SOME_NAMED.format(kind="KIND_CPU"),
        "too_high": NO_SUCH_GPU.format(gpu=7, gpus="0, 1, 2"),
        "negative": NO_SUCH_GPU.format(gpu=-1, gpus="0, 1, 2"),
        "cpu_gpus": SOME_NAMED.format(kind="KIND_CPU"),
        "model_gpus": SOME_NAMED.format(kind="KIND_MODEL"),
    },
    1: {
        "open": ["open_0 on GPU 0"],
        "auto": ["auto_0_0 on GPU 0"],
        "gpu": ["gpu_0_0 on GPU 0"],
        "second": SOME_NAMED.format(kind="KIND_CPU"),
        "ordered": NO_SUCH_GPU.format(gpu=2, gpus="0"),
        "twice": ["twice_0_0 on GPU 0", "twice_0_0 on GPU 0"],
        "mixed": ["mixed_0_0 on GPU 0", "mixed_1_0 on CPU 0", "mixed_1_1 on CPU 0"],
        "resting": ["resting_0_0 on GPU 0", "resting_1_0 on GPU 0, passive"],
        "model": ["model_0_0 on MODEL 0"],
        "unknown": SOME_NAMED.format(kind="KIND_CPU"),
        "too_high": NO_SUCH_GPU.format(gpu=7, gpus="0"),
        "negative": NO_SUCH_GPU.format(gpu=-1, gpus="0"),
        "cpu_gpus": SOME_NAMED.format(kind="KIND_CPU"),
        "model_gpus": SOME_NAMED.format(kind="KIND_MODEL"),
    },
    0: {
        "open": ["open_0 on CPU 0"],
        "auto": ["auto_0_0 on CPU 0"],
        "gpu": NONE_AVAILABLE,
        "second": SOME_NAMED.format(kind="KIND_CPU"),
        "ordered": NONE_AVAILABLE,
        "twice": NONE_AVAILABLE,
        "mixed": NONE_AVAILABLE,
        "resting": SOME_NAMED.format(kind="KIND_CPU"),
        "model": ["model_0_0 on MODEL 0"],
        "unknown": SOME_NAMED.format(kind="KIND_CPU"),
        "too_high": NONE_AVAILABLE,
        "negative": NONE_AVAILABLE,
        "cpu_gpus": SOME_NAMED.format(kind="KIND_CPU"),
        "model_gpus": SOME_NAMED.format(kind="KIND_MODEL"),
    },
}
_PLACE = re.compile(r"testing backend: (\S+) is (on \w+ \d+(?:, passive)?)")


def add_testing(
    models: ModelRepository, name: str, behaviour: str, groups: str = "", **more: str
) -> None:
    """A model of the backend testing, with these instance groups."""
    parameters = {"behaviour": behaviour, **more}
    models.add_identity(name, extra=groups, parameters=parameters, backend="testing")


def add_groups(models: ModelRepository) -> None:
    for name, groups in GROUPS.items():
        add_testing(models, name, "places", groups)


def places_in(log: str) -> Mapping[str, list[str]]:
    """By model: where its instances say that they are, in any order."""
    found: dict[str, list[str]] = {}
    for name, place in _PLACE.findall(log):
        model = re.sub(r"(_\d+)+$", "", name)
        found.setdefault(model, []).append(f"{name} {place}")
    return found
