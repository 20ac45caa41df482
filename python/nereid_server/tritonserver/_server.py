# SPDX-License-Identifier: Apache-2.0
"""The server."""

from __future__ import annotations

import json
import time
from typing import Any, Callable, Dict, List, Optional, Union

import nereid_server

from .. import _native
from .._errors import InvalidArgumentError, UnavailableError
from ._enums import MetricFormat
from ._model import Model
from ._options import Options


class ModelDictionary(Dict[Any, Model]):
    """Models by name and version; a name alone gives the version that the model's policy chooses."""

    def __init__(self, server: Server, models: List[Model]) -> None:
        super().__init__({(model.name, model.version): model for model in models})
        self._server = server
        self._names = {model.name for model in models}

    def __missing__(self, key: Any) -> Model:
        if key not in self._names:
            raise KeyError(f"there is no model {key!r}")
        return Model(self._server, key)


class Server:
    """A server in this process. It does not start by itself: call :meth:`start`."""

    def __init__(self, options: Optional[Options] = None, **kwargs: Any) -> None:
        self.options = Options(**kwargs) if options is None else options
        self._server = nereid_server.Server(options=self.options, start=False)
        self._started = False

    # ---- Life.

    def start(
        self,
        wait_until_ready: bool = False,
        polling_interval: float = 0.1,
        timeout: Optional[float] = None,
    ) -> Server:
        """Starts the server and loads its models. Raises UnavailableError if it is not ready after
        `timeout` seconds, if it is waited for."""
        if self._started:
            raise InvalidArgumentError("the server was started already")
        self._server.options = self.options
        self._server.start()
        self._started = True
        if wait_until_ready and not _wait(self.ready, polling_interval, timeout):
            raise UnavailableError("the server is not ready yet")
        return self

    def stop(self) -> None:
        """Stops the server and unloads its models."""
        self._server.stop()
        self._started = False

    def check_started(self) -> None:
        """Raises InvalidArgumentError if the server does not run."""
        if not self._started:
            raise InvalidArgumentError("the server was not started: call start()")

    @property
    def running(self) -> _native.Server:
        """The native server."""
        self.check_started()
        return self._server.running

    # ---- Health and reports.

    def live(self) -> bool:
        return self.running.live()

    def ready(self) -> bool:
        return self.running.ready()

    def metadata(self) -> Dict[str, Any]:
        return json.loads(self.running.metadata())

    def metrics(self, metric_format: MetricFormat = MetricFormat.PROMETHEUS) -> str:
        """All metrics as text."""
        if metric_format != MetricFormat.PROMETHEUS:
            raise InvalidArgumentError(f"there is no metric format {metric_format!r}")
        return self.running.metrics()

    # ---- Models.

    def model(self, model_name: str, model_version: int = -1) -> Model:
        return Model(self, model_name, model_version)

    def models(self, exclude_not_ready: bool = False) -> ModelDictionary:
        """The models of the repositories."""
        index = json.loads(self.running.index(exclude_not_ready))
        return ModelDictionary(
            self,
            [
                Model(
                    self,
                    entry["name"],
                    int(entry.get("version", -1)),
                    entry.get("state"),
                    entry.get("reason"),
                )
                for entry in index
            ],
        )

    def load(
        self, model_name: str, parameters: Optional[Dict[str, Union[str, int, bool, bytes]]] = None
    ) -> Model:
        """Loads a model and waits for it."""
        self.running.load(model_name, dict(parameters or {}))
        return self.model(model_name)

    def unload(
        self,
        model: Union[str, Model],
        unload_dependents: bool = False,
        wait_until_unloaded: bool = False,
        polling_interval: float = 0.1,
        timeout: Optional[float] = None,
    ) -> None:
        """Begins to unload a model. Raises UnavailableError if it is still there after `timeout`
        seconds, if it is waited for."""
        name = model.name if isinstance(model, Model) else model
        versions = [key for key in self.models() if key[0] == name]
        self.running.unload(name, unload_dependents)
        if wait_until_unloaded and not _wait(
            lambda: not any(self._serves(*version) for version in versions), polling_interval, timeout
        ):
            raise UnavailableError(f"model '{name}' is not unloaded yet")

    def _serves(self, name: str, version: int) -> bool:
        state = self.models().get((name, version))
        return state is not None and state.state in ("READY", "UNLOADING")

    def register_model_repository(
        self, repository_path: str, name_mapping: Optional[Dict[str, str]] = None
    ) -> None:
        self.running.register_repository(repository_path, dict(name_mapping or {}))

    def unregister_model_repository(self, repository_path: str) -> None:
        self.running.unregister_repository(repository_path)

    def poll_model_repository(self) -> None:
        self.running.poll()


def _wait(done: Callable[[], bool], interval: float, timeout: Optional[float]) -> bool:
    """Asks until the answer is yes; false if it is not in time."""
    end = None if timeout is None else time.monotonic() + timeout
    while not done():
        if end is not None and time.monotonic() >= end:
            return False
        time.sleep(interval)
    return True
