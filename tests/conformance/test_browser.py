# SPDX-License-Identifier: Apache-2.0
"""A browser uses the server: from a page of another origin (CORS), and its front page."""

from __future__ import annotations

import html
import http.server
import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess

BROWSER = shutil.which("chromium-headless-shell")
SECONDS = 60
VALUES = [1, 2.5, -3]

if BROWSER is None:
    pytest.skip("there is no browser: tools/setup.sh --conformance", allow_module_level=True)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    repository = ModelRepository(tmp_path_factory.mktemp("browser") / "models")
    repository.add_identity("echo")
    repository.add(
        "repeat",
        'backend: "repeat"\n'
        "model_transaction_policy { decoupled: true }\n"
        'input [ { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] },\n'
        '        { name: "DELAY" data_type: TYPE_UINT32 dims: [ -1 ] },\n'
        '        { name: "WAIT" data_type: TYPE_UINT32 dims: [ 1 ] } ]\n'
        'output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] },\n'
        '         { name: "IDX" data_type: TYPE_UINT32 dims: [ 1 ] } ]\n',
    )
    return repository


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[str]:
    """The origin of a page that is not the server's."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, directory=str(tmp_path), **named)

        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer((LOOPBACK, 0), Handler) as site:
        thread = threading.Thread(target=site.serve_forever)
        thread.start()
        yield f"http://{LOOPBACK}:{site.server_address[1]}"
        site.shutdown()
        thread.join()


def start(models: ModelRepository, folder: Path, *options: str) -> ServerProcess:
    server = start_nereid(models.root, folder / "log", options)
    server.wait_for()
    return server


def shown(url: str, folder: Path) -> str:
    """The page as it is once its scripts have run."""
    command = [
        str(BROWSER),
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=20000",
        "--dump-dom",
        url,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def answers(server: ServerProcess, pages: str, folder: Path) -> Any:
    text = Path(__file__).with_name("browser_page.html").read_text()
    (folder / "page.html").write_text(text.replace("SERVER", f"http://{server.http_url}"))
    found = re.search(r'<pre id="answers">(.*?)</pre>', shown(f"{pages}/page.html", folder))
    assert found is not None
    return json.loads(html.unescape(found[1]))


def test_a_page_of_an_allowed_origin(models: ModelRepository, pages: str, tmp_path: Path) -> None:
    server = start(models, tmp_path, f"--http-allow-origin={pages}")
    try:
        said = answers(server, pages, tmp_path)
    finally:
        server.stop()
    assert said == {
        "ready": {"ready": True},
        "json": VALUES,
        "binary": VALUES,
        "stream": [4, 5, 6],
    }


def test_a_page_of_another_origin(models: ModelRepository, pages: str, tmp_path: Path) -> None:
    server = start(models, tmp_path, "--http-allow-origin=https://app.example.com")
    try:
        said = answers(server, pages, tmp_path)
    finally:
        server.stop()
    assert set(said.values()) == {"TypeError: Failed to fetch"}


def test_the_front_page(models: ModelRepository, tmp_path: Path) -> None:
    server = start(models, tmp_path)
    try:
        text = shown(f"http://{server.http_url}/", tmp_path)
    finally:
        server.stop()
    assert "<h1>Nereid" in text
    assert "<td>echo</td><td>1</td><td>READY</td>" in text
