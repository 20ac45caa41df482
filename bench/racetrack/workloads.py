# SPDX-License-Identifier: Apache-2.0
"""The workloads: the models, and for each row its request and the right answer as files.

Both servers load the same repository, and both get the same bytes from the load generator.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from tritonclient.grpc import service_pb2

from racetrack import networks
from racetrack.shared_memory import Segments
from support.ensembles import add_ensemble, step_text
from support.repository import ModelRepository, parameters_text, tensor_text
from support.sequences import state_text
from support.stage import EXAMPLE_MODELS
from support.streaming import add_repeat

SMALL, LARGE = 16, 1 << 20  # elements of the identity models' tensors
MAX_BATCH = 64  # of the networks that batch
# One thread per session, because more threads would only compete for the server's one core.
ONE_THREAD = {"intra_op_thread_count": "1", "inter_op_thread_count": "1"}


@dataclass(frozen=True)
class Model:
    """A model of the repository, and the form of its requests."""

    name: str
    title: str
    input_name: str
    output_name: str
    shape: tuple[int, ...]
    # The model's file in the repository, for computing the right answer. None: the model returns
    # its input.
    onnx_file: str | None = None
    batched: bool = False  # the server joins requests into batches
    datatype: str = "FP32"  # BYTES: each element is the four bytes of a float


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

# Models of the group "scheduling".
MLP_TWO = Model(
    "mlp_two",
    "MLP 64-256-256-10, two instances",
    "x",
    "y",
    (1, networks.MLP_LAYERS[0]),
    "mlp_two/1/model.onnx",
    batched=True,
)
RESNET = Model(
    "resnet18",
    "ResNet-18, random weights",
    "x",
    "y",
    (1, *networks.RESNET_IMAGE),
    "resnet18/1/model.onnx",
)
SCHEDULING_MODELS = (IDENTITY_SMALL, MLP_TWO, RESNET)

# Models of the group "sequences". The answer to every request is the tensor of the sequence's first
# request, which the server keeps as the state.
SEQUENCE_WIDTH = 64
SEQUENCE_SLOTS = 64
SEQUENCE_MODELS = tuple(
    Model(
        f"sequence_{strategy}",
        f"sequences, {strategy.title()}",
        "x",
        "y",
        (1, SEQUENCE_WIDTH),
    )
    for strategy in ("direct", "oldest")
)

# Models of the group "tensors".
MEBI = 1 << 20
TENSORS_4 = Model("identity_4_mb", "identity, 4 MiB", "INPUT0", "OUTPUT0", (MEBI,))
TENSORS_64 = Model("identity_64_mb", "identity, 64 MiB", "INPUT0", "OUTPUT0", (16 * MEBI,))
TENSORS_JSON = Model("identity_100k", "identity, 100,000 floats", "INPUT0", "OUTPUT0", (100_000,))
TENSORS_BYTES = Model(
    "identity_bytes", "identity, 10,000 strings", "INPUT0", "OUTPUT0", (10_000,), datatype="BYTES"
)
TENSOR_MODELS = (TENSORS_4, TENSORS_64, TENSORS_JSON, TENSORS_BYTES)

# The model of the group "streams": it sends one response per element of a request.
REPEAT = Model("repeat", "repeat", "IN", "OUT", (1,))

# Models of the group "ensembles". One network with the same layers, in the ensemble's folder, gives
# the right answers and the highest possible speed.
IDENTITY_CHAIN = Model(
    "identity_chain", "2 steps of identity", "INPUT0", "OUTPUT0", (1, SMALL)
)
CHAIN = Model(
    "chain",
    "2 steps, layers of 64",
    "x",
    "y",
    (1, networks.LAYER_WIDTH),
    "chain/whole.onnx",
    batched=True,
)
DIAMOND = Model(
    "diamond",
    "diamond of 4 steps, layers of 64",
    "x",
    "y",
    (1, networks.LAYER_WIDTH),
    "diamond/whole.onnx",
    batched=True,
)
ENSEMBLE_MODELS = (IDENTITY_CHAIN, CHAIN, DIAMOND)


@dataclass(frozen=True)
class Row:
    """One row of the table."""

    model: Model
    protocol: str  # http, grpc
    form: str  # binary, json
    concurrency: int
    rate: int = 0  # open loop: requests per second; 0: closed loop
    responses: int = 0  # per request on a stream; 0: unary
    sequence_length: int = 0  # requests per sequence; 0: no sequences
    batch: int = 1  # rows per request, for models that batch
    seconds: float = 0  # shortest duration of a measurement, for models that answer slowly
    tls: bool = False
    shared: bool = False  # the tensors are in shared memory

    @property
    def title(self) -> str:
        suffix = " (JSON)" if self.form == "json" else ""
        pace = f", {self.rate:,}/s (open loop)" if self.rate else ""
        many = f", {self.responses:,} response{'s'[:self.responses > 1]}" if self.responses else ""
        rows = f", {self.batch} rows" if self.batch > 1 else ""
        over = " over TLS" if self.tls else " in shared memory" if self.shared else ""
        return f"{self.model.title}{suffix}{pace}{many}{rows}{over}"

    @property
    def key(self) -> str:
        at = f"/at-{self.rate}" if self.rate else ""
        many = f"/responses-{self.responses}" if self.responses else ""
        rows = f"/rows-{self.batch}" if self.batch > 1 else ""
        over = "/tls" if self.tls else "/shared" if self.shared else ""
        return f"{self.model.name}/{self.protocol}/{self.form}/{self.concurrency}{at}{many}{rows}{over}"


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
    *_rows(MLP, BOTH, (1, 16, 64, 256)),
)


SCHEDULING_ROWS = (
    *_rows(MLP_TWO, BOTH, (1, 16, 64, 256)),
    Row(RESNET, "http", "binary", 1, seconds=3),
    Row(RESNET, "http", "binary", 4, seconds=3),
    Row(RESNET, "grpc", "binary", 1, seconds=3),
)
# Rows for the compute time of a batch inside a server: one request at a time, so that nothing else
# runs.
SCHEDULING_COMPUTE_ROWS = (
    *(Row(MLP_TWO, "http", "binary", 1, batch=batch) for batch in (1, 16, MAX_BATCH)),
    Row(RESNET, "http", "binary", 1, seconds=3),
)

SEQUENCE_ROWS = tuple(
    Row(model, protocol, "binary", concurrency, sequence_length=16)
    for model in SEQUENCE_MODELS
    for protocol in BOTH
    for concurrency in (8, 64)
)

STREAM_ROWS = tuple(
    Row(REPEAT, "grpc", "binary", concurrency, responses=responses)
    for responses in (1, 10, 100, 1000)
    for concurrency in (1, 16)
)

TLS_ROWS = (
    *(
        Row(IDENTITY_SMALL, protocol, "binary", concurrency, tls=True)
        for protocol in BOTH
        for concurrency in (1, 16, 64)
    ),
    *(Row(IDENTITY_LARGE, protocol, "binary", 4, tls=True) for protocol in BOTH),
)

TENSOR_ROWS = (
    *(
        Row(model, protocol, "binary", concurrency, shared=True)
        for model, concurrencies in ((TENSORS_4, (1, 4)), (TENSORS_64, (1,)))
        for protocol in BOTH
        for concurrency in concurrencies
    ),
    *_rows(TENSORS_JSON, ("http",), (1, 4), "json"),
    *_rows(TENSORS_BYTES, BOTH, (1, 16)),
)

ENSEMBLE_ROWS = tuple(
    row for model in ENSEMBLE_MODELS for row in _rows(model, BOTH, (1, 16, 64))
)


def write_repository(root: Path) -> Path:
    """Writes all models of the group "race" below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    models.add_identity("identity_large", "FP32", (LARGE,))
    for name in ("digits", "digits_batched"):
        shutil.copytree(EXAMPLE_MODELS / name, root / name, dirs_exist_ok=True)
    add_mlp(models)
    return root


