# SPDX-License-Identifier: Apache-2.0
"""Reads the Prometheus text of a server."""

from __future__ import annotations

import re

from support import raw_http

_SAMPLE = re.compile(r"^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def read_metrics(metrics_url: str) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    """All samples by name and labels."""
    answer = raw_http.get(metrics_url, "/metrics")
    assert answer.status == 200
    samples = {}
    for line in answer.body.decode().splitlines():
        match = _SAMPLE.match(line)
        if match and not line.startswith("#"):
            labels = frozenset(_LABEL.findall(match.group(2) or ""))
            samples[match.group(1), labels] = float(match.group(3))
    return samples


def metric(metrics_url: str, name: str, **labels: str) -> float:
    """The sum of all samples of `name` with these labels; 0 if there is none."""
    wanted = set(labels.items())
    return sum(
        value
        for (sample, given), value in read_metrics(metrics_url).items()
        if sample == name and wanted <= given
    )
