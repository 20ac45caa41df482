"""The list of what is in an image, as an SPDX 2.3 document in JSON."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from urllib.parse import quote

from licences import NO_ASSERTION, Licence

CREATOR = "Tool: nereid-make-image"


@dataclass
class Component:
    """A package in the image, or compiled into something in it (`compiled_in`)."""

    name: str
    version: str
    purl: str
    licence: Licence = field(default_factory=Licence)
    supplier: str = NO_ASSERTION  # "Organization: ..." or "Person: ..."
    sha256: str = ""  # of the archive that it came in
    homepage: str = ""
    licence_file: str = ""  # path in the image
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


def make_document(image: str, version: str, created: str, components: list[Component]) -> str:
    """`created`: a time like 2026-11-23T12:00:00Z. The same content gives the same document."""
    ordered = sorted(components, key=lambda component: component.name)
    root = "SPDXRef-Image"
    packages = [_image(root, image, version), *(_package(component) for component in ordered)]
    relationships = [_relation("SPDXRef-DOCUMENT", "DESCRIBES", root)]
    for component in ordered:
        if component.compiled_in:
            kind, element = "STATIC_LINK", "SPDXRef-Package-nereid"
        else:
            kind, element = "CONTAINS", root
        relationships.append(_relation(element, kind, component.identifier))
    references = {
        name: text for component in ordered for name, text in component.licence.references.items()
    }
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{image}-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{image}-{version}-{digest[:32]}",
        "creationInfo": {"created": created, "creators": [CREATOR]},
        "packages": packages,
        "relationships": relationships,
        "hasExtractedLicensingInfos": [
            {"licenseId": name, "name": name, "extractedText": text}
            for name, text in sorted(references.items())
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def _image(identifier: str, image: str, version: str) -> dict[str, object]:
    return {
        "SPDXID": identifier,
        "name": image,
        "versionInfo": version,
        "downloadLocation": NO_ASSERTION,
        "filesAnalyzed": False,
        "licenseConcluded": NO_ASSERTION,
        "licenseDeclared": NO_ASSERTION,
        "copyrightText": NO_ASSERTION,
        "primaryPackagePurpose": "CONTAINER",
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
        package["licenseComments"] = f"The image has the texts in {component.licence_file}."
    return package


def _relation(element: str, kind: str, related: str) -> dict[str, str]:
    return {
        "spdxElementId": element,
        "relationshipType": kind,
        "relatedSpdxElement": related,
    }
