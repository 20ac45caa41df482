#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs all tests, for `make test` and CI. Run tools/setup.sh first.

    tools/run_tests.py [--only STEP ...] [--list] [--frameworks [--asan]] [--thorough] [-k EXPRESSION]

Every step runs, even if earlier ones have failed. The last line is `N passed, N failed`. It counts
CTest programs, pytest cases, and every other check as one (a build that fails, the include rules,
the ABI, a fuzzer). Python tests with the mark `thorough` run with --thorough, with -k, and in CI. Environment:

    CI=true          also --thorough, and the steps that build the code again: the sanitizers (asan by clang with
                     -Wthread-safety -Werror), and 20 seconds of each fuzzer; the programs
                     of others (tests/conformance), which otherwise run where they are installed;
                     and the packages (tests/installation) and the Python wheel
                     (tests/python_wheel), otherwise where they have been made
    FUZZ_SECONDS=N   fuzz each target for N seconds, also without CI=true; 0: none
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "logs"
STAGE = ROOT / "build" / "stage"
LOG_LINES_SHOWN = 80
CASE_LINES_SHOWN = 20  # of a failed program of CTest
FUZZERS_AT_A_TIME = 2
FRAMEWORK_TESTS = "tests/frameworks"  # these skip backends that are not staged
ASAN_FRAMEWORKS = "asan-gcc-server-frameworks"  # as in tools/build.sh
ASAN_STAGE = ROOT / "build" / f"stage-{ASAN_FRAMEWORKS}"
ASAN_ENVIRONMENT = {
    # A framework that asks for 2^63 bytes gets none, as without the sanitizer, and says so.
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1"
    ":allocator_may_return_null=1",
    # TBB opens its libraries with RTLD_DEEPBIND otherwise, which the sanitizer refuses.
    "TBB_ENABLE_SANITIZERS": "1",
}
CONFORMANCE_TESTS = "tests/conformance"
# Files of tests that run at a time, for each core: most tests wait for servers.
FILES_PER_CORE = 2
WITHOUT_THOROUGH = "not thorough"
MOST_RUN_AGAIN = 5  # more failures than that are no accident
PACKAGING_TESTS = "tests/installation"
WHEEL_TESTS = "tests/python_wheel"
PACKAGES = (PACKAGING_TESTS, WHEEL_TESTS)
WHEELS = ROOT / "build/packages"
# `tools/dev kubernetes-check` and `tools/dev ray-check`: what they need takes long to install.
OWN_TARGETS = ("tests/kubernetes", "tests/ray_serve")
CONFORMANCE_INSTALLED = ROOT / "build/deps/conformance/nereid.stamp"
PACKAGES_MADE = ROOT / "build/packages/deb.stamp"


@dataclass
class Outcome:
    """The result of a step: counts, and the names of the failures."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    @staticmethod
    def of(ok: bool, what: str) -> Outcome:
        return Outcome(passed=1) if ok else Outcome(failed=1, failures=[what])


def run(command: list[str | Path], seconds: int, log: str | None = None, **env: str) -> bool:
    """Runs a command in the project's root. If it takes too long, its process group is ended.

    With `log`, its output goes to that file under build/logs, and its end is shown on failure.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / f"{log}.log"
    sink = path.open("wb") if log else None
    with subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=sink,
        stderr=subprocess.STDOUT if sink else None,
        start_new_session=True,
    ) as process:
        try:
            ok = process.wait(timeout=seconds) == 0
        except subprocess.TimeoutExpired:
            print(f"    took longer than {seconds} s: {' '.join(map(str, command))}")
            ok = False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if sink:
        sink.close()
        if not ok:
            lines = path.read_text(errors="replace").splitlines()[-LOG_LINES_SHOWN:]
            print("\n".join(f"    {line}" for line in lines))
            print(f"    (log: {path.relative_to(ROOT)})")
    return ok


def end_of_case(output: str) -> str:
    """What a failed program of CTest said: the first failure of GoogleTest, or else its end."""
    lines = output.splitlines()
    first = next((i for i, line in enumerate(lines) if line.endswith(": Failure")), None)
    shown = lines[-CASE_LINES_SHOWN:] if first is None else lines[first:][:CASE_LINES_SHOWN]
    return "".join(f"    {line}\n" for line in shown)