def add_mlp(models: ModelRepository) -> None:
    _add_network(models, "mlp", networks.mlp(), _mlp_config())


def write_scheduling_repository(root: Path) -> Path:
    """Writes all models of the group "scheduling" below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    _add_network(
        models,
        "mlp_two",
        networks.mlp(),
        _mlp_config(2, "priority_levels: 2 default_priority_level: 2"),
    )
    _add_network(models, "resnet18", networks.resnet18(), _resnet_config())
    return root


def write_streams_repository(root: Path) -> Path:
    """Writes all models of the group "streams" below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    add_repeat(models)
    return root


def write_sequences_repository(root: Path) -> Path:
    """Writes all models of the group "sequences" below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    network = networks.keeper(SEQUENCE_WIDTH)
    for model, strategy in zip(
        SEQUENCE_MODELS,
        ("direct { }", f"oldest {{ max_candidate_sequences: {SEQUENCE_SLOTS} }}"),
    ):
        _add_network(models, model.name, network, _sequence_config(strategy))
    return root


def write_ensembles_repository(root: Path) -> Path:
    """Writes all models of the group "ensembles" below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    _add_identity_chain(models)
    _add_layers(models, "chain", networks.CHAIN)
    _add_layers(models, "diamond", networks.DIAMOND)
    return root


