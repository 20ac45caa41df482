# SPDX-License-Identifier: Apache-2.0
"""Evaluates a trial of adaptive batching: the requests answered in time, and the page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from racetrack.networks import WIDE_MLP_LAYERS
from racetrack.statistics import CLIENT_LIMIT, spread
from racetrack.table import markdown_table, number, percent

DELAYS_US = {"delay_0": 0, "delay_100": 100, "delay_500": 500, "delay_2000": 2000}
VARIANTS = ("adaptive", *DELAYS_US)
TRACES = ("poisson", "bursty", "step")
MODELS = {
    "accelerator": "A model that waits 0.1 ms for each row, as an accelerator would keep it busy",
    "mlp": f"An MLP {'-'.join(str(layer) for layer in WIDE_MLP_LAYERS)} in ONNX Runtime",
}
# The fraction by which adaptive batching may be worse than the best fixed delay of a trace.
ALLOWED = 0.03
# A run is repeated if other processes used more than this fraction of a core meanwhile.
MOST_OTHER_CPU = 0.05

Result = Mapping[str, Any]  # a result file


def title(variant: str) -> str:
    return f"{DELAYS_US[variant]} µs" if variant in DELAYS_US else variant


def goodput(result: Result, trace: str, variant: str) -> float:
    """Requests per second that were answered within the target: the mean over all rounds."""
    return statistics.mean(run["goodput"] for run in result["traces"][trace][variant])


def total(result: Result, variant: str) -> float:
    """The mean of the goodput over all traces, which are equally long."""
    return statistics.mean(goodput(result, trace, variant) for trace in TRACES)


def against_best(result: Result, trace: str) -> float:
    """Adaptive batching relative to the best fixed delay of the trace: 0.01 is 1 % more goodput."""
    best = max(goodput(result, trace, variant) for variant in DELAYS_US)
    return goodput(result, trace, "adaptive") / best - 1


def failures(result: Result) -> list[str]:
    """One sentence for each result in which adaptive batching falls short."""
    found = []
    for trace in TRACES:
        if (behind := -against_best(result, trace)) > ALLOWED:
            found.append(f"{trace}: {behind:.1%} less than the best fixed delay")
    best = max(DELAYS_US, key=lambda variant: total(result, variant))
    if total(result, "adaptive") <= total(result, best):
        found.append(f"over all traces, a delay of {title(best)} is at least as good")
    for trace in TRACES:
        for variant in VARIANTS:
            runs = result["traces"][trace][variant]
            if errors := sum(run["errors"] for run in runs):
                found.append(f"{trace}, {title(variant)}: {errors} requests failed")
    return found


def _line(result: Result, trace: str, variant: str) -> list[str]:
    runs = result["traces"][trace][variant]

    def median(key: str) -> float:
        return statistics.median(run["latency_us"][key] for run in runs)

    best = max(goodput(result, trace, other) for other in DELAYS_US)
    chosen = "-"
    if variant not in DELAYS_US:
        pairs = [f"{run['chosen_delay_us']:.0f}/{run['chosen_size']:.0f}" for run in runs]
        chosen = " ".join(pairs)
    return [
        f"{trace}, {title(variant)}",
        number(goodput(result, trace, variant)),
        f"{goodput(result, trace, variant) / best - 1:+.1%}",
        percent(spread([run["goodput"] for run in runs])),
        number(median("p50")),
        number(median("p99")),
        f"{statistics.mean(run['mean_batch'] for run in runs):.1f}",
        percent(statistics.mean(run["server_cpu"] for run in runs)),
        chosen,
    ]


HEAD = (
    "| trace, delay | in time /s | against best fixed | spread | p50 µs | p99 µs | mean batch "
    "| server CPU | chosen µs/rows |"
)


def render(result: Result) -> str:
    """The whole Markdown page."""
    host, settings = result["host"], result["settings"]
    wrong = failures(result)
    verdict = "**Holds**: within 3 % of the best fixed delay on each trace, better than any over all."
    if wrong:
        verdict = "**Falls short:**\n\n" + "\n".join(f"- {sentence}" for sentence in wrong)
    sums = [
        [title(variant), number(total(result, variant))]
        + [f"{total(result, 'adaptive') / total(result, variant) - 1:+.1%}"]
        for variant in VARIANTS
    ]
    busiest = max(
        run["client_cpu"]
        for trace in TRACES
        for variant in VARIANTS
        for run in result["traces"][trace][variant]
    )
    others = max(
        run.get("other_cpu", 0.0)
        for trace in TRACES
        for variant in VARIANTS
        for run in result["traces"][trace][variant]
    )
    if others > MOST_OTHER_CPU:
        verdict = f"**Others used up to {percent(others)} of a core: this does not count.** {verdict}"
    return "\n\n".join(
        [
            f"# Adaptive batching against fixed delays, Nereid {result['commit']}, {result['when']}",
            f"{MODELS[result['model']]}, batches of up to 64, one instance, one core for the "
            f"server and one for the client; HTTP, an open loop at {settings['rate']:,} requests a "
            f"second on average; target {settings['target_us']:,} µs, seen by the client; "
            f"{settings['rounds']} rounds of {settings['seconds']:g} s, one server with a copy of the "
            f"model for each delay, which take turns. {host['cores']} cores, {host['processor']}, "
            f"{host['system']}; load average before {host['load_average_before'][0]:.2f}.",
            verdict,
            markdown_table(
                HEAD, [_line(result, trace, variant) for trace in TRACES for variant in VARIANTS]
            ),
            "## All traces together\n\n"
            + markdown_table("| delay | in time /s | adaptive against it |", sums),
            f"The busiest client used {percent(busiest)} of its core"
            + (": **the latencies may be its own**." if busiest > CLIENT_LIMIT else ".")
            + f" Other processes and guests used up to {percent(others)} of a core during a run."
            + " How to read this: docs/operate/adaptive_batching.md.",
        ]
    ) + "\n"
