"""What is asked: the models, and for each row its request and the right answer as files.

Both servers load the same repository, and both get the same bytes from the load generator.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tritonclient.grpc import service_pb2

from support.repository import ModelRepository, tensor_text
from support.stage import EXAMPLE_MODELS

MLP_LAYERS = (64, 256, 256, 10)
SMALL, LARGE = 16, 1 << 20  # floats of the identity models
# One thread a session: with one core for the server, a pool would only be in its own way.
ONE_THREAD = {"intra_op_thread_count": "1", "inter_op_thread_count": "1"}


@dataclass(frozen=True)
class Model:
    """A model of the repository, and how it is asked."""

    name: str
    title: str
    input_name: str
    output_name: str
    shape: tuple[int, ...]
    onnx_file: str | None = None  # in the repository; None: identity
    batched: bool = False  # requests are put together


IDENTITY_SMALL = Model("identity_small", "identity, 16 floats", "INPUT0", "OUTPUT0", (SMALL,))
IDENTITY_LARGE = Model("identity_large", "identity, 1 M floats", "INPUT0", "OUTPUT0", (LARGE,))
DIGITS = Model("digits", "digits", "image", "probabilities", (1, 64), "digits/1/model.onnx")
DIGITS_BATCHED = Model(
    "digits_batched",
    "digits_batched",
    "image",
    "probabilities",
    (1, 64),
    "digits_batched/1/model.onnx",
    batched=True,
)
MLP = Model("mlp", "MLP 64-256-256-10", "x", "y", (1, 64), "mlp/1/model.onnx", batched=True)
MODELS = (IDENTITY_SMALL, IDENTITY_LARGE, DIGITS, DIGITS_BATCHED, MLP)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    model: Model
    protocol: str  # http, grpc
    form: str  # binary, json
    concurrency: int
    rate: int = 0  # open loop: requests a second; 0: closed loop

    @property
    def title(self) -> str:
        suffix = " (JSON)" if self.form == "json" else ""
        pace = f", {self.rate:,}/s (open loop)" if self.rate else ""
        return f"{self.model.title}{suffix}{pace}"

    @property
    def key(self) -> str:
        at = f"/at-{self.rate}" if self.rate else ""
        return f"{self.model.name}/{self.protocol}/{self.form}/{self.concurrency}{at}"


def _rows(
    model: Model, protocols: tuple[str, ...], concurrencies: tuple[int, ...], form: str = "binary"
) -> list[Row]:
    return [Row(model, p, form, c) for p in protocols for c in concurrencies]


BOTH = ("http", "grpc")
ROWS = (
    *_rows(IDENTITY_SMALL, BOTH, (1, 16, 64, 256)),
    *(Row(IDENTITY_SMALL, protocol, "binary", 64, rate=8000) for protocol in BOTH),
    *_rows(IDENTITY_SMALL, ("http",), (1, 16, 64), "json"),
    *_rows(IDENTITY_LARGE, BOTH, (1, 4)),
    *_rows(DIGITS, BOTH, (1, 16)),
    *_rows(DIGITS_BATCHED, BOTH, (64,)),
    *_rows(MLP, BOTH, (1, 16, 64)),
)


def write_repository(root: Path) -> Path:
    """Writes all models below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    models.add_identity("identity_large", "FP32", (LARGE,))
    for name in ("digits", "digits_batched"):
        shutil.copytree(EXAMPLE_MODELS / name, root / name, dirs_exist_ok=True)
    folder = models.add("mlp", _mlp_config())
    onnx.save(_mlp(), str(folder / "1" / "model.onnx"))
    return root


def write_bare_repository(root: Path) -> Path:
    """Models that need nothing but the server: what is seen then is the server itself."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    models.add_identity("identity_large", "FP32", (LARGE,))
    return root


def _mlp_config() -> str:
    threads = "".join(
        f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
        for key, value in ONE_THREAD.items()
    )
    return f"""
