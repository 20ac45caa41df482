# SPDX-License-Identifier: Apache-2.0
"""The rows that the hostile tests walk, read from a running server: its routes from the OpenAPI
documents, its gRPC methods from server reflection. A new one is walked without a line of test. The
paths of other ports are those of docs/protocol/routes.md."""

from __future__ import annotations

import functools
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import grpc
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from support import raw_http
from support.nereid import start_nereid
from support.reflected import read_services
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.stage import PROJECT_ROOT

ROUTES_PAGE = PROJECT_ROOT / "docs" / "protocol" / "routes.md"
ROWS_OF_PORTS = {"| metrics |": "metrics", "| [SageMaker]": "sagemaker"}
METHODS_AND_PATH = re.compile(r"`([A-Z]+(?:, [A-Z]+)*) (/[^`]*)`")
# Its routes are those that the environment names.
VERTEX_AI = {"AIP_HEALTH_ROUTE": "/health", "AIP_PREDICT_ROUTE": "/predict"}

OPEN_EVERYTHING = ("--model-control-mode=explicit", "--load-model=*", "--allow-nereid-api=true")
# Ports whose routes their own OpenAPI documents have.
DESCRIBED_PORTS = {"tfs_http": ("--tfs-http-port=0", "/v1/openapi.json")}
# Ports of gRPC with services of their own, besides those that every port has.
OWN_SERVICES = {"tfs_grpc": ("--tfs-grpc-port=0", "tensorflow.serving.")}

# The model that must be served all the time, one whose configuration is long, and one that may
# come and go.
ECHO, WIDE, SPARE = "echo", "wide", "spare"
NAMES = {"version": "1", "label": "stable", "region": "nothing", "repository": "nothing", "request": "nothing"}

# Bodies of these schemas, and messages of these methods, may be large; whatever is added to the
# tables may not, unless it is named here.
OPENAI_SCHEMAS = {"OpenAiCompletionRequest", "OpenAiChatRequest", "OpenAiEmbeddingsRequest"}
TFS_SCHEMAS = {"TfsPredictRequest", "TfsExamplesRequest"}
LARGE_SCHEMAS = {"InferRequest", "GenerateRequest", "LoadRequest"} | OPENAI_SCHEMAS | TFS_SCHEMAS
LARGE_METHODS = {"ModelInfer", "ModelStreamInfer", "RepositoryModelLoad", "Predict", "Classify", "Regress"}


@dataclass(frozen=True)
class Route:
    """One method of one path."""

    method: str
    pattern: str
    schema: str = ""  # of a body that is JSON
    port: str = "http"  # or one of those that have paths of their own

    @property
    def name(self) -> str:
        port = "" if self.port == "http" else f" of {self.port}"
        return f"{self.method} {self.pattern}{port}"

    @property
    def path(self) -> str:
        comes_and_goes = self.pattern.startswith("/v2/repository") or self.method == "DELETE"
        model = SPARE if comes_and_goes else WIDE
        model = ECHO if self.schema in LARGE_SCHEMAS - {"LoadRequest"} else model
        return re.sub(r"\{(\w+)\}", lambda one: {"model": model, **NAMES}[one[1]], self.pattern)

    @property
    def takes_large(self) -> bool:
        return self.schema in LARGE_SCHEMAS


@dataclass(frozen=True)
class Method:
    """One of gRPC."""

    service: str
    method: str
    request: Descriptor
    client_streams: bool
    server_streams: bool
    port: str = "grpc"  # or one that has services of its own

    @property
    def name(self) -> str:
        return f"{self.service.removeprefix('grpc.')}/{self.method}"

    @property
    def path(self) -> str:
        return f"/{self.service}/{self.method}"

    @property
    def takes_large(self) -> bool:
        return self.method in LARGE_METHODS

    def small_request(self) -> bytes:
        """A request whose answer is as long as this method's answers are, if it needs no more than
        a name."""
        message = GetMessageClass(self.request)()
        names = {
            "name": WIDE,
            "model_name": SPARE if self.method.startswith("Repository") else WIDE,
            "file_containing_symbol": "inference.GRPCInferenceService",
        }
        for field in self.request.fields:
            if field.type == FieldDescriptor.TYPE_STRING and field.name in names:
                setattr(message, field.name, names[field.name])
            elif field.name == "model_spec":
                message.model_spec.name = WIDE
            elif field.name == "metadata_field":
                message.metadata_field.append("signature_def")
        return bytes(message.SerializeToString())


