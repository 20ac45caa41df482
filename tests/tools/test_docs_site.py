# SPDX-License-Identifier: Apache-2.0
"""tools/docs_site.py: the pages of the project as a site."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT_ROOT / "tools"))

import docs_site  # noqa: E402

TREE = {
    "README.md": "# A `project`\n\nSee [models](docs/models), [a page](docs/models/a.md#a-part).\n",
    "docs/models/README.md": "# Models\n\nText:\n- an item\n- [code](../../src/a.h), [no page](../../src)\n",
    "docs/models/a.md": "# A\n\n## A part\n\n```sh\n- [kept](as it is)\n```\n",
    "src/a.h": "// A.\n",
    "tests/notes.md": "# Notes\n",
}
needs_mkdocs = pytest.mark.skipif(
    not (docs_site.PACKAGES / "mkdocs").is_dir(), reason="tools/setup.sh --docs installs mkdocs"
)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for name, text in TREE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(docs_site, "ROOT", root)
    monkeypatch.setattr(docs_site, "SITE", root / "build/docs-site")
    return root


def test_pages_as_mkdocs_wants_them(tree: Path) -> None:
    pages = docs_site.Pages(tree)
    assert sorted(pages.texts) == ["README.md", "docs/models/README.md", "docs/models/a.md"]
    assert "[models](docs/models/README.md), [a page](docs/models/a.md#a-part)" in pages.staged(
        "README.md"
    )
    staged = pages.staged("docs/models/README.md")
    assert staged == "# Models\n\nText:\n\n- an item\n- [code](../../src/a.h), no page\n"
    assert pages.files == {"src/a.h"}
    assert pages.staged("docs/models/a.md") == TREE["docs/models/a.md"]


def test_the_menu_has_each_page_once(tree: Path) -> None:
    assert docs_site.Pages(tree).menu() == [
        {"Start": [{"A project": "README.md"}]},
        {"Models": [{"Models": "docs/models/README.md"}, {"A": "docs/models/a.md"}]},
    ]


@needs_mkdocs
def test_a_small_site(tree: Path) -> None:
    assert docs_site.build()
    html = tree / "build/docs-site/html"
    assert 'href="docs/models/a.html#a-part"' in (html / "index.html").read_text()
    assert (html / "src/a.h").read_text() == "// A.\n"
    found = json.loads((html / "search/search_index.json").read_text())["docs"]
    assert "docs/models/a.html#a-part" in {entry["location"] for entry in found}


@needs_mkdocs
@pytest.mark.parametrize("link", ["docs/gone.md", "docs/models/a.md#gone"])
def test_a_link_to_nowhere_is_an_error(
    tree: Path, link: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tree / "README.md").write_text(f"# A\n\n[b]({link})\n")
    assert not docs_site.build()
    assert "gone" in capfd.readouterr().err


@needs_mkdocs
def test_the_site_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    site = PROJECT_ROOT / "build/docs-site-test"
    monkeypatch.setattr(docs_site, "SITE", site)
    assert docs_site.build()
    found = json.loads((site / "html/search/search_index.json").read_text())["docs"]
    places = {entry["location"] for entry in found}
    assert "docs/models/configuration.html#dynamic-batching" in places
    assert "docs/protocol/inference.html#classification" in places
