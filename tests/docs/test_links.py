# SPDX-License-Identifier: Apache-2.0
"""Every page of docs/ can be found from docs/README.md, and pictures are where pages look for them.
Links to pages and headings are checked by tools/check_docs.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.test_pages import NAMES
from support.stage import PROJECT_ROOT

DOCS = PROJECT_ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+\.md)(?:#[^)]*)?\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)|<img [^>]*src=\"([^\"]+)\"")


def pages_from(start: Path) -> set[Path]:
    """Pages that links lead to, from page to page."""
    found = {start}
    to_read = [start]
    while to_read:
        page = to_read.pop()
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            if target.exists() and target not in found:
                found.add(target)
                to_read.append(target)
    return found


def test_every_page_is_reached_from_the_index() -> None:
    lost = set(DOCS.rglob("*.md")) - pages_from(DOCS / "README.md")
    assert sorted(str(page.relative_to(PROJECT_ROOT)) for page in lost) == []


def test_a_page_that_no_page_links_to_is_lost(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("[a](a.md#b) [gone](gone.md)\n")
    (tmp_path / "a.md").write_text("[back](README.md)\n")
    (tmp_path / "lost.md").write_text("[a](a.md)\n")
    assert pages_from(tmp_path / "README.md") == {tmp_path / "README.md", tmp_path / "a.md"}


@pytest.mark.parametrize("name", NAMES)
def test_pictures_exist(name: str) -> None:
    page = PROJECT_ROOT / name
    pictures = [a or b for a, b in PICTURE.findall(page.read_text(encoding="utf-8"))]
    assert [picture for picture in pictures if not (page.parent / picture).exists()] == []
