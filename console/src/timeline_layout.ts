// SPDX-License-Identifier: Apache-2.0
// Where the batches and requests of a timeline are drawn. Pure functions: times become pixels.
import type { Execution } from "./answers.ts";
import { timeOfDay } from "./format.ts";
import { executedIn, type DrawnRequest, type TimelineData } from "./timeline_data.ts";

// The span of time that is shown, in nanoseconds of the server's steady clock.
export interface Span {
  from: number;
  to: number;
}

export const SHORTEST_SPAN_NS = 1e5;
export const LONGEST_SPAN_NS = 600e9;

export const GUTTER = 132; // for the names of instances
export const AXIS_HEIGHT = 24;
export const INSTANCE_HEIGHT = 26;
export const SLOT_HEIGHT = 14;
export const SECTION_GAP = 22;
export const LANE_HEIGHT = 10; // of requests, at least
const MOST_LANE_HEIGHT = 26;
export const BOTTOM = 6;
const NARROW = 6; // pixels; what is narrower has no room for its phases

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface BatchBox extends Box {
  key: string;
  execution: Execution;
}
export interface Part {
  phase: string;
  x: number;
  width: number;
}
export interface RequestBox extends Box {
  key: string;
  drawn: DrawnRequest;
  parts: Part[];
}
// A request in the row of the slot that its sequence had.
export interface SlotBox extends Box {
  key: string;
  drawn: DrawnRequest;
}
// The rows of an instance: one for its batches, and below it one for each of its slots.
export interface InstanceRows {
  name: string;
  y: number;
  slots: number;
}
export interface Layout {
  rows: InstanceRows[];
  lanesTop: number; // where the requests begin
  slots: SlotBox[];
  batches: BatchBox[];
  requests: RequestBox[];
  height: number;
  notDrawn: number; // requests of the span that have no place
}

// `share` (0 to 1, from the left) stays where it is; a factor below 1 shows less.
export function zoom(span: Span, factor: number, share: number): Span {
  const width = span.to - span.from;
  const next = Math.max(SHORTEST_SPAN_NS, Math.min(LONGEST_SPAN_NS, width * factor));
  const from = span.from + (width - next) * share;
  return { from, to: from + next };
}

export function pan(span: Span, ns: number): Span {
  return { from: span.from + ns, to: span.to + ns };
}

// The part of `span` between two pixels of a timeline that is `width` wide.
export function between(span: Span, px1: number, px2: number, width: number): Span {
  const ns = (px: number) => {
    const share = (px - GUTTER) / Math.max(1, width - GUTTER);
    return span.from + (span.to - span.from) * Math.max(0, Math.min(1, share));
  };
  const from = ns(Math.min(px1, px2));
  return { from, to: Math.max(ns(Math.max(px1, px2)), from + SHORTEST_SPAN_NS) };
}

// A span with some room around what it shows.
export function around(from: number, to: number): Span {
  const room = Math.max((to - from) * 0.6, SHORTEST_SPAN_NS / 2);
  return { from: from - room, to: to + room };
}

// From the top down; `bottom`: where the next one would be.
function instanceRows(data: TimelineData): { rows: InstanceRows[]; bottom: number } {
  const rows: InstanceRows[] = [];
  let y = AXIS_HEIGHT;
  for (const name of data.instances) {
    const slots = data.slots.get(name) ?? 0;
    rows.push({ name, y, slots });
    y += INSTANCE_HEIGHT + slots * SLOT_HEIGHT;
  }
  return { rows, bottom: y };
}

