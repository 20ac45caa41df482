// SPDX-License-Identifier: Apache-2.0
// What is said of a selected batch or request beside the timeline: reason, members, phases.
import type { Execution, RecordedRequest } from "./answers.ts";
import { bar, el, table } from "./dom.ts";
import { counted, duration, percent } from "./format.ts";
import { meaningOf, PHASES, phaseKind, reasonClass } from "./reasons.ts";
import { modelHash } from "./route.ts";
import { executionKey, requestKey, type DrawnRequest } from "./timeline_data.ts";

export interface Chosen {
  batch(key: string): void;
  request(key: string): void;
}

// What the pointer shows.
export function batchSentence(batch: Execution): string {
  const what = `${counted(batch.requests, "request", "requests")}, ${duration(batch.end_ns - batch.start_ns)}`;
  return `Batch ${batch.number}${batch.failed ? ", failed" : ""}: ${what}. ${batch.reason}: ${meaningOf(batch.reason)}.`;
}

export function requestSentence(request: RecordedRequest): string {
  const longest = Object.entries(request.phases_ns).sort((a, b) => b[1] - a[1])[0];
  const most = longest === undefined ? "" : `, most of it ${longest[0]} (${duration(longest[1])})`;
  return `Request ${request.id || "(no id)"}, ${request.outcome}: ${duration(request.latency_ns)}${most}.`;
}

export function batchDetails(
  execution: Execution,
  members: readonly DrawnRequest[],
  choose: Chosen,
): HTMLElement {
  const rows = el("tbody");
  for (const member of members) {
    const { request } = member;
    const key = requestKey(request);
    rows.append(
      el(
        "tr",
        {},
        el(
          "th",
          { scope: "row" },
          el(
            "button",
            { type: "button", class: "link", click: () => choose.request(key) },
            request.id || "(no id)",
          ),
        ),
        el("td", {}, request.outcome),
        el("td", { class: "number" }, duration(request.phases_ns.queue ?? 0)),
        el("td", { class: "number" }, duration(request.latency_ns)),
      ),
    );
  }
  const missing = execution.requests - members.length;
  return el(
    "div",
    { class: "details" },
    el("h2", { tabindex: -1 }, `Batch ${execution.number} of ${execution.instance}`),
    el(
      "p",
      {},
      el("i", { class: `key ${reasonClass(execution.reason)}`, "aria-hidden": "true" }),
      el("b", {}, execution.reason),
      `: ${meaningOf(execution.reason)}.`,
    ),
    facts([
      ["Requests", String(execution.requests)],
      ["Batch size", String(execution.units)],
      execution.fillers > 0 && ["Fillers", String(execution.fillers)],
      ["Executed", duration(execution.end_ns - execution.start_ns)],
      ["Left the queue before", duration(execution.start_ns - execution.left_queue_ns)],
      ["Thread", execution.thread === "caller" ? "that which brought the requests" : "the instance's own"],
      ["Result", execution.failed ? "failed" : "ok"],
    ]),
    table(
      "Requests of the batch",
      [
        { title: "Id" },
        { title: "Outcome" },
        { title: "Queue", number: true },
        { title: "Latency", number: true },
      ],
      rows,
    ),
    missing > 0 && el("p", { class: "muted" }, `${missing} more: not remembered here, or not released yet.`),
  );
}

export function requestDetails(
  request: RecordedRequest,
  execution: Execution | undefined,
  choose: Chosen,
): HTMLElement {
  const rows = el("tbody");
  for (const [phase, ns] of Object.entries(request.phases_ns)) {
    const share = request.latency_ns > 0 ? ns / request.latency_ns : 0;
    rows.append(
      el(
        "tr",
        { title: PHASES[phase] },
        el("th", { scope: "row" }, phase),
        el("td", { class: "number" }, duration(ns)),
        el("td", {}, el("span", { class: "meter" }, bar(share, phaseKind(phase)), percent(share))),
      ),
    );
  }
  const key = execution === undefined ? undefined : executionKey(execution);
  return el(
    "div",
    { class: "details" },
    el("h2", { tabindex: -1 }, `Request ${request.id || "(no id)"}`),
    facts([
      ["Outcome", request.outcome],
      ["Latency", duration(request.latency_ns)],
      request.batch_size !== undefined && ["Size", String(request.batch_size)],
      request.sequence !== undefined && ["Sequence", request.sequence],
      request.sequence_slot !== undefined && ["Slot", String(request.sequence_slot)],
      execution !== undefined && ["Batch of", `${execution.requests}, ${execution.reason}`],
    ]),
    key !== undefined &&
      el("p", {}, el("button", { type: "button", click: () => choose.batch(key) }, "Show its batch")),
    request.steps !== undefined && stepsTable(request.steps),
    table(
      "Where its time went",
      [{ title: "Phase" }, { title: "Time", number: true }, { title: "Share" }],
      rows,
    ),
  );
}

// Each step is a request of its model, with the same id.
function stepsTable(steps: RecordedRequest[]): HTMLElement {
  const rows = el("tbody");
  for (const step of [...steps].sort((a, b) => a.start_ns - b.start_ns)) {
    const address = modelHash({ name: step.model, version: step.version }, "timeline", step.id);
    rows.append(
      el(
        "tr",
        {},
        el("th", { scope: "row" }, el("a", { href: address }, step.model)),
        el("td", {}, step.outcome),
        el("td", { class: "number" }, duration(step.latency_ns)),
      ),
    );
  }
  return table(
    "Its steps",
    [{ title: "Model" }, { title: "Outcome" }, { title: "Latency", number: true }],
    rows,
  );
}

function facts(list: ([string, string] | false)[]): HTMLElement {
  const names = el("dl", { class: "facts" });
  for (const fact of list)
    if (fact !== false) names.append(el("div", {}, el("dt", {}, fact[0]), el("dd", {}, fact[1])));
  return names;
}
