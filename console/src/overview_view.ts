// SPDX-License-Identifier: Apache-2.0
// The first view: the server as a whole, and its models with state and why.
import type { LiveModel } from "./answers.ts";
import { Chart } from "./charts.ts";
import { bar, el, table } from "./dom.ts";
import { bytes, duration, number, percent, sum, uptime, UNKNOWN } from "./format.ts";
import { GpusPanel } from "./gpus.ts";
import { change, controlsModels, modelButtons } from "./model_actions.ts";
import { ProblemsPanel } from "./problems.ts";
import { modelHash } from "./route.ts";
import { syncRows, type Row } from "./rows.ts";
import type { Context, View } from "./view.ts";

const COLUMNS = [
  { title: "Model" },
  { title: "Version", number: true },
  { title: "State" },
  { title: "Requests/s", number: true },
  { title: "Failures/s", number: true },
  { title: "Queued", number: true },
  { title: "Batch", number: true },
  { title: "Busy" },
  { title: "p50", number: true },
  { title: "p99", number: true },
  { title: "Because" },
  { title: "Actions" },
];
const NUMBERS = COLUMNS.flatMap((column, i) => (column.number ? [i] : []));

export class OverviewView implements View {
  readonly element = el("section");
  private readonly tiles = el("dl", { class: "tiles" });
  private readonly body = el("tbody");
  private readonly note = el("p", { class: "muted" });
  private readonly problems: ProblemsPanel;
  private readonly gpus = new GpusPanel();
  private readonly throughput = new Chart({
    title: "Requests per second",
    least: 1,
    format: number,
    series: [
      { label: "all", value: (sample) => sample.requestsPerSecond, colour: "--series-1" },
      { label: "failed", value: (sample) => sample.failuresPerSecond, colour: "--series-2" },
    ],
  });
  private readonly load = new Chart({
    title: "Requests in the server",
    least: 1,
    format: number,
    series: [
      { label: "in flight", value: (sample) => sample.inFlight, colour: "--series-1" },
      { label: "waiting in queues", value: (sample) => sample.queued, colour: "--series-2" },
    ],
  });

  constructor(private readonly context: Context) {
    this.problems = new ProblemsPanel(context);
    const columns = controlsModels(context) ? COLUMNS : COLUMNS.slice(0, -1);
    this.body.addEventListener("click", (event) => this.onClick(event));
    this.element.append(
      el("h1", { tabindex: -1 }, "Overview"),
      this.tiles,
      el("div", { class: "charts" }, this.throughput.element, this.load.element),
      this.gpus.element,
      el("h2", {}, "Models"),
      table("Models: state, load and latency of the last ten seconds", columns, this.body, "cards"),
      this.note,
      this.problems.element,
    );
  }

  update(): void {
    const { live, history } = this.context;
    const samples = history.of();
    const last = samples.at(-1);
    const failed = live.models.length - live.models.filter((model) => model.state === "READY").length;
    this.showTiles([
      ["Requests/s", number(last?.requestsPerSecond), `${number(last?.failuresPerSecond)} failed/s`],
      ["In flight", number(live.server.in_flight), limit(live.server.in_flight_limit, number)],
      [
        "Bytes in flight",
        bytes(live.server.in_flight_bytes),
        limit(live.server.in_flight_bytes_limit, bytes),
      ],
      ["Queued", number(live.server.queued), "waiting for an instance"],
      [
        "Succeeded",
        live.server.succeeded.toLocaleString("en-US"),
        `${live.server.failed.toLocaleString("en-US")} failed`,
      ],
      ["Models", `${live.server.states.READY ?? 0} ready`, failed > 0 ? `${failed} not ready` : "all ready"],
      ["Up", uptime(live.server.uptime_ns), `${live.server.name} ${live.server.version}`],
    ]);
    this.throughput.show(samples);
    this.load.show(samples);
    this.gpus.update(live.server.gpus);
    this.problems.update();
    syncRows(
      this.body,
      live.models.map((model) => this.row(model)),
    );
    this.note.textContent =
      live.not_shown > 0 ? `${live.not_shown} more are not shown: those that have executed last are.` : "";
  }

  private showTiles(tiles: [string, string, string][]): void {
    const next = tiles.map(([name, value, more]) =>
      el("div", {}, el("dt", {}, name), el("dd", {}, el("b", {}, value), el("span", {}, more))),
    );
    if (this.tiles.childElementCount !== next.length) this.tiles.replaceChildren(...next);
    else
      next.forEach(
        (tile, i) => this.tiles.children[i]?.isEqualNode(tile) || this.tiles.children[i]?.replaceWith(tile),
      );
  }

  private row(model: LiveModel): Row {
    const last = this.context.history.of(model).at(-1);
    const busy = last?.busy;
    const cells: (Node | string)[] = [
      el(
        "span",
        { class: "named" },
        model.version === undefined ? model.name : el("a", { href: modelHash(model) }, model.name),
        this.problems.badge(model.name),
      ),
      model.version ?? UNKNOWN,
      stateBadge(model.state),
      number(last?.requestsPerSecond),
      number(last?.failuresPerSecond),
      model.queued === undefined ? UNKNOWN : number(model.queued),
      number(last?.batchSize),
      busy === undefined ? UNKNOWN : el("span", { class: "meter" }, bar(busy), percent(busy)),
      duration(last?.p50),
      duration(last?.p99),
      because(model),
    ];
    if (controlsModels(this.context)) cells.push(modelButtons(this.context, model.name, model.state));
    return { key: `${model.name}/${model.version}`, cells, numbers: NUMBERS };
  }

  private onClick(event: Event): void {
    const button = (event.target as Element).closest("button");
    const action = button?.dataset.action;
    const key = button?.closest("tr")?.dataset.key;
    const model = this.context.live.models.find((known) => `${known.name}/${known.version}` === key);
    if (model !== undefined && (action === "load" || action === "unload"))
      void change(this.context, action, model.name);
  }
}

export function stateBadge(state: string): HTMLElement {
  const kind = state === "READY" ? "good" : state === "UNAVAILABLE" ? "bad" : "busy";
  return el("span", { class: `state ${kind}` }, state);
}

// Why most batches left, or why the model does not serve.
function because(model: LiveModel): Node | string {
  if (model.recent === undefined)
    return el("span", { class: "why", title: model.reason }, model.reason || UNKNOWN);
  const all = sum(model.recent.reasons);
  const most = Object.entries(model.recent.reasons).sort((a, b) => b[1] - a[1])[0];
  return most === undefined || all === 0 ? UNKNOWN : `${most[0]} ${percent(most[1] / all)}`;
}

function limit(most: number, format: (value: number) => string): string {
  return most === 0 ? "no limit" : `of ${format(most)}`;
}
