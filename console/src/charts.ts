// SPDX-License-Identifier: Apache-2.0
// Chart: a plot over the last minutes, drawn by uPlot in the colours of the style sheet.
import uPlot from "uplot";
import { el } from "./dom.ts";
import { timeOfDay } from "./format.ts";
import type { Sample } from "./history.ts";

export interface Series {
  label: string;
  value: (sample: Sample) => number | undefined;
  colour: string; // a custom property: "--series-1"
}

export interface ChartOptions {
  title: string;
  series: Series[];
  least: number; // the top of the axis while all values are 0
  format: (value: number | undefined) => string;
}

const HEIGHT = 168;
const LEAST_SECONDS = 60;
// Of the series, so that they can be told apart without their colours; style.css has the same.
const DASHES = [[], [7, 4], [2, 3]];

export class Chart {
  readonly element = el("figure", { class: "chart" });
  private readonly place = el("div", { class: "plot" });
  private readonly summary = el("p", { class: "legend" });
  private plot: uPlot | undefined;
  private samples: readonly Sample[] = [];

  constructor(private readonly options: ChartOptions) {
    this.element.append(el("figcaption", {}, options.title), this.place, this.summary);
    new ResizeObserver(() => this.resize()).observe(this.place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.forget());
  }

  show(samples: readonly Sample[]): void {
    const columns: uPlot.AlignedData = [
      samples.map((sample) => sample.unix_s),
      ...this.options.series.map((series) => samples.map((sample) => series.value(sample) ?? null)),
    ];
    this.samples = samples;
    this.describe(this.plot?.cursor.idx ?? undefined);
    if (this.plot === undefined) this.make(columns);
    else this.plot.setData(columns);
  }

  // The numbers under the pointer, or those of now, as text for everybody.
  private describe(index: number | undefined): void {
    const sample = index === undefined ? this.samples.at(-1) : this.samples[index];
    this.summary.replaceChildren(
      ...this.options.series.map((series, i) =>
        el(
          "span",
          {},
          el("i", { class: `key series-${i + 1}`, "aria-hidden": "true" }),
          `${series.label} `,
          el("b", {}, this.options.format(sample === undefined ? undefined : series.value(sample))),
        ),
      ),
      index !== undefined && sample !== undefined ? `at ${timeOfDay(sample.unix_s * 1000)}` : "",
    );
  }

  private make(columns: uPlot.AlignedData): void {
    if (this.place.clientWidth === 0) return; // not on the page yet
    const style = getComputedStyle(this.element);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--muted"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui, sans-serif",
    };
    this.plot = new uPlot(
      {
        width: this.place.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: {
          x: { range: () => this.spanOfTime() },
          y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : this.options.least] },
        },
        hooks: { setCursor: [(plot) => this.describe(plot.cursor.idx ?? undefined)] },
        axes: [
          {
            ...axis,
            size: 26,
            space: 80,
            values: (_plot, values) => values.map((unix_s) => timeOfDay(unix_s * 1000)),
          },
          { ...axis, size: 62, values: (_plot, values) => values.map((value) => this.options.format(value)) },
        ],
        series: [
          {},
          ...this.options.series.map((series, i) => ({
            label: series.label,
            stroke: colour(series.colour),
            width: 1.5,
            dash: DASHES[i] ?? [],
            points: { show: false },
          })),
        ],
      },
      columns,
      this.place,
    );
  }

  private spanOfTime(): [number, number] {
    const to = this.samples.at(-1)?.unix_s ?? Date.now() / 1000;
    return [Math.min(this.samples[0]?.unix_s ?? to, to - LEAST_SECONDS), to];
  }

  private resize(): void {
    this.plot?.setSize({ width: this.place.clientWidth, height: HEIGHT });
  }

  // The next data are drawn in other colours.
  private forget(): void {
    this.plot?.destroy();
    this.plot = undefined;
  }
}
