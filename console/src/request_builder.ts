// SPDX-License-Identifier: Apache-2.0
// An inference request from a model's metadata. Pure functions. Values stay the texts that the user
// wrote, so that integers beyond 2^53 keep all their digits.
import type { TensorMetadata } from "./answers.ts";
import { encodeHalves, isHalf } from "./half.ts";

export interface InputForm {
  name: string;
  datatype: string;
  shape: number[];
  data: string; // JSON: a list of all elements, nested or not
}

export interface RequestForm {
  model: string;
  version: string;
  id: string;
  inputs: InputForm[];
  outputs: { name: string; datatype: string }[]; // of the model
}

// A request as it is sent: JSON, and behind it the tensors that JSON cannot hold.
export interface Message {
  json: string;
  tail: Uint8Array;
}

// More elements than that are not made by themselves.
const MOST_MADE = 4096;

// A dimension that may vary becomes 1.
export function initialShape(tensor: TensorMetadata): number[] {
  return tensor.shape.map((dim) => (dim < 0 ? 1 : dim));
}

export function elements(shape: number[]): number {
  return shape.reduce((all, dim) => all * dim, 1);
}

export type Filling = "zeros" | "ones" | "count" | "random";

export function fill(datatype: string, shape: number[], filling: Filling, random = Math.random): string {
  const count = Math.min(elements(shape), MOST_MADE);
  const values = Array.from({ length: count }, (_, i) => element(datatype, i, filling, random));
  return `[${values.join(", ")}]`;
}

function element(datatype: string, i: number, filling: Filling, random: () => number): string {
  const value = filling === "zeros" ? 0 : filling === "ones" ? 1 : filling === "count" ? i : random();
  if (datatype === "BYTES") return JSON.stringify(filling === "zeros" ? "" : `text ${i}`);
  if (datatype === "BOOL") return filling === "count" ? String(i % 2 === 1) : String(value >= 0.5);
  if (datatype.startsWith("FP")) return String(filling === "random" ? Number(value.toFixed(4)) : value);
  if (filling === "random") return String(Math.floor(value * 100));
  return String(filling === "count" ? i % 128 : value);
}

// What is wrong with an input, as a sentence; undefined if nothing is.
export function problem(input: InputForm, known: TensorMetadata | undefined): string | undefined {
  const name = `The input '${input.name}'`;
  if (input.shape.some((dim) => !Number.isSafeInteger(dim) || dim < 0)) {
    return `${name} needs a shape of whole numbers that are not negative.`;
  }
  if (known !== undefined) {
    const fits =
      known.shape.length === input.shape.length &&
      known.shape.every((dim, i) => dim < 0 || dim === input.shape[i]);
    if (!fits) return `${name} has the shape [${input.shape}], but the model takes [${known.shape}].`;
  }
  let data: unknown;
  try {
    data = JSON.parse(input.data);
  } catch {
    return `${name} needs data that are JSON: a list of its elements.`;
  }
  if (!Array.isArray(data)) return `${name} needs a list of its elements.`;
  const values: unknown[] = data.flat(Infinity);
  if (isHalf(input.datatype) && values.some((value) => typeof value !== "number")) {
    return `${name} needs numbers.`;
  }
  const count = values.length;
  const wanted = elements(input.shape);
  return count === wanted ? undefined : `${name} has ${count} elements, but its shape has ${wanted}.`;
}

// The request. REQUIRES: no input has a problem.
export function messageOf(form: RequestForm): Message {
  const tails: Uint8Array[] = [];
  const inputs = form.inputs.map((input) => {
    const head = `"name":${JSON.stringify(input.name)},"datatype":"${input.datatype}","shape":${JSON.stringify(input.shape)}`;
    if (!isHalf(input.datatype)) return `{${head},"data":${oneLine(input.data)}}`;
    const tail = encodeHalves(
      input.datatype,
      (JSON.parse(input.data) as unknown[]).flat(Infinity) as number[],
    );
    tails.push(tail);
    return `{${head},"parameters":{"binary_data_size":${tail.length}}}`;
  });
  const id = form.id === "" ? "" : `"id":${JSON.stringify(form.id)},`;
  return { json: `{${id}"inputs":[${inputs.join(",")}]${outputsOf(form)}}`, tail: joined(tails) };
}

// Outputs are named only where one of them cannot come as JSON.
function outputsOf(form: RequestForm): string {
  if (!form.outputs.some((output) => isHalf(output.datatype))) return "";
  const outputs = form.outputs.map(({ name, datatype }) => {
    const binary = isHalf(datatype) ? ',"parameters":{"binary_data":true}' : "";
    return `{"name":${JSON.stringify(name)}${binary}}`;
  });
  return `,"outputs":[${outputs.join(",")}]`;
}

function joined(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// JSON without the blanks between its tokens.
export function oneLine(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (token) => (token.startsWith('"') ? token : ""));
}

export function inferPath(form: RequestForm): string {
  const version = form.version === "" ? "" : `/versions/${encodeURIComponent(form.version)}`;
  return `/v2/models/${encodeURIComponent(form.model)}${version}/infer`;
}
