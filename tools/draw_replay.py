#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the batches of a recording above those of replays in virtual time, as an SVG:

    tools/draw_replay.py RECORDING FROM_MS TO_MS TITLE=REPLAY.json ... > picture.svg

RECORDING: of `nereid --record`, with one model. REPLAY.json: what `nereid replay RECORDING --virtual
--json` has printed, with or without --config. Times count from the first request.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT = 860, 170, 12
ROW, GAP, TITLE, TOP = 24, 16, 20, 34
COLOURS = {
    "full": "#1d4ed8",
    "preferred_size": "#6d28d9",
    "delay_over": "#b45309",
    "idle_instance": "#0f766e",
    "shape_change": "#be185d",
}
OTHER = "#4b5563"


class Batch(NamedTuple):
    instance: int  # from 0
    begin: float  # milliseconds
    end: float
    size: int
    reason: str


class Lanes(NamedTuple):
    title: str
    batches: list[Batch]


def of_recording(lines: list[Any], first_ns: int) -> list[Batch]:
    return [
        Batch(
            line["instance"] - 1,
            (line["pulled"] - first_ns) / 1e6,
            (line["ended"] - first_ns) / 1e6,
            line["requests"],
            line["reason"],
        )
        for line in lines
        if "requests" in line
    ]


def of_replay(answer: Any, first_ns: int) -> list[Batch]:
    return [
        Batch(
            batch["instance"],
            (batch["pulled_ns"] - first_ns) / 1e6,
            (batch["ended_ns"] - first_ns) / 1e6,
            len(batch["members"]),
            batch["reason"],
        )
        for batch in answer["batches"]
    ]


class Picture:
    def __init__(self, begin: float, end: float, instances: int) -> None:
        self.begin, self.end, self.instances = begin, end, instances
        self.parts: list[str] = []
        self.reasons: set[str] = set()
        self.y = TOP

    def x(self, ms: float) -> float:
        share = (ms - self.begin) / (self.end - self.begin)
        return LEFT + max(0.0, min(1.0, share)) * (WIDTH - LEFT - RIGHT)

    def text(self, x: float, y: float, text: str, more: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(text)}</text>')

    def add_lanes(self, lanes: Lanes) -> None:
        self.text(8, self.y + 14, lanes.title, ' font-weight="600"')
        self.y += TITLE
        for instance in range(self.instances):
            top = self.y + instance * ROW
            width = WIDTH - LEFT - RIGHT
            self.parts.append(
                f'<rect x="{LEFT}" y="{top}" width="{width}" height="{ROW - 4}" fill="#eef1f4"/>'
            )
            self.text(20, top + 14, f"instance {instance + 1}", ' fill="#4b5563"')
        for batch in lanes.batches:
            if batch.end >= self.begin and batch.begin <= self.end:
                self.add_batch(batch)
        self.y += self.instances * ROW + GAP

    def add_batch(self, batch: Batch) -> None:
        self.reasons.add(batch.reason)
        left, right = self.x(batch.begin), self.x(batch.end)
        top = self.y + batch.instance * ROW
        fill = COLOURS.get(batch.reason, OTHER)
        self.parts.append(
            f'<rect x="{left:.1f}" y="{top}" width="{max(1, right - left - 1):.1f}" '
            f'height="{ROW - 4}" rx="2" fill="{fill}"/>'
        )
        if right - left > 12:
            middle = (left + right) / 2
            self.text(middle, top + 14, str(batch.size), ' fill="#fff" text-anchor="middle"')

    def svg(self) -> str:
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 1e9) if (self.end - self.begin) / s < 12)
        axis = []
        for i in range(int(self.begin // step) + 1, int(self.end // step) + 1):
            x = self.x(i * step)
            axis.append(f'<path d="M{x:.1f} 24V{self.y - 8}" stroke="#d0d7de"/>')
            if x < WIDTH - 50:
                self.text(x + 3, 20, f"{i * step:g} ms", ' fill="#4b5563"')
        x = float(LEFT)
        for reason in sorted(self.reasons):
            fill = COLOURS.get(reason, OTHER)
            self.parts.append(
                f'<rect x="{x}" y="{self.y}" width="10" height="10" rx="2" fill="{fill}"/>'
            )
            self.text(x + 15, self.y + 9.5, reason)
            x += 40 + 7 * len(reason)
        height = self.y + 20
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
                'font-family="system-ui, sans-serif" font-size="12" fill="#1f2328">',
                f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
                *axis,
                *self.parts,
                "</svg>\n",
            ]
        )


def main(recording: str, begin: str, end: str, *replays: str) -> None:
    lines = [json.loads(line) for line in Path(recording).read_text().splitlines()]
    first_ns = min(line.get("queued", line.get("start")) for line in lines if "request" in line)
    all_lanes = [Lanes("recorded", of_recording(lines, first_ns))]
    for replay in replays:
        title, _, path = replay.rpartition("=")
        all_lanes.append(Lanes(title, of_replay(json.loads(Path(path).read_text()), first_ns)))
    instances = 1 + max(batch.instance for lanes in all_lanes for batch in lanes.batches)
    picture = Picture(float(begin), float(end), instances)
    for lanes in all_lanes:
        picture.add_lanes(lanes)
    sys.stdout.write(picture.svg())


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
