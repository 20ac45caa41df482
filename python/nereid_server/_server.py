# SPDX-License-Identifier: Apache-2.0
"""The server."""

from __future__ import annotations

import difflib
import json
import os
from dataclasses import fields, replace
from types import TracebackType
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Type, Union

from . import _life, _native, _program
from ._errors import UnavailableError
from ._metrics import Metrics
from ._model import Model
from ._options import Options, Path
from ._repository import LinkedRepository

Models = Union[Path, Sequence[Path], Mapping[str, Path]]


class Server:
    """A server in this process. Thread-safe.

    ``models`` is the folder of a model repository, or several, or a dict of models by name: the
    model's folder, or the file of its only version. Further options by name are those of
    :class:`Options`; and those of ports are the ones of the command line, for instance
    ``http_port=8000``, ``grpc_port=0`` (a free one) or ``http_address="127.0.0.1"``
    (docs/operate/options.md). Without them no port is opened.

    The server starts at once, unless ``start=False``; that blocks until its models are loaded. A
    ``with`` block stops it at its end, and whatever still runs is stopped when the interpreter ends.
    After :meth:`stop` it can be started again.

    A process that was forked from the one that started the server cannot use it.

    Raises :class:`InvalidArgumentError` or :class:`TypeError` for options that make no sense, and
    :class:`InternalError` if a model fails to load and ``exit_on_error`` is true.
    """

    def __init__(
        self,
        models: Optional[Models] = None,
        *,
        options: Optional[Options] = None,
        start: bool = True,
        **more: Any,
    ) -> None:
        self._native: Optional[_native.Server] = None
        self._links: Optional[LinkedRepository] = None
        self._models = models
        known = {option.name for option in fields(Options)}
        own = {name: value for name, value in more.items() if name in known}
        ports = {name: value for name, value in more.items() if name not in known}
        self.options = replace(options, **own) if options is not None else Options(**own)
        self._port_options = _port_options(ports, known)
        if start:
            self.start()

    # ---- Life.

    def start(self) -> Server:
        """Starts a server that does not run, and returns it."""
        if self._native is not None:
            return self
        _life.check_fork()
        options = self.options
        if isinstance(self._models, Mapping):
            self._links = LinkedRepository(self._models)
            options = replace(options, model_repository=self._links.path)
        elif self._models is not None:
            options = replace(options, model_repository=self._models)
        _program.name_onnx_runtime()
        try:
            native = _native.Server(options.settings())
            if self._port_options:
                native.open_ports(self._port_options)
        except BaseException:
            self._remove_links()
            raise
        self._native = native
        _life.add(self)
        return self

    def stop(self) -> None:
        """Closes the ports and stops the server, if it runs. Requests in flight have
        ``exit_timeout`` seconds to end; blocks until they have. Raises :class:`InternalError` if
        they do not end; the server then still exists."""
        native = self._native
        if native is None:
            return
        native.stop()
        self._native = None
        self._remove_links()

    def _remove_links(self) -> None:
        if self._links is not None:
            self._links.remove()
            self._links = None

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    @property
    def running(self) -> _native.Server:
        """The native server, for other parts of this package."""
        if self._native is None:
            raise UnavailableError("the server does not run: call start()")
        return self._native

    # ---- Health and ports.

    def is_live(self) -> bool:
        """Whether the server runs."""
        return self._is(_native.Server.live)

    def is_ready(self) -> bool:
        """Whether the server takes requests; with ``strict_readiness``, whether all its models do."""
        return self._is(_native.Server.ready)

    def _is(self, what: Callable[[_native.Server], bool]) -> bool:
        native = self._native
        try:
            return native is not None and what(native)
        except UnavailableError:  # it stops, or this is a forked child
            return False

    @property
    def http_port(self) -> Optional[int]:
        """The number of the open port; None: there is none."""
        return self.running.port("http")

    @property
    def grpc_port(self) -> Optional[int]:
        """The number of the open port; None: there is none."""
        return self.running.port("grpc")

    @property
    def metrics_port(self) -> Optional[int]:
        """The number of the open port; None: there is none."""
        return self.running.port("metrics")

    @property
    def console_port(self) -> Optional[int]:
        """The number of the open port, whose link was written to standard error; None: there is
        none."""
        return self.running.port("console")

    @property
    def tfs_http_port(self) -> Optional[int]:
        """The number of the open port of TensorFlow Serving's REST API; None: there is none."""
        return self.running.port("tfs-http")

    @property
    def tfs_grpc_port(self) -> Optional[int]:
        """The number of the open port of TensorFlow Serving's gRPC API; None: there is none."""
        return self.running.port("tfs-grpc")

    # ---- Models.

    def model(self, name: str, version: int = -1) -> Model:
        """A model by its name, which need not be loaded yet. Version -1: what the model's version
        policy says, normally the newest."""
        return Model(self, name, version)

    def index(self, ready_only: bool = False) -> List[Dict[str, Any]]:
        """The models of the repositories: dicts with ``name``, ``version``, ``state``, ``reason``,
        as far as they are known."""
        return json.loads(self.running.index(ready_only))

    def load(
        self,
        name: str,
        config: Union[None, str, Mapping[str, Any]] = None,
        files: Optional[Mapping[str, bytes]] = None,
    ) -> Model:
        """Loads or reloads a model, and waits for it; only with the control mode EXPLICIT.

        ``config`` replaces the model's configuration: JSON, or a dict of it. ``files`` replaces the
        model's folder: contents by path, such as ``"1/model.onnx"``; it needs ``config``.
        Raises :class:`InternalError` or :class:`InvalidArgumentError` if the model does not load;
        earlier versions go on serving.
        """
        parameters: Dict[str, Any] = {f"file:{path}": bytes(data) for path, data in (files or {}).items()}
        if config is not None:
            parameters["config"] = config if isinstance(config, str) else json.dumps(config)
        self.running.load(name, parameters)
        return self.model(name)

    def unload(self, name: str, dependents: bool = False) -> None:
        """Begins to unload a model: requests in flight end first. ``dependents``: also the members
        of an ensemble that were loaded only for it."""
        self.running.unload(name, dependents)

    def poll(self) -> None:
        """Applies changes of the repositories; only with the control mode POLL."""
        self.running.poll()

    def register_repository(self, path: Path, names: Optional[Mapping[str, str]] = None) -> None:
        """Adds a repository, with EXPLICIT. ``names`` gives models other names, by folder."""
        self.running.register_repository(os.fspath(path), dict(names or {}))

    def unregister_repository(self, path: Path) -> None:
        """Removes a repository, with EXPLICIT. Models that are loaded stay."""
        self.running.unregister_repository(os.fspath(path))

    # ---- Reports.

    def metadata(self) -> Dict[str, Any]:
        """``name``, ``version`` and ``extensions`` of the server."""
        return json.loads(self.running.metadata())

    def statistics(self) -> List[Dict[str, Any]]:
        """Statistics of all models that are ready, as in ``GET /v2/models/stats``. Times in
        nanoseconds."""
        return json.loads(self.running.model_statistics("", -1))["model_stats"]

    def metrics_text(self) -> str:
        """All metrics, in Prometheus' text format."""
        return self.running.metrics()

    def metrics(self) -> Metrics:
        """All metrics, parsed."""
        return Metrics(self.metrics_text())


def _port_options(ports: Mapping[str, Any], others: "set[str]") -> List[str]:
    """Options of ports as the command line has them."""
    if not ports:
        return []
    known = {name.replace("-", "_") for name in _native.port_options().split()}
    texts = []
    for name, value in ports.items():
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known | others), 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"there is no option '{name}'{hint}")
        values = value if isinstance(value, (list, tuple)) else [value]
        flag = name.replace("_", "-")
        texts += [f"--{flag}={_text(one)}" for one in values if one is not None]
    return texts


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
