# SPDX-License-Identifier: Apache-2.0
"""Writes model repositories for tests: identity models of any type, and arbitrary files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def tensor_text(name: str, data_type: str, dims: Sequence[int], extra: str = "") -> str:
    """One element of `input` or `output` in the protobuf text format."""
    numbers = ", ".join(str(dim) for dim in dims)
    return f'{{ name: "{name}" data_type: TYPE_{data_type} dims: [ {numbers} ] {extra} }}'


def parameters_text(parameters: Mapping[str, str]) -> str:
    return "".join(
        f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
        for key, value in parameters.items()
    )


class ModelRepository:
    """A folder of models under construction."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root

    def add(self, name: str, config: str | None, versions: Sequence[int] = (1,)) -> Path:
        """A model folder with version folders and, if given, this text as config.pbtxt."""
        folder = self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        for version in versions:
            (folder / str(version)).mkdir(parents=True, exist_ok=True)
        if config is not None:
            (folder / "config.pbtxt").write_text(config, encoding="utf-8")
        return folder

    def add_identity(
        self,
        name: str,
        data_type: str = "FP32",
        dims: Sequence[int] = (-1,),
        max_batch_size: int = 0,
        tensors: int = 1,
        extra: str = "",
        tensor_extra: str = "",
        parameters: Mapping[str, str] | None = None,
        versions: Sequence[int] = (1,),
        backend: str = "identity",
    ) -> Path:
        """A model that echoes INPUTi as OUTPUTi, for i below `tensors`."""
        inputs = ", ".join(
            tensor_text(f"INPUT{i}", data_type, dims, tensor_extra) for i in range(tensors)
        )
        outputs = ", ".join(
            tensor_text(f"OUTPUT{i}", data_type, dims, tensor_extra) for i in range(tensors)
        )
        config = (
            f'backend: "{backend}"\n'
            f"max_batch_size: {max_batch_size}\n"
            f"input [ {inputs} ]\n"
            f"output [ {outputs} ]\n"
            f"{parameters_text(parameters or {})}"
            f"{extra}\n"
        )
        return self.add(name, config, versions)