def read_junit(path: Path, what: str) -> Outcome:
    """The counts in a JUnit report. A missing report, or one without tests, is a failure."""
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (FileNotFoundError, ElementTree.ParseError):
        return Outcome.of(False, f"{what}: no report")
    outcome = Outcome()
    for case in cases:
        # pytest may report an error in addition to a failure or instead of it. CTest reports
        # "notrun" for a program that it could not start.
        wrong = any(case.find(tag) is not None for tag in ("failure", "error"))
        if wrong or case.get("status") == "notrun":
            outcome.failed += 1
            outcome.failures.append(f"{what}: {case.get('classname')}.{case.get('name')}")
            print(end_of_case(case.findtext("system-out") or ""), end="")
        elif case.find("skipped") is not None or case.get("status") == "disabled":
            outcome.skipped += 1
        else:
            outcome.passed += 1
    if not cases:
        return Outcome.of(False, f"{what}: no tests")
    return outcome


def build(preset: str, *targets: str) -> bool:
    return run(["tools/build.sh", preset, *targets], 3600, f"build-{preset}")


def unit_tests(preset: str) -> Outcome:
    if not build(preset):
        return Outcome.of(False, f"{preset}: build")
    report = LOGS / f"unit-{preset}.xml"
    report.unlink(missing_ok=True)
    command: list[str | Path] = ["ctest", "--preset", preset, "--output-junit", report]
    command += ["--parallel", str(os.cpu_count() or 1)]
    ok = run([*without_address_randomisation(preset), *command], 1200, f"unit-{preset}")
    outcome = read_junit(report, preset)
    if not ok and outcome.failed == 0:
        return Outcome.of(False, f"{preset}: ctest")
    return outcome


def without_address_randomisation(preset: str) -> list[str]:
    """A prefix for commands under ThreadSanitizer, which finds no room for its shadow memory if the
    kernel randomises addresses widely."""
    prefix = ["setarch", os.uname().machine, "--addr-no-randomize"]
    if preset != "tsan":
        return []
    try:
        works = subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        works = False
    return prefix if works else []


def include_rules() -> Outcome:
    ok = run([sys.executable, "tools/check_includes.py"], 60, "check_includes")
    return Outcome.of(ok, "include rules")


def c_boundary() -> Outcome:
    ok = run([sys.executable, "tools/check_c_boundary.py"], 60, "check_c_boundary")
    return Outcome.of(ok, "C boundary")


def docs() -> Outcome:
    return Outcome.of(run([sys.executable, "tools/check_docs.py"], 60, "check_docs"), "docs")


def console() -> Outcome:
    """The page in the tree against its sources, without Node.js."""
    ok = run([sys.executable, "tools/check_console.py"], 60, "check_console")
    return Outcome.of(ok, "console")


def licences() -> Outcome:
    return Outcome.of(run([sys.executable, "tools/spdx.py"], 60, "spdx"), "licences")


def stage() -> Outcome:
    return Outcome.of(run(["tools/stage.sh"], 3600, "stage"), "stage")


def abi() -> Outcome:
    library = STAGE / "lib" / "libtritonserver.so"
    command: list[str | Path] = [sys.executable, "tools/check_abi.py", library, "--others", STAGE]
    return Outcome.of(run(command, 60, "abi"), "abi")


def stage_asan_frameworks() -> Outcome:
    """The server and the backends of the frameworks under AddressSanitizer, and what makes models
    for their tests."""
    install = ["cmake", "--install", f"build/{ASAN_FRAMEWORKS}", "--prefix", ASAN_STAGE]
    ok = (
        build("release", "torch_models")
        and build(ASAN_FRAMEWORKS)
        and run(install, 600, f"stage-{ASAN_FRAMEWORKS}")
    )
    return Outcome.of(ok, ASAN_FRAMEWORKS)


def asan_framework_tests(expression: str | None) -> Outcome:
    """Without the tests of Triton, which cannot load what is linked to the sanitizer. A
    test that is skipped counts as failed: all that these need was installed."""
    chosen = "not original" if expression is None else f"({expression}) and not original"
    outcome = python_tests(
        ASAN_FRAMEWORKS,
        FRAMEWORK_TESTS,
        "-k",
        chosen,
        NEREID_STAGE=str(ASAN_STAGE),
        **ASAN_ENVIRONMENT,
    )
    if outcome.skipped:
        outcome.failed += 1
        outcome.failures.append(f"{ASAN_FRAMEWORKS}: {outcome.skipped} tests were skipped")
    return outcome


