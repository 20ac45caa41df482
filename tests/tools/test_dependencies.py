# SPDX-License-Identifier: Apache-2.0
"""tools/dependencies.txt pins exact versions, versions.env has the variables that it names, and tools/locks has the
hashes of everything that pip installs."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
DEPENDENCIES = PROJECT_ROOT / "tools" / "dependencies.txt"
VERSIONS = PROJECT_ROOT / "tools" / "versions.env"
LOCKS = PROJECT_ROOT / "tools" / "locks"


@pytest.fixture(scope="module")
def lock() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lock", PROJECT_ROOT / "tools" / "lock.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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
    matter: Triton and older Pythons can have no newer numpy, MLServer asks for an older FastAPI, and only an old
    tritonclient has perf_analyzer."""
    older = re.compile(r"pip-differential-numpy|pip-python-.*|pip-mlserver|pip-perf-analyzer")
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


def test_what_make_run_needs_is_part_of_all() -> None:
    entries = sections()
    assert entries["pip-run"]
    assert set(entries["pip-run"]) < set(entries["pip"])


def test_every_pin_has_a_lock_with_hashes(lock: ModuleType) -> None:
    """What `tools/dev lock` writes, without asking an index."""
    pins_of = lock.sections()
    assert len(pins_of) > 20
    assert {path.stem for path in LOCKS.glob("*.txt")} == set(pins_of)
    for name, pins in pins_of.items():
        text = (LOCKS / f"{name}.txt").read_text()
        entries = text.replace(" \\\n", "").splitlines()[1:]
        locked = {entry.split()[0]: entry.split()[1:] for entry in entries}
        assert list(locked) == pins, f"{name}: run tools/dev lock"
        for pin, sums in locked.items():
            assert sums, f"{name}: {pin} has no hash"
            assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", each) for each in sums), pin


def test_pip_installs_nothing_without_hashes() -> None:
    """Each call of pip that fetches from an index asks for them."""
    for script in (PROJECT_ROOT / "tools").glob("*.sh"):
        for line in script.read_text().replace("\\\n", " ").splitlines():
            if re.search(r"\bpip\b.* (install|download) ", line) and not line.lstrip().startswith("#"):
                assert "--require-hashes" in line, f"{script.name}: {line}"


@pytest.mark.parametrize(
    ("wheel", "python", "fits"),
    [
        ("numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl", "3.11", True),
        ("numpy-2.4.6-cp314-cp314-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl", "3.11", True),
        ("numpy-2.4.6-cp314-cp314t-manylinux_2_27_x86_64.whl", "3.11", False),
        ("numpy-2.4.6-cp311-cp311-musllinux_1_2_x86_64.whl", "3.11", False),
        ("numpy-2.4.6-cp311-cp311-macosx_14_0_arm64.whl", "3.11", False),
        ("numpy-2.0.2-cp39-cp39-manylinux_2_17_x86_64.whl", "3.9", True),
        ("numpy-2.0.2-cp310-cp310-manylinux_2_17_x86_64.whl", "3.9", False),
        ("numpy-2.0.2-cp310-cp310-manylinux_2_17_x86_64.whl", "3.11", False),
        ("sh-2.4.0-py3-none-any.whl", "3.11", True),
        ("six-1.17.0-py2.py3-none-any.whl", "3.11", True),
        ("old-1.0-py2-none-any.whl", "3.11", False),
        ("ray-2.60.0-cp39-abi3-manylinux_2_17_x86_64.whl", "3.11", True),
        ("six-1.17.0.tar.gz", "3.11", False),
    ],
)
def test_which_wheels_are_locked(lock: ModuleType, wheel: str, python: str, fits: bool) -> None:
    assert lock.fits(wheel, python) == fits


def test_headers_of_onnxruntime_have_sums() -> None:
    lines = (LOCKS / "onnxruntime-headers.sha256").read_text().splitlines()
    assert all(re.fullmatch(r"[0-9a-f]{64}  include/[\w/]+\.h", line) for line in lines)
    for header in ("onnxruntime/onnxruntime_c_api.h", "plugins/onnxruntime_c_api.h"):
        assert any(line.endswith(f"include/{header}") for line in lines)