@dataclass(frozen=True)
class Tables:
    routes: tuple[Route, ...] = ()
    methods: tuple[Method, ...] = ()
    failure: str = ""  # why they could not be read


def add_models(root: Path) -> ModelRepository:
    models = ModelRepository(root)
    models.add_identity(ECHO, parameters={"tfs.version_labels": "stable=1"})
    models.add_identity(SPARE)
    models.add_identity(WIDE, parameters={f"parameter{i}": "x" * 1000 for i in range(60)})
    return models


def _read_routes(url: str, document: str = "/v2/openapi.json", port: str = "http") -> list[Route]:
    routes = []
    for path, operations in raw_http.get(url, document).json()["paths"].items():
        for method in sorted({"get", "post", "put", "delete", "patch"} & set(operations)):
            content = operations[method].get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {}).get("$ref", "")
            routes.append(Route(method.upper(), path, schema.rpartition("/")[2], port))
    return routes


def _read_all_routes(server: ServerProcess) -> list[Route]:
    routes = _read_routes(server.http_url)
    for port, (_, document) in DESCRIBED_PORTS.items():
        routes += _read_routes(f"{LOOPBACK}:{server.port(port)}", document, port)
    return routes


def _routes_of_other_ports() -> list[Route]:
    routes = [
        Route("GET", VERTEX_AI["AIP_HEALTH_ROUTE"], port="vertex_ai"),
        Route("POST", VERTEX_AI["AIP_PREDICT_ROUTE"], "InferRequest", "vertex_ai"),
    ]
    for line in ROUTES_PAGE.read_text(encoding="utf-8").splitlines():
        port = next((port for start, port in ROWS_OF_PORTS.items() if line.startswith(start)), None)
        for methods, path in METHODS_AND_PATH.findall(line) if port else ():
            pattern = path.replace("/M", "/{model}")
            for method in methods.split(", "):
                schema = "InferRequest" if path.endswith(("/invocations", "/invoke")) else ""
                if method == "POST" and not schema:
                    schema = "SagemakerLoad"
                routes.append(Route(method, pattern, schema, port))
    return routes


def _read_methods(url: str, port: str = "grpc", package: str = "") -> list[Method]:
    """Those of the services of `package`; all if that is empty."""
    with grpc.insecure_channel(url) as channel:
        pool, services = read_services(channel)
    names = [name for name in services if name.startswith(package)]
    methods = []
    for name in names:
        for method in pool.FindServiceByName(name).methods:
            streams = (method.client_streaming, method.server_streaming)
            methods.append(Method(name, method.name, method.input_type, *streams, port))
    return methods


def _read_all_methods(server: ServerProcess) -> list[Method]:
    methods = _read_methods(server.grpc_url)
    for port, (_, package) in OWN_SERVICES.items():
        methods += _read_methods(f"{LOOPBACK}:{server.port(port)}", port, package)
    return methods


@functools.cache
def tables() -> Tables:
    """Starts a server for a moment. pytest asks while it collects: a failure becomes a case."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            models = add_models(Path(folder) / "models")
            own_ports = [option for option, _ in (*DESCRIBED_PORTS.values(), *OWN_SERVICES.values())]
            options = [*OPEN_EVERYTHING, *own_ports]
            server = start_nereid(models.root, Path(folder) / "log", options)
            try:
                server.wait_for()
                routes, methods = _read_all_routes(server), _read_all_methods(server)
            finally:
                server.kill()
    except (AssertionError, OSError, grpc.RpcError) as error:
        return Tables(failure=f"the tables cannot be read from a server: {error}")
    return Tables((*routes, *_routes_of_other_ports()), tuple(methods))
