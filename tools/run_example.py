#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a model repository from build/stage and shows that it answers. Called by `make run`.

    tools/run_example.py [--models DIR] [--http-port N] [--grpc-port N] [--metrics-port N]
                         [-- SERVER OPTION ...]

Starts the server, waits until it is ready, sends one request with the official client, prints the
answer and how to send another request, and keeps serving until Ctrl-C. Then the server finishes
its requests. Exit code 0: the server answered and ended properly.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "build" / "stage" / "bin" / "nereid"
EXAMPLE_MODELS = ROOT / "examples" / "models"
CLIENT = ROOT / "examples" / "clients" / "python" / "digits_client.py"
READY_SECONDS = 120
STOP_SECONDS = 40
POLL_SECONDS = 0.02


class Stop(Exception):
    """Raised when the user wants the server to end."""


def request_stop(signum: int, frame: object) -> None:
    raise Stop


@contextmanager
def own_foreground() -> Iterator[None]:
    """Makes this process the only one that gets Ctrl-C while the block runs.

    The terminal sends it to the whole foreground group. `make` belongs to that group too; it would
    report an interrupt and fail, although the server ended properly.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
        previous = os.tcgetpgrp(terminal)
    except OSError:  # There is no terminal.
        yield
        return
    if previous != os.getpgrp():  # This process runs in the background.
        yield
        return
    # A process outside the foreground group must ignore SIGTTOU to change that group. SIGTSTP is
    # ignored because nothing could continue this group after Ctrl-Z.
    for signum in (signal.SIGTTOU, signal.SIGTSTP):
        signal.signal(signum, signal.SIG_IGN)
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpgrp())
    try:
        yield
    finally:
        os.tcsetpgrp(terminal, previous)


def port_in_use(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def start(arguments: argparse.Namespace) -> subprocess.Popen[bytes]:
    command = [
        str(SERVER),
        f"--model-repository={arguments.models}",
        f"--http-port={arguments.http_port}",
        f"--grpc-port={arguments.grpc_port}",
        f"--metrics-port={arguments.metrics_port}",
        *arguments.options,
    ]
    print("run:", " ".join([os.path.relpath(command[0]), *command[1:]]), flush=True)
    # Ends the server if this process is killed.
    if setpriv := shutil.which("setpriv"):
        command = [setpriv, "--pdeathsig", "TERM", "--", *command]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/v2/health/ready", timeout=5
        ) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> str | None:
    """Returns None when the server is ready, otherwise what went wrong."""
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready(port):
        if server.poll() is not None:
            return f"the server ended with exit code {server.returncode}; its log above says why"
        if time.monotonic() > deadline:
            return f"the server is not ready after {READY_SECONDS} s; its log above says why"
        time.sleep(POLL_SECONDS)
    return None


def show_request(arguments: argparse.Namespace) -> bool:
    """Sends one request to the example model; returns whether the answer is right."""
    url = f"localhost:{arguments.http_port}"
    command = [sys.executable, str(CLIENT), "--url", url]
    shown = ".venv/bin/python " + os.path.relpath(CLIENT)
    print(f"\nrun: {shown} --url {url}", flush=True)
    if subprocess.run(command, check=False).returncode != 0:
        return False
    print(
        f"\nServing. Send the next request from another terminal:\n"
        f"  {shown} --url {url} --index 7\n"
        f"  {shown} --protocol grpc --url localhost:{arguments.grpc_port} --index 8\n"
        f"  {os.path.relpath(ROOT / 'examples/clients/curl/digits.sh')} {url}\n"
        f"  curl localhost:{arguments.metrics_port}/metrics\n"
        "Ctrl-C ends the server.",
        flush=True,
    )
    return True


def end(server: subprocess.Popen[bytes]) -> int:
    """Lets the server finish. A second Ctrl-C or a time-out ends it at once."""
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=STOP_SECONDS)
        except (Stop, subprocess.TimeoutExpired):
            print("run: the server did not end in time; killing it", file=sys.stderr)
            server.kill()
            server.wait()
    if server.returncode != 0:
        print(f"run: the server ended with exit code {server.returncode}", file=sys.stderr)
    return 0 if server.returncode == 0 else 1


def serve(arguments: argparse.Namespace) -> int:
    begin = time.monotonic()
    server = start(arguments)
    code = 1
    try:
        problem = wait_until_ready(server, arguments.http_port)
        if problem is None:
            print(f"run: ready after {time.monotonic() - begin:.1f} s", flush=True)
            if arguments.models.resolve() != EXAMPLE_MODELS or show_request(arguments):
                server.wait()
                problem = f"the server ended by itself with exit code {server.returncode}"
            else:
                problem = "the example request failed"
        print(f"run: {problem}", file=sys.stderr)
    except Stop:
        print("\nrun: ending the server", flush=True)
        code = 0
    return max(code, end(server))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, default=EXAMPLE_MODELS)
    parser.add_argument("--http-port", type=int, default=8000)
    parser.add_argument("--grpc-port", type=int, default=8001)
    parser.add_argument("--metrics-port", type=int, default=8002)
    parser.add_argument("options", nargs="*", metavar="SERVER OPTION")
    arguments = parser.parse_args()

    ports = {name: getattr(arguments, f"{name}_port") for name in ("http", "grpc", "metrics")}
    for name, port in ports.items():
        if port_in_use(port):
            print(
                f"run: port {port} is in use; choose another: make run {name.upper()}_PORT=NUMBER",
                file=sys.stderr,
            )
            return 1
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, request_stop)
    with own_foreground():
        return serve(arguments)


if __name__ == "__main__":
    sys.exit(main())
