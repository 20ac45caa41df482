"""tools/dependencies.txt pins exact versions, and versions.env has the variables that it names."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]
DEPENDENCIES = PROJECT_ROOT / "tools" / "dependencies.txt"
VERSIONS = PROJECT_ROOT / "tools" / "versions.env"


def sections() -> dict[str, list[str]]:
    entries: dict[str, list[str]] = {}
    current = ""
    for line in DEPENDENCIES.read_text().splitlines():
        line = line.split("#")[0].strip()
        if match := re.fullmatch(r"\[([a-z0-9.-]+)\]", line):
            current = match[1]
            entries[current] = []
        elif line:
            entries[current].append(line)
    return entries


def test_python_versions_are_exact() -> None:
    entries = sections()
    pins = [pin for name, part in entries.items() if name.startswith("pip") for pin in part]
    assert len(pins) > 2
    loose = [pin for pin in pins if not re.fullmatch(r"[\w.-]+(\[[\w,]+\])?==[\w.${}]+", pin)]
    assert loose == []


def test_nothing_is_named_twice() -> None:
    """But for what two folders of their own need: in the same version. Older packages are another
    matter: Triton and older Pythons can have no newer numpy, and MLServer asks for an older FastAPI."""
    older = re.compile(r"pip-differential-numpy|pip-python-.*|pip-mlserver")
    parts = [part for name, part in sections().items() if not older.fullmatch(name)]
    names: dict[str, list[str]] = {}
    for entry in {entry for part in parts for entry in set(part)}:
        names.setdefault(re.split(r"[\[=]", entry)[0].lower(), []).append(entry)
    assert {name: entries for name, entries in names.items() if len(entries) > 1} == {}
    for part in sections().values():
        assert sorted(set(part)) == sorted(part)


def test_variables_are_defined() -> None:
    entries = " ".join(entry for part in sections().values() for entry in part)
    used = set(re.findall(r"\$\{(\w+)\}", entries))
    defined = set(re.findall(r"^(\w+)=", VERSIONS.read_text(), flags=re.MULTILINE))
    assert used
    assert used <= defined
