# SPDX-License-Identifier: Apache-2.0
"""Running the programs that make an image."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(*command: str | Path) -> str:
    """The standard output of a command. Ends the program, with the command's output, if it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        missing = f"image: there is no program {words[0]}: run tools/setup.sh --image"
        raise SystemExit(missing) from None
    if done.returncode != 0:
        raise SystemExit(f"image: {words[0]} failed:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout
