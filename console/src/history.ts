// SPDX-License-Identifier: Apache-2.0
// History: what the server has remembered, and what the live answers since then say, of the last
// minutes of the server and each model, as the series of plots. Rates are differences of counters, so the first answer gives none.
import type { Counts, Live, LiveModel, Percentiles, Remembered } from "./answers.ts";
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

// What was counted until a moment, whoever has told it.
interface Counters {
  queued?: number | undefined;
  inFlight?: number | undefined;
  succeeded?: number | undefined;
  failed?: number;
  instances?: number;
  busy_ns?: number;
  batches?: number;
  units?: number;
  latency?: Percentiles | undefined;
}
interface Moment {
  ns: number;
  unix_s: number;
  started_ns: number; // by the server's own clock: tells servers apart
  server: Counters;
  models: Map<string, Counters>;
}

export class History {
  private before: Moment | undefined;
  private readonly samples = new Map<string, Sample[]>();

  add(live: Live): void {
    this.addMoment(momentOf(live));
  }

  // Puts what the server has remembered before what is there. Samples of another server are not taken.
  fill(remembered: Remembered): void {
    const first = this.before;
    if (first === undefined || !isSameStart(first.started_ns, remembered.started_ns)) return;
    this.before = undefined;
    this.samples.clear();
    for (const sample of remembered.samples) this.addMoment(rememberedMoment(sample, remembered.started_ns));
    this.addMoment(first);
  }

  private addMoment(now: Moment): void {
    const last = this.before;
    const before = last !== undefined && isSameStart(last.started_ns, now.started_ns) ? last : undefined;
    if (before === undefined) this.samples.clear();
    if (before !== undefined && now.ns <= before.ns) return; // the same answer again
    this.before = now;
    const seconds = before === undefined ? 0 : (now.ns - before.ns) / 1e9;
    this.append(TOTAL, sampleOf(before?.server, now.server, seconds, now.unix_s));
    for (const [key, model] of now.models)
      this.append(key, sampleOf(before?.models.get(key), model, seconds, now.unix_s));
    for (const key of this.samples.keys()) {
      if (key !== TOTAL && !now.models.has(key)) this.samples.delete(key);
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

// Whether it is the same server. Nanoseconds of machines that have run for months are not exact here.
function isSameStart(a: number, b: number): boolean {
  return Math.abs(a - b) < 1e6;
}

function momentOf(live: Live): Moment {
  const { server } = live;
  return {
    ns: live.now_ns,
    unix_s: live.now_unix_ms / 1000,
    started_ns: live.now_ns - server.uptime_ns,
    server: {
      queued: server.queued,
      inFlight: server.in_flight,
      succeeded: server.succeeded,
      failed: server.failed,
    },
    models: new Map(live.models.map((model) => [keyOf(model), countersOf(model)])),
  };
}

function countersOf(model: LiveModel): Counters {
  return {
    queued: model.queued,
    inFlight: model.in_flight,
    succeeded: model.succeeded,
    failed: sum(model.failed),
    instances: model.instances ?? 0,
    busy_ns: model.busy_ns ?? 0,
    batches: sum(model.batch_sizes),
    units: units(model.batch_sizes),
    latency: (model.recent?.requests ?? 0) > 0 ? model.recent?.latency_ns : undefined,
  };
}

function rememberedMoment(sample: Remembered["samples"][number], started_ns: number): Moment {
  return {
    ns: sample.now_ns,
    unix_s: sample.now_unix_ms / 1000,
    started_ns,
    server: { ...sample.server, inFlight: sample.server.in_flight },
    models: new Map(
      sample.models.map((model) => [
        keyOf(model),
        { ...model, inFlight: model.in_flight, latency: model.latency_ns },
      ]),
    ),
  };
}

function rate(before: number, now: number, seconds: number): number | undefined {
  return seconds > 0 && now >= before ? (now - before) / seconds : undefined;
}

export function units(batchSizes: Counts | undefined): number {
  return Object.entries(batchSizes ?? {}).reduce((all, [size, count]) => all + Number(size) * count, 0);
}

// Rates need a moment before.
function sampleOf(before: Counters | undefined, now: Counters, seconds: number, unix_s: number): Sample {
  const sample: Sample = {
    unix_s,
    ...defined({ queued: now.queued, inFlight: now.inFlight, ...now.latency }),
  };
  if (before?.succeeded === undefined || now.succeeded === undefined) return sample;
  const ended = (counters: Counters) => (counters.succeeded ?? 0) + (counters.failed ?? 0);
  const batches = (now.batches ?? 0) - (before.batches ?? 0);
  const instances = now.instances ?? 0;
  const busy =
    instances > 0 ? rate(before.busy_ns ?? 0, now.busy_ns ?? 0, seconds * 1e9 * instances) : undefined;
  return {
    ...sample,
    ...defined({
      requestsPerSecond: rate(ended(before), ended(now), seconds),
      failuresPerSecond: rate(before.failed ?? 0, now.failed ?? 0, seconds),
      batchSize: batches > 0 ? ((now.units ?? 0) - (before.units ?? 0)) / batches : undefined,
      busy: busy === undefined ? undefined : Math.min(1, busy),
    }),
  };
}

function defined(values: Record<string, number | undefined>): Partial<Sample> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
