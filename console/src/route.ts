// SPDX-License-Identifier: Apache-2.0
// The address of a view: what stands behind the '#'. Pure functions.

export type ModelTab = "live" | "timeline" | "statistics" | "playground" | "configuration";

export const MODEL_TABS: readonly ModelTab[] = [
  "live",
  "timeline",
  "statistics",
  "playground",
  "configuration",
];

export type Route =
  | { view: "overview" }
  | { view: "log" }
  | { view: "metrics" }
  | { view: "model"; model: string; version: string; tab: ModelTab; request?: string };

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map(decode);
  if (parts[0] === "log") return { view: "log" };
  if (parts[0] === "metrics") return { view: "metrics" };
  const [kind, model, version, tab] = parts;
  if (kind !== "model" || !model || !version) return { view: "overview" };
  const request = new URLSearchParams(query).get("request");
  return {
    view: "model",
    model,
    version,
    tab: MODEL_TABS.find((known) => known === tab) ?? "live",
    ...(request === null ? {} : { request }),
  };
}

export function modelHash(
  model: { name: string; version: string },
  tab: ModelTab = "live",
  request?: string,
): string {
  const query = request === undefined ? "" : `?${new URLSearchParams({ request })}`;
  return `#/model/${encodeURIComponent(model.name)}/${encodeURIComponent(model.version)}/${tab}${query}`;
}

// The token of the link that the server printed: "#token=..."
export function tokenIn(hash: string): string | undefined {
  return /^#token=([0-9a-f]+)$/.exec(hash)?.[1];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
