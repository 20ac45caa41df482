# SPDX-License-Identifier: Apache-2.0
"""Plots throughput against latency: one curve per server, one point per number of connections."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from racetrack.statistics import race  # noqa: E402
from racetrack.workloads import IDENTITY_SMALL  # noqa: E402

COLOURS = {"Nereid": "#0b6e8f", "Triton 2.51": "#c2571a"}


def draw(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Writes throughput_latency.png and .svg into `folder`."""
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.5), sharey=True)
    for axis, protocol in zip(axes, ("http", "grpc")):
        rows = [
            row
            for row in result["rows"]
            if row["model"] == IDENTITY_SMALL.name
            and row["protocol"] == protocol
            and row["form"] == "binary"
            and row["placement"] == "pinned"
            and not row["rate"]
        ]
        rows.sort(key=lambda row: row["concurrency"])
        races = [race(row) for row in rows]
        for label, side in (("Nereid", "ours"), ("Triton 2.51", "peer")):
            points = [getattr(one, side) for one in races]
            throughput = [point.throughput / 1000 for point in points]
            axis.plot(
                throughput,
                [point.p50_us for point in points],
                "o-",
                color=COLOURS[label],
                label=f"{label}, p50",
            )
            axis.plot(
                throughput,
                [point.p99_us for point in points],
                "o--",
                color=COLOURS[label],
                alpha=0.45,
                label=f"{label}, p99",
            )
            for row, point in zip(rows, points):
                axis.annotate(
                    str(row["concurrency"]),
                    (point.throughput / 1000, point.p50_us),
                    textcoords="offset points",
                    xytext=(5, -11),
                    fontsize=8,
                    color=COLOURS[label],
                )
        axis.set_title(f"{protocol.upper()}, {IDENTITY_SMALL.title}, one core")
        axis.set_xlabel("thousand requests a second")
        axis.set_yscale("log")
        axis.grid(True, which="both", alpha=0.25)
        axis.set_xlim(left=0)
    axes[0].set_ylabel("latency, µs (numbers: requests in flight)")
    axes[0].legend()
    figure.tight_layout()
    written = [folder / f"throughput_latency.{kind}" for kind in ("png", "svg")]
    for path in written:
        figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return written
