# SPDX-License-Identifier: Apache-2.0
"""docs/operate/options.md matches what the server itself says about its options."""

from __future__ import annotations

import re
import subprocess

from support.stage import PROJECT_ROOT, server_binary

PAGE = PROJECT_ROOT / "docs" / "operate" / "options.md"


def test_options_page_is_up_to_date() -> None:
    text = subprocess.run(
        [server_binary(), "--help-markdown"], capture_output=True, text=True, check=True
    ).stdout
    assert PAGE.read_text() == text, "run: nereid --help-markdown > docs/operate/options.md"


def test_version() -> None:
    done = subprocess.run(
        [server_binary(), "--version"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"nereid \d+\.\d+\.\d+\n", done.stdout)


def test_help_exits_with_zero_and_lists_the_ports() -> None:
    done = subprocess.run(
        [server_binary("tritonserver"), "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: tritonserver ")
    for option in ("--http-port", "--grpc-port", "--metrics-port"):
        assert option in done.stdout
    assert re.search(r"^  tritonserver check +check model repositories", done.stdout, re.MULTILINE)
