# SPDX-License-Identifier: Apache-2.0
"""What both servers say of cloud storage that they cannot read, as far as that takes no network."""

from __future__ import annotations

from pathlib import Path

import pytest

from differential.original_server import prepare, start_original
from support.nereid import start_nereid
from support.stage import backend_directory, stage_root

CASES = {
    "no file": ("s3://bucket/m", None, "failed to open text file for read "),
    "no json": (
        "s3://bucket/m",
        "{bad",
        "failed to parse the request JSON buffer: Missing a name for object member. at 1",
    ),
    "no entry": (
        "s3://bucket/m",
        '{"s3": {"s3://other": {"key_id": "a", "secret_key": "b"}}}',
        "Cannot match credential for path  s3://bucket/m",
    ),
}

pytestmark = pytest.mark.skipif(
    not (stage_root() / "libexec" / "nereid-cloud").exists(),
    reason="the program that reads cloud storage is not staged: make stage CLOUD=yes",
)


@pytest.mark.parametrize("name", CASES)
def test_the_credentials_file(name: str, tmp_path: Path) -> None:
    url, content, text = CASES[name]
    file = tmp_path / "credentials.json"
    if content is not None:
        file.write_text(content)
    local = tmp_path / "models"
    local.mkdir()
    options = [f"--model-repository={url}"]
    environment = {"TRITON_CLOUD_CREDENTIAL_PATH": str(file)}
    ours = start_nereid(local, tmp_path / "ours", options, environment)
    theirs = start_original(
        prepare(tmp_path / "original"),
        local,
        tmp_path / "theirs",
        backend_directory(),
        None,
        options,
        environment,
    )
    for server in (ours, theirs):
        assert server.wait_exit() == 1
        server.wait_for_log(text)
