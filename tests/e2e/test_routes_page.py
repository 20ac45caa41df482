# SPDX-License-Identifier: Apache-2.0
"""docs/protocol/routes.md has every route of the server and every method of its gRPC service, and
each file that it names is there."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import NamedTuple

import pytest

from support import raw_http
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

PAGE = PROJECT_ROOT / "docs" / "protocol" / "routes.md"
PROTO = PROJECT_ROOT / "proto" / "grpc_service.proto"
HEAD = ["REST", "gRPC", "official clients", "others"]
METHODS = {"get", "post", "put", "delete"}
LETTERS = {"model": "M", "region": "R", "repository": "NAME", "request": "ID"}
OF_A_VERSION = "/versions/{version}"
WITHOUT_VERSIONS = "/v2/models/M/trace/setting"

CODE = re.compile(r"`([^`]+)`")
ROUTE = re.compile(r"([A-Z]+(?:, [A-Z]+)*) (/\S*)")
RPC = re.compile(r"[A-Z][A-Za-z]+\*?")
FILE = re.compile(r"(?:[a-z_0-9]+/)+[a-z_0-9]*(?:\.[a-z]+)?")

Route = tuple[str, str]  # a method, and a path of the page


class Row(NamedTuple):
    rest: str
    grpc: str
    official: str
    others: str


def read_rows(text: str) -> list[Row]:
    """The rows of the table of routes."""
    rows = []
    in_table = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            in_table = False
        elif cells == HEAD:
            in_table = True
        elif in_table and set(cells) != {"---"}:
            rows.append(Row(*cells))
    return rows


def routes_of(cell: str) -> set[Route]:
    """Each method with each path; `[part]` makes two paths of one."""
    routes: set[Route] = set()
    for code in CODE.findall(cell):
        if match := ROUTE.fullmatch(code):
            path = match[2]
            paths = {re.sub(r"\[.*?\]", "", path), path.replace("[", "").replace("]", "")}
            routes |= {(method, one) for method in match[1].split(", ") for one in paths}
    return routes


def methods_of(cell: str) -> set[str]:
    return {code for code in CODE.findall(cell) if RPC.fullmatch(code)}


def files_of(text: str) -> set[str]:
    return {code for code in CODE.findall(text) if FILE.fullmatch(code)}


def on_the_page(path: str) -> str:
    """A path of the OpenAPI document as the page writes it."""
    return re.sub(r"\{(\w+)\}", lambda match: LETTERS[match[1]], path)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows(PAGE.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def served(identity_server: ServerProcess) -> dict[str, set[str]]:
    """Methods of each path in the server's own document."""
    document = raw_http.get(identity_server.http_url, "/v2/openapi.json").json()
    return {
        path: {method.upper() for method in METHODS & set(operations)}
        for path, operations in document["paths"].items()
    }


def test_every_route_has_a_row(rows: list[Row], served: dict[str, set[str]]) -> None:
    listed = {route for row in rows for route in routes_of(row.rest)}
    there = {
        (method, on_the_page(path.replace(OF_A_VERSION, "")))
        for path, methods in served.items()
        for method in methods
    }
    assert there - listed == set(), "served, but not on the page"
    assert listed - there == set(), "on the page, but not served"


def test_what_is_said_of_versions(served: dict[str, set[str]]) -> None:
    """The table has only the paths without a version."""
    versioned = {path.replace(OF_A_VERSION, "") for path in served if OF_A_VERSION in path}
    assert versioned <= set(served)
    of_models = {path for path in served if path.startswith("/v2/") and "/models/{model}" in path}
    of_models = {path for path in of_models if OF_A_VERSION not in path}
    without = {path for path in of_models - versioned if not path.startswith("/v2/repository/")}
    assert {on_the_page(path) for path in without} == {WITHOUT_VERSIONS}


def test_every_method_of_grpc_has_a_row(rows: list[Row]) -> None:
    there = set(re.findall(r"^\s*rpc (\w+)\(", PROTO.read_text(encoding="utf-8"), re.MULTILINE))
    listed = {method for row in rows for method in methods_of(row.grpc)}
    assert there, "no methods were read"
    missing = {one for one in there if not any(fnmatchcase(one, name) for name in listed)}
    assert missing == set(), "not on the page"
    unknown = {name for name in listed if not any(fnmatchcase(one, name) for one in there)}
    assert unknown == set(), "on the page, but not in the service"


def test_named_files_exist() -> None:
    named = files_of(PAGE.read_text(encoding="utf-8"))
    assert "e2e/test_routes_page.py" in named
    roots = (PROJECT_ROOT / "tests", PROJECT_ROOT)
    gone = {name for name in named if not any((root / name).exists() for root in roots)}
    assert gone == set()


def test_official_clients_are_used_where_the_page_says_so(rows: list[Row]) -> None:
    files = {file for row in rows for file in files_of(row.official)}
    assert files, "no files were read"
    without = {
        file
        for file in files
        if "tritonclient" not in (PROJECT_ROOT / "tests" / file).read_text(encoding="utf-8")
    }
    assert without == set()
