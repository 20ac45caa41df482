# SPDX-License-Identifier: Apache-2.0
"""The networks of the group "frameworks": the same three kinds for each staged framework, both as
models in a repository and as files for the framework alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from frameworks import pytorch_networks, tensorflow_models
from racetrack import networks
from racetrack.workloads import Model
from support.repository import ModelRepository, parameters_text, tensor_text
from support.stage import backend_directory

FRAMEWORKS = ("onnxruntime", "openvino", "pytorch", "tensorflow")
MOST_ROWS = {"mlp": 32, "transformer": 8, "resnet18": 8, "encoder": 8}
TITLES = {
    "mlp": "MLP 64-256-256-10",
    "resnet18": "ResNet-18",
    "transformer": "transformer, 2 layers of 64, 16 tokens",
    "encoder": "transformer, 6 layers of 256, 64 tokens",
}
IMAGE = networks.RESNET_IMAGE
TOKENS = (networks.TOKENS, networks.TOKEN_WIDTH)
DIMS = {"mlp": (64,), "transformer": TOKENS, "resnet18": IMAGE, "encoder": networks.ENCODER_TOKENS}
ONNX_NETWORKS: dict[str, Callable[[], onnx.ModelProto]] = {
    "mlp": networks.mlp,
    "resnet18": networks.resnet18,
    "transformer": networks.transformer,
    "encoder": networks.encoder,
}
CHANNELS_LAST = (*IMAGE[1:], IMAGE[0])


@dataclass(frozen=True)
class Entrant:
    """A model of the repository, and its file for the program that runs the framework alone."""

    framework: str
    network: str
    model: Model
    file: Path  # absolute
    loop: str  # the program that runs the framework in a loop
    options: tuple[str, ...] = ()  # further arguments of the loop

    @property
    def key(self) -> str:
        return f"{self.framework}/{self.model.name.removeprefix(self.framework + '_')}"


def staged() -> list[str]:
    return [name for name in FRAMEWORKS if (backend_directory() / name).is_dir()]


def _config(
    backend: str, network: str, names: tuple[str, str], dims: Sequence[int], extra: str
) -> str:
    outputs = {**DIMS, "mlp": (10,), "resnet18": (networks.RESNET_CLASSES,)}
    return (
        f'backend: "{backend}"\nmax_batch_size: {MOST_ROWS[network]}\n'
        f'input [ {tensor_text(names[0], "FP32", dims)} ]\n'
        f'output [ {tensor_text(names[1], "FP32", outputs[network])} ]\n'
        f"dynamic_batching {{}}\n{extra}\n"
    )


class Builder:
    """Fills a repository with the entrants of one framework, each with `instances` instances."""

    def __init__(self, root: Path, work: Path, instances: int = 1) -> None:
        self._models = ModelRepository(root)
        self._work = work
        self._instances = f"instance_group [ {{ count: {instances} kind: KIND_CPU }} ]"

    def build(self, framework: str) -> list[Entrant]:
        make: Mapping[str, Callable[[], Iterator[Entrant]]] = {
            "onnxruntime": self._onnxruntime,
            "openvino": self._openvino,
            "pytorch": self._pytorch,
            "tensorflow": self._tensorflow,
        }
        return list(make[framework]())

    def _add(
        self,
        framework: str,
        network: str,
        source: Path,
        file: str,
        names: tuple[str, str],
        dims: Sequence[int],
        loop: str,
        extra: str = "",
        suffix: str = "",
        options: tuple[str, ...] = (),
    ) -> Entrant:
        name = f"{framework}_{network}{suffix}"
        config = _config(framework, network, names, dims, f"{self._instances}\n{extra}")
        target = self._models.add(name, config) / "1" / file
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        title = f"{TITLES[network]}{suffix.replace('_', ', ')}"
        model = Model(name, title, names[0], names[1], (1, *dims), batched=True)
        return Entrant(framework, network, model, target, loop, options)

    def _onnx_files(self) -> Path:
        folder = self._work / "onnx"
        folder.mkdir(parents=True, exist_ok=True)
        for network, make in ONNX_NETWORKS.items():
            if not (folder / f"{network}.onnx").exists():
                onnx.save(make(), str(folder / f"{network}.onnx"))
        return folder

    def _onnxruntime(self) -> Iterator[Entrant]:
        for network, dims in DIMS.items():
            source = self._onnx_files() / f"{network}.onnx"
            yield self._add(
                "onnxruntime", network, source, "model.onnx", ("x", "y"), dims, "ort_loop"
            )

    def _openvino(self) -> Iterator[Entrant]:
        # OpenVINO reads the same files as ONNX Runtime.
        for network, precision in (*((name, "f32") for name in DIMS), ("resnet18", "bf16")):
            yield self._add(
                "openvino",
                network,
                self._onnx_files() / f"{network}.onnx",
                "model.onnx",
                ("x", "y"),
                DIMS[network],
                "openvino_loop",
                'default_model_filename: "model.onnx"\n'
                + parameters_text({"INFERENCE_PRECISION_HINT": precision}),
                suffix="" if precision == "f32" else f"_{precision}",
                options=(precision,),
            )

    def _pytorch(self) -> Iterator[Entrant]:
        for network, dims in DIMS.items():
            source = pytorch_networks.model_files() / f"{network}.pt"
            names = ("x", "OUTPUT__0")
            yield self._add("pytorch", network, source, "model.pt", names, dims, "torch_loop")

    def _tensorflow(self) -> Iterator[Entrant]:
        names_of = {"mlp": ("x", "y"), "resnet18": ("image", "logits")}
        for network in DIMS:
            names = names_of.get(network, ("tokens", "encoded"))
            dims = CHANNELS_LAST if network == "resnet18" else DIMS[network]
            source = tensorflow_models.networks() / network / "model.savedmodel"
            yield self._add(
                "tensorflow",
                network,
                source,
                "model.savedmodel",
                names,
                dims,
                "tensorflow_loop",
                'platform: "tensorflow_savedmodel"',
            )
