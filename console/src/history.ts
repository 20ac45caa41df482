// SPDX-License-Identifier: Apache-2.0
// History: what the live answers of the last minutes say about the server and each model, as the
// series of plots. Rates are differences of counters, so the first answer gives none.
import type { Counts, Live, LiveModel } from "./answers.ts";
import { sum } from "./format.ts";

export interface Sample {
  unix_s: number;
  requestsPerSecond?: number;
  failuresPerSecond?: number;
  queued?: number;
  inFlight?: number;
  batchSize?: number;
  busy?: number;
  p50?: number; // of the whole latency, nanoseconds
  p90?: number;
  p99?: number;
}

export const KEPT_SAMPLES = 300;
const TOTAL = "";

export function keyOf(model: { name: string; version: string }): string {
  return `${model.name}/${model.version}`;
}

export class History {
  private before: Live | undefined;
  private readonly samples = new Map<string, Sample[]>();

  add(now: Live): void {
    const before = this.before !== undefined && isSameServer(this.before, now) ? this.before : undefined;
    if (before === undefined) this.samples.clear();
    if (before !== undefined && now.now_ns <= before.now_ns) return; // the same answer again
    this.before = now;
    this.append(TOTAL, serverSample(before, now));
    const known = new Map(before?.models.map((model) => [keyOf(model), model]));
    for (const model of now.models) {
      const key = keyOf(model);
      this.append(key, modelSample(known.get(key), model, before, now));
    }
    const present = new Set(now.models.map(keyOf));
    for (const key of this.samples.keys()) {
      if (key !== TOTAL && !present.has(key)) this.samples.delete(key);
    }
  }

  // Oldest first; of the whole server without `model`.
  of(model?: { name: string; version: string }): readonly Sample[] {
    return this.samples.get(model === undefined ? TOTAL : keyOf(model)) ?? [];
  }

  private append(key: string, sample: Sample): void {
    const list = this.samples.get(key) ?? [];
    list.push(sample);
    if (list.length > KEPT_SAMPLES) list.shift();
    this.samples.set(key, list);
  }
}

// When the server was started, by its own clock.
function isSameServer(a: Live, b: Live): boolean {
  return a.now_ns - a.server.uptime_ns === b.now_ns - b.server.uptime_ns;
}

function rate(before: number, now: number, seconds: number): number | undefined {
  return seconds > 0 && now >= before ? (now - before) / seconds : undefined;
}

function serverSample(before: Live | undefined, now: Live): Sample {
  const sample: Sample = {
    unix_s: now.now_unix_ms / 1000,
    queued: now.server.queued,
    inFlight: now.server.in_flight,
  };
  if (before === undefined) return sample;
  const seconds = (now.now_ns - before.now_ns) / 1e9;
  const ended = (live: Live) => live.server.succeeded + live.server.failed;
  return {
    ...sample,
    ...defined({
      requestsPerSecond: rate(ended(before), ended(now), seconds),
      failuresPerSecond: rate(before.server.failed, now.server.failed, seconds),
    }),
  };
}

export function units(batchSizes: Counts | undefined): number {
  return Object.entries(batchSizes ?? {}).reduce((all, [size, count]) => all + Number(size) * count, 0);
}

function modelSample(
  before: LiveModel | undefined,
  now: LiveModel,
  liveBefore: Live | undefined,
  live: Live,
): Sample {
  const latency = now.recent !== undefined && now.recent.requests > 0 ? now.recent.latency_ns : undefined;
  const sample: Sample = {
    unix_s: live.now_unix_ms / 1000,
    ...defined({ queued: now.queued, inFlight: now.in_flight, ...latency }),
  };
  if (before?.succeeded === undefined || now.succeeded === undefined || liveBefore === undefined) {
    return sample;
  }
  const seconds = (live.now_ns - liveBefore.now_ns) / 1e9;
  const ended = (model: LiveModel) => (model.succeeded ?? 0) + sum(model.failed);
  const batches = sum(now.batch_sizes) - sum(before.batch_sizes);
  const instances = now.instances ?? 0;
  const busy =
    instances > 0 ? rate(before.busy_ns ?? 0, now.busy_ns ?? 0, seconds * 1e9 * instances) : undefined;
  return {
    ...sample,
    ...defined({
      requestsPerSecond: rate(ended(before), ended(now), seconds),
      failuresPerSecond: rate(sum(before.failed), sum(now.failed), seconds),
      batchSize: batches > 0 ? (units(now.batch_sizes) - units(before.batch_sizes)) / batches : undefined,
      busy: busy === undefined ? undefined : Math.min(1, busy),
    }),
  };
}

function defined(values: Record<string, number | undefined>): Partial<Sample> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
