# SPDX-License-Identifier: Apache-2.0
"""Metrics in Prometheus' text format, parsed."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, Mapping, NamedTuple, Optional

_SAMPLE = re.compile(r"(?P<name>[A-Za-z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)")
_LABEL = re.compile(r'(?P<name>[A-Za-z_]\w*)="(?P<value>(?:[^"\\]|\\.)*)"')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


class Sample(NamedTuple):
    """One number."""

    name: str
    labels: Dict[str, str]
    value: float


class Metrics(Mapping[str, List[Sample]]):
    """Samples by name, such as ``nv_inference_count``."""

    def __init__(self, text: str) -> None:
        self._samples: Dict[str, List[Sample]] = {}
        for line in text.splitlines():
            match = None if line.startswith("#") else _SAMPLE.match(line)
            if match:
                sample = Sample(match["name"], _labels(match["labels"]), float(match["value"]))
                self._samples.setdefault(sample.name, []).append(sample)

    def value(self, name: str, **labels: str) -> Optional[float]:
        """The sum of the samples of that name that have all these labels; None if there are none."""
        found = [
            sample.value
            for sample in self._samples.get(name, [])
            if labels.items() <= sample.labels.items()
        ]
        return sum(found) if found else None

    def __getitem__(self, name: str) -> List[Sample]:
        return self._samples[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)


def _labels(text: Optional[str]) -> Dict[str, str]:
    return {
        match["name"]: re.sub(r"\\.", lambda escape: _ESCAPES.get(escape[0], escape[0]), match["value"])
        for match in _LABEL.finditer(text or "")
    }
