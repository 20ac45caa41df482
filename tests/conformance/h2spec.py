# SPDX-License-Identifier: Apache-2.0
"""Running h2spec: the names of its cases, and what its report says about each of them."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

REPORT_SECONDS = 400.0  # a case that fails waits two seconds for a better answer; there are 147

_PARTS = (("Generic", "generic"), ("Hypertext", "http2"), ("HPACK", "hpack"))
_SECTION = re.compile(r"\s+(\d+(?:\.\d+)*)\. ")
_CASE = re.compile(r"\s+(\d+): (.+)")


@dataclass(frozen=True)
class Case:
    """A case of h2spec. `h2spec -S ... ID` runs it alone."""

    part: str  # with the section: http2/5.1.1
    number: int  # in its section
    title: str

    @property
    def id(self) -> str:
        return f"{self.part}/{self.number}"


@dataclass(frozen=True)
class Result:
    """What became of a case."""

    verdict: str  # passed, failed or skipped
    detail: str = ""  # the frames expected, and at last the one that came


def list_cases(program: Path) -> list[Case]:
    """All cases, strict ones included, in the order in which they run."""
    listing = subprocess.run(
        [program, "--dryrun", "--strict"], capture_output=True, text=True, check=True, timeout=30
    ).stdout
    cases = []
    part = section = ""
    for line in listing.splitlines():
        part = next((name for title, name in _PARTS if line.startswith(title)), part)
        if match := _SECTION.match(line):
            section = match[1]
        elif match := _CASE.match(line):
            cases.append(Case(f"{part}/{section}", int(match[1]), match[2].strip()))
    return cases


def run(
    program: Path, host: str, port: int, folder: Path, tls: bool = False
) -> dict[tuple[str, str], Result]:
    """Runs all cases against a server; the results by part and title. Believes any certificate."""
    report = folder / "h2spec.xml"
    # A route that takes a POST with a body. On others, the server would refuse a request at its
    # head, before it gets to what the case does wrong.
    path = "/v2/logging"
    command = [program, "--strict", "-h", host, "-p", str(port), "-P", path, "-j", report]
    if tls:
        command += ["--tls", "--insecure"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=REPORT_SECONDS)
    # It ends with 1 and without a report when a connection is refused.
    assert report.exists(), f"h2spec gave up:\n{(done.stdout + done.stderr)[-2000:]}"
    return {
        (case.get("package", ""), case.get("classname", "")): _result(case)
        for case in ElementTree.parse(report).getroot().iter("testcase")
    }


def _result(case: ElementTree.Element) -> Result:
    for tag, verdict in (("error", "failed"), ("failure", "failed"), ("skipped", "skipped")):
        entry = case.find(tag)
        if entry is not None:
            *expected, actual = (entry.text or "").splitlines() or [""]
            return Result(verdict, f"expected {' or '.join(expected)}; got {actual}")
    return Result("passed")
