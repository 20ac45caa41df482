// SPDX-License-Identifier: Apache-2.0
// Making elements. Texts are always set as texts, never parsed as HTML.

type Child = Node | string | undefined | false;
type Handler = (event: Event) => void;
type Attributes = Record<string, string | number | boolean | undefined | Handler>;

// `attributes`: functions become listeners ("click"), false and undefined are left out.
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
  return element;
}

// A table whose header cells are `columns`; numbers are aligned by the class "number".
export interface Column {
  title: string;
  number?: boolean;
}

// `kind`: "cards" for a table that has more columns than fit on a phone.
export function table(caption: string, columns: Column[], body: HTMLElement, kind?: "cards"): HTMLElement {
  const head = el("tr");
  for (const column of columns) {
    head.append(el("th", { scope: "col", class: column.number ? "number" : undefined }, column.title));
  }
  const made = el("table", { class: kind }, el("caption", {}, caption), el("thead", {}, head), body);
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, made);
}

// A bar of a share between 0 and 1, for the eye only: the number stands beside it.
export function bar(share: number, kind = ""): HTMLElement {
  const filled = el("span", { class: `fill ${kind}` });
  filled.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return el("span", { class: "bar", "aria-hidden": "true" }, filled);
}

// Gives the reader a file of this text, under a name that the browser may change.
export function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: address, download: name }).click();
  // The browser reads it in its own time.
  window.setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

// Replaces the children unless nothing has changed, so that focus and selection stay.
export function replace(parent: Element, children: Child[]): void {
  const next = el("div");
  for (const child of children) if (child !== undefined && child !== false) next.append(child);
  if (parent.innerHTML === next.innerHTML) return;
  parent.replaceChildren(...next.childNodes);
}
