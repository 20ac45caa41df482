# SPDX-License-Identifier: Apache-2.0
"""The options of a server, and how they reach the C API."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field, fields
from enum import IntEnum
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Type, Union

from . import _native
from ._enums import InstanceGroupKind, LogFormat, ModelControlMode, RateLimitMode
from ._errors import InvalidArgumentError

Path = Union[str, "os.PathLike[str]"]
Setting = Tuple[Any, ...]


@dataclass
class RateLimiterResource:
    """So many units of a resource, on a device; -1: on every device."""

    name: str
    count: int
    device: int = -1


@dataclass
class ModelLoadDeviceLimit:
    """Up to which fraction of a device's memory models may be loaded."""

    kind: InstanceGroupKind
    device: int
    fraction: float


def default_folder(name: str) -> str:
    """Where the server's plug-ins lie: beside the folder of its library."""
    return os.path.join(os.path.dirname(_native.library_folder()), name)


@dataclass
class Options:
    """The options of a server. Names and meanings are those of the C API; a mode may also be given
    by its name, such as ``"explicit"``.
    """

    model_repository: Union[None, Path, Sequence[Path]] = field(default_factory=list)
    """Folders of models."""
    server_id: str = "nereid"
    model_control_mode: ModelControlMode = ModelControlMode.NONE
    startup_models: List[str] = field(default_factory=list)
    """Models to load at the start, with EXPLICIT; ``["*"]``: all."""
    strict_model_config: bool = False
    """Models must come with complete configurations."""
    model_config_name: str = ""
    """Use configs/<name>.pbtxt of a model where it exists."""
    rate_limiter_mode: RateLimitMode = RateLimitMode.OFF
    rate_limiter_resources: List[RateLimiterResource] = field(default_factory=list)
    pinned_memory_pool_size: int = 1 << 28
    cuda_memory_pool_sizes: Dict[int, int] = field(default_factory=dict)
    """Bytes by device."""
    cache_config: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    """Settings by cache, for instance ``{"local": {"size": 1 << 20}}``."""
    cache_directory: Optional[Path] = None
    """Default: caches beside the server's library; so for the next two folders."""
    backend_directory: Optional[Path] = None
    repo_agent_directory: Optional[Path] = None
    min_supported_compute_capability: float = 6.0
    exit_on_error: bool = True
    """Fail to start when a model fails to load."""
    strict_readiness: bool = True
    """The server is ready only if all its models are."""
    exit_timeout: int = 30
    """Seconds that requests in flight have when the server stops."""
    buffer_manager_thread_count: int = 0
    model_load_thread_count: int = 4
    model_load_retry_count: int = 0
    model_namespacing: bool = False
    enable_peer_access: bool = True
    log_file: Optional[Path] = None
    """The log counts for the whole process. Default: the console."""
    log_info: bool = False
    log_warn: bool = True
    log_error: bool = True
    log_format: LogFormat = LogFormat.DEFAULT
    log_verbose: int = 0
    metrics: bool = True
    gpu_metrics: bool = True
    cpu_metrics: bool = True
    metrics_interval: int = 2000
    """Milliseconds between two looks at what is only sampled."""
    model_load_device_limits: List[ModelLoadDeviceLimit] = field(default_factory=list)
    backend_configuration: Dict[str, Dict[str, str]] = field(default_factory=dict)
    """Settings by backend; the name "" stands for all."""
    host_policies: Dict[str, Dict[str, str]] = field(default_factory=dict)
    metrics_configuration: Dict[str, Dict[str, str]] = field(default_factory=dict)

    def settings(self) -> Iterator[Setting]:
        """All options as tuples (name, values...)."""
        yield from self._plain()
        yield from self._lists()
        yield from self._folders()
        yield from self._tables()

    def _plain(self) -> Iterator[Setting]:
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in _MODES:
                yield (option.name, int(mode(_MODES[option.name], value, option.name)))
            elif option.name in _PLAIN:
                yield (option.name, value)
        if self.log_file is not None:
            yield ("log_file", text_of("log_file", self.log_file))

    def _lists(self) -> Iterator[Setting]:
        for path in self._repositories():
            yield ("model_repository", text_of("model_repository", path))
        for name in self.startup_models:
            yield ("startup_model", name)
        for resource in self.rate_limiter_resources:
            yield ("rate_limiter_resource", resource.name, resource.count, resource.device)
        for limit in self.model_load_device_limits:
            kind = int(mode(InstanceGroupKind, limit.kind, "kind"))
            yield ("model_load_device_limit", kind, limit.device, limit.fraction)

    def _folders(self) -> Iterator[Setting]:
        for option, name in _FOLDERS.items():
            value = getattr(self, option)
            yield (option, default_folder(name) if value is None else text_of(option, value))

    def _tables(self) -> Iterator[Setting]:
        for device, size in self.cuda_memory_pool_sizes.items():
            yield ("cuda_memory_pool_size", device, size)
        for cache, settings in self.cache_config.items():
            texts = {key: str(value) for key, value in settings.items()}
            yield ("cache_config", cache, json.dumps(texts))
        # Models in Python see the packages of this program, unless told otherwise.
        backends = self.backend_directory or default_folder("backends")
        if sys.executable and os.path.isdir(os.path.join(os.fspath(backends), "python")):
            yield ("backend_config", "python", "python", sys.executable)
        for option, name in _TABLES.items():
            for key, settings in getattr(self, option).items():
                for setting, value in settings.items():
                    yield (name, key, setting, value)

    def _repositories(self) -> List[Path]:
        given = self.model_repository
        if isinstance(given, (str, os.PathLike)):
            return [given]
        if not given:
            raise InvalidArgumentError("there is no model repository: name a folder of models")
        return list(given)


_MODES: Dict[str, Type[IntEnum]] = {
    "model_control_mode": ModelControlMode,
    "rate_limiter_mode": RateLimitMode,
    "log_format": LogFormat,
}
_FOLDERS = {
    "backend_directory": "backends",
    "cache_directory": "caches",
    "repo_agent_directory": "repoagents",
}
# Options of dicts of dicts, and the functions that take one of their entries.
_TABLES = {
    "backend_configuration": "backend_config",
    "host_policies": "host_policy",
    "metrics_configuration": "metrics_config",
}
_PLAIN = {
    option.name
    for option in fields(Options)
    if option.type in ("str", "bool", "int", "float") and option.name not in _MODES
}


def mode(kind: Type[IntEnum], value: Any, option: str) -> IntEnum:
    """`value`, a member, its name in any case, or its number."""
    try:
        return kind[value.upper()] if isinstance(value, str) else kind(value)
    except (KeyError, ValueError):
        names = ", ".join(repr(member.name.lower()) for member in kind)
        raise InvalidArgumentError(f"option '{option}' is {value!r}, and must be one of {names}") from None


def text_of(option: str, path: Any) -> str:
    """A path as text."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"option '{option}' must be a path, not {type(path).__name__}")
    return os.fspath(path)
