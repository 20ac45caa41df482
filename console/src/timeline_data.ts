// SPDX-License-Identifier: Apache-2.0
// TimelineData: what is known of the batches and requests of one model version, with a place for
// each request below the others. Bounded: the oldest go first.
import type { Execution, RecordedRequest, Timeline } from "./answers.ts";
import { timeOfDay } from "./format.ts";
import { phaseKind } from "./reasons.ts";

export const MOST_EXECUTIONS = 10_000;
export const MOST_REQUESTS = 20_000;
export const MOST_LANES = 96;
export const MOST_SLOTS = 32; // of an instance, that have a row
const LANE_GAP_NS = 20_000;

export interface DrawnRequest {
  request: RecordedRequest;
  start: number;
  end: number;
  lane: number; // -1: there was no place
  phases: [name: string, ns: number][];
}

export function executionKey(execution: { instance: string; number: number }): string {
  return `${execution.instance}#${execution.number}`;
}

export function requestKey(request: RecordedRequest): string {
  return `${request.id}@${request.start_ns}+${request.latency_ns}`;
}

// The key of the batch that a request was in; undefined if it was in none.
export function batchOf(request: RecordedRequest): string | undefined {
  if (request.instance === undefined || request.batch === undefined) return undefined;
  return executionKey({ instance: request.instance, number: request.batch });
}

// When it was executed, from its phases: from the end of its wait until the outputs were computed.
export function executedIn(drawn: DrawnRequest): { from: number; to: number } {
  let [at, from, to] = [drawn.start, drawn.start, drawn.start];
  for (const [phase, ns] of drawn.phases) {
    at += ns;
    if (phaseKind(phase) === "waiting") from = to = at;
    else if (phaseKind(phase) === "computing") to = at;
  }
  return { from, to };
}

export class TimelineData {
  // How many slots for sequences of each instance have a row.
  readonly slots = new Map<string, number>();
  instances: string[] = [];
  recording = true;
  now_ns = 0;
  now_unix_ms = 0;
  readonly executions = new Map<string, Execution>();
  readonly requests = new Map<string, DrawnRequest>();
  private readonly members = new Map<string, DrawnRequest[]>();
  private laneEnds: number[] = [];

  add(timeline: Timeline): void {
    this.recording = timeline.recording;
    this.now_ns = timeline.now_ns;
    this.now_unix_ms = timeline.now_unix_ms;
    for (const name of timeline.instances) this.addInstance(name);
    this.addAll(timeline.executions, timeline.requests);
  }

  // Also for records that came in another way.
  addAll(executions: Execution[], requests: RecordedRequest[]): void {
    for (const execution of executions) {
      this.addInstance(execution.instance);
      this.executions.set(executionKey(execution), execution);
    }
    const fresh = requests.filter((request) => !this.requests.has(requestKey(request)));
    for (const request of fresh.sort((a, b) => a.start_ns - b.start_ns)) this.place(request);
    this.prune();
  }

  // Newest first.
  find(id: string): DrawnRequest[] {
    return [...this.requests.values()]
      .filter((drawn) => drawn.request.id === id)
      .sort((a, b) => b.start - a.start);
  }

  // The end of the newest record; undefined if there is none.
  newest(): number | undefined {
    const ends = [...this.executions.values()].map((execution) => execution.end_ns);
    for (const drawn of this.requests.values()) ends.push(drawn.end);
    return ends.length === 0 ? undefined : ends.reduce((a, b) => Math.max(a, b));
  }

  // For a part of the timeline without a record: whether there are others.
  whyEmpty(): string {
    const end = this.newest();
    if (end === undefined) return "nothing is remembered yet: send a request";
    return `the newest record is from ${timeOfDay(this.unixMs(end))} (Latest shows it)`;
  }

  membersOf(key: string): readonly DrawnRequest[] {
    return this.members.get(key) ?? [];
  }

  // The time of day of a moment of the server's steady clock.
  unixMs(ns: number): number {
    return this.now_unix_ms + (ns - this.now_ns) / 1e6;
  }

  // What has to be added to a moment of that clock for the nanoseconds since a full minute.
  minuteOffset(): number {
    return (this.now_unix_ms % 60_000) * 1e6 - this.now_ns;
  }

  private addInstance(name: string): void {
    if (!this.instances.includes(name)) this.instances.push(name);
  }

  private place(request: RecordedRequest): void {
    const start = request.start_ns;
    const end = start + request.latency_ns;
    let lane = this.laneEnds.findIndex((busyUntil) => busyUntil <= start);
    if (lane < 0 && this.laneEnds.length < MOST_LANES) lane = this.laneEnds.length;
    if (lane >= 0) this.laneEnds[lane] = end + LANE_GAP_NS;
    const drawn = { request, start, end, lane, phases: Object.entries(request.phases_ns) };
    this.requests.set(requestKey(request), drawn);
    const batch = batchOf(request);
    if (batch === undefined) return;
    this.addSlot(request);
    const members = this.members.get(batch);
    if (members === undefined) this.members.set(batch, [drawn]);
    else members.push(drawn);
  }

  private addSlot({ instance, sequence_slot: slot }: RecordedRequest): void {
    if (instance === undefined || slot === undefined) return;
    const rows = Math.max(this.slots.get(instance) ?? 0, slot + 1);
    this.slots.set(instance, Math.min(rows, MOST_SLOTS));
  }

  // Maps keep the order in which records came, which is that of their ends, nearly.
  private prune(): void {
    for (const key of this.executions.keys()) {
      if (this.executions.size <= MOST_EXECUTIONS) break;
      this.executions.delete(key);
      this.members.delete(key);
    }
    for (const key of this.members.keys()) {
      if (this.members.size <= MOST_EXECUTIONS) break;
      this.members.delete(key);
    }
    for (const key of this.requests.keys()) {
      if (this.requests.size <= MOST_REQUESTS) break;
      this.requests.delete(key);
    }
  }
}
