# SPDX-License-Identifier: Apache-2.0
"""Actors that change models while clients use them: each makes seeded changes to its own models."""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from support import raw_http
from support.chaos_clients import World
from support.ensembles import add_ensemble, step_text
from support.model_control import group
from support.onnx_models import FLOAT, INT32, save_model
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.sequences import OLDEST, START_CONTROL, state_text

VECTOR = ("FP32", (-1,))
NUMBER = ("INT32", (1,))
MOST_TRIES = 50


def save_versioned(folder: Path, version: int) -> None:
    """Writes a model with OUTPUT0 = INPUT0, and VERSION."""
    nodes = [
        helper.make_node("Identity", ["INPUT0"], ["OUTPUT0"]),
        helper.make_node("Identity", ["number"], ["VERSION"]),
    ]
    number = numpy_helper.from_array(np.array([version], np.int32), "number")
    outputs = [("OUTPUT0", FLOAT, ("n",)), ("VERSION", INT32, (1,))]
    save_model(folder, nodes, [("INPUT0", FLOAT, ("n",))], outputs, [number], version)


def save_walk(folder: Path, version: int) -> None:
    """Writes a model with OUTPUT = the sum of the sequence's INPUTs, and VERSION."""
    shape = ("batch", 1)
    nodes = [
        helper.make_node("Add", ["INPUT", "INPUT_STATE"], ["sum"]),
        helper.make_node("Cast", ["START"], ["starts"], to=onnx.TensorProto.BOOL),
        helper.make_node("Where", ["starts", "INPUT", "sum"], ["OUTPUT"]),
        helper.make_node("Identity", ["OUTPUT"], ["OUTPUT_STATE"]),
        helper.make_node("Mul", ["INPUT", "zero"], ["zeros"]),
        helper.make_node("Add", ["zeros", "number"], ["VERSION"]),
    ]
    constants = [
        numpy_helper.from_array(np.array([[value]], np.int32), name)
        for name, value in (("zero", 0), ("number", version))
    ]
    inputs = [(name, INT32, shape) for name in ("INPUT", "INPUT_STATE", "START")]
    outputs = [(name, INT32, shape) for name in ("OUTPUT", "OUTPUT_STATE", "VERSION")]
    save_model(folder, nodes, inputs, outputs, constants, version)


