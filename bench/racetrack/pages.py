# SPDX-License-Identifier: Apache-2.0
"""Pages of results: a title, what was measured where, and tables, in build/bench-results."""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from pathlib import Path

from racetrack import machine
from racetrack.results import PROJECT_ROOT, RESULTS

QUIET = 0.5  # a larger load average, before the start, is said to be other work
STOLEN = 0.01  # likewise a larger share of the processor time, of the hypervisor's other guests


class Page:
    """Made before the measurements, since it notes how busy the machine was then."""

    def __init__(self, kind: str, title: str) -> None:
        """`kind`: what the file is called, before date and processor."""
        self._kind = kind
        self._title = title
        self._day = datetime.date.today().isoformat()
        self._load = os.getloadavg()[0]
        self._interference = machine.Interference()

    def text(self, about: str, *parts: str, misses: Sequence[str] = ()) -> str:
        """`about`: sentences about the measurements; `misses`: aims that were missed, with figures."""
        busy = "" if self._load <= QUIET else " **The machine was not quiet: other work ran beside this.**"
        share = self._interference.share()
        if share > STOLEN:
            busy += f" **The machine was shared: its host gave {share:.1%} of the processor time to others.**"
        where = (
            f"{machine.processor()}, {os.cpu_count()} processors; commit {machine.commit(PROJECT_ROOT)}; "
            f"load average before {self._load:.2f}.{busy} {about}"
        )
        missed = "".join(f"- missed: {miss}\n" for miss in misses).rstrip("\n")
        return "\n\n".join([f"# {self._title}, {self._day}", where, *filter(None, (missed, *parts))]) + "\n"

    def write(self, text: str, folder: Path = RESULTS) -> Path:
        """Writes the file, and prints it with its path."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self._kind}-{self._day}-{machine.host_kind()}.md"
        path.write_text(text, encoding="utf-8")
        print(f"\n{text}\n({path})")
        return path
