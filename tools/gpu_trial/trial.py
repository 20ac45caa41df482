#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kit for a machine with a real GPU, which may be there for half an hour and without a network.

    trial.py pack FOLDER            here: collects what the steps need, less than 64 MiB
    trial.py run STEP --out=FOLDER  there: one step, less than 10 minutes
    trial.py page FOLDER            here: bench/results/gpu-*.md from what came back

README.md says what each step does.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))

from outcomes import page, run_checks, save_step  # noqa: E402

STEPS = ("contract", "triton", "models", "memory", "cores")
MOST_BYTES = 64 << 20
STEP_SECONDS = 8 * 60.0  # after which no check begins: the last one may take two minutes
# Of the stage: what serves, and the backends of the checks.
STAGED = ("bin", "lib", "libexec", "backends/testing", "backends/identity", "backends/python")
SOURCES = ("tools/gpu_trial", "tests/support")


def pack(stage: Path, test: Path, folder: Path, most_bytes: int = MOST_BYTES) -> Path:
    """An archive in `folder`. `test`: driver_contract_test, as it was built."""
    for needed in (*(stage / name for name in STAGED), test):
        if not needed.exists():
            raise SystemExit(f"there is no {needed}: `make stage` and `make test` build it")
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "gpu-trial.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        for name in STAGED:
            tar.add(stage / name, f"gpu-trial/build/stage/{name}")
        tar.add(test, "gpu-trial/build/stage/trial/driver_contract_test")
        for name in SOURCES:
            tar.add(ROOT / name, f"gpu-trial/{name}", filter=_without_caches)
    if archive.stat().st_size > most_bytes:
        raise SystemExit(f"{archive} has {archive.stat().st_size} bytes, more than {most_bytes}")
    return archive


def _without_caches(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in member.name else member


def run(arguments: argparse.Namespace) -> int:
    from machine import TrialMachine
    from steps import Steps

    out = Path(arguments.out).resolve()
    work = out / f"{arguments.step}-files"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    machine = TrialMachine(Path(arguments.stage).resolve(), work, arguments.simulated)
    triton = Path(arguments.triton).resolve() if arguments.triton else None
    described = machine.describe()
    outcomes = run_checks(
        Steps(machine, triton, arguments.seconds).checks(arguments.step),
        lambda so_far: save_step(out, arguments.step, described, so_far),
        STEP_SECONDS,
    )
    for outcome in outcomes:
        print(f"{outcome.state:7} {outcome.check}  {outcome.text}".rstrip())
    return 1 if any(outcome.state == "failed" for outcome in outcomes) else 0


def write_page(folder: Path, results: Path, day: str) -> Path:
    documents = [
        json.loads((folder / f"{step}.json").read_text())
        for step in STEPS
        if (folder / f"{step}.json").exists()
    ]
    if not documents:
        raise SystemExit(f"no step has left anything in {folder}")
    if any("simulated" in document["machine"]["GPU"] for document in documents):
        raise SystemExit("a page is written of trials on real GPUs only, and this one was simulated")
    written = results / f"gpu-{day}.md"
    written.write_text(page(documents))
    return written


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    stage = ROOT / "build" / "stage"
    packing = commands.add_parser("pack")
    packing.add_argument("folder", type=Path)
    packing.add_argument("--stage", type=Path, default=stage)
    test = ROOT / "build/release/src/device/driver_contract_test"
    packing.add_argument("--test", type=Path, default=test)
    running = commands.add_parser("run")
    running.add_argument("step", choices=STEPS)
    running.add_argument("--out", required=True)
    running.add_argument("--stage", default=stage)
    running.add_argument("--triton", help="a folder with bin/tritonserver and backends/python")
    running.add_argument("--simulated", action="store_true", help="on the simulated driver of the stage")
    running.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    paging = commands.add_parser("page")
    paging.add_argument("folder", type=Path)
    paging.add_argument("--results", type=Path, default=ROOT / "bench" / "results")
    arguments = parser.parse_args(words)
    if arguments.command == "pack":
        print(pack(arguments.stage, arguments.test, arguments.folder))
        return 0
    if arguments.command == "page":
        print(write_page(arguments.folder, arguments.results, time.strftime("%Y-%m-%d")))
        return 0
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
