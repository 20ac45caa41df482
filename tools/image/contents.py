"""What is in an image besides Debian packages: the server, ONNX Runtime, and libraries that consist of
headers, which the server was compiled with."""

from __future__ import annotations

import re
from pathlib import Path

from licences import Licence
from process import run
from sbom import Component, debian_purl

# Debian packages of headers, and their licences.
HEADERS = {"libboost1.81-dev": "BSL-1.0", "rapidjson-dev": "MIT"}


def own_components(project: Path, version: str, debian_release: str) -> list[Component]:
    onnxruntime = _onnxruntime_version(project)
    components = [
        Component(
            name="nereid",
            version=version,
            purl=f"pkg:generic/nereid@{version}",
            licence=Licence("Apache-2.0"),
            licence_file="/usr/share/doc/nereid/LICENSE",
        ),
        Component(
            name="onnxruntime",
            version=onnxruntime,
            purl=f"pkg:pypi/onnxruntime@{onnxruntime}",
            licence=Licence("MIT"),
            licence_file="/usr/share/doc/onnxruntime/LICENSE",
        ),
    ]
    for name, licence in HEADERS.items():
        headers, architecture = run(
            "dpkg-query", "--show", "--showformat=${Version} ${Architecture}", name
        ).split()
        components.append(
            Component(
                name=name,
                version=headers,
                purl=debian_purl(name, headers, architecture, debian_release),
                licence=Licence(licence),
                compiled_in=True,
            )
        )
    return components


def _onnxruntime_version(project: Path) -> str:
    text = (project / "tools/versions.env").read_text(encoding="utf-8")
    found = re.search(r"^ONNXRUNTIME_VERSION=(\S+)", text, re.MULTILINE)
    assert found is not None
    return found[1]
