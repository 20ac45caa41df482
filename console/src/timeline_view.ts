// SPDX-License-Identifier: Apache-2.0
// The timeline of a model version: a line for each instance with its batches, and below them the
// requests. It follows the server until it is paused; it can be zoomed, moved and searched.
import type { RecordedRequest, Timeline } from "./answers.ts";
import { modelPath } from "./api.ts";
import { download, el, replace } from "./dom.ts";
import { counted, duration } from "./format.ts";
import { meaningOf, REASONS, reasonClass } from "./reasons.ts";
import { modelHash } from "./route.ts";
import { TimelineCanvas, type Selection } from "./timeline_canvas.ts";
import { TimelineData, batchOf, executionKey, requestKey, type DrawnRequest } from "./timeline_data.ts";
import { batchDetails, batchSentence, requestDetails, requestSentence, type Chosen } from "./timeline_details.ts";
import { TimelineGestures } from "./timeline_gestures.ts";
import { around, between, pan, zoom, type Span } from "./timeline_layout.ts";
import { shownPart, traceFileName, type TraceFile } from "./trace_file.ts";
import type { Context, View } from "./view.ts";

const POLL_MS = 400;
// Records may come a little after the end that they tell: these are asked for again.
const OVERLAP_NS = 500e6;
const FIRST_SPAN_NS = 2e9;
// What happened so shortly ago is not complete yet.
const BEHIND_NS = 600e6;
const FRAME_MS = 50;
const MOST_IN_TRACE = 10_000; // as many as the server gives

