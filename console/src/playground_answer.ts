// SPDX-License-Identifier: Apache-2.0
// How the playground shows an answer: a table for each output, and the answer as it came.
import { el, table } from "./dom.ts";
import { parseExactly } from "./exact_json.ts";
import { decodeHalves, isHalf } from "./half.ts";
import type { Message } from "./request_builder.ts";

interface Output {
  name: string;
  datatype: string;
  shape: number[];
  data?: unknown[];
  parameters?: { binary_data_size?: number };
}

const MOST_SHOWN = 256;
const MOST_TEXT = 100_000;

// The values of each output; those that came behind the JSON, too.
export function valuesOf(outputs: Output[], tail: Uint8Array): unknown[][] {
  let at = 0;
  return outputs.map(({ datatype, data, parameters }) => {
    const size = parameters?.binary_data_size;
    if (size === undefined || !isHalf(datatype)) return data ?? [];
    const bytes = tail.subarray(at, at + size);
    at += size;
    return decodeHalves(datatype, bytes);
  });
}

export function answerElement({ json, tail }: Message): HTMLElement[] {
  const answer = parseExactly(json);
  const outputs = (answer as { outputs?: Output[] }).outputs ?? [];
  const body = el("tbody");
  const data = valuesOf(outputs, tail);
  for (const [i, output] of outputs.entries()) {
    body.append(
      el(
        "tr",
        {},
        el("th", { scope: "row" }, output.name),
        el("td", {}, `${output.datatype} [${output.shape.join(", ")}]`),
        el("td", { class: "values" }, values(data[i] ?? [])),
      ),
    );
  }
  const shown = json.length > MOST_TEXT ? `${json.slice(0, MOST_TEXT)}…` : json;
  const raw = tail.length > 0 ? `${shown}\n… and ${tail.length} bytes of binary tensors` : shown;
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
