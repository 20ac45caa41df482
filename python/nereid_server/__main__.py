# SPDX-License-Identifier: Apache-2.0
"""The command `nereid`, also `python -m nereid_server`: the server of this package. `nereid serve` serves functions, and
models as the server itself does."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ._program import environment, program


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["serve"] and not _serves_models(arguments[1:]):
        from .functions import command

        return command.main(arguments[1:])
    try:
        path = str(program())
        os.execve(path, [path, *arguments], environment())
    except OSError as error:
        print(f"nereid: {error}", file=sys.stderr)
        return 1


def _serves_models(arguments: Sequence[str]) -> bool:
    """Whether the words behind `serve` are the server's: they name a model's file, a folder or a repository. Files in
    Python hold functions."""
    repository = ("--model-repository", "--model-store")
    return any(
        word.startswith(repository) or (not word.endswith(".py") and Path(word).exists()) for word in arguments
    )


if __name__ == "__main__":
    sys.exit(main())