export class TimelineView implements View {
  readonly element = el("div", { class: "timeline" });
  private readonly data = new TimelineData();
  private readonly canvas = new TimelineCanvas();
  private readonly details = el("aside", { class: "side", "aria-label": "Details", "aria-live": "polite" });
  private readonly pause = el(
    "button",
    { type: "button", "aria-pressed": "false", click: () => this.setPaused(!this.paused) },
    "Pause",
  );
  private readonly shown = el("span", { class: "muted", "data-testid": "shown" });
  private readonly found = el("span", { role: "status", class: "muted" });
  private readonly toSelection = el(
    "button",
    { type: "button", title: "Zoom to the selection", disabled: true, click: () => this.zoomToSelection() },
    "Selection",
  );
  private readonly place = el("div", { class: "canvas-place" });
  private readonly tip = el("p", { class: "tip", hidden: true });
  private readonly legend = el("ul", { class: "legend reasons", "aria-label": "Why batches left their queue" });
  private readonly search = el("input", {
    id: "request-id",
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly choose: Chosen = {
    batch: (key) => this.select({ batch: key }),
    request: (key) => this.select({ request: key }),
  };
  private span: Span = { from: 0, to: FIRST_SPAN_NS };
  private paused = false;
  private selection: Selection = {};
  private answered = 0; // when the last answer came, by performance.now()
  private running = true;
  private timer = 0;

  constructor(
    private readonly context: Context,
    private readonly model: string,
    private readonly version: string,
    request: string | undefined,
  ) {
    this.build();
    new TimelineGestures(this.canvas.element, {
      move: (ns) => this.look(pan(this.span, ns)),
      zoom: (factor, share) => this.look(zoom(this.span, factor, share), false),
      span: () => this.span,
      pick: (px, py) => this.pick(px, py),
      togglePause: () => this.setPaused(!this.paused),
      zoomToSelection: () => this.zoomToSelection(),
      hover: (px, py) => this.hover(px, py),
      choose: (from, to, done) => this.chooseTime(from, to, done),
    });
    void this.poll();
    this.frame();
    if (request !== undefined) {
      this.search.value = request;
      void this.find(request);
    }
  }

  update(): void {}

  end(): void {
    this.running = false;
    clearTimeout(this.timer);
  }

  private build(): void {
    const button = (text: string, label: string, click: () => void) =>
      el("button", { type: "button", "aria-label": label, title: label, click }, text);
    const phases = el("p", { class: "legend" });
    for (const [kind, text] of [
      ["waiting", "request waits"],
      ["computing", "computes"],
      ["leaving", "is handed over"],
      ["bad", "failed"],
    ] as const) {
      phases.append(el("span", {}, el("i", { class: `key ${kind}`, "aria-hidden": "true" }), text));
    }
    this.canvas.element.tabIndex = 0;
    this.canvas.element.setAttribute("role", "application");
    this.canvas.element.setAttribute("aria-roledescription", "timeline");
    this.canvas.element.setAttribute(
      "aria-label",
      "Timeline of instances, batches and requests. Arrow keys move and zoom, z zooms to the selection, space pauses, n and p go from batch to batch.",
    );
    this.canvas.element.addEventListener("keydown", (event) => this.onBatchKey(event));
    this.element.append(
      el(
        "form",
        {
          class: "controls",
          submit: (event: Event) => (event.preventDefault(), void this.find(this.search.value.trim())),
        },
        this.pause,
        button("−", "Zoom out", () => this.look(zoom(this.span, 2, 1), false)),
        button("+", "Zoom in", () => this.look(zoom(this.span, 0.5, this.paused ? 0.5 : 1), false)),
        button("◂", "Earlier", () => this.look(pan(this.span, -(this.span.to - this.span.from) / 4))),
        button("▸", "Later", () => this.look(pan(this.span, (this.span.to - this.span.from) / 4))),
        button("Latest", "Latest record", () => this.goToNewest()),
        this.toSelection,
        el("label", { for: "request-id" }, "Request id"),
        this.search,
        el("button", { type: "submit" }, "Find"),
        el(
          "button",
          { type: "button", title: "What is shown, for Perfetto", click: () => void this.saveTrace() },
          "Trace file",
        ),
        this.found,
        this.shown,
      ),
      el(
        "div",
        { class: "timeline-body" },
        el("div", {}, this.place, this.legend, phases),
        this.details,
      ),
    );
    this.place.append(this.canvas.element, this.tip);
    this.showSelection(false);
  }

  private async poll(): Promise<void> {
    if (!this.running) return;
    if (!document.hidden) {
      const since = Math.max(0, this.data.now_ns - OVERLAP_NS);
      const query = this.data.now_ns === 0 ? "limit=2000" : `since=${since}&limit=5000`;
      try {
        this.data.add(
          await this.context.api.get<Timeline>(
            `/v2/nereid${modelPath(this.model, this.version).slice(3)}/timeline?${query}`,
          ),
        );
        this.answered = performance.now();
        if (!this.data.recording)
          this.found.textContent = "The server remembers nothing of this model (--recorder-events=0).";
      } catch (error) {
        this.found.textContent = (error as Error).message;
      }
    }
    if (this.running) this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
  }

  // While it is not paused, the right edge is now.
  private frame(): void {
    if (!this.running) return;
    if (!this.paused && this.answered > 0) {
      const to = this.data.now_ns + (performance.now() - this.answered) * 1e6 - BEHIND_NS;
      this.span = { from: to - (this.span.to - this.span.from), to };
      this.draw();
    }
    window.setTimeout(() => requestAnimationFrame(() => this.frame()), FRAME_MS);
  }

  private draw(): void {
    this.canvas.draw(this.data, this.span, this.selection);
    const { batches, requests, notDrawn } = this.canvas.layout;
    const batchCount = counted(batches.length, "batch", "batches");
    const requestCount = counted(requests.length + notDrawn, "request", "requests");
    const room = notDrawn > 0 ? `; ${counted(notDrawn, "request has", "requests have")} no room` : "";
    const empty = batches.length + requests.length + notDrawn === 0 && this.answered > 0;
    const why = empty && this.data.recording ? `; ${this.data.whyEmpty()}` : "";
    this.showLegend();
    this.shown.textContent = `${batchCount} and ${requestCount} in ${duration(this.span.to - this.span.from)}${room}${why}`;
  }

  // `pauses`: whoever moves the timeline does not want it to run away.
  private look(span: Span, pauses = true): void {
    if (pauses) this.setPaused(true);
    this.span = span;
    this.draw();
  }

  private goToNewest(): void {
    const end = this.data.newest();
    if (end === undefined) return;
    const width = this.span.to - this.span.from;
    const to = end + width / 20;
    this.look({ from: to - width, to });
  }

  private setPaused(paused: boolean): void {
    if (this.paused === paused) return;
    this.paused = paused;
    this.pause.textContent = paused ? "Follow" : "Pause";
    this.pause.setAttribute("aria-pressed", String(paused));
    if (!paused) this.select({}, false);
  }

  // The reasons of the batches that are shown, and what they mean.
  private showLegend(): void {
    const there = new Set(this.canvas.layout.batches.map((box) => box.execution.reason));
    replace(
      this.legend,
      [...Object.keys(REASONS), ...[...there].filter((reason) => !(reason in REASONS))]
        .filter((reason) => there.has(reason))
        .map((reason) =>
          el(
            "li",
            {},
            el("i", { class: `key ${reasonClass(reason)}`, "aria-hidden": "true" }),
            el("b", {}, reason),
            `: ${meaningOf(reason)}`,
          ),
        ),
    );
  }

  private hover(px: number, py: number): void {
    const box = px < 0 ? undefined : this.canvas.pick(px, py);
    this.tip.hidden = box === undefined;
    if (box === undefined) return;
    this.tip.textContent = "execution" in box ? batchSentence(box.execution) : requestSentence(box.drawn.request);
    const right = px > this.canvas.width / 2;
    this.tip.style.left = right ? "" : `${px + 14}px`;
    this.tip.style.right = right ? `${this.canvas.width - px + 14}px` : "";
    this.tip.style.top = `${py + 14}px`;
  }

  private zoomToSelection(): void {
    const { batch, request } = this.selection;
    const execution = batch === undefined ? undefined : this.data.executions.get(batch);
    const drawn = request === undefined ? undefined : this.data.requests.get(request);
    if (execution !== undefined) this.look(around(execution.start_ns, execution.end_ns));
    else if (drawn !== undefined) this.look(around(drawn.start, drawn.end));
  }

  private chooseTime(from: number, to: number, done: boolean): void {
    this.setPaused(true);
    if (done) return this.look(between(this.span, from, to, this.canvas.width));
    this.draw();
    this.canvas.mark(from, to);
  }

  private pick(px: number, py: number): void {
    const box = this.canvas.pick(px, py);
    if (box === undefined) return this.select({}, false);
    this.select("execution" in box ? { batch: box.key } : { request: box.key }, false);
  }

  private onBatchKey(event: KeyboardEvent): void {
    const step = event.key === "n" ? 1 : event.key === "p" ? -1 : 0;
    if (step === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const batches = [...this.data.executions.values()].sort((a, b) => a.start_ns - b.start_ns);
    const { from, to } = this.span;
    const at = batches.findIndex((batch) => executionKey(batch) === this.selection.batch);
    // Without a selection, the first or the last one that is shown.
    const shown =
      step > 0
        ? batches.find((batch) => batch.end_ns >= from)
        : batches.findLast((batch) => batch.start_ns <= to);
    const next = at < 0 ? shown : batches[at + step];
    if (next === undefined) return;
    this.setPaused(true);
    if (next.start_ns < from || next.end_ns > to)
      this.span = pan(this.span, (next.start_ns + next.end_ns - from - to) / 2);
    this.select({ batch: executionKey(next) }, false);
  }

  private select(selection: Selection, focus = true): void {
    this.selection = selection;
    if (selection.batch !== undefined || selection.request !== undefined) this.setPaused(true);
    this.showSelection(focus);
    this.draw();
    void this.addSteps(selection.request);
  }

  // Steps are not in the answers about times.
  private async addSteps(key: string | undefined): Promise<void> {
    const request = key === undefined ? undefined : this.data.requests.get(key)?.request;
    if (request?.ensemble === undefined || request.steps !== undefined || request.id === "") return;
    const path = `/v2/nereid/requests/${encodeURIComponent(request.id)}`;
    const answer = await this.context.api
      .get<{ requests: RecordedRequest[] }>(path)
      .catch(() => ({ requests: [] }));
    const same = answer.requests.find((found) => requestKey(found) === key && found.model === request.model);
    if (same?.steps === undefined || this.selection.request !== key) return;
    request.steps = same.steps;
    this.showSelection(false);
  }

  private showSelection(focus: boolean): void {
    const { batch, request } = this.selection;
    this.toSelection.disabled = batch === undefined && request === undefined;
    const execution = batch === undefined ? undefined : this.data.executions.get(batch);
    const drawn = request === undefined ? undefined : this.data.requests.get(request);
    if (execution !== undefined && batch !== undefined) {
      this.details.replaceChildren(batchDetails(execution, this.data.membersOf(batch), this.choose));
    } else if (drawn !== undefined) {
      const of = batchOf(drawn.request);
      this.details.replaceChildren(
        requestDetails(
          drawn.request,
          of === undefined ? undefined : this.data.executions.get(of),
          this.choose,
        ),
      );
    } else {
      this.details.replaceChildren(
        el(
          "p",
          { class: "muted" },
          "Choose a batch or a request: what it was, and why. Drag to move, turn the wheel to zoom, drag with Shift to choose a part.",
        ),
      );
    }
    if (focus) this.details.querySelector<HTMLElement>("h2")?.focus();
  }

  // Looks here first, and then asks the server, which remembers more.
  private async find(id: string): Promise<void> {
    if (id === "") return;
    const here = this.data.find(id)[0];
    if (here !== undefined) return this.showFound(here, this.data.find(id).length);
    try {
      const answer = await this.context.api.get<{ requests: RecordedRequest[] }>(
        `/v2/nereid/requests/${encodeURIComponent(id)}`,
      );
      const ours = answer.requests.filter(
        (request) => request.model === this.model && request.version === this.version,
      );
      const first = ours[0];
      if (first !== undefined) {
        this.data.addAll(
          ours.flatMap((request) => request.execution ?? []),
          ours,
        );
        const drawn = this.data.requests.get(requestKey(first));
        if (drawn !== undefined) return this.showFound(drawn, ours.length);
      }
      const other = answer.requests[0];
      if (other === undefined) this.found.textContent = `No request '${id}' is remembered.`;
      else location.hash = modelHash({ name: other.model, version: other.version }, "timeline", id);
    } catch (error) {
      this.found.textContent = (error as Error).message;
    }
  }

  // What is shown, as far as the server remembers it.
  private async saveTrace(): Promise<void> {
    const span = this.span;
    const query = new URLSearchParams({
      model: this.model,
      since: String(Math.max(0, Math.floor(span.from))),
      limit: String(MOST_IN_TRACE),
    });
    try {
      const trace = await this.context.api.get<TraceFile>(`/v2/nereid/trace?${query.toString()}`);
      const part = shownPart(trace, this.model, this.version, span);
      const requests = part.traceEvents.filter((event) => event.ph === "b" && event.args !== undefined);
      download(traceFileName(this.model, this.version), JSON.stringify(part));
      this.found.textContent = `The trace file has ${counted(requests.length, "request", "requests")}.`;
    } catch (error) {
      this.found.textContent = (error as Error).message;
    }
  }

  private showFound(drawn: DrawnRequest, count: number): void {
    this.found.textContent = count === 1 ? "Found." : `Found ${count}; this is the newest.`;
    this.setPaused(true);
    this.span = around(drawn.start, drawn.end);
    this.select({ request: requestKey(drawn.request) });
  }
}
