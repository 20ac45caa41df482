# SPDX-License-Identifier: Apache-2.0
"""TLS on the HTTP port: clients, ALPN, client certificates, renewal, and what goes wrong."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import ssl
from pathlib import Path
from typing import Any

import gevent.ssl
import httpx
import numpy as np
import pytest
import tritonclient.http as triton

from conftest import ServerFactory
from support import raw_http
from support.certificates import make_certificate
from support.infer import echo_document
from support.metrics import metric
from support.poll import poll_until
from support.raw_http2 import GOAWAY, Http2Connection
from support.repository import ModelRepository
from support.server_process import ServerProcess

INFER = "/v2/models/echo/infer"
LARGE_VALUES = 1_000_000


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return make_certificate(tmp_path)


def options(certificate: Path, key: Path, *more: str) -> list[str]:
    own = ["--http-use-ssl=true", f"--http-server-cert={certificate}", f"--http-server-key={key}"]
    return [*own, *more]


def start(
    server_factory: ServerFactory, models: ModelRepository, arguments: list[str]
) -> ServerProcess:
    """Waits until the port is open, since only clients of TLS can ask whether the server is
    ready."""
    models.add_identity("echo")
    server = server_factory(models, *arguments, wait_for=None)
    poll_until("the server is ready", lambda: "Started Metrics Service" in server.log_text(), 30)
    return server


def trusting(certificate: Path, *protocols: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(certificate))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def connect(server: ServerProcess, context: ssl.SSLContext) -> ssl.SSLSocket:
    raw = socket.create_connection(raw_http.split_url(server.http_url), timeout=30)
    return context.wrap_socket(raw, server_hostname="localhost")


def base_url(server: ServerProcess) -> str:
    return "https://" + server.http_url.replace("127.0.0.1", "localhost")


def assert_live(server: ServerProcess, context: ssl.SSLContext) -> None:
    with connect(server, context) as connection:
        connection.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


def test_tritonclient(
    server_factory: ServerFactory, model_repository: ModelRepository, files: tuple[Path, Path]
) -> None:
    server = start(server_factory, model_repository, options(*files))
    client = triton.InferenceServerClient(
        server.http_url.replace("127.0.0.1", "localhost"),
        ssl=True,
        ssl_context_factory=lambda: gevent.ssl.create_default_context(cafile=str(files[0])),
    )
    try:
        assert client.is_server_ready()
        values = np.arange(LARGE_VALUES, dtype=np.float32)
        tensor = triton.InferInput("INPUT0", values.shape, "FP32")
        tensor.set_data_from_numpy(values)
        for _ in range(3):
            result = client.infer("echo", [tensor])
            assert (result.as_numpy("OUTPUT0") == values).all()
    finally:
        client.close()


@pytest.mark.parametrize("http2", [False, True])
def test_alpn_chooses(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    files: tuple[Path, Path],
    http2: bool,
) -> None:
    server = start(server_factory, model_repository, options(*files))
    with httpx.Client(
        base_url=base_url(server), http2=http2, verify=trusting(files[0]), timeout=30
    ) as client:
        for values in ([1.5], [0.25] * 100_000):
            answer = client.post(INFER, json=echo_document(values))
            assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
            assert answer.json()["outputs"][0]["data"] == values


def test_what_alpn_agrees_on(
    server_factory: ServerFactory, model_repository: ModelRepository, files: tuple[Path, Path]
) -> None:
    server = start(server_factory, model_repository, options(*files))
    for offered, chosen in [
        (["http/1.1", "h2"], "h2"),  # the server's order counts
        (["http/1.1"], "http/1.1"),
        (["h2"], "h2"),
        ([], None),
    ]:
        with connect(server, trusting(files[0], *offered)) as connection:
            assert connection.selected_alpn_protocol() == chosen
    with pytest.raises(ssl.SSLError):
        connect(server, trusting(files[0], "spdy/3"))
    assert_live(server, trusting(files[0]))  # who names no protocol speaks HTTP/1.1
    # Who has agreed on HTTP/2 has to speak it, and is told what is wrong in it.
    connection = connect(server, trusting(files[0], "h2"))
    with Http2Connection(server.http_url, preface=False, connection=connection) as client:
        client.send(b"GET /v2 HTTP/1.1\r\nHost: test\r\n\r\n")
        assert GOAWAY in {got.kind for got in client.read_to_end()}


def test_expectations_and_pipelining(
    server_factory: ServerFactory, model_repository: ModelRepository, files: tuple[Path, Path]
) -> None:
    server = start(server_factory, model_repository, options(*files))
    body = json.dumps(echo_document([1.0])).encode()
    post = f"POST {INFER} HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n"
    with connect(server, trusting(files[0])) as connection:
        connection.sendall(f"{post}Expect: 100-continue\r\n\r\n".encode())
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body + f"{post}\r\n".encode() + body)
        for _ in range(2):
            response = http.client.HTTPResponse(connection)
            response.begin()
            assert json.loads(response.read(int(response.headers["Content-Length"])))["outputs"]


def test_client_certificates(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    files: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    known, key = make_certificate(tmp_path, "known")
    stranger = make_certificate(tmp_path, "stranger")
    mutual = ["--http-use-ssl-mutual=true", f"--http-root-cert={known}"]
    server = start(server_factory, model_repository, [*options(*files)[1:], *mutual])
    good = trusting(files[0])
    good.load_cert_chain(known, key)
    assert_live(server, good)
    bad = trusting(files[0])
    bad.load_cert_chain(*stranger)
    for context in (trusting(files[0]), bad):
        with pytest.raises((ssl.SSLError, ConnectionResetError, AssertionError)):
            assert_live(server, context)
    assert_live(server, good)


def test_renewal(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    files: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    server = start(server_factory, model_repository, options(*files))
    old = trusting(files[0])
    with connect(server, old) as connection:
        new_certificate, new_key = make_certificate(tmp_path, "new")
        shutil.copy(new_key, files[1])
        shutil.copy(new_certificate, files[0])

        def renewed() -> bool:
            try:
                assert_live(server, trusting(new_certificate))
            except ssl.SSLError:
                return False
            return True

        poll_until("new connections see the new certificate", renewed, 10)
        with pytest.raises(ssl.SSLError):
            connect(server, old)
        # The connection of before goes on.
        connection.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("port", ["http", "grpc"])
@pytest.mark.parametrize(
    ("given", "missing", "error"),
    [
        ([], "server-key", "TLS needs a file with the server key (--{}-server-key)"),
        (
            ["server-key"],
            "server-cert",
            "TLS needs a file with the server certificate (--{}-server-cert)",
        ),
        (
            ["server-key", "server-cert"],
            "root-cert",
            "TLS needs a file with the root certificate (--{}-root-cert)",
        ),
    ],
)
def test_a_missing_file_is_named(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    files: tuple[Path, Path],
    port: str,
    given: list[str],
    missing: str,
    error: str,
) -> None:
    paths = {"server-key": files[1], "server-cert": files[0]}
    arguments = [f"--{port}-use-ssl-mutual=true", *(f"--{port}-{n}={paths[n]}" for n in given)]
    server = server_factory(model_repository, *arguments, wait_for=None)
    assert server.wait_exit() == 1
    assert error.format(port) in server.log_text()

    arguments.append(f"--{port}-{missing}=no/such/file")
    server = server_factory(model_repository, *arguments, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(f"'no/such/file' (--{port}-{missing})")


@pytest.mark.parametrize(
    "sent",
    [b"", b"\x16\x03\x01", b"GET /v2/health/live HTTP/1.1\r\n\r\n", bytes(1000)],
    ids=["nothing", "half a hello", "plain text", "zeros"],
)
def test_who_does_not_finish_the_handshake(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    files: tuple[Path, Path],
    sent: bytes,
) -> None:
    arguments = options(*files, "--http-header-timeout-secs=1")
    server = start(server_factory, model_repository, arguments)
    with socket.create_connection(raw_http.split_url(server.http_url), timeout=30) as connection:
        connection.sendall(sent)
        while _receive(connection):
            pass
    assert_live(server, trusting(files[0]))
    poll_until(
        "no connection is left", lambda: metric(server.metrics_url, "nereid_http_connections") == 0
    )


def _receive(connection: Any) -> bytes:
    try:
        return bytes(connection.recv(1000))
    except ConnectionResetError:
        return b""
