# SPDX-License-Identifier: Apache-2.0
"""Finds what a process holds or leaves behind: files, threads, descriptors, an agent's journal."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from pathlib import Path

from support import raw_http
from support.poll import poll_until
from support.raw_http import HttpAnswer
from support.server_process import ServerProcess

# The calls of an agent from a model's load to its proper end. Each line occurs once per model.
WHOLE_LIFE = (
    "initialize",
    "load",
    "load_complete",
    "unload",
    "unload_complete",
    "finalize",
)


def override_config(journal: Path | None) -> str:
    """The configuration of an identity model; with `journal`, one whose agent writes a journal."""
    tensor = {"data_type": "TYPE_FP32", "dims": [-1]}
    config: dict[str, object] = {
        "backend": "identity",
        "input": [{"name": "INPUT0", **tensor}],
        "output": [{"name": "OUTPUT0", **tensor}],
    }
    if journal is not None:
        parameters = {"journal": str(journal), "relocate": "moved", "whole": "yes"}
        config["model_repository_agents"] = {
            "agents": [{"name": "testing", "parameters": parameters}]
        }
    return json.dumps(config)


def load_with_files(url: str, model: str, journal: Path | None = None) -> HttpAnswer:
    """Loads `model` from files in the request, which the server has to store."""
    content = base64.b64encode(b"weights").decode()
    parameters = {"config": override_config(journal), "file:1/weights": content}
    path = f"/v2/repository/models/{model}/load"
    return raw_http.post_json(url, path, {"parameters": parameters})


def unload(url: str, model: str) -> HttpAnswer:
    return raw_http.post(url, f"/v2/repository/models/{model}/unload")


def left_in(folder: Path) -> list[str]:
    """The content of `folder`. os.walk skips entries that disappear meanwhile."""
    return sorted(
        os.path.relpath(os.path.join(where, name), folder)
        for where, folders, files in os.walk(folder)
        for name in folders + files
    )


def wait_empty(folder: Path, server: ServerProcess) -> None:
    poll_until(
        f"{folder} to be empty",
        lambda: not left_in(folder),
        explain=lambda: f"left: {left_in(folder)}\n{server.log_text()[-2000:]}",
    )


def threads(server: ServerProcess) -> Counter[str]:
    """The names of the server's threads."""
    names: Counter[str] = Counter()
    for task in Path(f"/proc/{server.process.pid}/task").iterdir():
        try:
            names[(task / "comm").read_text().strip()] += 1
        except OSError:  # the thread has ended meanwhile
            continue
    return names


def descriptors(server: ServerProcess) -> Counter[str]:
    """The targets of the server's descriptors, without numbers that differ each time."""
    kinds: Counter[str] = Counter()
    folder = Path(f"/proc/{server.process.pid}/fd")
    for number in folder.iterdir():
        try:
            kinds[os.readlink(number).split(":[")[0]] += 1
        except OSError:  # the descriptor is closed by now
            continue
    return kinds


def processes_of_session(server: ServerProcess) -> list[int]:
    """Running processes of the session that the server leads, its children included."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z" and int(fields[3]) == server.process.pid:
            found.append(int(stat.parent.name))
    return found


def check_journal(journal: Path, lives: int) -> None:
    """Checks that the agent recorded `lives` models, and that all of them ended properly."""
    lines = Counter(journal.read_text(encoding="utf-8").split("\n")) if journal.exists() else {}
    counts = {what: lines.get(f"testing: {what}", 0) for what in WHOLE_LIFE}
    assert counts == dict.fromkeys(WHOLE_LIFE, lives), counts
