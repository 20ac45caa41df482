// SPDX-License-Identifier: Apache-2.0
// The GPUs of the server: how busy and how full each is, and how many instances of models it has.
// Nothing is shown where there are none.
import type { LiveGpu } from "./answers.ts";
import { bar, el, table } from "./dom.ts";
import { bytes, percent, UNKNOWN } from "./format.ts";
import { syncRows, type Row } from "./rows.ts";

const COLUMNS = [
  { title: "GPU", number: true },
  { title: "Name" },
  { title: "State" },
  { title: "Busy" },
  { title: "Memory" },
  { title: "Pool" },
  { title: "Instances", number: true },
];
const NUMBERS = COLUMNS.flatMap((column, i) => (column.number ? [i] : []));

export class GpusPanel {
  readonly element = el("section", { "aria-labelledby": "gpus-title", hidden: true });
  private readonly body = el("tbody");

  constructor() {
    this.element.append(
      el("h2", { id: "gpus-title" }, "GPUs"),
      table("GPUs: how busy and how full, and their instances of models", COLUMNS, this.body, "cards"),
    );
  }

  update(gpus: LiveGpu[] | undefined): void {
    this.element.hidden = gpus === undefined;
    syncRows(this.body, (gpus ?? []).map(row));
  }
}

function row(gpu: LiveGpu): Row {
  return {
    key: gpu.uuid,
    cells: [
      String(gpu.id),
      el("span", { title: gpu.uuid }, gpu.name),
      gpu.failure === undefined
        ? el("span", { class: "state good" }, "WORKS")
        : el("span", { class: "state bad", title: gpu.failure }, "FAILED"),
      gpu.utilization === undefined ? UNKNOWN : meter(gpu.utilization, percent(gpu.utilization)),
      filled(gpu.memory_used_bytes, gpu.memory_bytes),
      gpu.pool_bytes === 0 ? UNKNOWN : filled(gpu.pool_used_bytes, gpu.pool_bytes),
      String(gpu.instances),
    ],
    numbers: NUMBERS,
  };
}

// "12 of 80 GiB", or only "80 GiB" if nobody knows how much of it is used.
function filled(used: number | undefined, all: number): HTMLElement | string {
  return used === undefined ? bytes(all) : meter(used / all, `${bytes(used)} of ${bytes(all)}`);
}

function meter(share: number, text: string): HTMLElement {
  return el("span", { class: "meter" }, bar(share), text);
}
