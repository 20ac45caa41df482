// How the playground shows an answer: a table for each output, and the answer as it came.
import { el, table } from "./dom.ts";

interface Output {
  name: string;
  datatype: string;
  shape: number[];
  data?: unknown[];
}

const MOST_SHOWN = 256;
const MOST_TEXT = 100_000;

export function answerElement(answer: unknown, text: string): HTMLElement[] {
  const outputs = (answer as { outputs?: Output[] }).outputs ?? [];
  const body = el("tbody");
  for (const output of outputs) {
    body.append(
      el(
        "tr",
        {},
        el("th", { scope: "row" }, output.name),
        el("td", {}, `${output.datatype} [${output.shape.join(", ")}]`),
        el("td", { class: "values" }, values(output.data ?? [])),
      ),
    );
  }
  const raw = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
  return [
    table("Outputs", [{ title: "Output" }, { title: "Type" }, { title: "Values" }], body),
    el("details", {}, el("summary", {}, "The answer as it came"), el("pre", { tabindex: 0 }, raw)),
  ];
}

function values(data: unknown[]): string {
  const shown = data
    .slice(0, MOST_SHOWN)
    .map((value) => (typeof value === "string" ? JSON.stringify(value) : String(value)));
  return data.length > MOST_SHOWN ? `${shown.join(", ")}, … ${data.length} in all` : shown.join(", ");
}
