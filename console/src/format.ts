// SPDX-License-Identifier: Apache-2.0
// Numbers, times and sizes as people read them. Pure functions. A dash stands for what is unknown.

export const UNKNOWN = "–";

// Three significant digits, without an exponent: 1234, 12.3, 0.123.
export function number(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return UNKNOWN;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  const text = size < 0.001 ? value.toExponential(1) : value.toPrecision(3);
  return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
}

// A span of nanoseconds: "850 ns", "12.3 µs", "4.56 ms", "7.89 s".
export function duration(ns: number | undefined): string {
  if (ns === undefined || !Number.isFinite(ns)) return UNKNOWN;
  const size = Math.abs(ns);
  if (size === 0) return "0";
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 1e6) return `${number(ns / 1e3)} µs`;
  if (size < 1e9) return `${number(ns / 1e6)} ms`;
  return `${number(ns / 1e9)} s`;
}

// How long a server runs: "3 d 4 h", "1 h 02 min", "5 min 06 s", "7 s".
export function uptime(ns: number): string {
  const seconds = Math.floor(ns / 1e9);
  const two = (value: number) => String(value).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${two(minutes % 60)} min`;
  if (minutes > 0) return `${minutes} min ${two(seconds % 60)} s`;
  return `${seconds} s`;
}

// "17:05:09", of the reader's time zone.
export function timeOfDay(unixMs: number): string {
  return new Date(unixMs).toTimeString().slice(0, 8);
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit++;
  }
  return `${number(value)} ${units[unit]}`;
}

export function percent(share: number | undefined): string {
  if (share === undefined || !Number.isFinite(share)) return UNKNOWN;
  return `${Math.round(share * 100)} %`;
}

// "1 batch", "2 batches".
export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

export function sum(counts: Record<string, number> | undefined): number {
  return Object.values(counts ?? {}).reduce((total, count) => total + count, 0);
}
