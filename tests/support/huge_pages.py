# SPDX-License-Identifier: Apache-2.0
"""Whether this system gives programs huge pages that ask for them."""

from __future__ import annotations

from pathlib import Path

ENABLED = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def allowed() -> bool:
    return ENABLED.exists() and "[never]" not in ENABLED.read_text(encoding="ascii")
