# SPDX-License-Identifier: Apache-2.0
"""A start line with all options of Triton that a deployment without GPUs may have."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import start_line
from support.ports import free_ports
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory, server_binary, stage_root
from support.start_line import Line, Places
from support.start_line_checks import (
    add_models,
    check_all,
    check_inference,
    check_traces,
    wait_until_ready,
)

OPTION = re.compile(r"^\| `--([a-z0-9-]+)(?:=|`)", re.MULTILINE)
# What Triton does not have.
OURS = {
    "help-all",
    "help-markdown",
    "version",
    "lame-duck-secs",
    "single-model-name",
    "cloud-cache-bytes",
    "cloud-cache-directory",
    "cloud-timeout-secs",
    "max-in-flight-bytes",
    "max-in-flight-requests",
    "max-model-requests",
    "memory-budget",
    "idle-unload-secs",
    "load-wait-secs",
    "footprints-file",
    "max-admin-body-bytes",
    "max-connection-requests",
    "max-waiting-stream-bytes",
    "access-log",
    "access-log-sample",
    "huge-pages",
    "inline-execution-max-us",
    "http-health-body",
    "tfs-grpc-port",
    "tfs-http-port",
    "http-json-non-finite",
    "http-max-body-size",
    "http-max-header-size",
    "http-max-connections",
    "http-max-json-depth",
    "http-allow-origin",
    "http-header-timeout-secs",
    "http-min-rate-bytes-per-sec",
    "http-idle-timeout-secs",
    "http-use-ssl",
    "http-use-ssl-mutual",
    "http-server-cert",
    "http-server-key",
    "http-root-cert",
    "grpc-max-connections",
    "http2-max-concurrent-streams",
    "http2-max-control-frames-per-sec",
    "http2-handshake-timeout-secs",
    "http2-stall-timeout-secs",
    "http2-min-rate-bytes-per-sec",
    "api-key-file",
    "allow-nereid-api",
    "owner-socket",
    "recorder-events",
    "record",
    "record-max-bytes",
    "record-sample",
    "record-tensors",
    "record-redact",
    "console-port",
    "console-address",
}
# `disable-auto-complete-config` takes no value, and is a line of its own below.
NOT_IN_THE_LINE = {"help", "disable-auto-complete-config", *start_line.OF_TLS}


@pytest.fixture
def places(tmp_path: Path, model_repository: ModelRepository) -> Places:
    add_models(model_repository)
    root = stage_root()
    return Places(
        model_repository.root,
        backend_directory(),
        root / "caches",
        root / "repoagents",
        tmp_path / "server.log",
        tmp_path / "traces.json",
        *free_ports(3),
    )


def start(factory: ServerFactory, places: Places, *options: str) -> ServerProcess:
    """Only with `options`: what the factory adds comes before them, and they override it."""
    server = factory([], *options, wait_for=None, binary="tritonserver")
    wait_until_ready(server, places)
    return server


def levels(log: str) -> set[str]:
    """The letters before the time: of lines in the format ISO8601, or in the default one."""
    found = re.findall(r"(?m)^(?:\S+Z )?([IWEF])(?:\d{4})? ", log)
    assert found, log
    return set(found)


def test_every_option_of_the_original_is_in_the_line(places: Places) -> None:
    page = subprocess.run(
        [server_binary(), "--help-markdown"], capture_output=True, text=True, check=True
    ).stdout
    known = set(OPTION.findall(page.partition("\n# Commands\n")[0]))
    named = {name for name, _ in start_line.whole_line(places)}
    assert known - named - set(start_line.DEPRECATED) - NOT_IN_THE_LINE - OURS == set()
    assert (named | OURS | set(start_line.DEPRECATED) | NOT_IN_THE_LINE) - known == set()


@pytest.mark.parametrize("words", [start_line.with_equals_signs, start_line.with_separate_values])
def test_whole_line(
    server_factory: ServerFactory, places: Places, words: Callable[[Line], list[str]]
) -> None:
    server = start(server_factory, places, *words(start_line.whole_line(places)))
    check_all(places)
    server.stop()
    log = places.log.read_text()
    assert "E" not in levels(log), log
    assert server.stderr_text() == ""
    check_traces(places)


def test_deprecated_names(server_factory: ServerFactory, places: Places) -> None:
    options = start_line.with_equals_signs(start_line.deprecated_line(places))
    server = start(server_factory, places, *options)
    check_inference(places)
    server.stop()
    assert "E" not in levels(server.log_text()), server.log_text()
    check_traces(places)


def test_without_completed_configurations(server_factory: ServerFactory, places: Places) -> None:
    options = start_line.with_equals_signs(start_line.whole_line(places))
    start(server_factory, places, *options, "--disable-auto-complete-config")
    check_inference(places)
