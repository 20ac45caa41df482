#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays out the model repository of the speech detector: its configuration and the model file.

    make_repository.py [--package DIR] [--output DIR]

The file is that of the Python package silero-vad, which `tools/setup.sh --vad` fetches; it is not
part of this project. Prints where the repository is.
"""

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "build" / "deps" / "vad"
OUTPUT = ROOT / "build" / "vad-models"


def model_file(package: Path) -> Path:
    """The model for 16 kHz. Raises FileNotFoundError if it was not fetched."""
    path = package / "silero_vad" / "data" / "silero_vad_16k_op15.onnx"
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}: run tools/setup.sh --vad")
    return path


def make_repository(package: Path, output: Path) -> None:
    """Replaces `output`."""
    source = model_file(package)
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(HERE / "models", output)
    version = output / "vad" / "1"
    version.mkdir()
    shutil.copyfile(source, version / "model.onnx")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--package", type=Path, default=PACKAGE, help="where silero-vad lies")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="is written anew")
    arguments = parser.parse_args()
    try:
        make_repository(arguments.package, arguments.output)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
