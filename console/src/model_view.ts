// SPDX-License-Identifier: Apache-2.0
// One model version: its state and why, and a tab for each thing to see or do.
import type { LiveModel } from "./answers.ts";
import { ConfigurationView } from "./configuration_view.ts";
import { el } from "./dom.ts";
import { counted } from "./format.ts";
import { LiveView } from "./live_view.ts";
import { change, modelButtons } from "./model_actions.ts";
import { stateBadge } from "./overview_view.ts";
import { PlaygroundView } from "./playground_view.ts";
import { MODEL_TABS, modelHash, type ModelTab } from "./route.ts";
import { StatisticsView } from "./statistics_view.ts";
import { TimelineView } from "./timeline_view.ts";
import type { Context, View } from "./view.ts";

const TITLES: Record<ModelTab, string> = {
  live: "Live",
  timeline: "Timeline",
  statistics: "Statistics",
  playground: "Playground",
  configuration: "Configuration",
};

export interface ModelRoute {
  model: string;
  version: string;
  tab: ModelTab;
  request?: string;
}

export class ModelView implements View {
  readonly element = el("section");
  private readonly state = el("p", { class: "model-state" });
  private readonly tab: View;
  private readonly others = el("select", { id: "model", change: () => (location.hash = this.others.value) });

  constructor(
    private readonly context: Context,
    private readonly route: ModelRoute,
  ) {
    this.tab = this.makeTab();
    const address = { name: route.model, version: route.version };
    const tabs = MODEL_TABS.map((tab) =>
      el(
        "a",
        { href: modelHash(address, tab), "aria-current": tab === route.tab ? "page" : undefined },
        TITLES[tab],
      ),
    );
    this.state.addEventListener("click", (event) => {
      const action = (event.target as HTMLElement).dataset.action;
      if (action === "load" || action === "unload") void change(context, action, route.model);
    });
    this.element.append(
      el("h1", { tabindex: -1 }, route.model, " ", el("small", {}, `version ${route.version}`)),
      el("p", { class: "switch" }, el("label", { for: "model" }, "Model"), this.others),
      this.state,
      el("nav", { class: "tabs", "aria-label": `Views of ${route.model}` }, ...tabs),
      this.tab.element,
    );
  }

  update(): void {
    const model = this.find();
    const state = model?.state ?? "UNKNOWN";
    const next = el(
      "p",
      { class: "model-state" },
      stateBadge(state),
      el("span", { class: "why" }, this.why(model)),
      modelButtons(this.context, this.route.model, state),
    );
    if (!this.state.isEqualNode(next)) this.state.replaceChildren(...next.childNodes);
    this.offerOthers();
    this.tab.update();
  }

  // The other models, in the same view.
  private offerOthers(): void {
    const { model, version, tab } = this.route;
    const own = { name: model, version };
    const there = this.context.live.models.filter((known) => known.version !== undefined);
    if (this.find() === undefined) there.unshift({ ...own, state: "", reason: "" });
    const next = el("select");
    for (const each of there) {
      const several = there.filter((other) => other.name === each.name).length > 1;
      const text = `${each.name}${several ? `, version ${each.version}` : ""}`;
      next.append(el("option", { value: modelHash(each, tab) }, text));
    }
    if (this.others.innerHTML === next.innerHTML) return;
    this.others.replaceChildren(...next.childNodes);
    this.others.value = modelHash(own, tab);
  }

  end(): void {
    this.tab.end?.();
  }

  private find(): LiveModel | undefined {
    return this.context.live.models.find(
      (model) => model.name === this.route.model && model.version === this.route.version,
    );
  }

  private why(model: LiveModel | undefined): string {
    if (model === undefined) return "The server does not show this version now.";
    if (model.recent === undefined) return model.reason;
    const instances = model.instances ?? 0;
    return instances === 0 ? "no instances of its own" : counted(instances, "instance", "instances");
  }

  private makeTab(): View {
    const { context, route } = this;
    switch (route.tab) {
      case "live":
        return new LiveView(context, () => this.find());
      case "timeline":
        return new TimelineView(context, route.model, route.version, route.request);
      case "statistics":
        return new StatisticsView(context, route.model, route.version);
      case "playground":
        return new PlaygroundView(context, route.model, route.version);
      case "configuration":
        return new ConfigurationView(context, route.model, route.version);
    }
  }
}
