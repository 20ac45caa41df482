#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a site of the project's pages, with a search, in build/docs-site/html.

    tools/docs_site.sh             installs mkdocs into build/deps/docs, then runs this
    tools/docs_site.py [--serve]   --serve: serves the site on port 8080 afterwards

The pages are the Markdown files of the project, as they are: the site has no text of its own. Every
link and every heading that a page names has to exist, or the build fails.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_includes import project_files  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "build/deps/docs"
SITE = ROOT / "build/docs-site"
PORT = 8080

# The menu: titles, and the folders or pages (without .md) that stand below them, in this order. What
# does not exist is left out.
MENU = {
    "Start": ["README", "docs/README", "docs/start", "docs/concepts", "docs"],
    "Models": ["docs/models"],
    "Protocol": ["docs/protocol"],
    "Operate": ["docs/operate", "deploy"],
    "In Python": ["docs/python", "python"],
    "Examples": ["examples/README", "examples"],
    "Reference": ["docs/reference/README", "docs/reference"],
    "Backends": ["backends/README", "backends"],
    "Benchmarks": ["bench"],
    "Architecture": ["ARCHITECTURE", "docs/architecture"],
    "Decisions": ["docs/adr/README", "docs/adr"],
    "Modules": ["src", "apps", "caches", "repoagents", "console"],
    "Project": ["."],
}
# The theme keeps the text of cells on one line, and pages narrow.
STYLE = """\
.wy-nav-content { max-width: 1200px; }
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal; }
.rst-content code { white-space: pre-wrap; }
"""
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
LIST_ITEM = re.compile(r"^( *)(?:[-*]|\d+\.) ")


def title_of(text: str, name: str) -> str:
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return found[1].replace("`", "") if found else name


class Pages:
    """The pages of the site, and the files that they link to."""

    def __init__(self, root: Path) -> None:
        self._root = root
        names = sorted(n for n in project_files(root) if n.endswith(".md"))
        # The tests' own notes are for those who have the sources anyway.
        self.texts = {n: (root / n).read_text() for n in names if not n.startswith("tests/")}
        self.files: set[str] = set()

    def staged(self, name: str) -> str:
        """A page as mkdocs wants it."""
        lines = self.texts[name].splitlines()
        out: list[str] = []
        fence = ""
        for line in lines:
            mark = FENCE.match(line)
            if fence:
                if mark and mark[1].startswith(fence):
                    fence = ""
                out.append(line)
                continue
            if mark:
                fence = mark[1]
            elif not line.startswith("    "):
                line = LINK.sub(functools.partial(self._link, name), line)
            # Python's Markdown begins a list or a fence inside a paragraph only after an empty line.
            starts = mark or (LIST_ITEM.match(line) and out and not LIST_ITEM.match(out[-1]))
            if starts and out and out[-1].strip() and not out[-1].startswith((" ", "|", "#")):
                out.append("")
            out.append(line)
        return "\n".join(out) + "\n"

    def _link(self, page: str, link: re.Match[str]) -> str:
        """A link to a page stays; other files come along; a folder becomes its page, or text."""
        image, text, target = link.groups()
        path, _, anchor = target.partition("#")
        if "://" in target or not path:
            return link[0]
        name = os.path.normpath(PurePosixPath(page).parent / path)
        if (self._root / name).is_dir():
            inside = f"{name}/README.md".removeprefix("./")
            return f"[{text}]({path.rstrip('/')}/README.md)" if inside in self.texts else text
        if name in self.texts or not (self._root / name).exists():
            return link[0]  # mkdocs refuses what does not exist
        if name.startswith("tests/"):
            return text
        self.files.add(name)
        return f"{image}[{text}]({path})"

    def menu(self) -> list[dict[str, list[dict[str, str]]]]:
        """Every page once, under the first title whose folder holds it."""
        left = dict(self.texts)
        menu = []
        for title, places in MENU.items():
            entries = []
            for place in places:
                for name in [n for n in left if self._is_below(n, place)]:
                    entries.append({title_of(left.pop(name), name): name})
            if entries:
                menu.append({title: entries})
        assert not left, f"pages without a place in the menu: {sorted(left)}"
        return menu

    @staticmethod
    def _is_below(name: str, place: str) -> bool:
        if place == "docs":  # its own pages; each of its folders has a title
            return PurePosixPath(name).parent == PurePosixPath(place)
        return place == "." or name == f"{place}.md" or name.startswith(f"{place}/")


def configuration(pages: Pages) -> dict[str, object]:
    """What mkdocs reads; JSON is YAML."""
    return {
        "site_name": "Nereid",
        "site_url": "",
        "docs_dir": str(SITE / "source"),
        "site_dir": str(SITE / "html"),
        "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3},
        "extra_css": ["style.css"],
        "plugins": ["search"],
        # Relative links, which also work without a web server.
        "use_directory_urls": False,
        "strict": True,
        "validation": {
            "nav": {"omitted_files": "warn", "not_found": "warn"},
            "links": {"not_found": "warn", "anchors": "warn", "unrecognized_links": "warn"},
        },
        "nav": pages.menu(),
    }


def build() -> bool:
    shutil.rmtree(SITE, ignore_errors=True)
    pages = Pages(ROOT)
    for name in pages.texts:
        path = SITE / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages.staged(name))
    for name in pages.files:
        (SITE / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, SITE / "source" / name)
    (SITE / "source" / "style.css").write_text(STYLE)
    (SITE / "mkdocs.yml").write_text(json.dumps(configuration(pages), indent=1))
    # Not --quiet: warnings that are not shown are not counted as errors, either.
    command = [sys.executable, "-m", "mkdocs", "build", "-f", str(SITE / "mkdocs.yml")]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).splitlines()
        print("\n".join(line for line in lines if not line.startswith("INFO")), file=sys.stderr)
        return False
    print(f"{len(pages.texts)} pages: {SITE.relative_to(ROOT)}/html/index.html")
    return True


def serve() -> None:
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(SITE / "html")
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), handler) as server:
        print(f"http://localhost:{PORT}")
        server.serve_forever()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--serve", action="store_true", help=f"serve it on port {PORT}")
    args = parser.parse_args()
    if not (PACKAGES / "mkdocs").is_dir():
        print("mkdocs is not installed: tools/docs_site.sh installs it", file=sys.stderr)
        return 1
    if not build():
        return 1
    if args.serve:
        serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
