# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the documents do what the pages say (README.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.blocks import read_page
from docs.page_runner import PageRunner, WrongPage
from support.stage import PROJECT_ROOT

# Decisions quote code of their time.
PAGES = [
    PROJECT_ROOT / "README.md",
    *sorted(
        page
        for folder in ("docs", "examples")
        for page in (PROJECT_ROOT / folder).rglob("*.md")
        if "adr" not in page.parts
    ),
]
NAMES = [str(page.relative_to(PROJECT_ROOT)) for page in PAGES]


@pytest.mark.parametrize("name", NAMES)
def test_every_block_is_marked(name: str) -> None:
    blocks = read_page(PROJECT_ROOT / name)
    unmarked = [f"{name}:{block.line}" for block in blocks if not block.verb]
    assert unmarked == [], "tests/docs/README.md says how to mark a block"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", [name for name in NAMES if read_page(PROJECT_ROOT / name)])
def test_page(name: str, tmp_path: Path) -> None:
    with PageRunner(tmp_path) as runner:
        for block in read_page(PROJECT_ROOT / name):
            try:
                if block.verb:
                    runner.do(block)
            except WrongPage as error:
                pytest.fail(f"{name}:{block.line}: {error}", pytrace=False)