def python_tests(what: str, folder: str, *arguments: str, **env: str) -> Outcome:
    report = LOGS / f"{what}.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", folder, f"--junitxml={report}", *arguments]
    pythons = sorted((ROOT / "build/deps/pythons").glob("*/bin/python"))
    versions = [platform.python_version(), *(path.parts[-3] for path in pythons)]
    print(f"    (models in Python run in Python {', '.join(versions)})", flush=True)
    if WITHOUT_THOROUGH in arguments:
        print("    (without the thorough ones: make test ARGS=--thorough runs them, too)", flush=True)
    named = os.pathsep.join(map(str, pythons))
    environment = {"NEREID_STAGE": str(STAGE), "NEREID_PYTHONS": named, **env}
    ok = run(command, 1800, what, **environment)
    outcome = read_junit(report, what)
    if not ok and outcome.failed == 0:
        return Outcome.of(False, f"{what}: pytest")
    return run_again(outcome, what, report, environment)


def node_of_pytest(classname: str, name: str) -> str | None:
    """What names the test of a JUnit report in a command of pytest; None: it was not in a file."""
    parts = classname.split(".")
    for size in range(len(parts), 0, -1):
        file = Path(*parts[:size]).with_suffix(".py")
        if (ROOT / file).is_file():
            return "::".join([str(file), *parts[size:], name])
    return None


