# SPDX-License-Identifier: Apache-2.0
"""tools/fuzz_seeds.py: seeds of fuzzers as lines of a file, and the files themselves."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT_ROOT / "tools"))

import fuzz_seeds  # noqa: E402

FILES = sorted(fuzz_seeds.SEEDS.glob("*.seeds"))
ALL_BYTES = bytes(range(256))


def write(folder: Path, text: str) -> Path:
    file = folder / "some_fuzz.seeds"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", ["", "all.of-them_1"])
@pytest.mark.parametrize("data", [ALL_BYTES, b"", b'\\x41"', b"a=b\n"])
def test_a_seed_is_one_line_and_the_same_again(name: str, data: bytes) -> None:
    seed = fuzz_seeds.Seed(name, data)
    assert fuzz_seeds.parse(seed.line()) == seed
    assert seed.line().isascii() and len(seed.line().splitlines()) == 1


@pytest.mark.parametrize(
    "line", ['name="a', 'name=a', 'a b="c"', '"a\\n"', '"a\\x0"', '"a"b"', '"\u00e9"', '"a" # why']
)
def test_a_line_that_is_none(tmp_path: Path, line: str) -> None:
    with pytest.raises(fuzz_seeds.SeedError, match=r"some_fuzz\.seeds:2: "):
        fuzz_seeds.read(write(tmp_path, f"# A comment.\n{line}\n"))


@pytest.mark.parametrize("second", ['other="a"', 'one="b"', '"a"'])
def test_a_seed_is_there_once(tmp_path: Path, second: str) -> None:
    with pytest.raises(fuzz_seeds.SeedError, match="there already"):
        fuzz_seeds.read(write(tmp_path, f'one="a"\n{second}\n'))


def test_unpacked_files(tmp_path: Path) -> None:
    write(tmp_path, '# Why.\none="a\\x00"\n\n"b"\n')
    (tmp_path / "out" / "some_fuzz").mkdir(parents=True)
    (tmp_path / "out" / "some_fuzz" / "gone").touch()
    folder = fuzz_seeds.unpack("some_fuzz", tmp_path, tmp_path / "out")
    assert folder == tmp_path / "out" / "some_fuzz"
    # Its SHA-1, as libFuzzer names what it finds.
    nameless = "e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98"
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {
        "one": b"a\0",
        nameless: b"b",
    }
    assert fuzz_seeds.unpack("other_fuzz", tmp_path, tmp_path / "out") is None


def test_a_crash_becomes_a_seed(tmp_path: Path) -> None:
    crash = tmp_path / "crash"
    crash.write_bytes(ALL_BYTES)
    fuzz_seeds.add("some_fuzz", crash, "all", tmp_path)
    crash.write_bytes(b"other")
    fuzz_seeds.add("some_fuzz", crash, "", tmp_path)
    seeds = fuzz_seeds.read(tmp_path / "some_fuzz.seeds")
    assert [(seed.name, seed.data) for seed in seeds] == [("all", ALL_BYTES), ("", b"other")]
    for name in ("again", "all", "no name"):
        with pytest.raises(fuzz_seeds.SeedError):
            fuzz_seeds.add("some_fuzz", crash, name, tmp_path)
    assert len(fuzz_seeds.read(tmp_path / "some_fuzz.seeds")) == 2


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    command = [PROJECT_ROOT / "tools" / "fuzz_seeds.py", "add", "x_fuzz", tmp_path / "nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "nowhere" in done.stderr and "Traceback" not in done.stderr


def test_every_file_belongs_to_a_target() -> None:
    folders = [PROJECT_ROOT / name for name in ("apps", "backends", "caches", "repoagents", "src")]
    lists = [path.read_text() for folder in folders for path in folder.rglob("CMakeLists.txt")]
    for file in [*FILES, *fuzz_seeds.SEEDS.glob("*.dict")]:
        name = file.stem.removesuffix("_fuzz")
        assert any(re.search(rf"\b{name}(_fuzz)?\b", text) and "_fuzzer(" in text for text in lists), file


def test_every_file_can_be_read() -> None:
    assert len(FILES) > 20
    assert sum(len(fuzz_seeds.read(file)) for file in FILES) > 250
