"""The command `nereid`, also `python -m nereid`: the server of this package; `nereid serve` serves functions."""

from __future__ import annotations

import os
import sys

from ._program import environment, program


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["serve"]:
        from .functions import command

        return command.main(arguments[1:])
    try:
        path = str(program())
        os.execve(path, [path, *arguments], environment())
    except OSError as error:
        print(f"nereid: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
