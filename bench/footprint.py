#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What servers weigh that serve the same small ONNX model. `tools/dev footprint`.

    bench/footprint.py [--rounds=5] [--only=NAME ...] [--out=DIR]

Needs build/stage and tools/setup.sh --bench. `tools/dev footprint` names by NEREID_STAGE another
installation, which has no debugging information, as packages have none. Writes
footprint-DATE-HOST.md into build/bench-results, and prints it. Another server is another entry of
`entrants`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import machine  # noqa: E402
from racetrack.footprint import Entrant, Question, table, weigh  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from differential.original_server import INSTALL_FOLDER, prepare  # noqa: E402
from support.ports import free_ports  # noqa: E402
from support.server_process import LOOPBACK  # noqa: E402
from support.stage import (  # noqa: E402
    EXAMPLE_MODELS,
    PROJECT_ROOT,
    backend_directory,
    server_binary,
    stage_root,
)

MODEL = "digits"
VALUES = [0.0] * 64


def question() -> Question:
    """To servers of the KServe v2 protocol."""
    tensor = {"name": "image", "shape": [1, 64], "datatype": "FP32", "data": VALUES}
    return Question(
        f"/v2/models/{MODEL}/infer", json.dumps({"inputs": [tensor]}).encode(), b'"digit"'
    )


def options(ports: list[int]) -> list[str]:
    named = zip(("http", "grpc", "metrics"), ports)
    return [
        f"--model-repository={EXAMPLE_MODELS}",
        f"--http-address={LOOPBACK}",
        f"--grpc-address={LOOPBACK}",
        *(f"--{name}-port={port}" for name, port in named),
    ]


def nereid() -> Entrant:
    stage = stage_root()
    parts = [
        stage / "bin",
        stage / "lib/libtritonserver.so",
        stage / "backends/onnxruntime",
    ]
    ports = free_ports(3)
    command = [server_binary(), *options(ports)]
    note = "server, library, ONNX backend with ONNX Runtime"
    return Entrant("Nereid", parts, command, ports[0], question(), note=note)


def original(work: Path) -> Entrant:
    """With our ONNX backend, because its wheel has none."""
    layout = prepare(work / "original")
    ports = free_ports(3)
    command = [layout.binary, *options(ports), f"--backend-directory={backend_directory()}"]
    path = os.pathsep.join(filter(None, [layout.library_path, os.environ.get("LD_LIBRARY_PATH")]))
    return Entrant(
        "Triton, 2.51",
        [INSTALL_FOLDER / "pytriton", INSTALL_FOLDER / "nvidia_pytriton.libs",
         backend_directory() / "onnxruntime"],  # fmt: skip
        command,
        ports[0],
        question(),
        {"LD_LIBRARY_PATH": path},
        "the wheel nvidia-pytriton without what it needs; our ONNX backend, since it has none",
    )


def entrants(work: Path) -> list[Entrant]:
    return [nereid(), original(work)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="+", help="servers whose names begin so")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nereid-footprint-") as folder:
        work = Path(folder)
        chosen = [
            entrant
            for entrant in entrants(work)
            if not arguments.only or entrant.name.startswith(tuple(arguments.only))
        ]
        weights = []
        for entrant in chosen:
            print(f"footprint: {entrant.name}", flush=True)
            weights.append(weigh(entrant, arguments.rounds, work / "logs"))
    today = datetime.date.today().isoformat()
    told = (
        f"# What servers weigh, {today}\n\nThe model `{MODEL}` of `examples/models`. "
        f"{machine.processor()}, {len(os.sched_getaffinity(0))} cores; commit "
        f"{machine.commit(PROJECT_ROOT)}; medians of {arguments.rounds} starts.\n\n{table(weights)}"
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    page = arguments.out / f"footprint-{today}-{machine.host_kind()}.md"
    page.write_text(told, encoding="utf-8")
    print(f"\n{told}\n({page})")


if __name__ == "__main__":
    main()
