#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays out the model repository of the speech lab: the ensemble and its three members.

    make_repository.py [--backend FILE] [--package DIR] [--output DIR]

The speech detector is that of examples/vad, with the model file that `tools/setup.sh --vad`
fetches. The backend of wav_frames, which backend/CMakeLists.txt builds, goes into the folder of its
model, where the server looks for it first. Prints where the repository is.
"""

import argparse
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BACKEND = ROOT / "build" / "speech-lab" / "libtriton_wav_frames.so"
PACKAGE = ROOT / "build" / "deps" / "vad"
OUTPUT = ROOT / "build" / "speech-lab-models"


def vad_example() -> ModuleType:
    path = HERE.parent / "vad" / "make_repository.py"
    spec = importlib.util.spec_from_file_location("vad_repository", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_repository(backend: Path, package: Path, output: Path) -> None:
    """Replaces `output`. Raises FileNotFoundError if something was not built or fetched."""
    if not backend.exists():
        raise FileNotFoundError(f"there is no {backend}: build it, see backend/CMakeLists.txt")
    vad_example().make_repository(package, output)
    shutil.copytree(HERE / "models", output, dirs_exist_ok=True)
    for model in ("wav_frames", "speech_lab"):  # without files, but each needs a version
        (output / model / "1").mkdir()
    shutil.copyfile(backend, output / "wav_frames" / backend.name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", type=Path, default=BACKEND, help="libtriton_wav_frames.so")
    parser.add_argument("--package", type=Path, default=PACKAGE, help="where silero-vad lies")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="is written anew")
    arguments = parser.parse_args()
    try:
        make_repository(arguments.backend, arguments.package, arguments.output)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
