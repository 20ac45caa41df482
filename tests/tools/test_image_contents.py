# SPDX-License-Identifier: Apache-2.0
"""Licences and lists of contents of images."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT_ROOT / "tools" / "image"))

from licences import NO_ASSERTION, Licence, read_licence  # noqa: E402
from contents import own_components  # noqa: E402
from sbom import Component, debian_purl, make_document  # noqa: E402

FORMAT = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"


@pytest.mark.parametrize(
    ("short", "expression"),
    [
        ("Expat", "MIT"),
        ("GPL-2+", "GPL-2.0-or-later"),
        ("LGPL-2.1", "LGPL-2.1-only"),
        ("BSD-3-clause", "BSD-3-Clause"),
        ("GPL-2+ or Expat", "(GPL-2.0-or-later OR MIT)"),
        ("Apache-2.0 and ISC", "(Apache-2.0 AND ISC)"),
        ("GPL-7", "LicenseRef-debian-GPL-7"),
        ("public domain", "LicenseRef-debian-public-domain"),
        ("A, B or C", "LicenseRef-debian-A-B-or-C"),
    ],
)
def test_a_licence_in_the_words_of_spdx(short: str, expression: str) -> None:
    licence = read_licence(f"{FORMAT}\nFiles: *\nLicense: {short}\n The text.\n")
    assert licence.expression == expression
    references = {word for word in expression.split() if word.startswith("LicenseRef")}
    assert set(licence.references) == references
    assert set(licence.references.values()) <= {"The text."}


def test_all_licences_of_a_file_count() -> None:
    text = f"{FORMAT}\nFiles: *\nLicense: Expat\n\nFiles: a\nLicense: zlib\n\nLicense: Expat\n Text.\n"
    assert read_licence(text).expression == "MIT AND Zlib"


def test_a_file_for_people_says_nothing_to_us() -> None:
    assert read_licence("This is free software.\nLicense: whatever\n") == Licence(NO_ASSERTION, {})


def test_a_document() -> None:
    components = [
        Component("b", "1:2+x", debian_purl("b", "1:2+x", "amd64", "12"), Licence("MIT")),
        Component("nereid", "1", "pkg:generic/nereid@1"),
        Component("headers", "3", "pkg:generic/headers@3", compiled_in=True),
    ]
    text = make_document("image", "1", "2026-01-02T03:04:05Z", components)
    assert text == make_document("image", "1", "2026-01-02T03:04:05Z", components[::-1])
    document = json.loads(text)
    assert [package["name"] for package in document["packages"]] == ["image", "b", "headers", "nereid"]
    reference = document["packages"][1]["externalRefs"][0]["referenceLocator"]
    assert reference == "pkg:deb/debian/b@1%3A2%2Bx?arch=amd64&distro=debian-12"
    kinds = {
        (relation["relationshipType"], relation["relatedSpdxElement"])
        for relation in document["relationships"]
    }
    assert kinds == {
        ("DESCRIBES", "SPDXRef-Image"),
        ("CONTAINS", "SPDXRef-Package-b"),
        ("CONTAINS", "SPDXRef-Package-nereid"),
        ("STATIC_LINK", "SPDXRef-Package-headers"),
    }


def test_a_document_of_a_package() -> None:
    text = make_document("nereid", "1-1", "2026-01-02T03:04:05Z", [Component("nereid", "1", "p")], "INSTALL")
    document = json.loads(text)
    assert document["packages"][0]["primaryPackagePurpose"] == "INSTALL"
    assert document["relationships"][0]["relatedSpdxElement"] == document["packages"][0]["SPDXID"]


@pytest.mark.parametrize(
    ("file", "carried"),
    [
        ("usr/lib/libtritonserver.so", set()),
        ("usr/lib/x/libtorch_cpu.so", {("torch", "BSD-3-Clause")}),
        ("usr/lib/x/libonnxruntime.so.1", {("onnxruntime", "MIT")}),
        ("opt/libtensorflow_cc.so.2", {("tensorflow-cpu", "Apache-2.0")}),
    ],
)
def test_what_files_carry_along(tmp_path: Path, file: str, carried: set[tuple[str, str]]) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.touch()
    own, *others = own_components(tmp_path, "1.2")
    assert (own.name, own.version, own.licence.expression) == ("nereid", "1.2", "Apache-2.0")
    assert {(component.name, component.licence.expression) for component in others} == carried
    assert all(component.version[0].isdigit() for component in others)
