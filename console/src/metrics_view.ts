// SPDX-License-Identifier: Apache-2.0
// The page of the metrics port, with a filter.
import { el } from "./dom.ts";
import type { Context, View } from "./view.ts";

const EVERY_MS = 5000;

export class MetricsView implements View {
  readonly element = el("section");
  private readonly words = el("input", { id: "metrics-words", type: "search", autocomplete: "off" });
  private readonly text = el("pre", {
    tabindex: 0,
    role: "region",
    "aria-label": "Metrics in Prometheus' text format",
  });
  private asked = 0;
  private lines: string[] = [];

  constructor(private readonly context: Context) {
    this.words.addEventListener("input", () => this.show());
    this.element.append(
      el("h1", { tabindex: -1 }, "Metrics"),
      el(
        "form",
        { class: "controls", submit: (event: Event) => event.preventDefault() },
        el("label", { for: "metrics-words" }, "Lines with"),
        this.words,
      ),
      this.text,
    );
  }

  update(): void {
    if (performance.now() - this.asked < EVERY_MS) return;
    this.asked = performance.now();
    this.context.api
      .text("GET", "/metrics")
      .then((text) => {
        this.lines = text.split("\n");
        this.show();
      })
      .catch((error: Error) => (this.text.textContent = error.message));
  }

  private show(): void {
    const words = this.words.value.toLowerCase();
    this.text.textContent = this.lines.filter((line) => line.toLowerCase().includes(words)).join("\n");
  }
}
