// SPDX-License-Identifier: Apache-2.0
// The playground's request for other clients: curl, Python with tritonclient, and Go. Pure functions.
import { isHalf } from "./half.ts";
import { inferPath, messageOf, oneLine, type InputForm, type RequestForm } from "./request_builder.ts";

export interface Target {
  tls: boolean;
  host: string; // "localhost:8000"
}

function urlOf(target: Target): string {
  return `${target.tls ? "https" : "http"}://${target.host}`;
}

const LENGTH_HEADER = "Inference-Header-Content-Length";

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

// Such an output comes as bytes, which no terminal should see.
function hasHalfOutput(form: RequestForm): boolean {
  return form.outputs.some((output) => isHalf(output.datatype));
}

// A word for a POSIX shell.
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function curlSample(form: RequestForm, target: Target): string {
  const url = shellWord(urlOf(target) + inferPath(form));
  const { json, tail } = messageOf(form);
  if (tail.length === 0) {
    const output = hasHalfOutput(form) ? ["  --output answer.bin \\"] : [];
    return [
      `curl ${url} \\`,
      `  -H 'Content-Type: application/json' \\`,
      ...output,
      `  -d ${shellWord(json)}`,
      "",
    ].join("\n");
  }
  // Bytes as every printf knows them.
  const octal = [...tail].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return [
    `{ printf %s ${shellWord(json)}`,
    `  printf '${octal}'; } |`,
    `curl ${url} \\`,
    `  -H '${LENGTH_HEADER}: ${utf8Length(json)}' \\`,
    `  --data-binary @- --output answer.bin`,
    "",
  ].join("\n");
}

const NUMPY: Record<string, string> = {
  BOOL: "np.bool_",
  UINT8: "np.uint8",
  UINT16: "np.uint16",
  UINT32: "np.uint32",
  UINT64: "np.uint64",
  INT8: "np.int8",
  INT16: "np.int16",
  INT32: "np.int32",
  INT64: "np.int64",
  FP16: "np.float16",
  BF16: "np.float32", // the client shortens them
  FP32: "np.float32",
  FP64: "np.float64",
  BYTES: "np.object_",
};

// JSON as a Python expression: its strings, numbers and lists are Python's, too.
export function pythonLiteral(json: string): string {
  const names: Record<string, string> = { true: "True", false: "False", null: "None" };
  return oneLine(json).replace(/"(?:[^"\\]|\\.)*"|true|false|null|,/g, (token) =>
    token === "," ? ", " : token.startsWith('"') ? pythonString(token) : (names[token] ?? token),
  );
}

// JSON writes characters outside of the basic plane as two \u; Python takes them as they are.
function pythonString(json: string): string {
  const text = JSON.parse(json) as string;
  return `"${[...text].map(pythonCharacter).join("")}"`;
}

function pythonCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '"' || character === "\\") return `\\${character}`;
  if (code >= 0xd800 && code <= 0xdfff) return `\\u${code.toString(16)}`;
  return code >= 0x20 && code !== 0x7f ? character : `\\x${code.toString(16).padStart(2, "0")}`;
}

function pythonInput(input: InputForm, at: number): string {
  const name = pythonString(JSON.stringify(input.name));
  const shape = `[${input.shape.join(", ")}]`;
  return [
    `input${at} = http.InferInput(${name}, ${shape}, "${input.datatype}")`,
    `input${at}.set_data_from_numpy(`,
    `    np.array(${pythonLiteral(input.data)}, dtype=${NUMPY[input.datatype] ?? "np.object_"}).reshape(${shape})`,
    ")",
  ].join("\n");
}

export function pythonSample(form: RequestForm, target: Target): string {
  const text = (value: string) => pythonString(JSON.stringify(value));
  const options = [
    form.version === "" ? "" : `, model_version=${text(form.version)}`,
    form.id === "" ? "" : `, request_id=${text(form.id)}`,
  ].join("");
  const inputs = form.inputs.map((_, i) => `input${i}`).join(", ");
  return [
    "# pip install tritonclient[http]",
    "import numpy as np",
    "import tritonclient.http as http",
    "",
    `client = http.InferenceServerClient(${text(target.host)}${target.tls ? ", ssl=True" : ""})`,
    ...form.inputs.map(pythonInput),
    `result = client.infer(${text(form.model)}, [${inputs}]${options})`,
    'for output in result.get_response()["outputs"]:',
    '    print(output["name"], result.as_numpy(output["name"]))',
    "",
  ].join("\n");
}

// A raw string where possible, which is easier to read.
export function goString(text: string): string {
  return /[`\r\0\u{feff}\p{Surrogate}]/u.test(text) ? JSON.stringify(text) : `\`${text}\``;
}

export function goSample(form: RequestForm, target: Target): string {
  const { json, tail } = messageOf(form);
  const hex = [...tail].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  const body = tail.length === 0 ? goString(json) : `${goString(json)} +\n\t\t"${hex}"`;
  const length = tail.length === 0 ? "" : `\trequest.Header.Set("${LENGTH_HEADER}", "${utf8Length(json)}")\n`;
  return `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
)

func main() {
	body := ${body}
	url := ${JSON.stringify(urlOf(target) + inferPath(form))}
	request, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", "${tail.length === 0 ? "application/json" : "application/octet-stream"}")
${length}	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status)
	fmt.Println(string(text))
}
`;
}
