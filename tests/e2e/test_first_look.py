# SPDX-License-Identifier: Apache-2.0
"""What somebody sees who does not know the server yet: the page on /, the OpenAPI document, and a
browser's questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import echo_document
from support.repository import ModelRepository
from support.server_process import ServerProcess

ORIGIN = "https://app.example.com"
KEY = "key-of-somebody-0123456789"


def test_the_front_page_names_the_models(identity_server: ServerProcess) -> None:
    page = raw_http.get(identity_server.http_url, "/")
    assert page.status == 200
    assert page.header("content-type") == "text/html; charset=utf-8"
    assert "default-src 'none'" in (page.header("content-security-policy") or "")
    text = page.body.decode()
    assert "<td>echo</td><td>1</td><td>READY</td>" in text
    assert 'href="/v2/openapi.json"' in text


def test_programs_get_the_page_as_json(identity_server: ServerProcess) -> None:
    answer = raw_http.request(
        identity_server.http_url, "GET", "/", headers=[("Accept", "application/json")]
    )
    document = answer.json()
    assert document["name"] == "nereid"
    assert {"name": "echo", "version": "1", "state": "READY"} in document["models"]
    for path in document["documents"]:
        assert raw_http.get(identity_server.http_url, path).status == 200, path


def test_names_of_models_are_no_html(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add("<b>bold", "nonsense {")
    server = server_factory(model_repository, "--exit-on-error=false", wait_for="/v2/health/live")
    text = raw_http.get(server.http_url, "/").body.decode()
    assert "&lt;b&gt;bold" in text
    assert "<b>" not in text


def test_the_document_describes_what_is_there(identity_server: ServerProcess) -> None:
    document = raw_http.get(identity_server.http_url, "/v2/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    paths = document["paths"]
    assert set(paths["/v2/models/{model}/infer"]) == {"parameters", "post", "options"}
    assert set(paths["/v2/logging"]) == {"parameters", "get", "head", "post", "options"}
    assert "securitySchemes" not in document["components"]
    references = json.dumps(paths).count("#/components/schemas/")
    assert references > 50
    for path in ("/v2", "/v2/health/live", "/v2/models/stats"):
        assert "get" in paths[path]
        assert raw_http.get(identity_server.http_url, path).status == 200


def test_the_document_says_what_requests_have_to_carry(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    """As the server is configured at the moment; whoever follows the document is served."""
    model_repository.add_identity("echo")
    keys = tmp_path / "keys"
    keys.write_text(f"inference {KEY}\nmetadata,health *\n", encoding="utf-8")
    server = server_factory(
        model_repository,
        f"--api-key-file={keys}",
        "--http-restricted-api=inference,trace:X-Way=in",
        wait_for="/v2/health/ready",
    )
    document = raw_http.get(server.http_url, "/v2/openapi.json").json()
    schemes = document["components"]["securitySchemes"]
    (header,) = [name for name, scheme in schemes.items() if scheme["type"] == "apiKey"]
    (bearer,) = [name for name, scheme in schemes.items() if scheme["type"] == "http"]
    assert schemes[bearer]["scheme"] == "bearer"
    assert (schemes[header]["in"], schemes[header]["name"]) == ("header", "x-way")
    paths = document["paths"]
    assert paths["/v2/models/{model}/infer"]["post"]["security"] == [{bearer: [], header: []}]
    assert paths["/v2/models/stats"]["head"]["security"] == [{bearer: []}]
    for path, method in (("/v2", "get"), ("/v2/models/{model}/infer", "options")):
        assert "security" not in paths[path][method]
    sent = [("Authorization", f"Bearer {KEY}"), ("x-way", "in")]
    infer = "/v2/models/echo/infer"
    assert raw_http.post_json(server.http_url, infer, echo_document(), headers=sent).status == 200
    assert raw_http.post_json(server.http_url, infer, echo_document(), headers=sent[:1]).status == 403


@pytest.mark.parametrize(("path", "methods"), [("/v2", "GET, HEAD"), ("/v2/logging", "GET, HEAD, POST")])
def test_options(identity_server: ServerProcess, path: str, methods: str) -> None:
    answer = raw_http.request(identity_server.http_url, "OPTIONS", path)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.header("allow") == f"{methods}, OPTIONS"
    assert answer.header("access-control-allow-origin") is None
    assert raw_http.request(identity_server.http_url, "OPTIONS", "/nothing").status == 404


def test_pages_of_an_allowed_origin_may_use_the_api(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository,
        f"--http-allow-origin={ORIGIN}",
        "--http-restricted-api=inference:key=value",
    )
    infer = "/v2/models/echo/infer"
    # The browser asks first, without the header that the request itself will have.
    asked = raw_http.request(
        server.http_url,
        "OPTIONS",
        infer,
        headers=[
            ("Origin", ORIGIN),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "content-type,key"),
        ],
    )
    assert asked.status == 200
    assert asked.header("access-control-allow-origin") == ORIGIN
    assert asked.header("access-control-allow-methods") == "POST"
    assert asked.header("access-control-allow-headers") == "content-type,key"
    body = json.dumps(
        {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1]}]}
    ).encode()
    for origin, allowed in ((ORIGIN, ORIGIN), ("https://other.example.com", None)):
        answer = raw_http.request(
            server.http_url, "POST", infer, body, [("Origin", origin), ("key", "value")]
        )
        assert answer.status == (200 if allowed else 403)
        assert answer.header("access-control-allow-origin") == allowed
        assert answer.header("vary") == "Origin"
    refused = raw_http.request(server.http_url, "POST", infer, body, [("Origin", ORIGIN)])
    assert refused.status == 403
    assert refused.header("access-control-allow-origin") == ORIGIN
