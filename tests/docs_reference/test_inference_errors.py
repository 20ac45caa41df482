# SPDX-License-Identifier: Apache-2.0
"""The last table of docs/protocol/inference.md: common mistakes, and what they are answered."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request

import grpc
import pytest
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT
from tritonclient.grpc import service_pb2, service_pb2_grpc

PAGE = PROJECT_ROOT / "docs/protocol/inference.md"
STATUS = re.compile(r"\[request id: [^\]]*\] ")


def tensor(
    name: str, rows: int = 1, datatype: str = "FP32", shape: list[int] | None = None
) -> dict[str, object]:
    return {"name": name, "datatype": datatype, "shape": shape or [rows, 4], "data": [1] * 4 * rows}


PAIR = [tensor("A"), tensor("B")]
MISTAKES = {
    "a name of a model that does not exist": ("nobody", "", PAIR, []),
    "a version that does not exist": ("add_sub", "7", PAIR, []),
    "an input is missing": ("add_sub", "", [tensor("A")], []),
    "another type than the model's": ("add_sub", "", [tensor("A", 1, "FP64"), tensor("B")], []),
    "no dimension for the batch": (
        "add_sub",
        "",
        [tensor("A", shape=[4]), tensor("B", shape=[4])],
        [],
    ),
    "an unknown output": ("add_sub", "", PAIR, [{"name": "PRODUCT"}]),
    "more rows than `max_batch_size`": ("add_sub", "", [tensor("A", 9), tensor("B", 9)], []),
    "`infer` for a decoupled model, HTTP": ("repeats", "", [], []),
    "`ModelInfer` for a decoupled model": ("repeats", "", [], []),
}


def rows() -> dict[str, tuple[str, str, str]]:
    """By mistake: status of HTTP, code of gRPC, text."""
    section = PAGE.read_text().partition("| mistake |")[2].splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:5]] for line in section]
    return {mistake: (http, code.strip("`"), text) for mistake, http, code, text in cells}


def ask_http(server: ServerProcess, mistake: str) -> tuple[str, str]:
    model, version, inputs, outputs = MISTAKES[mistake]
    place = f"/versions/{version}" if version else ""
    body = {"inputs": inputs} | ({"outputs": outputs} if outputs else {})
    request = urllib.request.Request(
        f"http://{server.http_url}/v2/models/{model}{place}/infer", json.dumps(body).encode()
    )
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=30)
    return str(error.value.code), json.loads(error.value.read())["error"]


def ask_grpc(server: ServerProcess, mistake: str) -> tuple[str, str]:
    model, version, inputs, outputs = MISTAKES[mistake]
    request = service_pb2.ModelInferRequest(model_name=model, model_version=version)
    for given in inputs:
        added = request.inputs.add(**{k: given[k] for k in ("name", "datatype", "shape")})
        getattr(added.contents, f"{given['datatype'].lower()}_contents").extend(given["data"])
    for wanted in outputs:
        request.outputs.add(name=wanted["name"])
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        with pytest.raises(grpc.RpcError) as error:
            stub.ModelInfer(request, timeout=30)
    return error.value.code().name, error.value.details()


def test_every_row_is_tried() -> None:
    assert set(rows()) == set(MISTAKES)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake(documented_server: ServerProcess, mistake: str) -> None:
    http, code, text = rows()[mistake]
    said = re.match(r"`([^`]*)`", text)
    assert said and (http or code)
    expected = said[1].replace("'M'", f"'{MISTAKES[mistake][0]}'")
    for column, ask in ((http, ask_http), (code, ask_grpc)):
        if not column:
            continue
        status, answer = ask(documented_server, mistake)
        answer = STATUS.sub("", answer)
        assert status == column
        assert answer.startswith(expected)
        assert answer == expected or "and a note" in text
