"""Importing model.py, once for the process."""

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
    """The reason why no model can be loaded, if numpy does not work; otherwise ""."""
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
    """The class TritonPythonModel of what the server names. Raises whatever the import does."""
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
        # The folder of the version is a package, whatever its name, and whatever else on the path has
        # that name: `from .helper import ...` works.
        package = types.ModuleType(package_name)
        package.__path__ = [os.path.join(root, package_name)]
        sys.modules[package_name] = package
    if stem.isidentifier() and os.path.basename(file) == stem + ".py":
        return importlib.import_module(name)
    return _import_file(name, file)


def _import_file(name: str, file: str) -> types.ModuleType:
    """For files whose name cannot be that of a module."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise TritonModelException(f"'{file}' is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
