// SPDX-License-Identifier: Apache-2.0
// Pointer, wheel and keys on a timeline.
import { GUTTER, type Span } from "./timeline_layout.ts";

export interface Gestures {
  span(): Span;
  move(ns: number): void;
  zoom(factor: number, share: number): void; // as zoom() of timeline_layout.ts
  pick(px: number, py: number): void;
  togglePause(): void;
  zoomToSelection(): void;
  hover(px: number, py: number): void; // outside: negative
  // A part of the time is being chosen, from and to these pixels; `done`: it is chosen.
  choose(from: number, to: number, done: boolean): void;
}

const CLICK_PX = 4; // a pointer that has moved less has not dragged

export class TimelineGestures {
  private grabbed: { x: number; y: number; last: number; left: number; dragged: boolean; chooses: boolean } | undefined;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly to: Gestures,
  ) {
    canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    canvas.addEventListener("pointermove", (event) => this.onMove(event));
    canvas.addEventListener("pointerup", (event) => this.onUp(event));
    canvas.addEventListener("pointercancel", () => (this.grabbed = undefined));
    canvas.addEventListener("pointerleave", () => this.to.hover(-1, -1));
    canvas.addEventListener("dblclick", () => this.to.zoomToSelection());
    canvas.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.onKey(event));
  }

  private nsPerPixel(): number {
    const { from, to } = this.to.span();
    return (to - from) / Math.max(1, this.canvas.clientWidth - GUTTER);
  }

  private onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.grabbed = { x: event.clientX, y: event.clientY, last: event.clientX, left: event.offsetX, dragged: false, chooses: event.shiftKey };
  }

  private onMove(event: PointerEvent): void {
    const grabbed = this.grabbed;
    if (grabbed === undefined) return this.to.hover(event.offsetX, event.offsetY);
    grabbed.dragged ||= Math.hypot(event.clientX - grabbed.x, event.clientY - grabbed.y) > CLICK_PX;
    if (!grabbed.dragged) return;
    this.to.hover(-1, -1);
    if (grabbed.chooses) return this.to.choose(grabbed.left, event.offsetX, false);
    this.to.move((grabbed.last - event.clientX) * this.nsPerPixel());
    grabbed.last = event.clientX;
  }

  private onUp(event: PointerEvent): void {
    const grabbed = this.grabbed;
    this.grabbed = undefined;
    if (grabbed?.dragged && grabbed.chooses) return this.to.choose(grabbed.left, event.offsetX, true);
    if (grabbed !== undefined && !grabbed.dragged) this.to.pick(event.offsetX, event.offsetY);
  }

  private onWheel(event: WheelEvent): void {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
      return this.to.move(event.deltaX * this.nsPerPixel());
    const share = (event.offsetX - GUTTER) / Math.max(1, this.canvas.clientWidth - GUTTER);
    this.to.zoom(
      Math.exp(Math.max(-100, Math.min(100, event.deltaY)) / 250),
      Math.max(0, Math.min(1, share)),
    );
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, to } = this.to.span();
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.to.move((from - to) / 8),
      ArrowRight: () => this.to.move((to - from) / 8),
      ArrowUp: () => this.to.zoom(0.7, 0.5),
      ArrowDown: () => this.to.zoom(1 / 0.7, 0.5),
      "+": () => this.to.zoom(0.7, 0.5),
      "-": () => this.to.zoom(1 / 0.7, 0.5),
      " ": () => this.to.togglePause(),
      z: () => this.to.zoomToSelection(),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }
}
