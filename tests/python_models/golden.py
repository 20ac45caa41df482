# SPDX-License-Identifier: Apache-2.0
"""Answers of Triton with its own Python backend: tests/golden/triton-2.51/python-*.jsonl.

`python -m python_models.golden [CASE ...]` in tests/ records them anew from the installed Triton.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from python_models.all_cases import GOLDEN_CASES, GROUP_OF
from python_models.steps import Case
from support.golden import FOLDER, Golden, patterns_of_command_line

GOLDEN = Golden(GROUP_OF, "python -m python_models.golden")


def load(case: Case) -> list[Any]:
    """The stored answers to a case. Fails if there are none, or if the case has changed since."""
    return GOLDEN.document(case.id, case.request_text(), "steps")["answers"]


def main() -> int:
    from python_models.servers import ORIGINAL, Runner

    patterns = patterns_of_command_line(__doc__.splitlines()[0])
    cases = {case.id: case for case in GOLDEN_CASES}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(ORIGINAL, Path(folder))
        try:
            count = GOLDEN.record(
                lambda id: {
                    "steps": cases[id].request_text(),
                    "answers": runner.answers(cases[id]),
                },
                patterns,
            )
        finally:
            runner.stop()
    print(f"{count} answers in {FOLDER}")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
