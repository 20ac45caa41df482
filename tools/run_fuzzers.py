#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the libFuzzer targets that the `fuzz` preset built.

    tools/run_fuzzers.py [--seconds N] [TARGET ...]       default: every target, ten minutes each

Two run at a time.

The seeds are those of tests/fuzz/TARGET.seeds, unpacked into build/fuzz/seeds; the dictionary is
tests/fuzz/TARGET.dict. Both may be missing. Inputs that a run finds stay in build/fuzz/corpus/TARGET for the
next run. An input that crashes the target is written to build/fuzz/crashes, and its path is printed:
tests/fuzz/README.md says how to make it a seed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fuzz_seeds  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
FUZZERS = ROOT / "build" / "fuzz" / "fuzzers"
SLOWEST_INPUT_SECONDS = 10
MEMORY_MIB = 2048
AT_A_TIME = 2


def fuzz(name: str, seconds: int) -> bool:
    """Fuzzes one target; returns True if no input failed."""
    found = ROOT / "build" / "fuzz" / "corpus" / name
    crashes = ROOT / "build" / "fuzz" / "crashes"
    dictionary = ROOT / "tests" / "fuzz" / f"{name}.dict"
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [
        FUZZERS / name,
        f"-max_total_time={seconds}",
        f"-timeout={SLOWEST_INPUT_SECONDS}",
        f"-rss_limit_mb={MEMORY_MIB}",
        f"-artifact_prefix={crashes / name}-",
        "-print_final_stats=1",
        found,
    ]
    if seeds := fuzz_seeds.unpack(name):
        command.append(seeds)
    if dictionary.is_file():
        command.insert(1, f"-dict={dictionary}")
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        runs = [line for line in done.stdout.splitlines() if "number_of_executed_units" in line]
        print(f"fuzz: {name}: clean,{runs[0].split(':')[-1] if runs else ' ?'} runs", flush=True)
        return True
    print(f"{done.stdout[-20000:]}\nfuzz: {name}: FAILED (exit code {done.returncode})", flush=True)
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=600, help="for each target (default 600)")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    built = sorted(path.name for path in FUZZERS.iterdir()) if FUZZERS.is_dir() else []
    targets = arguments.targets or built
    if not targets or set(targets) - set(built):
        there = ", ".join(built) or "none (tools/build.sh fuzz)"
        print(f"fuzz: targets that are built: {there}", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return 0 if all(list(pool.map(lambda name: fuzz(name, arguments.seconds), targets))) else 1


if __name__ == "__main__":
    sys.exit(main())
