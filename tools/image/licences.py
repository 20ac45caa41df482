# SPDX-License-Identifier: Apache-2.0
"""Licences of Debian packages as SPDX expressions, read from /usr/share/doc/PACKAGE/copyright."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NO_ASSERTION = "NOASSERTION"
_DEP5 = re.compile(r"^Format:\s*https?://\S*copyright-format", re.MULTILINE)
# Debian's short names, in lower case, that SPDX calls otherwise or spells in another case.
_KNOWN = {
    "apache-2.0": "Apache-2.0",
    "apache-2": "Apache-2.0",
    "artistic": "Artistic-1.0-Perl",
    "artistic-2.0": "Artistic-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-2-clauses": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "bsd-3-clauses": "BSD-3-Clause",
    "bsd-4-clause": "BSD-4-Clause",
    "bsl-1.0": "BSL-1.0",
    "boost-1.0": "BSL-1.0",
    "cc0": "CC0-1.0",
    "cc0-1.0": "CC0-1.0",
    "curl": "curl",
    "expat": "MIT",
    "isc": "ISC",
    "mit": "MIT",
    "mpl-2.0": "MPL-2.0",
    "psf-2": "PSF-2.0",
    "python-2.0": "Python-2.0",
    "unicode": "Unicode-DFS-2016",
    "zlib": "Zlib",
}
_GNU_VERSIONS = {
    "AGPL": ("1.0", "3.0"),
    "GFDL": ("1.1", "1.2", "1.3"),
    "GPL": ("1.0", "2.0", "3.0"),
    "LGPL": ("2.0", "2.1", "3.0"),
}
_GNU = re.compile(r"(l?gpl|agpl|gfdl)-?v?(\d(?:\.\d)?)(\+?)", re.IGNORECASE)


@dataclass
class Licence:
    """`expression`: in SPDX's language, or NOASSERTION. `references`: the texts of the licences that
    SPDX has no name for, by the names that `expression` has for them."""

    expression: str = NO_ASSERTION
    references: dict[str, str] = field(default_factory=dict)


def read_licence(copyright_text: str) -> Licence:
    """All licences of a file that follows Debian's format for machines, joined by AND; other files
    are for people only."""
    if not _DEP5.search(copyright_text):
        return Licence()
    licence = Licence()
    parts: set[str] = set()
    texts = _texts(copyright_text)
    for short in texts:
        parts.add(_expression(short, texts, licence.references))
    if parts:
        licence.expression = " AND ".join(sorted(parts))
    return licence


def _texts(copyright_text: str) -> dict[str, str]:
    """Each licence that is named, with its text where there is one."""
    texts: dict[str, str] = {}
    for match in re.finditer(
        r"^License:[ \t]*(\S[^\n]*)\n((?:[ \t][^\n]*\n?)*)", copyright_text, re.MULTILINE
    ):
        short = " ".join(match[1].split())
        texts[short] = texts.get(short) or match[2].strip()
    return texts


def _expression(short: str, texts: dict[str, str], references: dict[str, str]) -> str:
    """'GPL-2+ or Expat' becomes '(GPL-2.0-or-later OR MIT)'. Commas and mixtures, whose rules differ
    from SPDX's, become one reference."""
    lower = short.lower()
    if "," not in short and not (" and " in lower and " or " in lower):
        for word, operator in ((" or ", " OR "), (" and ", " AND ")):
            if word in lower:
                names = re.split(word, short, flags=re.IGNORECASE)
                joined = operator.join(_one(name, texts, references) for name in names)
                return f"({joined})"
    return _one(short, texts, references)


def _one(name: str, texts: dict[str, str], references: dict[str, str]) -> str:
    known = _KNOWN.get(name.strip().lower())
    if known:
        return known
    if gnu := _GNU.fullmatch(name.strip()):
        version = gnu[2] if "." in gnu[2] else f"{gnu[2]}.0"
        if version in _GNU_VERSIONS[gnu[1].upper()]:
            return f"{gnu[1].upper()}-{version}-{'or-later' if gnu[3] else 'only'}"
    reference = "LicenseRef-debian-" + re.sub(r"[^A-Za-z0-9.-]+", "-", name.strip()).strip("-.")
    references.setdefault(reference, texts.get(name) or f"Known to Debian as '{name.strip()}'.")
    return reference
