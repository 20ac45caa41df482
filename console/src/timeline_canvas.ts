// SPDX-License-Identifier: Apache-2.0
// TimelineCanvas: draws a layout, and reads the colours of the style sheet.
import type { RecordedRequest } from "./answers.ts";
import { timeOfDay } from "./format.ts";
import { PATTERNS, phaseKind, REASONS } from "./reasons.ts";
import { batchOf, type TimelineData } from "./timeline_data.ts";
import {
  AXIS_HEIGHT,
  GUTTER,
  INSTANCE_HEIGHT,
  SLOT_HEIGHT,
  hit,
  layOut,
  tickLabel,
  ticks,
  type BatchBox,
  type Layout,
  type RequestBox,
  type SlotBox,
  type Span,
} from "./timeline_layout.ts";

// What is shown in the foreground: a batch with its requests, or a request.
export interface Selection {
  batch?: string | undefined;
  request?: string | undefined;
}

const FONT = "11px system-ui, sans-serif";
const LEAST_HEIGHT = 320;
const LEGEND_ROOM = 120;
const TILE = 8; // pixels
const HATCH_ROOM = 5; // pixels that show a pattern
const NUMBER_ROOM = 16; // pixels that a number of units needs in its batch

export class TimelineCanvas {
  readonly element = document.createElement("canvas");
  private readonly brush: CanvasRenderingContext2D;
  private colours = new Map<string, string>();
  private readonly patterns = new Map<string, CanvasPattern | null>();
  layout: Layout = {
    rows: [],
    lanesTop: 0,
    slots: [],
    batches: [],
    requests: [],
    height: 0,
    notDrawn: 0,
  };

