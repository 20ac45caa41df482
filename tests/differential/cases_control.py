# SPDX-License-Identifier: Apache-2.0
"""Loading and unloading in the differential test, over HTTP and gRPC."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

from tritonclient.grpc import service_pb2 as pb

from differential.cases import ON_DEMAND, UNDISTURBED, GrpcCase, HttpCase
from differential.cases_grpc import set_parameter
from differential.http_requests import encode, get, infer, tensor

INTS = tensor("INT32", [2], [1, 2])
CONFIG = json.dumps(
    {
        "backend": "identity",
        "max_batch_size": 3,
        "input": [{"name": "INPUT0", "data_type": "TYPE_INT32", "dims": [2]}],
        "output": [{"name": "OUTPUT0", "data_type": "TYPE_INT32", "dims": [2]}],
    }
)
BYTES = b"\x00\xff some bytes"


def control(case: str, action: str, model: str, document: Any = None) -> HttpCase:
    body = b"" if document is None else encode(document)
    return HttpCase(
        case, "POST", f"/v2/repository/models/{model}/{action}", body, server=ON_DEMAND
    )


def load(model: str, **parameters: Any) -> HttpCase:
    return control("unused", "load", model, {"parameters": parameters} if parameters else None)


def unload(model: str, **parameters: Any) -> HttpCase:
    return control("unused", "unload", model, {"parameters": parameters} if parameters else None)


def files(**more: Any) -> dict[str, Any]:
    return {"config": CONFIG, "file:7/weights": base64.b64encode(BYTES).decode(), **more}


def after(case: HttpCase, *before: HttpCase) -> HttpCase:
    return replace(case, before=before, server=ON_DEMAND)


def good_http() -> list[HttpCase]:
    index = HttpCase("http-good-control-index", "POST", "/v2/repository/index", b"")
    here = "/v2/models/"
    again = load("http_again")
    return [
        replace(load("http_load"), id="http-good-load"),
        after(replace(again, id="http-good-load-again"), again),
        after(get("http-good-load-metadata", f"{here}two_versions"), load("two_versions")),
        after(
            get("http-good-load-config", f"{here}http_config/config"),
            load("http_config", config=CONFIG),
        ),
        after(
            get("http-good-load-config-kept", f"{here}http_kept/config"),
            load("http_kept", config=CONFIG),
            load("http_kept"),
        ),
        after(
            get("http-good-load-config-forgotten", f"{here}http_forgotten/config"),
            load("http_forgotten", config=CONFIG),
            unload("http_forgotten"),
            load("http_forgotten"),
        ),
        after(get("http-good-load-files", f"{here}http_files"), load("http_files", **files())),
        after(
            get("http-good-load-files-slash", f"{here}http_files"),
            load("http_files", config=CONFIG, **{"file:/7/weights": "AAAA"}),
        ),
        after(replace(unload("http_unload"), id="http-good-unload"), load("http_unload")),
        replace(unload("nobody"), id="http-good-unload-unknown"),
        replace(unload("inner_nobody", unload_dependents=True), id="http-good-unload-dependents"),
        after(
            infer("http-good-override-fails", "http_bad_override", [INTS]),
            load("http_bad_override"),
            load("http_bad_override", config='{"backend": "nonesuch"}'),
        ),
        replace(
            index,
            before=(
                load("echo"),
                load("two_versions"),
                load("http_load"),
                unload("http_load"),
                load("no_config"),
                load("no_backend"),
                load("no_versions"),
                load("bad_no_member"),
                load("chain"),
            ),
            server=UNDISTURBED,
        ),
    ]


def bad_http() -> list[HttpCase]:
    def loading(case: str, document: Any, model: str = "http_load") -> HttpCase:
        return control(f"http-bad-load-{case}", "load", model, document)

    def parameters(case: str, **values: Any) -> HttpCase:
        return loading(case, {"parameters": values})

    path = "/v2/repository/models/matrix"
    gone = load("http_gone"), unload("http_gone")
    return [
        HttpCase("http-bad-load-not-explicit", "POST", f"{path}/load", b""),
        HttpCase("http-bad-unload-not-explicit", "POST", f"{path}/unload", b""),
        HttpCase("http-bad-load-repository", "POST", "/v2/repository/one/models/matrix/load", b""),
        loading("unknown", None, "nobody"),
        loading("no-config", None, "no_config"),
        loading("no-backend", None, "no_backend"),
        loading("no-versions", None, "no_versions"),
        loading("no-json", b"nonsense"),
        loading("json-array", []),
        loading("parameters-array", {"parameters": []}),
        parameters("parameter-unknown", what="x"),
        parameters("config-number", config=1),
        parameters("config-no-json", config="nonsense"),
        parameters("config-unknown-field", config='{"nonsense": 1}'),
        parameters("config-of-nobody", config='{"backend": "nonesuch"}'),
        parameters("file-alone", **{"file:1/x": "AAAA"}),
        parameters("file-no-base64", **files(**{"file:1/x": "?"})),
        parameters("file-number", **files(**{"file:1/x": 1})),
        parameters("file-outside", **files(**{"file:../x": "AAAA"})),
        control(
            "http-bad-unload-dependents-text",
            "unload",
            "http_load",
            {"parameters": {"unload_dependents": "yes"}},
        ),
        control("http-bad-unload-no-json", "unload", "http_load", b"nonsense"),
        after(infer("http-bad-infer-gone", "http_gone", [INTS]), *gone),
        after(get("http-bad-gone-ready", "/v2/models/http_gone/ready"), *gone),
        after(get("http-bad-metadata-gone", "/v2/models/http_gone"), *gone),
        after(get("http-bad-config-gone", "/v2/models/http_gone/config"), *gone),
        after(get("http-bad-stats-gone", "/v2/models/http_gone/stats"), *gone),
        after(infer("http-bad-infer-never-loaded", "http_never", [INTS])),
    ]


def call(case: str, action: str, model: str, **parameters: Any) -> GrpcCase:
    if action == "Load":
        request: Any = pb.RepositoryModelLoadRequest(model_name=model)
    else:
        request = pb.RepositoryModelUnloadRequest(model_name=model)
    for key, value in parameters.items():
        if isinstance(value, bytes):
            request.parameters[key].bytes_param = value
        else:
            set_parameter(request.parameters[key], value)
    return GrpcCase(case, f"RepositoryModel{action}", request, server=ON_DEMAND)


def good_grpc() -> list[GrpcCase]:
    def asked(case: str, method: str, request: Any, *before: HttpCase) -> GrpcCase:
        return GrpcCase(case, method, request, before=before, server=ON_DEMAND)

    raw = {"config": CONFIG, "file:7/weights": BYTES}
    return [
        call("grpc-good-load", "Load", "grpc_load"),
        call("grpc-good-load-config", "Load", "grpc_config", config=CONFIG),
        call("grpc-good-load-files", "Load", "grpc_files", **raw),
        replace(
            call("grpc-good-unload", "Unload", "grpc_unload"), before=(load("grpc_unload"),)
        ),
        call("grpc-good-unload-unknown", "Unload", "nobody"),
        call("grpc-good-unload-dependents", "Unload", "nobody", unload_dependents=True),
        asked(
            "grpc-good-loaded-config",
            "ModelConfig",
            pb.ModelConfigRequest(name="grpc_again"),
            load("grpc_again", config=CONFIG),
        ),
        asked(
            "grpc-good-unload-again",
            "RepositoryModelUnload",
            pb.RepositoryModelUnloadRequest(model_name="grpc_gone"),
            load("grpc_gone"),
            unload("grpc_gone"),
        ),
    ]


def bad_grpc() -> list[GrpcCase]:
    def loading(case: str, model: str = "grpc_load", **parameters: Any) -> GrpcCase:
        return call(f"grpc-bad-load-{case}", "Load", model, **parameters)

    named = pb.RepositoryModelLoadRequest(repository_name="one", model_name="matrix")
    matrix = pb.RepositoryModelLoadRequest(model_name="matrix")
    gone = load("grpc_gone"), unload("grpc_gone")
    raw = {"config": CONFIG, "file:7/weights": BYTES}
    return [
        GrpcCase("grpc-bad-load-not-explicit", "RepositoryModelLoad", matrix),
        GrpcCase(
            "grpc-bad-unload-not-explicit",
            "RepositoryModelUnload",
            pb.RepositoryModelUnloadRequest(model_name="matrix"),
        ),
        GrpcCase("grpc-bad-load-repository", "RepositoryModelLoad", named),
        loading("unknown", "nobody"),
        loading("no-name", ""),
        loading("no-config", "no_config"),
        loading("no-backend", "no_backend"),
        loading("parameter-unknown", what="x"),
        loading("config-number", config=1),
        loading("config-no-json", config="nonsense"),
        loading("file-alone", **{"file:1/x": BYTES}),
        loading("file-text", **{**raw, "file:1/x": "AAAA"}),
        loading("file-outside", **{**raw, "file:../x": BYTES}),
        call("grpc-bad-unload-dependents-text", "Unload", "grpc_load", unload_dependents="yes"),
        GrpcCase(
            "grpc-bad-stats-gone",
            "ModelStatistics",
            pb.ModelStatisticsRequest(name="grpc_gone"),
            before=gone,
            server=ON_DEMAND,
        ),
        GrpcCase(
            "grpc-bad-config-gone",
            "ModelConfig",
            pb.ModelConfigRequest(name="grpc_gone"),
            before=gone,
            server=ON_DEMAND,
        ),
    ]


def good_cases() -> list[HttpCase | GrpcCase]:
    return [*good_http(), *good_grpc()]


def bad_cases() -> list[HttpCase | GrpcCase]:
    return [*bad_http(), *bad_grpc()]
