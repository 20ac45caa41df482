// SPDX-License-Identifier: Apache-2.0
// JSON whose whole numbers keep all their digits, where the browser can tell them. Pure function.

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

// As JSON.parse, but integers that a double cannot hold become bigint.
export function parseExactly(text: string): unknown {
  const reviver: Reviver = (_key, value, context) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    const source = context?.source;
    return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
  };
  return JSON.parse(text, reviver);
}
