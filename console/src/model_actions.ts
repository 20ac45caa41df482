// SPDX-License-Identifier: Apache-2.0
// Loading and unloading, where the server's mode allows it.
import type { Context } from "./view.ts";
import { el } from "./dom.ts";

export function controlsModels(context: Context): boolean {
  return context.settings.model_control === "explicit";
}

// The buttons of a model; nothing where the server loads models by itself.
export function modelButtons(context: Context, name: string, state: string): HTMLElement {
  const buttons = el("span", { class: "actions" });
  if (!controlsModels(context)) return buttons;
  const serves = state === "READY";
  buttons.append(
    el(
      "button",
      { type: "button", "data-action": "load", "aria-label": `${serves ? "Reload" : "Load"} ${name}` },
      serves ? "Reload" : "Load",
    ),
  );
  if (serves) {
    buttons.append(
      el("button", { type: "button", "data-action": "unload", "aria-label": `Unload ${name}` }, "Unload"),
    );
  }
  return buttons;
}

export async function change(context: Context, action: "load" | "unload", name: string): Promise<void> {
  if (
    action === "unload" &&
    !(await confirm(`Unload ${name}?`, "It answers no more requests until it is loaded again.", "Unload"))
  ) {
    return;
  }
  context.announce(`${action === "load" ? "Loading" : "Unloading"} ${name} …`);
  try {
    await context.api.text("POST", `/v2/repository/models/${encodeURIComponent(name)}/${action}`, "{}");
    context.announce(`${name}: ${action === "load" ? "loaded" : "is being unloaded"}.`);
  } catch (error) {
    context.announce(`${name}: ${(error as Error).message}`);
  }
}

function confirm(title: string, text: string, action: string): Promise<boolean> {
  const dialog = el("dialog", { "aria-labelledby": "confirm-title" });
  dialog.append(
    el("h2", { id: "confirm-title" }, title),
    el("p", {}, text),
    el(
      "p",
      { class: "actions" },
      el("button", { type: "button", click: () => dialog.close("no") }, "Cancel"),
      el("button", { type: "button", class: "danger", click: () => dialog.close("yes") }, action),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