def write_tensors_repository(root: Path) -> Path:
    """Writes all models of the group "tensors" below `root`."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    for model in TENSOR_MODELS:
        data_type = "STRING" if model.datatype == "BYTES" else model.datatype
        models.add_identity(model.name, data_type, model.shape)
    return root


def _add_identity_chain(models: ModelRepository) -> None:
    steps = []
    for member, source, target in (("first", "INPUT0", "between"), ("second", "between", "OUTPUT0")):
        name = f"identity_{member}"
        models.add_identity(name, "FP32", (SMALL,), MAX_BATCH, extra="dynamic_batching { }")
        steps.append(step_text(name, {"INPUT0": source}, {"OUTPUT0": target}))
    tensors = [[tensor_text(name, "FP32", (SMALL,))] for name in ("INPUT0", "OUTPUT0")]
    add_ensemble(models, "identity_chain", *tensors, steps, MAX_BATCH)


def _add_layers(
    models: ModelRepository, name: str, parts: tuple[networks.Layer, ...]
) -> None:
    """Adds an ensemble and a model for each layer. Both use the same tensor names."""
    steps = []
    for part in parts:
        network = networks.layers(part.name, [part], part.inputs, part.output)
        _add_network(models, part.name, network, _layer_config(part))
        same = {tensor: tensor for tensor in part.inputs}
        steps.append(step_text(part.name, same, {part.output: part.output}))
    shape = (networks.LAYER_WIDTH,)
    ends = [[tensor_text(tensor, "FP32", shape)] for tensor in ("x", "y")]
    folder = add_ensemble(models, name, *ends, steps, MAX_BATCH)
    onnx.save(networks.layers(name, parts, ["x"], "y"), str(folder / "whole.onnx"))


def _add_network(
    models: ModelRepository, name: str, network: onnx.ModelProto, config: str
) -> None:
    onnx.save(network, str(models.add(name, config) / "1" / "model.onnx"))


def write_bare_repository(root: Path) -> Path:
    """Writes models that need no runtime, so that the server itself is measured."""
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    models.add_identity("identity_large", "FP32", (LARGE,))
    return root


@dataclass(frozen=True)
class Group:
    """Rows that are measured together, and their repository, which also contains identity_small."""

    rows: tuple[Row, ...]
    write_repository: Callable[[Path], Path]
    compute_rows: tuple[Row, ...] = ()  # rows whose compute time is compared (compute.py)

    @property
    def tls(self) -> bool:
        """Whether the servers of this group serve over TLS."""
        return any(row.tls for row in self.rows)

    @property
    def shared(self) -> bool:
        """Whether clients of this group use shared memory."""
        return any(row.shared for row in self.rows)


GROUPS = {
    "race": Group(ROWS, write_repository),
    "scheduling": Group(SCHEDULING_ROWS, write_scheduling_repository, SCHEDULING_COMPUTE_ROWS),
    "streams": Group(STREAM_ROWS, write_streams_repository),
    "sequences": Group(SEQUENCE_ROWS, write_sequences_repository),
    "ensembles": Group(ENSEMBLE_ROWS, write_ensembles_repository),
    "tls": Group(TLS_ROWS, write_bare_repository),
    "tensors": Group(TENSOR_ROWS, write_tensors_repository),
}


def _mlp_config(instances: int = 1, batching: str = "") -> str:
    layers = networks.MLP_LAYERS
    return f"""
backend: "onnxruntime"
max_batch_size: {MAX_BATCH}
input [ {tensor_text("x", "FP32", (layers[0],))} ]
output [ {tensor_text("y", "FP32", (layers[-1],))} ]
instance_group [ {{ count: {instances} kind: KIND_CPU }} ]
dynamic_batching {{ {batching} }}
{parameters_text(ONE_THREAD)}"""


def _layer_config(part: networks.Layer) -> str:
    width = (networks.LAYER_WIDTH,)
    return f"""
