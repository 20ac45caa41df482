// SPDX-License-Identifier: Apache-2.0
// The page: takes the token from the address, asks the server every second, and shows the view of
// the address.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Api, ApiError } from "./api.ts";
import type { ConsoleSettings, Live, Remembered } from "./answers.ts";
import { History } from "./history.ts";
import { LogView } from "./log_view.ts";
import { MetricsView } from "./metrics_view.ts";
import { ModelView } from "./model_view.ts";
import { OverviewView } from "./overview_view.ts";
import { parseRoute, tokenIn, type Route } from "./route.ts";
import { askForToken } from "./token_form.ts";
import type { Context, View } from "./view.ts";

const EVERY_MS = 1000;
const TOKEN_KEY = "nereid-console-token";

function required(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element '${id}'`);
  return element;
}

class Page {
  private readonly main = required("main");
  private readonly status = required("status");
  private readonly connection = required("connection");
  private context: Context | undefined;
  private view: View | undefined;

  async start(): Promise<void> {
    window.addEventListener("hashchange", () => this.onAddress());
    // What stands behind '#' is the address of a view.
    required("skip").addEventListener("click", (event) => {
      event.preventDefault();
      this.main.focus();
    });
    // The token leaves the address, so that nobody reads it there; the tab keeps it.
    const given = tokenIn(location.hash);
    if (given !== undefined) {
      sessionStorage.setItem(TOKEN_KEY, given);
      history.replaceState(null, "", "#/");
    }
    const token = sessionStorage.getItem(TOKEN_KEY);
    if (token === null) return this.lock("");
    await this.connect(new Api(token));
  }

  private async connect(api: Api): Promise<void> {
    try {
      const [settings, live, remembered] = await Promise.all([
        api.get<ConsoleSettings>("/console/settings"),
        api.get<Live>("/v2/nereid/live"),
        api.get<Remembered>("/console/history"),
      ]);
      const announce = (text: string) => (this.status.textContent = text);
      this.context = { api, settings, live, history: new History(), announce };
      this.context.history.add(live);
      this.context.history.fill(remembered);
      this.show();
      window.setTimeout(() => void this.poll(), EVERY_MS);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401)
        return this.lock("The token or key is not one of this server.");
      this.lost(error as Error);
      window.setTimeout(() => void this.connect(api), EVERY_MS);
    }
  }

  private async poll(): Promise<void> {
    const context = this.context;
    if (context === undefined) return;
    if (!document.hidden) {
      try {
        context.live = await context.api.get<Live>("/v2/nereid/live");
        context.history.add(context.live);
        this.connected(context.live);
        this.view?.update();
      } catch (error) {
        // A server that was started anew has another token.
        if (error instanceof ApiError && error.status === 401)
          return this.lock("The server has been started anew: it has another token.");
        this.lost(error as Error);
      }
    }
    window.setTimeout(() => void this.poll(), EVERY_MS);
  }

  private onAddress(): void {
    const token = tokenIn(location.hash);
    if (token !== undefined) return location.reload();
    this.show();
  }

  private show(): void {
    const context = this.context;
    if (context === undefined) return;
    const first = this.view === undefined;
    this.view?.end?.();
    const route = parseRoute(location.hash);
    this.view = makeView(context, route);
    this.main.replaceChildren(this.view.element);
    this.connected(context.live);
    this.view.update();
    markLink(route);
    document.title = `${route.view === "model" ? route.model : route.view} – ${context.live.server.name} console`;
    // Who follows a link hears where it has led.
    if (!first) this.main.querySelector<HTMLElement>("h1")?.focus();
  }

  private connected(live: Live): void {
    this.connection.textContent = `${live.server.name} ${live.server.version}`;
    this.connection.className = "connection good";
  }

  private lost(error: Error): void {
    this.connection.textContent = "no answer";
    this.connection.className = "connection bad";
    this.status.textContent = `The server does not answer (${error.message}); asking again.`;
  }

  private lock(why: string): void {
    sessionStorage.removeItem(TOKEN_KEY);
    this.view?.end?.();
    this.view = undefined;
    this.context = undefined;
    this.connection.textContent = "";
    this.main.replaceChildren(
      askForToken(why, (entered) => {
        sessionStorage.setItem(TOKEN_KEY, entered);
        void this.connect(new Api(entered));
      }),
    );
  }
}

function makeView(context: Context, route: Route): View {
  switch (route.view) {
    case "overview":
      return new OverviewView(context);
    case "log":
      return new LogView(context);
    case "metrics":
      return new MetricsView(context);
    case "model":
      return new ModelView(context, route);
  }
}

function markLink(route: Route): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("header nav a")) {
    const here = link.dataset.view === (route.view === "model" ? "overview" : route.view);
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

void new Page().start();
