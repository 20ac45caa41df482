# SPDX-License-Identifier: Apache-2.0
"""What tools/setup.sh --kubernetes has installed, and the project's own files that are tested."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from support.stage import PROJECT_ROOT

INSTALLED = PROJECT_ROOT / "build" / "deps" / "kubernetes"
HELM = INSTALLED / "bin" / "helm"
API_SERVER = INSTALLED / "bin" / "kube-apiserver"
CRDS = INSTALLED / "crds"

CHART = PROJECT_ROOT / "deploy" / "helm" / "nereid"
KSERVE = PROJECT_ROOT / "deploy" / "kserve"
VALUES = sorted((Path(__file__).parent / "values").glob("*.yaml"))

Object = dict[str, Any]


def read_objects(text: str) -> list[Object]:
    """The objects of a text with several YAML documents."""
    sys.path.insert(0, str(INSTALLED / "python"))
    try:
        import yaml  # here, so that the tests can be collected where nothing is installed
    finally:
        sys.path.pop(0)
    return [document for document in yaml.safe_load_all(text) if document]
