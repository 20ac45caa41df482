# SPDX-License-Identifier: Apache-2.0
"""nereid_server.serve: starts the server on functions of this program."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional

from .._program import environment, program
from .child_process import ChildProcess
from .errors import ServingError
from .function import FunctionModel, model_of
from .repository import write_repository

_STOP_SECONDS = 45.0  # longer than the server gives to requests in flight and to its own end
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_importing = False  # of the thread that imports; see importing()


@contextmanager
def importing() -> Iterator[None]:
    """For code that imports the modules of functions: within it `serve` is refused, because a module that serves
    when it is imported would do so again in each process of its functions."""
    global _importing
    _importing = True
    try:
        yield
    finally:
        _importing = False


def serve(
    *functions: Any,
    host: str = "0.0.0.0",
    http_port: Optional[int] = 8000,
    grpc_port: Optional[int] = 8001,
    metrics_port: Optional[int] = 8002,
    options: Sequence[str] = (),
    blocking: bool = True,
) -> Optional[ServedFunctions]:
    """Serves functions as models over HTTP and gRPC, each in processes of its own, until Ctrl-C or SIGTERM.

    functions: functions and classes, best decorated by `nereid_server.function`, or objects of such classes.
    host: the address to listen on.
    http_port, grpc_port, metrics_port: None: not opened; 0: a free one.
    options: further options of the server, as on its command line: ["--log-verbose=1"].
    blocking: False returns as soon as the functions serve; the result's `stop()` ends the server, as does
        the end of this program.

    What the functions and the server write goes to sys.stderr. TypeError or ValueError if a function cannot
    be served; ServingError, with the server's last words, if the server does not start or ends by itself.
    """
    if _importing:
        module = sys._getframe(1).f_globals.get("__name__", "a module")
        raise ServingError(
            f"the module '{module}' calls nereid_server.serve when it is imported: put the call under "
            '`if __name__ == "__main__":`, or run the module as a program'
        )
    models = [model_of(target) for target in functions]
    if not models:
        raise TypeError("nereid_server.serve needs at least one function")
    ports = {"http": http_port, "grpc": grpc_port, "metrics": metrics_port}
    served = ServedFunctions(models, host, ports, options)
    if not blocking:
        served._announce()
        return served
    with served:
        served._wait(served._announce)
    return None


class ServedFunctions:
    """A server that serves functions of this program. Thread-safe. As a context manager it ends with its
    block."""

    def __init__(
        self, models: Sequence[FunctionModel], host: str, ports: dict[str, Optional[int]], options: Sequence[str]
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="nereid-functions-")
        try:
            write_repository(Path(self._folder.name), models)
            command = _command(self._folder.name, host, ports, options)
            self._process = ChildProcess(command, environment(), self._folder.name)
            try:
                wanted = [service for service, port in ports.items() if port is not None]
                self._ports = self._process.wait_for_ports(wanted)
            except BaseException:
                self._process.stop(_STOP_SECONDS)
                raise
        except BaseException:
            self._folder.cleanup()
            raise
        self._models = models
        self._host = host

    @property
    def http_port(self) -> Optional[int]:
        return self._ports.get("http")

    @property
    def grpc_port(self) -> Optional[int]:
        return self._ports.get("grpc")

    @property
    def metrics_port(self) -> Optional[int]:
        return self._ports.get("metrics")

    def wait(self) -> None:
        """Waits until the server has ended. On the main thread SIGINT (Ctrl-C) and SIGTERM end the server, which
        first finishes its requests; a second SIGINT ends it at once. ServingError if it ends by itself."""
        self._wait(lambda: None)

    def _wait(self, begun: Callable[[], None]) -> None:
        """The same; `begun` is called once signals are handed on."""
        asked = _HandedOn(self._process.send_signal)
        with asked:
            begun()
            status = self._process.wait()
        if status != 0 and not asked.signals:
            raise ServingError(f"the server has ended by itself: {self._process.last_words()}")

    def _announce(self) -> None:
        shown = "localhost" if self._host in ("0.0.0.0", "::", "") else self._host
        for model in self._models:
            route = "generate_stream" if model.streams else "infer"
            places = []
            if "http" in self._ports:
                places.append(f"http://{shown}:{self._ports['http']}/v2/models/{model.name}/{route}")
            if "grpc" in self._ports:
                places.append(f"gRPC on {shown}:{self._ports['grpc']}")
            where = ", ".join(places) or "no port is open"
            print(f"nereid: serving '{model.name}': {where}", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Ends the server, which first finishes its requests. Does nothing if it has ended."""
        self._process.stop(_STOP_SECONDS)
        self._folder.cleanup()

    def __enter__(self) -> ServedFunctions:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


class _HandedOn:
    """While it is entered, on the main thread, signals go to the server instead of this program."""

    def __init__(self, send: Callable[[int], None]) -> None:
        self._send = send
        self._before: dict[int, Any] = {}
        self.signals: list[int] = []

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._hand_on) for number in _SIGNALS}

    def __exit__(self, *_: Any) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _hand_on(self, number: int, _frame: Any) -> None:
        self.signals.append(number)
        self._send(number)


def _command(
    repository: str, host: str, ports: dict[str, Optional[int]], options: Sequence[str]
) -> list[str]:
    command = [
        str(program()),
        f"--model-repository={repository}",
        f"--backend-config=python,python={sys.executable}",
        f"--http-address={host}",
        f"--grpc-address={host}",
    ]
    for service, port in ports.items():
        command.append(f"--allow-{service}=false" if port is None else f"--{service}-port={port}")
    return command + list(options)
