// SPDX-License-Identifier: Apache-2.0
// What `nereid check` says of the server's repositories: asked for when the view opens, when a model's
// state has changed, and now and then.
import type { Problems } from "./answers.ts";
import { el, replace } from "./dom.ts";
import { counted } from "./format.ts";
import type { Context } from "./view.ts";

const EVERY_MS = 30_000;

export class ProblemsPanel {
  readonly element = el("section", { class: "problems", "aria-labelledby": "problems-title" });
  private readonly summary = el("p", { class: "muted", role: "status" });
  private readonly list = el("ul");
  private answer: Problems | undefined;
  private asked = -Infinity;
  private states = "";

  constructor(private readonly context: Context) {
    this.element.append(
      el("h2", { id: "problems-title" }, "Problems of the repositories"),
      this.summary,
      this.list,
    );
  }

  update(): void {
    const { models } = this.context.live;
    const states = models.map(({ name, version, state }) => `${name}/${version} ${state}`).join("\n");
    const now = performance.now();
    if (states === this.states && now - this.asked < EVERY_MS) return;
    this.states = states;
    this.asked = now;
    this.context.api
      .get<Problems>("/console/problems")
      .then((answer) => this.show(answer))
      .catch((error: Error) => (this.summary.textContent = `The repositories cannot be checked: ${error.message}`));
  }

  // What stands beside the name of a model; nothing if there is nothing to say.
  badge(model: string): HTMLElement | undefined {
    const ours = (this.answer?.problems ?? []).filter((problem) => problem.model === model);
    if (ours.length === 0) return undefined;
    const bad = ours.filter((problem) => problem.kind === "problem").length;
    const text =
      bad > 0 ? counted(bad, "problem", "problems") : counted(ours.length, "warning", "warnings");
    return el(
      "span",
      { class: `state ${bad > 0 ? "bad" : "busy"}`, title: ours.map((problem) => problem.text).join("\n") },
      text,
    );
  }

  private show(answer: Problems): void {
    this.answer = answer;
    const models = counted(answer.checked, "model", "models");
    this.summary.textContent =
      answer.problems.length === 0
        ? `nereid check finds no problem in ${models}.`
        : `nereid check has looked at ${models}.`;
    replace(
      this.list,
      answer.problems.map(({ model, kind, text }) =>
        el(
          "li",
          {},
          el("span", { class: `state ${kind === "problem" ? "bad" : "busy"}` }, kind),
          el("b", {}, model),
          el("span", { class: "text" }, text),
        ),
      ),
    );
  }
}
