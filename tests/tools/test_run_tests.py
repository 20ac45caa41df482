"""How `make test` counts: nothing that went wrong may look like a pass."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def run_tests() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "run_tests", PROJECT_ROOT / "tools" / "run_tests.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def counts(outcome: object) -> tuple[int, int, int]:
    return outcome.passed, outcome.failed, outcome.skipped  # type: ignore[attr-defined]


def test_pytest_report(run_tests: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase classname="a" name="good"/>
        <testcase classname="a" name="bad"><failure message="x"/></testcase>
        <testcase classname="a" name="broken"><error message="x"/></testcase>
        <testcase classname="a" name="left_out"><skipped message="x"/></testcase>
        </testsuite></testsuites>"""
    )
    outcome = run_tests.read_junit(report, "python")
    assert counts(outcome) == (1, 2, 1)
    assert outcome.failures == ["python: a.bad", "python: a.broken"]


def test_ctest_report(run_tests: ModuleType, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuite>
        <testcase name="clock_test" classname="clock_test" status="run"/>
        <testcase name="off_test" classname="off_test" status="disabled"/>
        <testcase name="log_test" classname="log_test" status="fail">
          <failure message=""/></testcase>
        </testsuite>"""
    )
    assert counts(run_tests.read_junit(report, "release")) == (1, 1, 1)


def test_a_ctest_program_that_could_not_run_is_a_failure(
    run_tests: ModuleType, tmp_path: Path
) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuite><testcase name="gone_test" classname="gone_test" status="notrun">
        <skipped message="Unable to find executable"/></testcase></testsuite>"""
    )
    assert counts(run_tests.read_junit(report, "release")) == (0, 1, 0)


@pytest.mark.parametrize("text", [None, "", "<testsuite/>", "<testsuite"])
def test_no_test_is_a_failure(run_tests: ModuleType, tmp_path: Path, text: str | None) -> None:
    report = tmp_path / "report.xml"
    if text is not None:
        report.write_text(text)
    assert counts(run_tests.read_junit(report, "release")) == (0, 1, 0)


def test_a_command_that_takes_too_long_has_failed(
    run_tests: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "LOGS", tmp_path / "logs")
    assert run_tests.run(["true"], 10, "good")
    assert not run_tests.run(["false"], 10, "bad")
    assert not run_tests.run(["sleep", "60"], 0, "slow")


def test_a_fuzz_step_only_where_asked_for(
    run_tests: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("FUZZ_SECONDS", raising=False)
    assert not {"fuzz", "clang"} & set(run_tests.choose_steps(None))
    monkeypatch.setenv("FUZZ_SECONDS", "5")
    assert "fuzz" in run_tests.choose_steps(None)
    monkeypatch.delenv("FUZZ_SECONDS")
    monkeypatch.setenv("CI", "true")
    assert {"fuzz", "clang"} <= set(run_tests.choose_steps(None))
