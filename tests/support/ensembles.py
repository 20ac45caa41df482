# SPDX-License-Identifier: Apache-2.0
"""Writing configurations of ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from support.repository import ModelRepository


def step_text(model: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    """One step; the maps are from the model's tensor names to the ensemble's."""
    maps = [("input_map", inputs), ("output_map", outputs)]
    entries = "".join(
        f'{field} {{ key: "{name}" value: "{tensor}" }}\n'
        for field, tensors in maps
        for name, tensor in tensors.items()
    )
    return f'step {{ model_name: "{model}" model_version: -1\n{entries}}}\n'


def add_ensemble(
    repository: ModelRepository,
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    steps: Sequence[str],
    max_batch_size: int = 0,
    extra: str = "",
    scheduling: str = "",
    versions: Sequence[int] = (1,),
) -> Path:
    """`inputs` and `outputs` are made by tensor_text, `steps` by step_text."""
    config = (
        f'platform: "ensemble"\nmax_batch_size: {max_batch_size}\n'
        f"input [ {', '.join(inputs)} ]\noutput [ {', '.join(outputs)} ]\n"
        f"ensemble_scheduling {{ {scheduling}\n{''.join(steps)}}}\n{extra}\n"
    )
    return repository.add(name, config, versions)
