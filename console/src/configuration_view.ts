// SPDX-License-Identifier: Apache-2.0
// The configuration of a model as the server uses it.
import { modelPath } from "./api.ts";
import { el } from "./dom.ts";
import type { Context, View } from "./view.ts";

export class ConfigurationView implements View {
  readonly element = el("div");

  constructor(context: Context, model: string, version: string) {
    const text = el("pre", { tabindex: 0, role: "region", "aria-label": "Configuration as JSON" }, "…");
    this.element.append(
      el(
        "p",
        { class: "muted" },
        "The configuration that the server uses, with what it has completed by itself.",
      ),
      text,
    );
    context.api
      .get<unknown>(`${modelPath(model, version)}/config`)
      .then((config) => (text.textContent = JSON.stringify(config, undefined, 2)))
      .catch((error: Error) => (text.textContent = error.message));
  }

  update(): void {}
}