  constructor() {
    const brush = this.element.getContext("2d");
    if (brush === null) throw new Error("this browser draws no canvas");
    this.brush = brush;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.colours.clear();
      this.patterns.clear();
    });
  }

  get width(): number {
    return this.element.clientWidth;
  }

  draw(data: TimelineData, span: Span, selection: Selection): void {
    const width = this.width;
    if (width <= GUTTER) return;
    const room = this.room();
    this.layout = layOut(data, span, width, room);
    const height = Math.max(this.layout.height, room);
    this.resize(width, height);
    this.drawAxis(data, span, width, height);
    this.drawInstances(width);
    this.brush.save();
    this.brush.beginPath();
    this.brush.rect(GUTTER, AXIS_HEIGHT, width - GUTTER, height);
    this.brush.clip();
    const faded = selection.batch !== undefined || selection.request !== undefined;
    for (const box of this.layout.batches) this.drawBatch(box, faded && box.key !== selection.batch);
    for (const box of this.layout.slots) this.drawSlot(box, faded && !isSelected(box, selection));
    for (const box of this.layout.requests) this.drawRequest(box, faded && !isSelected(box, selection));
    this.brush.restore();
  }

  // The height from the canvas's place to the bottom of the window, with some left for the legend.
  private room(): number {
    const top = (this.element.parentElement ?? this.element).getBoundingClientRect().top + window.scrollY;
    return Math.max(LEAST_HEIGHT, Math.floor(window.innerHeight - top - LEGEND_ROOM));
  }

  // Marks the part of the time that is being chosen.
  mark(from: number, to: number): void {
    this.brush.globalAlpha = 0.25;
    this.brush.fillStyle = this.colour("--accent");
    this.brush.fillRect(Math.min(from, to), AXIS_HEIGHT, Math.abs(to - from), this.element.clientHeight);
    this.brush.globalAlpha = 1;
  }

  pick(px: number, py: number): BatchBox | SlotBox | RequestBox | undefined {
    return hit(this.layout, px, py);
  }

  private resize(width: number, height: number): void {
    const ratio = window.devicePixelRatio || 1;
    const [pixels, lines] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.element.width !== pixels || this.element.height !== lines) {
      this.element.width = pixels;
      this.element.height = lines;
      this.element.style.height = `${height}px`;
    }
    this.brush.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.brush.clearRect(0, 0, width, height);
    this.brush.font = FONT;
    this.brush.textBaseline = "middle";
  }

  private colour(name: string): string {
    let colour = this.colours.get(name);
    if (colour === undefined) {
      colour = getComputedStyle(this.element).getPropertyValue(name).trim();
      this.colours.set(name, colour);
    }
    return colour;
  }

  private drawAxis(data: TimelineData, span: Span, width: number, height: number): void {
    const { step, at } = ticks(span, width - GUTTER, data.minuteOffset());
    const scale = (width - GUTTER) / (span.to - span.from);
    this.brush.strokeStyle = this.colour("--line");
    this.brush.fillStyle = this.colour("--muted");
    this.brush.fillText(timeOfDay(data.unixMs(span.from)), 8, AXIS_HEIGHT / 2);
    for (const tick of at) {
      const x = Math.round(GUTTER + (tick - span.from) * scale) + 0.5;
      this.brush.beginPath();
      this.brush.moveTo(x, AXIS_HEIGHT - 4);
      this.brush.lineTo(x, height);
      this.brush.stroke();
      const label = tickLabel(data.unixMs(tick), step);
      if (x + 4 + this.brush.measureText(label).width <= width) this.brush.fillText(label, x + 4, AXIS_HEIGHT / 2);
    }
  }

  private drawInstances(width: number): void {
    for (const { name, y, slots } of this.layout.rows) {
      this.brush.fillStyle = this.colour("--lane");
      this.brush.fillRect(GUTTER, y + 2, width - GUTTER, INSTANCE_HEIGHT - 4);
      this.brush.fillStyle = this.colour("--text");
      this.brush.fillText(shortened(name), 8, y + INSTANCE_HEIGHT / 2, GUTTER - 14);
      for (let slot = 0; slot < slots; slot++) {
        const top = y + INSTANCE_HEIGHT + slot * SLOT_HEIGHT;
        this.brush.fillStyle = this.colour("--lane");
        this.brush.fillRect(GUTTER, top + 1, width - GUTTER, SLOT_HEIGHT - 2);
        this.brush.fillStyle = this.colour("--muted");
        this.brush.fillText(`slot ${slot}`, 20, top + SLOT_HEIGHT / 2, GUTTER - 26);
      }
    }
    this.brush.fillStyle = this.colour("--muted");
    this.brush.fillText("requests", 8, this.layout.lanesTop + 4);
  }

  private drawBatch(box: BatchBox, faded: boolean): void {
    const reason = box.execution.reason in REASONS ? box.execution.reason : "other";
    this.brush.globalAlpha = faded ? 0.25 : 1;
    this.brush.fillStyle = this.colour(box.execution.failed ? "--bad" : `--reason-${reason}`);
    this.brush.fillRect(box.x, box.y, Math.max(1, box.width - 0.5), box.height);
    this.hatch(box, reason);
    if (box.width > NUMBER_ROOM) {
      // A plain ground behind the number.
      const wide = this.brush.measureText(String(box.execution.units)).width + 6;
      this.brush.fillStyle = this.colour(box.execution.failed ? "--bad" : `--reason-${reason}`);
      this.brush.fillRect(Math.max(box.x, GUTTER) + 1, box.y + 2, Math.min(wide, box.width - 2), box.height - 4);
      this.brush.fillStyle = this.colour("--on-reason");
      this.brush.fillText(
        String(box.execution.units),
        Math.max(box.x, GUTTER) + 4,
        box.y + box.height / 2 + 0.5,
      );
    }
    this.brush.globalAlpha = 1;
  }

  // The pattern of a reason, which tells it from others of a like colour.
  private hatch(box: BatchBox, reason: string): void {
    if (box.width < HATCH_ROOM) return;
    let pattern = this.patterns.get(reason);
    if (pattern === undefined) {
      pattern = makePattern(this.brush, reason, this.colour("--on-reason"));
      this.patterns.set(reason, pattern);
    }
    if (pattern === null) return;
    this.brush.fillStyle = pattern;
    this.brush.fillRect(box.x, box.y, Math.max(1, box.width - 0.5), box.height);
  }

  private drawSlot(box: SlotBox, faded: boolean): void {
    this.brush.globalAlpha = faded ? 0.25 : 1;
    this.brush.fillStyle = this.colour(isGood(box.drawn.request) ? "--computing" : "--bad");
    this.brush.fillRect(box.x, box.y, Math.max(1, box.width - 0.5), box.height);
    const sequence = box.drawn.request.sequence ?? "";
    if (box.width > this.brush.measureText(sequence).width + 8) {
      this.brush.fillStyle = this.colour("--on-reason");
      this.brush.fillText(sequence, Math.max(box.x, GUTTER) + 4, box.y + box.height / 2 + 0.5);
    }
    this.brush.globalAlpha = 1;
  }

  private drawRequest(box: RequestBox, faded: boolean): void {
    this.brush.globalAlpha = faded ? 0.25 : 1;
    const ok = isGood(box.drawn.request);
    const ground = box.parts.length === 0 ? "--computing" : "--waiting";
    this.brush.fillStyle = this.colour(ok ? ground : "--bad");
    this.brush.fillRect(box.x, box.y, box.width, box.height);
    for (const part of ok ? box.parts : []) {
      if (part.width < 0.3) continue;
      this.brush.fillStyle = this.colour(`--${phaseKind(part.phase)}`);
      this.brush.fillRect(part.x, box.y, part.width, box.height);
    }
    this.brush.globalAlpha = 1;
  }
}

function isGood(request: RecordedRequest): boolean {
  return request.outcome === "ok" || request.outcome === "cache_hit";
}

function isSelected(box: RequestBox | SlotBox, selection: Selection): boolean {
  if (selection.request !== undefined) return box.key === selection.request;
  return batchOf(box.drawn.request) === selection.batch;
}

// A tile of lines or dots; null for a plain ground. style.css draws the same in the legend.
function makePattern(on: CanvasRenderingContext2D, reason: string, colour: string): CanvasPattern | null {
  const lines = PATTERNS[reason] ?? [];
  if (lines.length === 0) return null;
  const tile = document.createElement("canvas");
  tile.width = tile.height = TILE;
  const brush = tile.getContext("2d");
  if (brush === null) return null;
  brush.strokeStyle = colour;
  brush.globalAlpha = 0.55;
  for (const [x1, y1, x2, y2] of lines) {
    // Beside it, too, so that the corners of tiles meet.
    for (const [dx, dy] of [[0, 0], [TILE, 0], [-TILE, 0], [0, TILE], [0, -TILE]] as const) {
      brush.beginPath();
      brush.moveTo(x1 + dx, y1 + dy);
      brush.lineTo(x2 + dx, y2 + dy);
      brush.stroke();
    }
  }
  return on.createPattern(tile, "repeat");
}

// The end of a long name tells instances apart.
function shortened(name: string): string {
  return name.length <= 20 ? name : `…${name.slice(-19)}`;
}
