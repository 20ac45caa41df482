# SPDX-License-Identifier: Apache-2.0
"""Failing starts: exit code 1 and a sentence that says why."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ServerFactory
from support.repository import ModelRepository
from support.server_process import LOOPBACK


@pytest.fixture
def used_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.fixture
def repository(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    return model_repository


@pytest.mark.parametrize(
    ("option", "service"),
    [("--http-port", "HTTP"), ("--grpc-port", "GRPC"), ("--metrics-port", "Metrics")],
)
def test_port_in_use(
    server_factory: ServerFactory,
    repository: ModelRepository,
    used_port: int,
    option: str,
    service: str,
) -> None:
    server = server_factory(repository, f"{option}={used_port}", wait_for=None)
    assert server.wait_exit() == 1
    assert (
        f"failed to start {service} service: Unavailable - "
        f"Socket '{LOOPBACK}:{used_port}' already in use" in server.log_text()
    )


def test_one_port_for_two_services(
    server_factory: ServerFactory, repository: ModelRepository, used_port: int
) -> None:
    options = (f"--http-port={used_port}", f"--grpc-port={used_port}")
    server = server_factory(repository, *options, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("at the same address and port")


def test_ports_that_the_server_chose(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    server = server_factory(repository)
    ports = {server.port(service) for service in ("http", "grpc", "metrics")}
    assert len(ports) == 3
    assert 0 not in ports


@pytest.mark.parametrize("port", ["http", "grpc"])
@pytest.mark.parametrize("file", ["server-cert", "server-key", "root-cert"])
def test_files_of_tls_without_tls(
    server_factory: ServerFactory, repository: ModelRepository, port: str, file: str
) -> None:
    server = server_factory(repository, f"--{port}-{file}=any.pem", wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log(f"--{port}-{file} names a file for TLS")
    server.wait_for_log(f"--{port}-use-ssl=true turns it on")
    assert "Started" not in server.log_text()


def test_repository_that_is_not_there(server_factory: ServerFactory, tmp_path: Path) -> None:
    server = server_factory(tmp_path / "nowhere", wait_for=None)
    assert server.wait_exit() == 1
    assert str(tmp_path / "nowhere") in server.log_text()


def test_repository_that_is_a_file(server_factory: ServerFactory, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    server = server_factory(file, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("repository path is not a valid directory")


def test_no_repository(server_factory: ServerFactory) -> None:
    server = server_factory([], wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("--model-repository must be specified")


@pytest.mark.parametrize(
    ("option", "nearest"),
    [
        ("--model-repositry=x", "--model-repository"),
        ("--http-prot=1", "--http-port"),
        ("--exit-timeout-seconds=3", "--exit-timeout-secs"),
    ],
)
def test_unknown_option_names_the_nearest(
    server_factory: ServerFactory, repository: ModelRepository, option: str, nearest: str
) -> None:
    server = server_factory(repository, option, wait_for=None)
    assert server.wait_exit() == 1
    assert nearest in server.stderr_text()


@pytest.mark.parametrize(
    "option",
    ["--http-port=many", "--http-port=70000", "--allow-http=maybe", "--exit-timeout-secs=soon"],
)
def test_bad_value(server_factory: ServerFactory, repository: ModelRepository, option: str) -> None:
    server = server_factory(repository, option, wait_for=None)
    assert server.wait_exit() == 1
    assert option.split("=")[0] in server.stderr_text()


def test_leftover_argument(server_factory: ServerFactory, repository: ModelRepository) -> None:
    server = server_factory(repository, "surprise", wait_for=None)
    assert server.wait_exit() == 1
    assert "surprise" in server.stderr_text()


def test_help(server_factory: ServerFactory) -> None:
    server = server_factory([], "--help", wait_for=None)
    assert server.wait_exit() == 0
    for option in ("--model-repository", "--http-port", "--grpc-port", "--exit-timeout-secs"):
        assert option in server.stdout_text()


def test_info_to_stdout_and_errors_to_stderr(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    repository.add_identity("orphan", backend="nonesuch")
    server = server_factory(repository, "--exit-on-error=false", wait_for="/v2/health/live")
    for line in ("Started HTTPService at", "nonesuch"):  # a thread of its own writes the log
        server.wait_for_log(line)
    assert "Started HTTPService at" in server.stdout_text()
    assert "Started HTTPService at" not in server.stderr_text()
    assert "nonesuch" in server.stderr_text()


def test_bad_values_of_options_without_effect(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    server = server_factory(repository, "--cuda-memory-pool-byte-size=x", wait_for=None)
    assert server.wait_exit() == 1
    assert 'Bad option: "--cuda-memory-pool-byte-size".' in server.log_text()
    server.wait_for_log("requires format <first>:<second>. Found: x")


def test_options_without_effect_and_deprecated_ones_are_named(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    server = server_factory(
        repository,
        "--cuda-memory-pool-byte-size=0:1",
        "--cuda-memory-pool-byte-size=1:1",
        "--pinned-memory-pool-byte-size=1",
        "--enable-peer-access=true",
        "--buffer-manager-thread-count=2",
        "--strict-model-config=false",
    )
    log = server.log_text()
    assert log.count("options without effect") == 2
    assert "GPUs: --enable-peer-access --buffer-manager-thread-count" in log
    unused = "because no GPU is used: --cuda-memory-pool-byte-size --pinned-memory-pool-byte-size"
    assert log.count(unused) == 1
    assert (
        "Warning: '--strict-model-config' has been deprecated! "
        "Please use '--disable-auto-complete-config' instead." in log
    )
