# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_trial: the kit for a real GPU, run on the simulated one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.gpus import GROUPS
from support.stage import PROJECT_ROOT, server_binary, stage_root

KIT = PROJECT_ROOT / "tools" / "gpu_trial"
sys.path.insert(0, str(KIT))

import outcomes  # noqa: E402
import trial  # noqa: E402


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_check_that_fails_leaves_the_others() -> None:
    clock = Clock()

    def good() -> dict[str, float]:
        clock.now += 2
        return {"found": 3}

    def bad() -> None:
        raise AssertionError("it is wrong")

    def missing() -> None:
        raise outcomes.Cannot("there is no GPU")

    saved: list[int] = []
    checks = [("bad", bad), ("missing", missing), ("good", good), ("late", good)]
    found = outcomes.run_checks(checks, lambda so_far: saved.append(len(so_far)), 1.0, clock)
    assert [each.state for each in found] == ["failed", "cannot", "passed", "cannot"]
    assert "it is wrong" in found[0].text
    assert found[1].text == "there is no GPU"
    assert (found[2].numbers, found[2].seconds) == ({"found": 3}, 2.0)
    assert found[3].text == "the step's 1 s were over"
    assert saved == [1, 2, 3, 4], "after each"


def test_the_page_tells_what_was_found(tmp_path: Path) -> None:
    found = [
        outcomes.Outcome("one", "passed", numbers={"tests": 12.0}, seconds=1.25),
        outcomes.Outcome("two", "cannot", "there is no Triton"),
    ]
    outcomes.save_step(tmp_path, "memory", {"GPU": "H200, 580, 143771"}, found)
    page = trial.write_page(tmp_path, tmp_path, "2026-12-01").read_text()
    assert (tmp_path / "gpu-2026-12-01.md").exists()
    assert "- GPU: H200, 580, 143771\n" in page
    assert "| one | passed | 1.2 | tests 12 |\n| two | cannot | 0.0 |  |\n" in page
    assert "`two` cannot:\n\n~~~\nthere is no Triton\n~~~" in page


def test_no_page_is_made_of_a_simulation(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no step has left anything"):
        trial.write_page(tmp_path, tmp_path, "2026-12-01")
    outcomes.save_step(tmp_path, "cores", {"GPU": "simulated: nothing"}, [])
    with pytest.raises(SystemExit, match="real GPUs only"):
        trial.write_page(tmp_path, tmp_path, "2026-12-01")


def test_what_is_packed_is_not_larger_than_what_may_be_carried(tmp_path: Path) -> None:
    stage = tmp_path / "stage"
    for name in trial.STAGED:
        (stage / name).mkdir(parents=True)
        (stage / name / "file").write_bytes(os.urandom(2000))
    program = tmp_path / "test"
    program.write_bytes(b"program")
    archive = trial.pack(stage, program, tmp_path / "kit")
    import tarfile

    with tarfile.open(archive) as tar:
        names = tar.getnames()
    assert "gpu-trial/build/stage/trial/driver_contract_test" in names
    assert "gpu-trial/build/stage/backends/testing/file" in names
    assert "gpu-trial/tools/gpu_trial/trial.py" in names
    assert "gpu-trial/tests/support/gpus.py" in names
    assert not [name for name in names if "__pycache__" in name]
    with pytest.raises(SystemExit, match="more than 1000"):
        trial.pack(stage, program, tmp_path / "kit", 1000)
    with pytest.raises(SystemExit, match="there is no"):
        trial.pack(stage, tmp_path / "nowhere", tmp_path / "kit")


@pytest.fixture
def stage() -> Iterator[Path]:
    """The kit sets a variable of the process."""
    before = os.environ.get("NEREID_STAGE")
    yield stage_root()
    os.environ.pop("NEREID_STAGE", None)
    if before is not None:
        os.environ["NEREID_STAGE"] = before


def run(step: str, stage: Path, out: Path, *more: str) -> tuple[int, dict[str, dict[str, Any]]]:
    words = ["run", step, f"--out={out}", f"--stage={stage}", "--simulated", "--seconds=0.3", *more]
    code = trial.main(words)
    document = json.loads((out / f"{step}.json").read_text())
    assert document["machine"]["GPU"].startswith("simulated")
    return code, {each["check"]: each for each in document["outcomes"]}


def test_contract(stage: Path, tmp_path: Path) -> None:
    code, found = run("contract", stage, tmp_path)
    assert code == 0, found
    assert found["driver contract"]["state"] == "cannot"
    assert "`trial.py pack` puts it there" in found["driver contract"]["text"]
    assert found["tensors through the GPU"]["state"] == "passed"
    assert found["measurements"]["numbers"]["nv_gpu_memory_total_bytes"] == 2**30


def test_triton(stage: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our own program stands for Triton's."""
    import steps

    monkeypatch.setattr(steps, "GROUPS", {name: GROUPS[name] for name in ("open", "too_high")})
    _, found = run("triton", stage, tmp_path)
    assert found["placement like Triton"]["state"] == "cannot"
    other = server_binary("tritonserver").parents[1]
    _, found = run("triton", stage, tmp_path, f"--triton={other}")
    assert found["placement like Triton"]["state"] == "passed", found
    assert found["placement like Triton"]["numbers"] == {"models": 2.0}


def test_models(stage: Path, tmp_path: Path) -> None:
    code, found = run("models", stage, tmp_path)
    assert code == 0, found
    assert "computes on CPUs" in found["onnxruntime"]["text"]
    assert {each["state"] for each in found.values()} == {"cannot"}


def test_memory(stage: Path, tmp_path: Path) -> None:
    code, found = run("memory", stage, tmp_path)
    assert code == 0, found
    assert found["regions"]["state"] == "passed"
    assert found["race"]["numbers"]["requests_per_s_4"] > 0
    assert found["official client"]["state"] == "cannot"


def test_cores(stage: Path, tmp_path: Path) -> None:
    code, found = run("cores", stage, tmp_path)
    assert code == 0, found
    assert found["cores"]["numbers"]["requests_per_s_1"] > 0
