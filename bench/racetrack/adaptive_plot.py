# SPDX-License-Identifier: Apache-2.0
"""Plots goodput and p99 of adaptive batching and of fixed delays, trace by trace."""

from __future__ import annotations

import statistics
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

from racetrack.adaptive import TRACES, VARIANTS, Result, goodput, title  # noqa: E402

COLOURS = ("#0b6e8f", "#e3b189", "#d18c55", "#c2571a", "#7d3a12")


def draw(result: Result, folder: Path) -> Path:
    """Writes adaptive-MODEL.svg into `folder`."""
    figure, (upper, lower) = pyplot.subplots(2, 1, figsize=(9, 7), sharex=True)
    width = 0.8 / len(VARIANTS)
    for index, (variant, colour) in enumerate(zip(VARIANTS, COLOURS)):
        places = [place + (index - len(VARIANTS) / 2 + 0.5) * width for place in range(len(TRACES))]
        means = [goodput(result, trace, variant) for trace in TRACES]
        name = title(variant)
        upper.bar(places, means, width, color=colour, label=name)
        p99 = []
        for place, trace in zip(places, TRACES):
            runs = result["traces"][trace][variant]
            upper.plot([place] * len(runs), [run["goodput"] for run in runs], "k.", markersize=3)
            p99.append(statistics.median(run["latency_us"]["p99"] for run in runs) / 1000)
        lower.bar(places, p99, width, color=colour)
    target = result["settings"]["target_us"]
    lower.axhline(target / 1000, color="black", linewidth=0.8, linestyle="--")
    lower.annotate("target", (-0.48, target / 1000), textcoords="offset points", xytext=(0, 3))
    lower.set_yscale("log")
    lower.set_ylabel("p99, ms (median of the runs)")
    lower.set_xticks(range(len(TRACES)), TRACES)
    upper.set_ylabel(f"answered within {target / 1000:g} ms, a second\n(dots: single runs)")
    upper.legend(title="queue delay", ncols=len(VARIANTS), loc="upper center", fontsize=8)
    upper.set_ylim(top=1.25 * max(upper.get_ylim()[1], 1))
    for axis in (upper, lower):
        axis.grid(True, axis="y", alpha=0.25)
    figure.tight_layout()
    path = folder / f"adaptive-{result['model']}.svg"
    figure.savefig(path)
    pyplot.close(figure)
    return path