def run_again(first: Outcome, what: str, report: Path, environment: dict[str, str]) -> Outcome:
    """Runs a few failed tests once more, one after the other and with nothing beside them. A machine
    that others use can be too slow for a test that waits for something; what fails again is wrong.
    A test that passes then is named as unsteady, for somebody to mend."""
    if not 0 < first.failed <= MOST_RUN_AGAIN:
        return first
    cases = ElementTree.parse(report).getroot().iter("testcase")
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    nodes = [node_of_pytest(case.get("classname") or "", case.get("name") or "") for case in failed]
    if not nodes or None in nodes:
        return first
    second_report = report.with_name(f"{what}-again.xml")
    second_report.unlink(missing_ok=True)
    print(f"    run again: {', '.join(map(str, nodes))}", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", *nodes, f"--junitxml={second_report}"]
    run(command, 900, f"{what}-again", **environment)
    second = read_junit(second_report, what)
    # What is skipped now, or gone, has not passed.
    mended = second.passed if second.passed + second.failed == first.failed else 0
    for name in set(first.failures) - set(second.failures) if mended else ():
        print(f"    unsteady: {name}", flush=True)
    return Outcome(
        first.passed + mended,
        first.failed - mended,
        first.skipped,
        second.failures if mended else first.failures,
    )


def conformance(selection: list[str]) -> Outcome:
    """Programs of others against the ports, and their gRPC clients against a server of ours."""
    if not run(["tools/setup.sh", "--conformance"], 1200, "setup-conformance"):
        return Outcome.of(False, "conformance: set-up")
    if not build("release", "grpc_interop_server"):
        return Outcome.of(False, "conformance: build")
    return python_tests("conformance", CONFORMANCE_TESTS, *selection)


def packaging(selection: list[str]) -> Outcome:
    """Installations and packages, on roots of their own."""
    if not run(["tools/setup.sh", "--packages"], 1200, "setup-packages"):
        return Outcome.of(False, "packaging: set-up")
    if not run(["tools/make_deb.sh"], 3600, "make-deb", DEB_COMPRESSION="gzip"):
        return Outcome.of(False, "packaging: make package KIND=deb")
    return python_tests("packaging", PACKAGING_TESTS, *selection)


def wheel(selection: list[str]) -> Outcome:
    """The Python wheel: made, and installed into clean environments."""
    if not run(["tools/make_wheel.sh"], 3600, "make-wheel"):
        return Outcome.of(False, "wheel: making it")
    return python_tests("wheel", WHEEL_TESTS, *selection)


def format_of_sources() -> Outcome:
    ok = run(["tools/format.sh", "--check"], 600, "format")
    return Outcome.of(ok, "format: make format mends it")


def clang_build() -> Outcome:
    """What the preset `asan` does not compile: it has no allocator of ours. It has compiled all else by clang with
    -Wthread-safety -Werror before."""
    return Outcome.of(build("lint-unity", "nereid_allocator"), "clang -Wthread-safety -Werror")


def fuzzers(seconds: int) -> Outcome:
    command = [sys.executable, "tools/run_fuzzers.py", "--seconds", str(seconds)]
    if not build("fuzz"):
        return Outcome.of(False, "fuzz: build")
    targets = sorted(path.name for path in (ROOT / "build/fuzz/fuzzers").iterdir())
    if not targets:
        return Outcome.of(False, "fuzz: no targets")
    with ThreadPoolExecutor(FUZZERS_AT_A_TIME) as pool:
        clean = pool.map(
            lambda name: run([*command, name], seconds + 120, f"fuzz-{name}"), targets
        )
        failures = [f"fuzz: {name}" for name, ok in zip(targets, clean) if not ok]
    return Outcome(len(targets) - len(failures), len(failures), failures=failures)


def choose_steps(
    expression: str | None, frameworks: bool = False, asan: bool = False, thorough: bool = False
) -> dict[str, Callable[[], Outcome]]:
    """The steps to run in this environment, cheap ones first; with `frameworks`, those of `tools/dev
    frameworks-test`, and with `asan` these under AddressSanitizer."""
    selection = ["-k", expression] if expression else []
    if frameworks and asan:
        return {
            "stage": stage_asan_frameworks,
            "frameworks": lambda: asan_framework_tests(expression),
        }
    if frameworks:
        return {
            "release": lambda: unit_tests("release"),
            "stage": stage,
            "frameworks": lambda: python_tests("frameworks", FRAMEWORK_TESTS, *selection),
        }
    in_ci = os.environ.get("CI") == "true"
    # Who names tests wants those.
    some = [] if in_ci or thorough or expression else ["-m", WITHOUT_THOROUGH]
    fuzz_seconds = int(os.environ.get("FUZZ_SECONDS") or (20 if in_ci else 0))
    steps: dict[str, Callable[[], Outcome]] = {
        "includes": include_rules,
        "boundary": c_boundary,
        "docs": docs,
        "console": console,
        "licences": licences,
        "release": lambda: unit_tests("release"),
        "stage": stage,
        "abi": abi,
        "python": lambda: python_tests(
            "python",
            "tests",
            f"--numprocesses={FILES_PER_CORE * (os.cpu_count() or 1)}",
            "--dist=loadfile",
            *(f"--ignore={folder}" for folder in (CONFORMANCE_TESTS, *PACKAGES, *OWN_TARGETS)),
            *some,
            *selection,
        ),
    }
    if in_ci or PACKAGES_MADE.exists():
        steps["packaging"] = lambda: packaging(selection)
    if in_ci or CONFORMANCE_INSTALLED.exists():
        steps["conformance"] = lambda: conformance(selection)
    if in_ci or list(WHEELS.glob("nereid_server-*.whl")):
        steps["wheel"] = lambda: wheel(selection)
    if in_ci:
        steps["format"] = format_of_sources
        steps["asan"] = lambda: unit_tests("asan")
        steps["tsan"] = lambda: unit_tests("tsan")
        steps["clang"] = clang_build
    if fuzz_seconds > 0:
        steps["fuzz"] = lambda: fuzzers(fuzz_seconds)
    return steps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="STEP", help="run these steps")
    parser.add_argument("--list", action="store_true", help="print the names of the steps")
    parser.add_argument("--frameworks", action="store_true", help="the steps of frameworks-test")
    parser.add_argument("--asan", action="store_true", help="these under AddressSanitizer")
    parser.add_argument("--thorough", action="store_true", help="also the long Python tests, as in CI")
    parser.add_argument("-k", metavar="EXPRESSION", help="which Python tests, as in pytest")
    arguments = parser.parse_args()
    if arguments.asan and not arguments.frameworks:
        parser.error("--asan goes with --frameworks")
    steps = choose_steps(arguments.k, arguments.frameworks, arguments.asan, arguments.thorough)
    if arguments.list:
        print("\n".join(steps))
        return 0
    if unknown := set(arguments.only or []) - set(steps):
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(steps)}")

    total = Outcome()
    for name in arguments.only or steps:
        print(f"test: {name} ...", flush=True)
        begin = time.monotonic()
        outcome = steps[name]()
        took = time.monotonic() - begin
        skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
        counts = f"{outcome.passed} passed, {outcome.failed} failed{skipped}"
        print(f"test: {name}: {counts} ({took:.0f} s)", flush=True)
        total.passed += outcome.passed
        total.failed += outcome.failed
        total.failures += outcome.failures
    for failure in total.failures:
        print(f"failed: {failure}")
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
