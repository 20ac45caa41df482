"""Answers of Triton, kept as files: tests/golden/original-2.51/<case>.json.

`python -m differential.golden` in tests/ writes them again from the installed original.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from differential.answers import GrpcReply, HttpReply, request_to_json
from differential.cases import GrpcCase, HttpCase
from support.stage import PROJECT_ROOT

FOLDER = PROJECT_ROOT / "tests" / "golden" / "original-2.51"


def path_of(case: str) -> Path:
    return FOLDER / f"{case}.json"


def load(case: HttpCase | GrpcCase) -> HttpReply | GrpcReply:
    """The stored answer to `case`. Fails if there is none or if the request has changed since."""
    path = path_of(case.id)
    assert path.exists(), f"No golden answer {path.name}: run 'python -m differential.golden'."
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["request"] == _plain(request_to_json(case)), (
        f"The request of {case.id} has changed: run 'python -m differential.golden'."
    )
    kind = HttpReply if isinstance(case, HttpCase) else GrpcReply
    return kind.from_json(document["answer"])


def store(case: HttpCase | GrpcCase, reply: HttpReply | GrpcReply) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    document = {"request": _plain(request_to_json(case)), "answer": _plain(reply.to_json())}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    path_of(case.id).write_text(text, encoding="utf-8")


def _plain(document: Any) -> Any:
    """The document as it would be read from a file: with lists instead of tuples."""
    return json.loads(json.dumps(document))


def main() -> int:
    from differential.all_cases import GOLDEN_CASES
    from differential.servers import original_targets

    for stale in FOLDER.glob("*.json"):
        stale.unlink()
    with tempfile.TemporaryDirectory() as folder:
        target = original_targets(Path(folder))
        try:
            for case in GOLDEN_CASES:
                store(case, target.send(case))
        finally:
            target.stop(expect_clean_exit=False)
    print(f"{len(GOLDEN_CASES)} answers in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
