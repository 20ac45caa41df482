# SPDX-License-Identifier: Apache-2.0
"""Imports model.py, once per process."""

from __future__ import annotations

import importlib
import os
import sys
import types
from typing import Any, Optional

from . import life
from .errors import TritonModelException

_module: Optional[types.ModuleType] = None


def numpy_problem() -> str:
    """If numpy does not work, the reason why no model can be loaded; otherwise ""."""
    try:
        import numpy  # noqa: F401
    except Exception as error:  # an incompatible numpy fails in many ways
        why = str(error).strip().splitlines()
        return (
            f"numpy cannot be imported by {sys.executable}: {why[0] if why else type(error)}; "
            f"install it with '{sys.executable} -m pip install numpy'"
        )
    return ""


def load(what: dict) -> Any:
    """The class TritonPythonModel of the model that the server's message `what` describes. Raises
    whatever the import raises."""
    global _module
    life.name = what["name"]
    life.model_file = what["model_file"]
    life.model_dir = what["model_dir"]
    if _module is None:
        for folder in what["python_path"]:
            if folder not in sys.path:
                sys.path.append(folder)
        _module = _import(what["module"], what["module_root"], what["model_file"])
    return _module.TritonPythonModel


def _import(name: str, root: str, file: str) -> types.ModuleType:
    if not os.path.isfile(file):
        raise TritonModelException(f"Python model file not found in '{file}'")
    package_name, _, stem = name.rpartition(".")
    if package_name and package_name not in sys.modules:
        # Makes the version's folder a package, so that `from .helper import ...` works. The package
        # may have any name, even one that something else on the path has.
        package = types.ModuleType(package_name)
        package.__path__ = [os.path.join(root, package_name)]
        sys.modules[package_name] = package
    if stem.isidentifier() and os.path.basename(file) == stem + ".py":
        return importlib.import_module(name)
    return _import_file(name, file)


def _import_file(name: str, file: str) -> types.ModuleType:
    """Imports a file whose name is not a valid module name."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise TritonModelException(f"'{file}' is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