// `room`: the height that there is. Requests become higher to fill it, within limits.
export function layOut(data: TimelineData, span: Span, width: number, room = 0): Layout {
  const scale = (width - GUTTER) / (span.to - span.from);
  const x = (ns: number) => GUTTER + (ns - span.from) * scale;
  const overlaps = (start: number, end: number) => end >= span.from && start <= span.to;
  const { rows, bottom } = instanceRows(data);
  const lanesTop = bottom + SECTION_GAP;

  const batches: BatchBox[] = [];
  const lines = new Map(rows.map((row) => [row.name, row]));
  for (const [key, execution] of data.executions) {
    if (!overlaps(execution.start_ns, execution.end_ns)) continue;
    batches.push({
      key,
      execution,
      x: x(execution.start_ns),
      y: (lines.get(execution.instance)?.y ?? AXIS_HEIGHT) + 3,
      width: Math.max(1, (execution.end_ns - execution.start_ns) * scale),
      height: INSTANCE_HEIGHT - 6,
    });
  }

  const requests: RequestBox[] = [];
  const slots: SlotBox[] = [];
  let lanes = 4;
  for (const drawn of data.requests.values())
    if (overlaps(drawn.start, drawn.end)) lanes = Math.max(lanes, drawn.lane + 1);
  const laneHeight = Math.max(
    LANE_HEIGHT,
    Math.min(MOST_LANE_HEIGHT, Math.floor((room - lanesTop - BOTTOM) / lanes)),
  );
  let notDrawn = 0;
  for (const [key, drawn] of data.requests) {
    if (!overlaps(drawn.start, drawn.end)) continue;
    const slot = slotBox(lines.get(drawn.request.instance ?? ""), drawn, x, scale);
    if (slot !== undefined) slots.push({ key, drawn, ...slot });
    if (drawn.lane < 0) {
      notDrawn++;
      continue;
    }
    const boxWidth = Math.max(1, (drawn.end - drawn.start) * scale);
    requests.push({
      key,
      drawn,
      x: x(drawn.start),
      y: lanesTop + drawn.lane * laneHeight,
      width: boxWidth,
      height: laneHeight - 2,
      parts: boxWidth < NARROW ? [] : partsOf(drawn, x(drawn.start), scale),
    });
  }
  const height = lanesTop + lanes * laneHeight + BOTTOM;
  return { rows, lanesTop, slots, batches, requests, height, notDrawn };
}

function slotBox(
  row: InstanceRows | undefined,
  drawn: DrawnRequest,
  x: (ns: number) => number,
  scale: number,
): Box | undefined {
  const slot = drawn.request.sequence_slot;
  if (row === undefined || slot === undefined || slot >= row.slots) return undefined;
  const { from, to } = executedIn(drawn);
  return {
    x: x(from),
    y: row.y + INSTANCE_HEIGHT + slot * SLOT_HEIGHT + 1,
    width: Math.max(1, (to - from) * scale),
    height: SLOT_HEIGHT - 2,
  };
}

// The phases follow each other without a gap.
function partsOf(drawn: DrawnRequest, left: number, scale: number): Part[] {
  const parts: Part[] = [];
  for (const [phase, ns] of drawn.phases) {
    const width = ns * scale;
    parts.push({ phase, x: left, width });
    left += width;
  }
  return parts;
}

// A label for a moment of the axis whose lines are `step` nanoseconds apart: the time of day at a full
// second, and in between the milliseconds since it, with as many digits as tell the lines apart.
export function tickLabel(unixMs: number, step: number): string {
  const digits = step >= 1e6 ? 0 : Math.min(6, Math.ceil(6 - Math.log10(step) - 1e-9));
  const scale = 10 ** digits;
  const rounded = Math.round(unixMs * scale) / scale;
  const ms = ((rounded % 1000) + 1000) % 1000;
  if (step >= 1e9 || Number(ms.toFixed(digits)) % 1000 === 0) return timeOfDay(rounded);
  return `+${ms.toFixed(digits)} ms`;
}

// What is drawn at a point; requests, slots and batches do not overlap. A pixel beside counts, too.
export function hit(layout: Layout, px: number, py: number): BatchBox | SlotBox | RequestBox | undefined {
  const touches = (box: Box) =>
    px >= box.x - 1 && px <= box.x + box.width + 1 && py >= box.y - 1 && py <= box.y + box.height + 1;
  return layout.batches.find(touches) ?? layout.slots.find(touches) ?? layout.requests.find(touches);
}

// Round moments on the axis, at least `room` pixels apart: multiples of 1, 2 or 5 times a power of ten,
// after `offset` has been added, which makes a time of day of the server's clock.
export function ticks(span: Span, width: number, offset = 0, room = 110): { step: number; at: number[] } {
  const least = ((span.to - span.from) * room) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least) ?? 10 * power;
  const at: number[] = [];
  const first = Math.ceil((span.from + offset) / step) * step - offset;
  for (let tick = first; tick <= span.to; tick += step) at.push(tick);
  return { step, at };
}
