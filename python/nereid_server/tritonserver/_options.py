# SPDX-License-Identifier: Apache-2.0
"""Options with the defaults of this API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from .._options import Options as _Options
from .._options import Setting


@dataclass
class Options(_Options):
    """As :class:`nereid_server.Options`, with Triton's name of the server and a log that is off. A
    level that is on turns on those above it."""

    server_id: str = "triton"
    log_warn: bool = False
    log_error: bool = False

    def settings(self) -> Iterator[Setting]:
        self.log_info = self.log_info or self.log_verbose > 0
        self.log_warn = self.log_warn or self.log_info
        self.log_error = self.log_error or self.log_warn
        return super().settings()
