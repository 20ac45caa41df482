# SPDX-License-Identifier: Apache-2.0
"""The two servers of the race, started on the same repository with the same backends."""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from differential.original_server import prepare, start_original
from racetrack.machine import Placement, on_cores
from racetrack.tls import USE_HTTPS
from support.nereid import start_nereid
from support.ports import free_ports
from support.server_process import LOOPBACK, START_SECONDS, ServerProcess
from support.stage import backend_directory

NAMES = ("nereid", "original")


@dataclass
class Contestant:
    """One running server. The code that started it has to stop it."""

    name: str
    process: ServerProcess
    http: str  # host:port
    grpc: str
    seconds_to_ready: float

    @property
    def pid(self) -> int:
        return self.process.process.pid

    def address(self, protocol: str) -> str:
        return self.http if protocol == "http" else self.grpc

    def stop(self) -> None:
        self.process.stop()


def start(
    name: str,
    repository: Path,
    work: Path,
    placement: Placement,
    options: Sequence[str] = (),
    original_backends: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Contestant:
    """Starts `nereid` or `original` and waits until it is ready. `original_backends`: the backends
    that Triton loads; ours by default. `environment`: variables added to this process's."""
    ports = free_ports(3)
    logs = work / f"{name}-log"
    layout = prepare(work / "original") if name == "original" else None
    begun = time.perf_counter()
    with on_cores(placement.server):
        if layout is not None:
            backends = original_backends or backend_directory()
            server = start_original(
                layout, repository, logs, backends, ports, options, environment
            )
        else:
            flags = [
                f"--{service}-port={port}"
                for service, port in zip(("http", "grpc", "metrics"), ports)
            ]
            server = start_nereid(repository, logs, [*flags, *options], environment)
    try:
        _await_ready(server, ports[0], USE_HTTPS in options)
    except BaseException:
        server.kill()
        raise
    elapsed = time.perf_counter() - begun
    return Contestant(
        name, server, f"{LOOPBACK}:{ports[0]}", f"{LOOPBACK}:{ports[1]}", elapsed
    )


def _await_ready(server: ServerProcess, port: int, https: bool) -> None:
    """Polls every millisecond, because the tests' longer interval would exceed our start-up
    time."""
    deadline = time.perf_counter() + START_SECONDS
    while not _is_ready(port, https):
        if not server.is_alive():
            raise RuntimeError(f"the server ended before it was ready:\n{server.log_text()[-4000:]}")
        if time.perf_counter() > deadline:
            raise RuntimeError(f"the server is not ready:\n{server.log_text()[-4000:]}")
        time.sleep(0.001)


def _is_ready(port: int, https: bool) -> bool:
    if https:
        anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anybody.check_hostname = False
        anybody.verify_mode = ssl.CERT_NONE
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            LOOPBACK, port, timeout=5, context=anybody
        )
    else:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/v2/health/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
