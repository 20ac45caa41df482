// SPDX-License-Identifier: Apache-2.0
// The trace file of what the timeline shows, of the one that the server makes. Pure functions.
import type { Span } from "./timeline_layout.ts";

// An event of Chrome's trace-event format, as /v2/nereid/trace has it. Times are microseconds.
export interface TraceEvent {
  name: string;
  ph: string; // "X": with a duration; "b", "e": beginning and end of the span `id`; "M": names
  ts: number;
  pid: number; // of a model version
  dur?: number;
  id?: string;
  args?: Record<string, unknown>;
}
export interface TraceFile {
  displayTimeUnit?: string;
  traceEvents: TraceEvent[];
}

// What has touched `span` in that version of the model, each request with all its phases.
export function shownPart(trace: TraceFile, model: string, version: string, span: Span): TraceFile {
  const title = `${model} ${version}`;
  const process = trace.traceEvents.find(
    (event) => event.name === "process_name" && event.args?.name === title,
  );
  const events = trace.traceEvents.filter((event) => event.pid === process?.pid);
  const requests = new Map<string, Span>();
  for (const { id, ts } of events) {
    if (id === undefined) continue;
    const known = requests.get(id) ?? { from: ts, to: ts };
    requests.set(id, { from: Math.min(known.from, ts), to: Math.max(known.to, ts) });
  }
  const touches = ({ from, to }: Span) => to * 1000 >= span.from && from * 1000 <= span.to;
  const isShown = ({ id, ph, ts, dur = 0 }: TraceEvent) =>
    ph === "M" || touches((id === undefined ? undefined : requests.get(id)) ?? { from: ts, to: ts + dur });
  return { ...trace, traceEvents: events.filter(isShown) };
}

export function traceFileName(model: string, version: string): string {
  return `${model.replace(/[^\w.-]+/g, "_")}-${version}-trace.json`;
}
