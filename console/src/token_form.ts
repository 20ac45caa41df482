// SPDX-License-Identifier: Apache-2.0
// What the page shows without a token.
import { el } from "./dom.ts";

export function askForToken(why: string, use: (entered: string) => void): HTMLElement {
  const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true, size: 50 });
  const submit = (event: Event) => {
    event.preventDefault();
    use(input.value);
  };
  return el(
    "section",
    { class: "locked" },
    el("h1", { tabindex: -1 }, "This console needs its token"),
    why !== "" && el("p", { role: "alert", class: "problem" }, why),
    el(
      "p",
      {},
      "The server prints a link when it starts: “Console: …/#token=…”. Open that link, or enter the token.",
    ),
    el(
      "p",
      {},
      "Where --http-restricted-api guards the group “nereid”, its key opens the console, too: enter NAME=VALUE, as in that option.",
    ),
    el(
      "form",
      { class: "controls", submit },
      el("label", { for: "token" }, "Token or key"),
      input,
      el("button", { type: "submit", class: "primary" }, "Open"),
    ),
  );
}
