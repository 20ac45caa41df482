// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeHalves, encodeHalves } from "../src/half.ts";

function bitsOf(datatype: "FP16" | "BF16", value: number): number {
  const [low, high] = encodeHalves(datatype, [value]);
  return low! | (high! << 8);
}

test("FP16: known numbers", () => {
  const known: [number, number][] = [
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [65504, 0x7bff],
    [65519, 0x7bff],
    [65520, 0x7c00],
    [-Infinity, 0xfc00],
    [NaN, 0x7e00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [1 / 3, 0x3555],
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [2 - 2 ** -12, 0x4000],
  ];
  for (const [value, bits] of known) assert.equal(bitsOf("FP16", value), bits, String(value));
});

test("FP16: every number comes back", () => {
  const all = new Uint8Array(new Uint16Array(Array.from({ length: 65536 }, (_, i) => i)).buffer);
  const again = encodeHalves("FP16", decodeHalves("FP16", all));
  const bits = new Uint16Array(again.buffer);
  for (let i = 0; i < 65536; i++) {
    const isNaN = (i & 0x7c00) === 0x7c00 && (i & 0x3ff) !== 0;
    if (!isNaN) assert.equal(bits[i], i);
  }
});

test("BF16: known numbers", () => {
  const known: [number, number][] = [
    [1, 0x3f80],
    [-2, 0xc000],
    [3.140625, 0x4049],
    [1 + 2 ** -8, 0x3f80],
    [1 + 3 * 2 ** -8, 0x3f82],
    [Infinity, 0x7f80],
    [NaN, 0x7fc0],
  ];
  for (const [value, bits] of known) assert.equal(bitsOf("BF16", value), bits, String(value));
  assert.deepEqual(decodeHalves("BF16", Uint8Array.from([0x49, 0x40])), [3.140625]);
});