backend: "onnxruntime"
max_batch_size: {MAX_BATCH}
input [ {", ".join(tensor_text(name, "FP32", width) for name in part.inputs)} ]
output [ {tensor_text(part.output, "FP32", width)} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
dynamic_batching {{ }}
{parameters_text(ONE_THREAD)}"""


def _sequence_config(strategy: str) -> str:
    return f"""
backend: "onnxruntime"
max_batch_size: {SEQUENCE_SLOTS}
input [ {tensor_text("x", "FP32", (SEQUENCE_WIDTH,))} ]
output [ {tensor_text("y", "FP32", (SEQUENCE_WIDTH,))} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
sequence_batching {{
  {strategy}
  control_input {{ name: "START" control {{
    kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] }} }}
  {state_text("kept", "kept_on", (SEQUENCE_WIDTH,), data_type="FP32")}
}}
{parameters_text(ONE_THREAD)}"""


def _resnet_config() -> str:
    """No batching, because on one core the images of a batch would only wait for each other."""
    return f"""
backend: "onnxruntime"
max_batch_size: 1
input [ {tensor_text("x", "FP32", networks.RESNET_IMAGE)} ]
output [ {tensor_text("y", "FP32", (networks.RESNET_CLASSES,))} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
{parameters_text(ONE_THREAD)}"""


@dataclass(frozen=True)
class Files:
    """The files that the load generator reads for one model and form."""

    body: Path
    expect: Path
    header_length: int | None  # only for HTTP with binary tensors
    # The part of an echo server's answer before the tensor; of a stream, of each response before
    # its value.
    echo_head: Path | None
    tensor_bytes: int
    # Of a row with shared memory: the segments, of which the second gets the answers.
    segments: Segments | None = None


def write_files(folder: Path, repository: Path, row: Row) -> Files:
    """Writes the row's request and answer into `folder`. Rows that differ only in load share
    them."""
    folder.mkdir(parents=True, exist_ok=True)
    variant = f"-responses{row.responses}" if row.responses else f"-rows{row.batch}"
    stem = f"{row.model.name}-{row.protocol}-{row.form}{variant}{'-shared' if row.shared else ''}"
    values = _input_values(row)
    expect = folder / f"{row.model.name}{variant}.expect"
    expect.write_bytes(tensor_bytes(row.model, _expected(row.model, repository, values)))
    segments = Segments.of(row.model) if row.shared else None
    body = folder / f"{stem}.body"
    header_length = None
    if segments is not None:
        segments.write(tensor_bytes(row.model, values))
        body.write_bytes(shared_body(row, values, segments))
    elif row.responses:
        body.write_bytes(repeat_body(row.model, values))
    elif row.protocol == "grpc":
        body.write_bytes(grpc_body(row.model, values))
    else:
        header_length = write_http_body(body, row, values)
    head = None
    echoes = row.model.onnx_file is None and row.form == "binary" and row.model.datatype == "FP32"
    # The echo servers have neither TLS nor shared memory.
    if echoes and not row.sequence_length and not row.tls and not row.shared:
        head = folder / f"{stem}.head"
        head.write_bytes(_echo_head(row, values))
    return Files(body, expect, header_length, head, values.nbytes, segments)


def input_shape(row: Row) -> tuple[int, ...]:
    """The shape of the tensor in a request."""
    if row.responses:
        return (row.responses,)
    return (row.batch, *row.model.shape[1:]) if row.batch > 1 else row.model.shape


def _input_values(row: Row) -> np.ndarray:
    """Whole numbers for the networks (like pixels), fractions for the other models."""
    shape = input_shape(row)
    count = int(np.prod(shape))
    if row.model.onnx_file is None:
        values = np.arange(count, dtype=np.float32) * np.float32(0.37) - np.float32(3)
    else:
        values = (np.arange(count) % 17).astype(np.float32)
    return values.reshape(shape)


def _expected(model: Model, repository: Path, values: np.ndarray) -> np.ndarray:
    if model.onnx_file is None:
        return values
    session = onnxruntime.InferenceSession(
        str(repository / model.onnx_file), providers=["CPUExecutionProvider"]
    )
    return session.run([model.output_name], {model.input_name: values})[0]


def tensor_bytes(model: Model, values: np.ndarray) -> bytes:
    """The tensor as the protocols have it."""
    if model.datatype != "BYTES":
        return values.tobytes()
    floats = values.ravel().view(np.uint32)
    return np.stack([np.full_like(floats, 4), floats], axis=1).tobytes()


def write_http_body(path: Path, row: Row, values: np.ndarray) -> int | None:
    """Writes an HTTP body. Returns the length of its JSON part; None if the whole body is JSON."""
    data = tensor_bytes(row.model, values)
    tensor: dict[str, object] = {
        "name": row.model.input_name,
        "shape": list(values.shape),
        "datatype": row.model.datatype,
    }
    output: dict[str, object] = {"name": row.model.output_name}
    if row.form == "json":
        document = {
            "inputs": [{**tensor, "data": [float(value) for value in values.ravel()]}],
            "outputs": [output],
        }
        path.write_text(json.dumps(document), encoding="ascii")
        return None
    tensor["parameters"] = {"binary_data_size": len(data)}
    output["parameters"] = {"binary_data": True}
    head = json.dumps({"inputs": [tensor], "outputs": [output]}).encode()
    path.write_bytes(head + data)
    return len(head)


def grpc_body(model: Model, values: np.ndarray) -> bytes:
    request = service_pb2.ModelInferRequest(model_name=model.name)
    request.inputs.add(name=model.input_name, datatype=model.datatype, shape=values.shape)
    request.outputs.add(name=model.output_name)
    request.raw_input_contents.append(tensor_bytes(model, values))
    return request.SerializeToString()


def shared_body(row: Row, values: np.ndarray, segments: Segments) -> bytes:
    """A request whose tensors are in regions that have the names of the segments."""
    size = values.nbytes
    if row.protocol == "grpc":
        request = service_pb2.ModelInferRequest(model_name=row.model.name)
        tensor = request.inputs.add(
            name=row.model.input_name, datatype=row.model.datatype, shape=values.shape
        )
        output = request.outputs.add(name=row.model.output_name)
        for place, region in ((tensor, segments.input), (output, segments.output)):
            place.parameters["shared_memory_region"].string_param = region
            place.parameters["shared_memory_byte_size"].int64_param = size
        return request.SerializeToString()

    def in_region(region: str) -> dict[str, object]:
        return {"shared_memory_region": region, "shared_memory_byte_size": size}

    document = {
        "inputs": [
            {
                "name": row.model.input_name,
                "shape": list(values.shape),
                "datatype": row.model.datatype,
                "parameters": in_region(segments.input),
            }
        ],
        "outputs": [{"name": row.model.output_name, "parameters": in_region(segments.output)}],
    }
    return json.dumps(document).encode()


def repeat_body(model: Model, values: np.ndarray) -> bytes:
    """A request for one response per value, without pauses. The model's type is INT32, so it gets
    the bits of the floats that the load generator expects. They come last, where an echo server
    looks for them."""
    request = service_pb2.ModelInferRequest(model_name=model.name)
    for name, datatype, tensor in (
        ("DELAY", "UINT32", np.zeros(values.shape, np.uint32)),
        ("WAIT", "UINT32", np.zeros(1, np.uint32)),
        (model.input_name, "INT32", values),
    ):
        request.inputs.add(name=name, datatype=datatype, shape=tensor.shape)
        request.raw_input_contents.append(tensor.tobytes())
    request.outputs.add(name=model.output_name)
    return request.SerializeToString()


def _echo_head(row: Row, values: np.ndarray) -> bytes:
    """The part of an answer before the tensor, which an echo server copies from the request's
    end. A response of a stream has one of the values as its tensor."""
    tensor_bytes = values.itemsize if row.responses else values.nbytes
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
    datatype = "INT32" if row.responses else "FP32"
    response.outputs.add(name=row.model.output_name, datatype=datatype, shape=row.model.shape)
    raw_output_contents = _field(6, tensor_bytes)
    head = response.SerializeToString() + raw_output_contents
    if not row.responses:
        return head
    infer_response = _field(2, len(head) + tensor_bytes)  # of a ModelStreamInferResponse
    return infer_response + head


def _field(number: int, size: int) -> bytes:
    """What precedes the bytes of a field: its tag and their length."""
    return bytes([(number << 3) | 2]) + varint(size)


def varint(number: int) -> bytes:
    """A length as protobuf writes it."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])
