# SPDX-License-Identifier: Apache-2.0
"""The list of what is in an image or a package, as an SPDX 2.3 document in JSON."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from urllib.parse import quote

from licences import NO_ASSERTION, Licence

CREATOR = "Tool: nereid-packaging"


@dataclass
class Component:
    """A package in the image, or something in the package, or compiled into that (`compiled_in`)."""

    name: str
    version: str
    purl: str
    licence: Licence = field(default_factory=Licence)
    supplier: str = NO_ASSERTION  # "Organization: ..." or "Person: ..."
    sha256: str = ""  # of the archive that it came in
    homepage: str = ""
    licence_file: str = ""  # path there
    compiled_in: bool = False

    @property
    def identifier(self) -> str:
        return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]+", "-", f"Package-{self.name}")


def debian_purl(name: str, version: str, architecture: str, release: str) -> str:
    """The package's name in the language of package URLs."""
    return (
        f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}"
        f"?arch={architecture}&distro=debian-{release}"
    )


def make_document(
    name: str, version: str, created: str, components: list[Component], purpose: str = "CONTAINER"
) -> str:
    """`created`: a time like 2026-11-23T12:00:00Z; `purpose`: CONTAINER for an image, INSTALL for a package. The
    same content gives the same document."""
    ordered = sorted(components, key=lambda component: component.name)
    root = "SPDXRef-Image" if purpose == "CONTAINER" else "SPDXRef-Whole"
    packages = [_whole(root, name, version, purpose), *(_package(component) for component in ordered)]
    relationships = [_relation("SPDXRef-DOCUMENT", "DESCRIBES", root)]
    for component in ordered:
        if component.compiled_in:
            kind, element = "STATIC_LINK", "SPDXRef-Package-nereid"
        else:
            kind, element = "CONTAINS", root
        relationships.append(_relation(element, kind, component.identifier))
    references = {
        licence: text
        for component in ordered
        for licence, text in component.licence.references.items()
    }
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}-{digest[:32]}",
        "creationInfo": {"created": created, "creators": [CREATOR]},
        "packages": packages,
        "relationships": relationships,
        "hasExtractedLicensingInfos": [
            {"licenseId": licence, "name": licence, "extractedText": text}
            for licence, text in sorted(references.items())
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _whole(identifier: str, name: str, version: str, purpose: str) -> dict[str, object]:
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "downloadLocation": NO_ASSERTION,
        "filesAnalyzed": False,
        "licenseConcluded": NO_ASSERTION,
        "licenseDeclared": NO_ASSERTION,
        "copyrightText": NO_ASSERTION,
        "primaryPackagePurpose": purpose,
    }


def _package(component: Component) -> dict[str, object]:
    package: dict[str, object] = {
        "SPDXID": component.identifier,
        "name": component.name,
        "versionInfo": component.version,
        "supplier": component.supplier,
        "downloadLocation": NO_ASSERTION,
        "filesAnalyzed": False,
        "licenseConcluded": NO_ASSERTION,
        "licenseDeclared": component.licence.expression,
        "copyrightText": NO_ASSERTION,
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": component.purl,
            }
        ],
    }
    if component.homepage:
        package["homepage"] = component.homepage
    if component.sha256:
        package["checksums"] = [{"algorithm": "SHA256", "checksumValue": component.sha256}]
    if component.licence_file:
        package["licenseComments"] = f"The texts are in {component.licence_file}."
    return package


def _relation(element: str, kind: str, related: str) -> dict[str, str]:
    return {
        "spdxElementId": element,
        "relationshipType": kind,
        "relatedSpdxElement": related,
    }
