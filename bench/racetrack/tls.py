# SPDX-License-Identifier: Apache-2.0
"""TLS for the group "tls": each server's options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

USE_HTTPS = "--http-use-ssl=1"


def options(certificate: Path, key: Path) -> Mapping[str, tuple[str, ...]]:
    """The options of each server. Triton has no TLS on its HTTP port."""

    def of(protocol: str) -> tuple[str, ...]:
        return (
            f"--{protocol}-use-ssl=1",
            f"--{protocol}-server-cert={certificate}",
            f"--{protocol}-server-key={key}",
        )

    return {"nereid": (*of("grpc"), *of("http")), "original": of("grpc")}
