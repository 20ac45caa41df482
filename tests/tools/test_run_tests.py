# SPDX-License-Identifier: Apache-2.0
"""How `make test` counts: no failure may look like a pass."""

from __future__ import annotations

import importlib.util
import sys
import threading
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


PASSES_ALONE = """
from pathlib import Path
import pytest

SEEN = Path(__file__).with_name("seen")


@pytest.mark.parametrize("wait", ["a-b.c [x]"])
def test_unsteady(wait):
    before = SEEN.exists()
    SEEN.touch()
    assert before


class TestGroup:
    def test_wrong(self):
        assert False


def test_right():
    pass


def test_left_out():
    if SEEN.exists():
        pytest.skip("the second time")
    SEEN.touch()
    assert False
"""


def pytest_outcome(
    run_tests: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> object:
    (folder / "tests").mkdir()
    (folder / "tests" / "test_some.py").write_text(PASSES_ALONE)
    monkeypatch.setattr(run_tests, "ROOT", folder)
    monkeypatch.setattr(run_tests, "LOGS", folder / "logs")
    return run_tests.python_tests("python", "tests", "-k", chosen)


def test_what_fails_beside_others_is_run_again(
    run_tests: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = pytest_outcome(run_tests, tmp_path, monkeypatch, "unsteady or wrong or right")
    assert counts(outcome) == (2, 1, 0)
    assert outcome.failures == ["python: tests.test_some.TestGroup.test_wrong"]  # type: ignore[attr-defined]
    unsteady = [line for line in capsys.readouterr().out.splitlines() if "unsteady:" in line]
    assert unsteady == ["    unsteady: python: tests.test_some.test_unsteady[a-b.c [x]]"]


def test_what_is_skipped_the_second_time_has_failed(
    run_tests: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = pytest_outcome(run_tests, tmp_path, monkeypatch, "left_out")
    assert counts(outcome) == (0, 1, 0)


def test_many_failures_are_no_accident(run_tests: ModuleType, tmp_path: Path) -> None:
    many = run_tests.Outcome(passed=1, failed=run_tests.MOST_RUN_AGAIN + 1)
    assert run_tests.run_again(many, "python", tmp_path / "none.xml", {}) is many


CI_ONLY = {"asan", "tsan", "clang", "fuzz"}


@pytest.mark.parametrize(
    "ci, fuzz_seconds, steps",
    [
        (None, None, set()),
        ("false", None, set()),
        (None, "5", {"fuzz"}),
        ("true", None, CI_ONLY),
        ("true", "0", CI_ONLY - {"fuzz"}),
    ],
)
def test_what_builds_the_code_once_more_is_for_ci(
    run_tests: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    ci: str | None,
    fuzz_seconds: str | None,
    steps: set[str],
) -> None:
    for name, value in (("CI", ci), ("FUZZ_SECONDS", fuzz_seconds)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    chosen = run_tests.choose_steps(None)
    assert {"release", "stage", "python"} <= chosen.keys()
    assert chosen.keys() & CI_ONLY == steps


@pytest.mark.parametrize(
    "ci, expression, thorough, left_out",
    [
        (None, None, False, True),
        (None, None, True, False),
        (None, "http", False, False),
        ("true", None, False, False),
    ],
)
def test_thorough_tests_are_for_ci_and_for_those_who_ask(
    run_tests: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    ci: str | None,
    expression: str | None,
    thorough: bool,
    left_out: bool,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    if ci is not None:
        monkeypatch.setenv("CI", ci)
    given: list[str] = []
    monkeypatch.setattr(run_tests, "python_tests", lambda *arguments: given.extend(arguments))
    run_tests.choose_steps(expression, thorough=thorough)["python"]()
    assert ("not thorough" in given) is left_out


def test_all_fuzzers_that_are_built_run_two_at_a_time(
    run_tests: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "build" / "fuzz" / "fuzzers"
    folder.mkdir(parents=True)
    names = [f"target_{number}" for number in range(6)]
    for name in names:
        (folder / name).touch()
    both = threading.Barrier(2, timeout=30)  # nobody goes on alone
    ran = []

    def run(command: list[str | Path], seconds: int, log: str | None = None) -> bool:
        both.wait()
        ran.append(command[-1])
        return command[-1] != "target_3"

    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "build", lambda *_: True)
    monkeypatch.setattr(run_tests, "run", run)
    outcome = run_tests.fuzzers(1)
    assert sorted(ran) == names
    assert counts(outcome) == (5, 1, 0)
    assert outcome.failures == ["fuzz: target_3"]


@pytest.mark.parametrize(
    "expression, chosen",
    [(None, "not original"), ("broken or states", "(broken or states) and not original")],
)
def test_frameworks_under_the_sanitizer(
    run_tests: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    expression: str | None,
    chosen: str,
) -> None:
    skipped = 0

    def python_tests(*arguments: str, **env: str) -> object:
        assert arguments[-2:] == ("-k", chosen)
        assert env["NEREID_STAGE"] == str(run_tests.ASAN_STAGE)
        assert "TBB_ENABLE_SANITIZERS" in env
        return run_tests.Outcome(passed=3, skipped=skipped)

    monkeypatch.setattr(run_tests, "python_tests", python_tests)
    steps = run_tests.choose_steps(expression, frameworks=True, asan=True)
    assert list(steps) == ["stage", "frameworks"]
    assert counts(steps["frameworks"]()) == (3, 0, 0)
    skipped = 2
    assert counts(steps["frameworks"]()) == (3, 1, 2), "what was skipped was not tested"
