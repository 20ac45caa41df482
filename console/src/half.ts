// SPDX-License-Identifier: Apache-2.0
// FP16 and BF16, which JSON cannot hold: numbers to little-endian bytes and back. Pure functions.

export type Half = "FP16" | "BF16";

export function isHalf(datatype: string): datatype is Half {
  return datatype === "FP16" || datatype === "BF16";
}

export function encodeHalves(datatype: Half, values: number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 2));
  const bits = datatype === "FP16" ? fp16Bits : bf16Bits;
  values.forEach((value, i) => view.setUint16(i * 2, bits(value), true));
  return new Uint8Array(view.buffer);
}

export function decodeHalves(datatype: Half, bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = datatype === "FP16" ? fp16Number : bf16Number;
  return Array.from({ length: bytes.length >> 1 }, (_, i) => number(view.getUint16(i * 2, true)));
}

function fp16Number(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

// To the nearest; of two as near, to the even one.
function fp16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | even(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  // A fraction of 2048 is the next exponent, which is what adding it does.
  return sign | (((exponent + 15) << 10) + even(size * 2 ** (10 - exponent)) - 1024);
}

function even(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

function bf16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const view = new DataView(new ArrayBuffer(4));
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}

function bf16Number(bits: number): number {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits << 16);
  return view.getFloat32(0);
}
