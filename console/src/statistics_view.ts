// SPDX-License-Identifier: Apache-2.0
// The statistics of a model since it was loaded, as all clients of the v2 protocol get them.
import { modelPath } from "./api.ts";
import { el, table } from "./dom.ts";
import { duration, timeOfDay } from "./format.ts";
import { syncRows } from "./rows.ts";
import type { Context, View } from "./view.ts";

interface Durations {
  count: number;
  ns: number;
}
interface Statistics {
  inference_count: number;
  execution_count: number;
  last_inference: number;
  inference_stats: Record<string, Durations>;
  batch_stats: {
    batch_size: number;
    compute_input: Durations;
    compute_infer: Durations;
    compute_output: Durations;
  }[];
}

const EVERY_MS = 2000;

export class StatisticsView implements View {
  readonly element = el("div");
  private readonly counts = el("p");
  private readonly times = el("tbody");
  private readonly batches = el("tbody");
  private readonly path: string;
  private asked = 0;

  constructor(
    private readonly context: Context,
    model: string,
    version: string,
  ) {
    this.path = `${modelPath(model, version)}/stats`;
    const time = (title: string) => ({ title, number: true });
    this.element.append(
      this.counts,
      el(
        "div",
        { class: "panels" },
        table(
          "Requests since the model was loaded",
          [{ title: "Part" }, time("Count"), time("Mean"), time("Total")],
          this.times,
        ),
        table(
          "Executions by batch size",
          [{ title: "Size" }, time("Count"), time("Input"), time("Infer"), time("Output")],
          this.batches,
        ),
      ),
    );
  }

  update(): void {
    if (performance.now() - this.asked < EVERY_MS) return;
    this.asked = performance.now();
    this.context.api
      .get<{ model_stats: Statistics[] }>(this.path)
      .then((answer) => answer.model_stats[0] !== undefined && this.show(answer.model_stats[0]))
      .catch((error: Error) => (this.counts.textContent = error.message));
  }

  private show(stats: Statistics): void {
    const last = stats.last_inference === 0 ? "" : `, the last one at ${timeOfDay(stats.last_inference)}`;
    this.counts.textContent =
      `${stats.inference_count.toLocaleString("en-US")} inferences in ` +
      `${stats.execution_count.toLocaleString("en-US")} executions${last}.`;
    syncRows(
      this.times,
      Object.entries(stats.inference_stats).map(([part, { count, ns }]) => ({
        key: part,
        numbers: [1, 2, 3],
        cells: [part, count.toLocaleString("en-US"), mean({ count, ns }), duration(ns)],
      })),
    );
    syncRows(
      this.batches,
      stats.batch_stats.map((batch) => ({
        key: String(batch.batch_size),
        numbers: [1, 2, 3, 4],
        cells: [
          String(batch.batch_size),
          batch.compute_infer.count.toLocaleString("en-US"),
          mean(batch.compute_input),
          mean(batch.compute_infer),
          mean(batch.compute_output),
        ],
      })),
    );
  }
}

function mean({ count, ns }: Durations): string {
  return duration(count > 0 ? ns / count : undefined);
}
