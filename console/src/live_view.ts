// SPDX-License-Identifier: Apache-2.0
// What a model does at present: plots, batch sizes, reasons, phases, instances.
import type { Counts, LiveModel } from "./answers.ts";
import { Chart } from "./charts.ts";
import { bar, el, table } from "./dom.ts";
import { duration, number, percent, sum, UNKNOWN } from "./format.ts";
import { PHASES, REASONS, phaseKind, reasonClass } from "./reasons.ts";
import { syncRows } from "./rows.ts";
import type { Context, View } from "./view.ts";

export class LiveView implements View {
  readonly element = el("div", { class: "live" });
  private readonly charts: Chart[];
  private readonly sizes = el("tbody");
  private readonly reasons = el("tbody");
  private readonly phases = el("tbody");
  private readonly instances = el("tbody");

  constructor(
    private readonly context: Context,
    private readonly model: () => LiveModel | undefined,
  ) {
    this.charts = makeCharts();
    this.element.append(
      el("div", { class: "charts" }, ...this.charts.map((chart) => chart.element)),
      el(
        "div",
        { class: "panels" },
        table(
          "Batch sizes of the last ten seconds",
          [{ title: "Size" }, { title: "Share" }, { title: "Batches", number: true }],
          this.sizes,
        ),
        table(
          "Why batches left their queue",
          [{ title: "Reason" }, { title: "Share" }, { title: "Batches", number: true }],
          this.reasons,
        ),
        table("Instances", [{ title: "Instance" }, { title: "Busy" }], this.instances),
      ),
      table(
        "Where the time of requests went in the last ten seconds",
        [
          { title: "Phase" },
          { title: "p50", number: true },
          { title: "p90", number: true },
          { title: "p99", number: true },
          { title: "Median" },
          { title: "Meaning" },
        ],
        this.phases,
        "cards",
      ),
    );
  }

  update(): void {
    const model = this.model();
    if (model === undefined) return;
    const samples = this.context.history.of(model);
    for (const chart of this.charts) chart.show(samples);
    const recent = model.recent;
    syncRows(
      this.sizes,
      countRows(recent?.batch_sizes, (a, b) => Number(a) - Number(b)),
    );
    syncRows(
      this.reasons,
      countRows(recent?.reasons, () => 0, true),
    );
    syncRows(
      this.instances,
      (recent?.instances ?? []).map(({ name, busy }) => ({
        key: name,
        cells: [name, el("span", { class: "meter" }, bar(busy), percent(busy))],
      })),
    );
    const phases = Object.entries(recent?.phases_ns ?? {});
    const longest = Math.max(1, ...phases.map(([, times]) => times.p50));
    syncRows(
      this.phases,
      phases.map(([phase, times]) => ({
        key: phase,
        numbers: [1, 2, 3],
        cells: [
          phase,
          duration(times.p50),
          duration(times.p90),
          duration(times.p99),
          bar(times.p50 / longest, phaseKind(phase)),
          PHASES[phase] ?? UNKNOWN,
        ],
      })),
    );
  }
}

function makeCharts(): Chart[] {
  return [
    new Chart({
      title: "Requests per second",
      least: 1,
      format: number,
      series: [
        { label: "all", value: (sample) => sample.requestsPerSecond, colour: "--series-1" },
        { label: "failed", value: (sample) => sample.failuresPerSecond, colour: "--series-2" },
      ],
    }),
    new Chart({
      title: "Latency of the last ten seconds",
      least: 1e6,
      format: duration,
      series: [
        { label: "p50", value: (sample) => sample.p50, colour: "--series-1" },
        { label: "p90", value: (sample) => sample.p90, colour: "--series-2" },
        { label: "p99", value: (sample) => sample.p99, colour: "--series-3" },
      ],
    }),
    new Chart({
      title: "Queue depth",
      least: 1,
      format: number,
      series: [
        { label: "waiting", value: (sample) => sample.queued, colour: "--series-1" },
        { label: "in flight", value: (sample) => sample.inFlight, colour: "--series-2" },
      ],
    }),
    new Chart({
      title: "Mean batch size",
      least: 1,
      format: number,
      series: [{ label: "requests per batch", value: (sample) => sample.batchSize, colour: "--series-1" }],
    }),
  ];
}

function countRows(counts: Counts | undefined, order: (a: string, b: string) => number, reasons = false) {
  const all = sum(counts);
  return Object.entries(counts ?? {})
    .filter(([, count]) => count > 0)
    .sort((a, b) => order(a[0], b[0]) || b[1] - a[1])
    .map(([name, count]) => ({
      key: name,
      numbers: [2],
      cells: [
        reasons
          ? el(
              "span",
              { title: REASONS[name] },
              el("i", { class: `key ${reasonClass(name)}`, "aria-hidden": "true" }),
              name,
            )
          : name,
        el(
          "span",
          { class: "meter" },
          bar(count / all, reasons ? reasonClass(name) : ""),
          percent(count / all),
        ),
        count.toLocaleString("en-US"),
      ],
    }));
}
