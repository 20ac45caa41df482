# SPDX-License-Identifier: Apache-2.0
"""`nereid serve MODULE:FUNCTION`: serves functions from the command line."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Optional

from .errors import ServingError
from .serving import importing, serve


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status: 1 if a function cannot be served or the server fails, 2 for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog="nereid serve",
        description="Serves functions as models. Options that are not listed go to the server.",
        allow_abbrev=False,
    )
    parser.add_argument("functions", nargs="+", metavar="MODULE:FUNCTION", help="or FILE.py:FUNCTION")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on (default: all)")
    for service, port in (("http", 8000), ("grpc", 8001), ("metrics", 8002)):
        explained = f"0: a free one; none (default: {port})"
        parser.add_argument(f"--{service}-port", type=_port, default=port, help=explained)
    known, rest = parser.parse_known_args(arguments)
    if unknown := [word for word in rest if not word.startswith("--")]:
        parser.error(f"options of the server are written as --NAME=VALUE, not '{unknown[0]}'")
    sys.path.insert(0, os.getcwd())
    try:
        with importing():
            targets = [_find(name) for name in known.functions]
        serve(
            *targets,
            host=known.host,
            http_port=known.http_port,
            grpc_port=known.grpc_port,
            metrics_port=known.metrics_port,
            options=rest,
        )
    except (ServingError, TypeError, ValueError, LookupError) as error:
        print(f"nereid serve: {error}", file=sys.stderr)
        return 1
    return 0


def _port(text: str) -> Optional[int]:
    return None if text == "none" else int(text)


def _find(name: str) -> Any:
    module_name, _, path = name.rpartition(":")
    if not module_name or not path:
        raise LookupError(f"'{name}' is not of the form MODULE:FUNCTION")
    found: Any = _module(module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            raise LookupError(f"'{module_name}' has no '{path}'")
        found = getattr(found, part)
    return found


def _module(name: str) -> ModuleType:
    file = Path(name)
    if file.suffix == ".py":
        if not file.is_file():
            raise LookupError(f"there is no file '{name}'")
        sys.path.insert(0, str(file.resolve().parent))
        name = file.stem
    elif importlib.util.find_spec(name) is None:
        raise LookupError(f"there is no module '{name}' in the working directory or among the installed ones")
    return importlib.import_module(name)
