# SPDX-License-Identifier: Apache-2.0
"""Answers of Triton, kept as files: tests/golden/triton-2.51 (support/golden.py).

`python -m differential.golden [CASE ...]` in tests/ records them anew from the installed Triton.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from differential.all_cases import GOLDEN_CASES, GROUP_OF
from differential.answers import GrpcReply, HttpReply, request_to_json
from differential.cases import GrpcCase, HttpCase
from differential.observe import compare
from support.golden import FOLDER, Golden, patterns_of_command_line

GOLDEN = Golden(GROUP_OF, "python -m differential.golden")


def load(case: HttpCase | GrpcCase) -> HttpReply | GrpcReply:
    """The stored answer to `case`. Fails if there is none or if the request has changed since."""
    return _reply(GOLDEN.document(case.id, request_to_json(case), "request"))


def _reply(document: dict[str, Any]) -> HttpReply | GrpcReply:
    kind = HttpReply if "status" in document["answer"] else GrpcReply
    return kind.from_json(document["answer"])


def _same(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return old["request"] == new["request"] and not compare("", _reply(old), _reply(new))


def main() -> int:
    from differential.servers import original_targets

    patterns = patterns_of_command_line(__doc__.splitlines()[0])
    cases = {case.id: case for case in GOLDEN_CASES}
    with tempfile.TemporaryDirectory() as folder:
        target = original_targets(Path(folder))
        try:
            count = GOLDEN.record(
                lambda id: {
                    "request": request_to_json(cases[id]),
                    "answer": target.send(cases[id]).to_json(),
                },
                patterns,
                _same,
            )
        finally:
            target.stop(expect_clean_exit=False)
    print(f"{count} answers in {FOLDER}")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
