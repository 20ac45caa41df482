// SPDX-License-Identifier: Apache-2.0
// The end of the server's log, followed while it grows.
import type { LogLine, LogTail } from "./answers.ts";
import { el } from "./dom.ts";
import { timeOfDay } from "./format.ts";
import type { Context, View } from "./view.ts";

const MOST_LINES = 1000;

export class LogView implements View {
  readonly element = el("section");
  private readonly lines = el("ol", { class: "log" });
  private readonly place = el(
    "div",
    { class: "log-place", tabindex: 0, role: "log", "aria-live": "off", "aria-label": "Lines of the log" },
    this.lines,
  );
  private readonly level = el("select", { id: "log-level" });
  private readonly words = el("input", { id: "log-words", type: "search", autocomplete: "off" });
  private readonly follow = el("input", { id: "log-follow", type: "checkbox", checked: true });
  private since: number | undefined;
  private asking = false;

  constructor(private readonly context: Context) {
    for (const level of ["all levels", "WARNING", "ERROR"]) this.level.append(el("option", {}, level));
    for (const control of [this.level, this.words]) control.addEventListener("input", () => this.filter());
    this.element.append(
      el("h1", { tabindex: -1 }, "Log"),
      el(
        "form",
        { class: "controls", submit: (event: Event) => event.preventDefault() },
        el("label", { for: "log-level" }, "Level"),
        this.level,
        el("label", { for: "log-words" }, "Lines with"),
        this.words,
        this.follow,
        el("label", { for: "log-follow" }, "Follow"),
      ),
      this.place,
    );
  }

  update(): void {
    if (this.asking) return;
    this.asking = true;
    const query =
      this.since === undefined ? `limit=${MOST_LINES}` : `since=${this.since}&limit=${MOST_LINES}`;
    this.context.api
      .get<LogTail>(`/v2/nereid/log?${query}`)
      .then((tail) => this.add(tail))
      .catch((error: Error) => this.context.announce(error.message))
      .finally(() => (this.asking = false));
  }

  private add(tail: LogTail): void {
    if (tail.dropped > 0) this.lines.append(el("li", { class: "muted" }, `${tail.dropped} lines are gone`));
    for (const line of tail.lines) {
      this.since = line.number;
      this.lines.append(lineElement(line));
    }
    while (this.lines.childElementCount > MOST_LINES) this.lines.firstElementChild?.remove();
    if (tail.lines.length === 0) return;
    this.filter();
    if (this.follow.checked) this.place.scrollTop = this.place.scrollHeight;
  }

  private filter(): void {
    const words = this.words.value.toLowerCase();
    const least = RANKS[this.level.value] ?? 0;
    for (const item of this.lines.children as HTMLCollectionOf<HTMLElement>) {
      const fits =
        (RANKS[item.dataset.level ?? ""] ?? 0) >= least && item.textContent.toLowerCase().includes(words);
      item.hidden = !fits;
    }
  }
}

const RANKS: Record<string, number> = { WARNING: 1, ERROR: 2, FATAL: 2 };

function lineElement(line: LogLine): HTMLElement {
  const time = new Date(line.unix_us / 1000);
  const facts = [line.model, line.request_id, line.place].filter((fact) => fact !== undefined).join(" · ");
  return el(
    "li",
    { "data-level": line.level },
    el("time", { datetime: time.toISOString(), title: time.toISOString() }, timeOfDay(time.getTime())),
    el("span", { class: `level ${line.level.toLowerCase()}` }, line.level),
    el("span", { class: "message" }, line.message),
    el("span", { class: "muted" }, facts),
  );
}
