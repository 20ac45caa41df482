# SPDX-License-Identifier: Apache-2.0
"""TensorFlow models that can not be served: one sentence each, and the other models are served."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from frameworks.tensorflow_models import (
    BACKEND,
    PACKAGES,
    Client,
    TensorflowRepository,
    worker_pids,
)
from support.model_control import index
from support.repository import tensor_text
from support.stage import backend_directory

pytestmark = [
    pytest.mark.skipif(
        not (backend_directory() / "tensorflow").is_dir(),
        reason="the backend tensorflow is not staged: make stage BACKENDS=tensorflow",
    ),
    pytest.mark.skipif(
        not all(package.is_dir() for package in PACKAGES),
        reason="TensorFlow's Python package is not in build/deps: make stage BACKENDS=tensorflow",
    ),
]

SAVED = "model.savedmodel"
GRAPHDEF = 'platform: "tensorflow_graphdef"\n'
TOTAL = GRAPHDEF + f"output [ {tensor_text('total', 'FP32', (-1, 3))} ]\n"


def damage(file: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(version: Path) -> None:
        path = version / file
        path.write_bytes(change(path.read_bytes()))

    return apply


def remove(pattern: str) -> Callable[[Path], None]:
    def apply(version: Path) -> None:
        for path in version.glob(pattern):
            path.unlink()

    return apply


def replace_by_file(version: Path) -> None:
    (version / SAVED).rename(version / "elsewhere")
    (version / SAVED).write_bytes(b"a file")


def replace_by_folder(version: Path) -> None:
    (version / "model.graphdef").unlink()
    (version / "model.graphdef").mkdir()


def mlp(**changed: str) -> str:
    """The configuration of the MLP with one thing changed."""
    x = tensor_text(changed.get("input", "x"), changed.get("type", "FP32"), (64,))
    y = tensor_text(changed.get("output", "y"), "FP32", (int(changed.get("size", "10")),))
    return BACKEND + f"max_batch_size: 4\ninput [ {x} ]\noutput [ {y} ]\n"


@dataclass
class Broken:
    network: str
    text: str  # what the index says of it
    config: str = BACKEND
    change: Callable[[Path], None] = lambda version: None
    parameters: dict[str, str] = field(default_factory=dict)


# 2 GiB announced, in a graph of 100 bytes: a node's length, and a constant's dims.
ANNOUNCED = b"\x0a\xff\xff\xff\xff\x07" + b"\x0a\x05total" + bytes(80)
UNKNOWN_OP = b"\x0a\x12\x0a\x05total\x12\x09Nonsense9"

BROKEN = {
    "empty_file": Broken("mlp", "failed to load '", change=damage(f"{SAVED}/saved_model.pb", lambda _: b"")),
    "garbage": Broken(
        "mlp", "saved_model.pb", change=damage(f"{SAVED}/saved_model.pb", lambda _: b"\xff\x00garbage" * 99)
    ),
    "truncated": Broken(
        "mlp", "Read less bytes", change=damage(f"{SAVED}/saved_model.pb", lambda b: b[: len(b) // 2])
    ),
    "no_graph": Broken("mlp", "Could not find SavedModel .pb", change=remove(f"{SAVED}/saved_model.pb")),
    "short_variables": Broken(
        "mlp",
        "failed to load '",
        change=damage(f"{SAVED}/variables/variables.data-00000-of-00001", lambda b: b[:1000]),
    ),
    "file_for_folder": Broken("mlp", "is a file; a SavedModel is a folder", change=replace_by_file,
                              config='platform: "tensorflow_savedmodel"\n'),
    "no_signature": Broken("unsigned", "has no signature 'serving_default'; it has no signature"),
    "two_signatures": Broken(
        "signatures", "it has the signatures 'double', 'triple': name one by TF_SIGNATURE_DEF"
    ),
    "other_signature": Broken(
        "mlp", "has no signature 'nobodys', which the parameter TF_SIGNATURE_DEF names",
        parameters={"TF_SIGNATURE_DEF": "nobodys"},
    ),
    "other_tag": Broken("mlp", "{ nobodys }", parameters={"TF_GRAPH_TAG": "nobodys"}),
    "other_input": Broken("mlp", "unexpected inference input 'z', allowed inputs are: x", mlp(input="z")),
    "other_output": Broken("mlp", "unexpected inference output 'z', allowed outputs are: y", mlp(output="z")),
    "other_type": Broken(
        "mlp", "expects datatype TYPE_INT32 for input 'x', model provides TYPE_FP32", mlp(type="INT32")
    ),
    "other_shape": Broken(
        "mlp", "tensor 'y': the model expects 2 dimensions (shape [-1,10]) but the model configuration specifies",
        mlp(size="11"),
    ),
    "no_batching": Broken("counter", "set max_batch_size to 0", BACKEND + "max_batch_size: 4\n"),
    "complex": Broken("bad_types", "input 'x' has the type DT_COMPLEX64, which can not be served"),
    "sparse": Broken("sparse", "input 'x' is a sparse or composite tensor, which can not be served"),
    "negative_threads": Broken(
        "mlp", "parameter 'TF_NUM_INTRA_THREADS'", parameters={"TF_NUM_INTRA_THREADS": "-1"}
    ),
    "no_init_ops": Broken(
        "mlp", "which the parameter TF_INIT_OPS_FILE", parameters={"TF_INIT_OPS_FILE": "gone.json"}
    ),
    "other_platform": Broken("mlp", "tensorflow", 'backend: "tensorflow"\nplatform: "onnxruntime_onnx"\n'),
    "graph_empty": Broken("graph", "the GraphDef is empty", TOTAL, damage("model.graphdef", lambda _: b"")),
    "graph_garbage": Broken(
        "graph", "failed to load '", TOTAL, damage("model.graphdef", lambda _: b"\xff\x00garbage" * 99)
    ),
    "graph_truncated": Broken(
        "graph", "failed to load '", TOTAL, damage("model.graphdef", lambda b: b[: len(b) // 2])
    ),
    "graph_announced": Broken("graph", "failed to load '", TOTAL, damage("model.graphdef", lambda _: ANNOUNCED)),
    "graph_unknown_op": Broken("graph", "Nonsense9", TOTAL, damage("model.graphdef", lambda _: UNKNOWN_OP)),
    "folder_for_file": Broken("graph", "is a folder; a GraphDef is a file", TOTAL, replace_by_folder),
    "graph_without_outputs": Broken("graph", "a GraphDef does not say which nodes are outputs", GRAPHDEF),
    "graph_index": Broken(
        "graph", "output 'total:0' is not a node of the GraphDef; names have no colon and index",
        GRAPHDEF + f"output [ {tensor_text('total:0', 'FP32', (-1, 3))} ]\n",
    ),
    "graph_other_input": Broken(
        "graph", "unexpected inference input 'z'",
        TOTAL + f"input [ {tensor_text('z', 'FP32', (-1, 3))} ]\n",
    ),
}  # fmt: skip


def test_broken_models(tmp_path: Path, server_factory: ServerFactory) -> None:
    repository = TensorflowRepository(tmp_path / "models")
    for name, broken in BROKEN.items():
        broken.change(repository.add_network(broken.network, broken.config, broken.parameters, name))
    repository.add_network("mlp", name="sound")
    # TensorFlow takes it for a model that needs none; what it computes with them fails.
    remove(f"{SAVED}/variables/*")(repository.add_network("mlp", name="no_variables"))
    server = server_factory(repository, "--exit-on-error=false", wait_for="/v2/health/live")
    server.wait_for("/v2/models/sound/ready")
    states = {name: entry for (name, _), entry in index(server).items()}
    wrong = {
        name: states.get(name)
        for name, broken in BROKEN.items()
        if states.get(name, ("", ""))[0] == "READY" or broken.text not in states.get(name, ("", ""))[1]
    }
    assert not wrong, "\n".join(f"{name}: {entry}" for name, entry in wrong.items())
    assert all("\n" not in reason for _, reason in states.values())
    got = Client(server, "http").infer("sound", {"x": np.zeros((1, 64), np.float32)})
    assert got["y"].shape == (1, 10)
    with pytest.raises(InferenceServerException) as failed:
        Client(server, "http").infer("no_variables", {"x": np.zeros((1, 64), np.float32)})
    assert "uninitialized" in str(failed.value)
    assert len(worker_pids(server)) == 2, "what did not load left no process behind"
