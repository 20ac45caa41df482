// SPDX-License-Identifier: Apache-2.0
// Api: asks the server that the page comes from. Every request carries the token, or a key.
import type { Message } from "./request_builder.ts";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

// The header that opens the API. What is entered: the token; the link with it; or "NAME=VALUE" (or
// "NAME: VALUE"), a key of --http-restricted-api.
export function credential(entered: string): [name: string, value: string] {
  const text = entered.trim().replace(/^.*#token=/, "");
  const key = /^([\w!#$%&'*+.^`|~-]+)\s*[=:]\s*(.+)$/.exec(text);
  return key === null ? ["Authorization", `Bearer ${text}`] : [key[1]!, key[2]!];
}

export class Api {
  private readonly opens: Record<string, string>;

  constructor(entered: string) {
    this.opens = Object.fromEntries([credential(entered)]);
  }

  get<Answer>(path: string): Promise<Answer> {
    return this.text("GET", path).then((text) => JSON.parse(text) as Answer);
  }

  // Sends an inference; the answer is of the same form.
  async infer(path: string, message: Message): Promise<Message> {
    const lengthHeader = "Inference-Header-Content-Length";
    const headers = new Headers(this.opens);
    headers.set("Content-Type", message.tail.length > 0 ? "application/octet-stream" : "application/json");
    let body: BodyInit = message.json;
    if (message.tail.length > 0) {
      const json = new TextEncoder().encode(message.json);
      headers.set(lengthHeader, String(json.length));
      body = new Blob([json, message.tail as Uint8Array<ArrayBuffer>]);
    }
    const answer = await fetch(path, {
      method: "POST",
      cache: "no-store",
      credentials: "omit",
      headers,
      body,
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const length = Number(answer.headers.get(lengthHeader) ?? bytes.length);
    const json = new TextDecoder().decode(bytes.subarray(0, length));
    if (!answer.ok) throw new ApiError(answer.status, errorIn(json) ?? `status ${answer.status}`);
    return { json, tail: bytes.subarray(length) };
  }

  // The answer's text; ApiError for every other status than 200.
  async text(method: "GET" | "POST", path: string, body?: string): Promise<string> {
    const answer = await fetch(path, {
      method,
      cache: "no-store",
      credentials: "omit",
      headers: {
        ...this.opens,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new ApiError(answer.status, errorIn(text) ?? `status ${answer.status}`);
    return text;
  }
}

function errorIn(text: string): string | undefined {
  try {
    const error: unknown = (JSON.parse(text) as { error?: unknown }).error;
    return typeof error === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

// "/v2/models/M[/versions/V]" for any name.
export function modelPath(model: string, version?: string): string {
  const path = `/v2/models/${encodeURIComponent(model)}`;
  return version === undefined ? path : `${path}/versions/${encodeURIComponent(version)}`;
}