class Actor:
    """Makes changes to one model, each of which leaves the model serving."""

    def __init__(
        self, model: str, repository: ModelRepository, world: World, seed: str
    ) -> None:
        self.model = model
        self.url = ""  # of the server; set when it runs
        self.changes_may_fail = False  # true: a change that fails for lack of a resource is retried
        self.done: list[str] = []
        self._repository = repository
        self._folder = repository.root / model
        self._world = world
        self._random = random.Random(f"{seed} {model}")
        self._instances = 1

    def prepare(self) -> None:
        """Writes the model with version 1."""
        self.write()
        self.save_version(1)
        self._world.newest[self.model] = 1

    def actions(self) -> list[Callable[[], None]]:
        raise NotImplementedError

    def write(self) -> None:
        """Writes the current configuration."""
        raise NotImplementedError

    def each_once(self) -> None:
        for action in self.actions():
            self._do(action)

    def act_until(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self._do(self._random.choice(self.actions()))

    def _do(self, action: Callable[[], None]) -> None:
        self.done.append(action.__name__)
        action()

    def load(self, expected: int = 200, model: str = "") -> None:
        self._change(model or self.model, "load", expected)

    def unload(self, model: str) -> None:
        self._change(model, "unload", 200)

    def _change(self, model: str, what: str, expected: int) -> None:
        path = f"/v2/repository/models/{model}/{what}"
        answer = raw_http.post(self.url, path)
        for _ in range(MOST_TRIES if self.changes_may_fail else 0):
            if answer.status == expected:
                break
            answer = raw_http.post(self.url, path)
        assert answer.status == expected, (self.model, self.done[-3:], answer.status, answer.body)

    def versions(self) -> list[int]:
        return sorted(int(version.name) for version in self._folder.glob("[0-9]*"))

    # -- changes of any model --------------------------------------------------------------------

    def change_instances(self) -> None:
        self._instances = self._random.randint(1, 4)
        self.write()
        self.load()

    def touch(self) -> None:
        newest = self._folder / str(self.versions()[-1])
        (newest / "weights").write_bytes(self._random.randbytes(64))
        self.load()

    def save_version(self, version: int) -> None:
        (self._folder / str(version)).mkdir()

    def swap_version(self) -> None:
        old = self.versions()
        self.save_version(old[-1] + 1)
        self.load()
        self._world.newest[self.model] = old[-1] + 1
        for version in old:
            shutil.rmtree(self._folder / str(version))

    def corrupt_config(self) -> None:
        (self._folder / "config.pbtxt").write_text("nonsense {", encoding="utf-8")
        self.load(400)
        self.write()
        self.load()


class EchoActor(Actor):
    """Changes a model without files, and adds and removes other models."""

    def actions(self) -> list[Callable[[], None]]:
        return [
            self.change_instances,
            self.touch,
            self.swap_version,
            self.corrupt_config,
            self.break_backend,
            self.load_another,
        ]

    def write(self) -> None:
        self._repository.add_identity(self.model, extra=group(self._instances), versions=())

    def break_backend(self) -> None:
        self._repository.add_identity(self.model, backend="nowhere", versions=())
        self.load(400)
        self.write()
        self.load()

    def load_another(self) -> None:
        name = f"other_{self._random.randint(0, 2)}"
        self._repository.add_identity(name)
        self.load(model=name)
        self.unload(name)


class OnnxActor(Actor):
    """Changes a model with a file, which is sometimes broken."""

    def actions(self) -> list[Callable[[], None]]:
        return [
            self.change_instances,
            self.touch,
            self.swap_version,
            self.corrupt_config,
            self.corrupt_file,
            self.bad_new_version,
        ]

    def write(self) -> None:
        outputs = [tensor_text("OUTPUT0", *VECTOR), tensor_text("VERSION", *NUMBER)]
        self._repository.add(
            self.model,
            f'backend: "onnxruntime"\ninput [ {tensor_text("INPUT0", *VECTOR)} ]\n'
            f"output [ {', '.join(outputs)} ]\n{group(self._instances)}\n",
            (),
        )

    def save_version(self, version: int) -> None:
        super().save_version(version)
        save_versioned(self._folder, version)

    def corrupt_file(self) -> None:
        path = self._folder / str(self.versions()[-1]) / "model.onnx"
        good = path.read_bytes()
        path.write_bytes(good[: self._random.randint(0, len(good) // 2)])
        self.load(400)
        path.write_bytes(good)
        self.load()

    def bad_new_version(self) -> None:
        folder = self._folder / str(self.versions()[-1] + 1)
        folder.mkdir()
        (folder / "model.onnx").write_bytes(self._random.randbytes(100))
        self.load(400)
        shutil.rmtree(folder)
        self.load()


class WalkActor(OnnxActor):
    """Changes a model with a file and with sequences."""

    def write(self) -> None:
        outputs = [tensor_text(name, *NUMBER) for name in ("OUTPUT", "VERSION")]
        idle = "max_sequence_idle_microseconds: 60000000\n"
        scheduling = idle + OLDEST + START_CONTROL + state_text()
        self._repository.add(
            self.model,
            f'backend: "onnxruntime"\nmax_batch_size: 4\ninput [ {tensor_text("INPUT", *NUMBER)} ]\n'
            f"output [ {', '.join(outputs)} ]\nsequence_batching {{ {scheduling} }}\n"
            f"{group(self._instances)}\n",
            (),
        )

    def save_version(self, version: int) -> None:
        (self._folder / str(version)).mkdir()
        save_walk(self._folder, version)


class EnsembleActor(Actor):
    """Changes an ensemble of other actors' models, given by its tensors and steps."""

    def __init__(
        self,
        model: str,
        repository: ModelRepository,
        world: World,
        seed: str,
        tensors: tuple[list[str], list[str]],
        steps: list[str],
        max_batch_size: int = 0,
    ) -> None:
        super().__init__(model, repository, world, seed)
        self._tensors = tensors
        self._steps = steps
        self._max_batch_size = max_batch_size
        self._written = 0

    def actions(self) -> list[Callable[[], None]]:
        return [self.touch, self.rewrite, self.swap_version, self.corrupt_config, self.break_graph]

    def write(self) -> None:
        extra = f'parameters {{ key: "n" value: {{ string_value: "{self._written}" }} }}'
        self._save(self._steps, extra)

    def _save(self, steps: list[str], extra: str = "") -> None:
        add_ensemble(
            self._repository,
            self.model,
            *self._tensors,
            steps,
            self._max_batch_size,
            extra,
            versions=(),
        )

    def rewrite(self) -> None:
        self._written += 1
        self.write()
        self.load()

    def break_graph(self) -> None:
        self._save([*self._steps, step_text("nobody", {"INPUT0": "INPUT0"}, {"OUTPUT0": "more"})])
        self.load(400)
        self.write()
        self.load()


class ComingActor(Actor):
    """Unloads and loads a model, and with it the ensemble coming_pipe, which uses the model."""

    def actions(self) -> list[Callable[[], None]]:
        return [self.leave_and_come, self.change_instances, self.touch]

    def write(self) -> None:
        self._repository.add_identity(self.model, extra=group(self._instances), versions=())

    def leave_and_come(self) -> None:
        self._world.comings[self.model] += 1
        self.unload(self.model)
        self.load()
        # Another actor's change of a member may reload the ensemble at the same time.
        ready = "/v2/models/coming_pipe/ready"
        poll_until("the ensemble back", lambda: raw_http.get(self.url, ready).status == 200)
        self._world.comings[self.model] += 1
