# SPDX-License-Identifier: Apache-2.0
"""What Nereid's own packages and images hold besides Debian packages: the server, what it was compiled with or
carries along, and what the project says of itself."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from licences import Licence, read_licence
from process import run
from sbom import NO_ASSERTION, Component, debian_purl

PROJECT = Path(__file__).resolve().parents[2]
DEBIAN_RELEASE = "12"
# Debian packages of libraries that consist of headers, their licences, and the files into which they are compiled.
HEADERS = {
    "libboost1.81-dev": ("BSL-1.0", ("nereid", "libnereid_frontends.so")),
    "rapidjson-dev": (
        "MIT",
        ("nereid", "nereid-backend-check", "nereid-workshop", "libnereid_frontends.so", "libnereid_backend_sdk.a")
        + ("libtriton_*.so", "libtritoncache_*.so", "libtritonrepoagent_*.so"),
    ),
}
NVIDIA = Licence(
    "LicenseRef-NVIDIA-CUDA", {"LicenseRef-NVIDIA-CUDA": "The licence agreement of NVIDIA's CUDA Toolkit."}
)
# Libraries of Python packages: a file by which they are known, the lock and the package with their version.
CARRIED = (
    ("libonnxruntime.so*", "onnxruntime", "onnxruntime", Licence("MIT")),
    ("libonnxruntime_providers_openvino_plugin.so", "openvino", "onnxruntime-ep-openvino", Licence("MIT")),
    ("libopenvino.so*", "openvino", "openvino", Licence("Apache-2.0")),
    ("libopenvino_tokenizers.so", "openvino", "openvino-tokenizers", Licence("Apache-2.0")),
    ("libtorch_cpu.so", "pytorch", "torch", Licence("BSD-3-Clause")),
    ("libcupti.so*", "pytorch", "nvidia-cuda-cupti", NVIDIA),
    ("libcudart.so*", "pytorch", "nvidia-cuda-runtime", NVIDIA),
    ("libtensorflow_cc.so*", "tensorflow", "tensorflow-cpu", Licence("Apache-2.0")),
)


def project_version() -> str:
    text = (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"^project\(nereid VERSION ([0-9.]+)", text, re.MULTILINE)
    assert found is not None
    return found[1]


def source_time() -> int:
    """Seconds since 1970 that packages and images give as their age: those of the sources."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or run("git", "-C", PROJECT, "log", "-1", "--format=%ct"))


def own_components(root: Path, version: str, licence_files: str = "") -> list[Component]:
    """What the files below `root` are of Nereid and carry along. `licence_files`: a folder that has LICENSE of
    Nereid in nereid/, and ONNX Runtime's in onnxruntime/, as images lay them out."""
    names = {path.name for path in root.rglob("*") if path.is_file() or path.is_symlink()}

    def has(pattern: str) -> bool:
        return any(Path(name).match(pattern) for name in names)

    components = [
        Component(
            name="nereid",
            version=version,
            purl=f"pkg:generic/nereid@{version}",
            licence=Licence("Apache-2.0"),
            licence_file=f"{licence_files}/nereid/LICENSE" if licence_files else "",
        )
    ]
    for pattern, lock, name, licence in CARRIED:
        if has(pattern):
            pinned = locked_version(lock, name)
            components.append(
                Component(
                    name=name,
                    version=pinned,
                    purl=f"pkg:pypi/{name}@{pinned}",
                    licence=licence,
                    licence_file=f"{licence_files}/{name}/LICENSE" if licence_files else "",
                )
            )
    for name, (licence_name, files) in HEADERS.items():
        if any(has(pattern) for pattern in files):
            component = installed_package(name)
            component.licence, component.compiled_in = Licence(licence_name), True
            components.append(component)
    if has("nereid") or has("libnereid_frontends.so"):
        components.append(_page())
    return components


def installed_package(name: str) -> Component:
    """A Debian package of this machine."""
    form = "${Version}\t${Architecture}\t${Maintainer}\t${Homepage}"
    version, architecture, maintainer, homepage = run(
        "dpkg-query", "--show", f"--showformat={form}", name
    ).split("\t")
    text = Path(f"/usr/share/doc/{name}/copyright").read_text(encoding="utf-8", errors="replace")
    return Component(
        name=name,
        version=version,
        purl=debian_purl(name, version, architecture, DEBIAN_RELEASE),
        licence=read_licence(text),
        supplier=f"Organization: {maintainer}" if maintainer else NO_ASSERTION,
        homepage=homepage,
    )


def locked_version(lock: str, name: str) -> str:
    text = (PROJECT / "tools" / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(name)}==(\S+)", text, re.MULTILINE)
    assert found is not None, f"{name} is not in tools/locks/{lock}.txt"
    return found[1]


def _page() -> Component:
    """What the page of the console is bundled with."""
    text = (PROJECT / "console" / "package-lock.json").read_text(encoding="utf-8")
    package = json.loads(text)["packages"]["node_modules/uplot"]
    version = package["version"]
    return Component("uplot", version, f"pkg:npm/uplot@{version}", Licence(package["license"]), compiled_in=True)