backend: "onnxruntime"
max_batch_size: 64
input [ {tensor_text("x", "FP32", (MLP_LAYERS[0],))} ]
output [ {tensor_text("y", "FP32", (MLP_LAYERS[-1],))} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
dynamic_batching {{ }}
{threads}"""


def _mlp() -> onnx.ModelProto:
    """Dense layers with ReLU between them, weights from a fixed seed."""
    random = np.random.default_rng(4)
    nodes, weights = [], []
    value = "x"
    for layer, (wide, narrow) in enumerate(zip(MLP_LAYERS, MLP_LAYERS[1:])):
        matrix = random.standard_normal((wide, narrow), dtype=np.float32) / np.sqrt(wide)
        weights.append(numpy_helper.from_array(matrix.astype(np.float32), f"w{layer}"))
        weights.append(numpy_helper.from_array(np.zeros(narrow, np.float32), f"b{layer}"))
        last = layer == len(MLP_LAYERS) - 2
        out = "y" if last else f"h{layer}"
        nodes.append(helper.make_node("Gemm", [value, f"w{layer}", f"b{layer}"], [f"g{layer}"]))
        nodes.append(helper.make_node("Identity" if last else "Relu", [f"g{layer}"], [out]))
        value = out
    graph = helper.make_graph(
        nodes,
        "mlp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", MLP_LAYERS[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", MLP_LAYERS[-1]])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@dataclass(frozen=True)
class Files:
    """What the load generator reads for one model and form."""

    body: Path
    expect: Path
    header_length: int | None  # HTTP with binary tensors
    echo_head: Path | None  # what an echo server puts in front of the tensor
    tensor_bytes: int


def write_files(folder: Path, repository: Path, row: Row) -> Files:
    """Writes the row's request and answer into `folder`; rows that differ in load only share."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{row.model.name}-{row.protocol}-{row.form}"
    values = _input_values(row.model)
    expect = folder / f"{row.model.name}.expect"
    expect.write_bytes(_expected(row.model, repository, values).tobytes())
    body = folder / f"{stem}.body"
    header_length = None
    if row.protocol == "grpc":
        body.write_bytes(grpc_body(row.model, values))
    else:
        header_length = write_http_body(body, row, values)
    head = None
    if row.model.onnx_file is None and row.form == "binary":
        head = folder / f"{stem}.head"
        head.write_bytes(_echo_head(row, values.nbytes))
    return Files(body, expect, header_length, head, values.nbytes)


def _input_values(model: Model) -> np.ndarray:
    """Whole numbers for the networks (their pixels are), fractions for the identity."""
    count = int(np.prod(model.shape))
    if model.onnx_file is None:
        values = np.arange(count, dtype=np.float32) * np.float32(0.37) - np.float32(3)
    else:
        values = (np.arange(count) % 17).astype(np.float32)
    return values.reshape(model.shape)


def _expected(model: Model, repository: Path, values: np.ndarray) -> np.ndarray:
    if model.onnx_file is None:
        return values
    session = onnxruntime.InferenceSession(
        str(repository / model.onnx_file), providers=["CPUExecutionProvider"]
    )
    return session.run([model.output_name], {model.input_name: values})[0]


def write_http_body(path: Path, row: Row, values: np.ndarray) -> int | None:
    """Returns the length of the JSON part, None when all of the body is JSON."""
    tensor = {"name": row.model.input_name, "shape": list(values.shape), "datatype": "FP32"}
    output: dict[str, object] = {"name": row.model.output_name}
    if row.form == "json":
        document = {
            "inputs": [{**tensor, "data": [float(value) for value in values.ravel()]}],
            "outputs": [output],
        }
        path.write_text(json.dumps(document), encoding="ascii")
        return None
    tensor["parameters"] = {"binary_data_size": values.nbytes}
    output["parameters"] = {"binary_data": True}
    head = json.dumps({"inputs": [tensor], "outputs": [output]}).encode()
    path.write_bytes(head + values.tobytes())
    return len(head)


def grpc_body(model: Model, values: np.ndarray) -> bytes:
    request = service_pb2.ModelInferRequest(model_name=model.name)
    request.inputs.add(name=model.input_name, datatype="FP32", shape=values.shape)
    request.outputs.add(name=model.output_name)
    request.raw_input_contents.append(values.tobytes())
    return request.SerializeToString()


def _echo_head(row: Row, tensor_bytes: int) -> bytes:
    """An answer up to its tensor, which an echo server takes from the end of the request."""
    if row.protocol == "http":
        output = {
            "name": row.model.output_name,
            "datatype": "FP32",
            "shape": list(row.model.shape),
            "parameters": {"binary_data_size": tensor_bytes},
        }
        answer = {"model_name": row.model.name, "model_version": "1", "outputs": [output]}
        return json.dumps(answer, separators=(",", ":")).encode()
    response = service_pb2.ModelInferResponse(model_name=row.model.name, model_version="1")
    response.outputs.add(name=row.model.output_name, datatype="FP32", shape=row.model.shape)
    raw_output_contents = bytes([(6 << 3) | 2])  # the tag: field 6, a length and bytes
    return response.SerializeToString() + raw_output_contents + varint(tensor_bytes)


def varint(number: int) -> bytes:
    """A length as protobuf writes it."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
