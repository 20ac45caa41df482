// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { shownPart, traceFileName, type TraceEvent } from "../src/trace_file.ts";

const names = (name: string, pid: number): TraceEvent => ({
  name: "process_name",
  ph: "M",
  ts: 0,
  pid,
  args: { name },
});
const execution = (name: string, pid: number, ts: number, dur: number): TraceEvent => ({
  name,
  ph: "X",
  ts,
  pid,
  dur,
});
const edge = (name: string, ph: "b" | "e", ts: number, id: string, pid = 2): TraceEvent => ({
  name,
  ph,
  ts,
  pid,
  id,
});

const trace = {
  displayTimeUnit: "ms",
  traceEvents: [
    names("m 1", 1),
    names("m 2", 2),
    execution("other version", 1, 15, 5),
    execution("early", 2, 0, 9),
    execution("touching", 2, 0, 10),
    execution("within", 2, 12, 1),
    execution("late", 2, 21, 5),
    edge("long", "b", 5, "2.1"),
    edge("queue", "b", 5, "2.1"),
    edge("queue", "e", 7, "2.1"),
    edge("long", "e", 30, "2.1"),
    edge("past", "b", 1, "2.2"),
    edge("past", "e", 9, "2.2"),
  ],
};

test("a trace file has what touches the span, with whole requests, of one version", () => {
  const part = shownPart(trace, "m", "2", { from: 10_000, to: 20_000 });
  assert.equal(part.displayTimeUnit, "ms");
  assert.deepEqual(
    part.traceEvents.map(({ name, ph }) => `${ph} ${name}`),
    ["M process_name", "X touching", "X within", "b long", "b queue", "e queue", "e long"],
  );
});

test("a version that is gone has an empty trace file", () => {
  assert.deepEqual(shownPart(trace, "m", "3", { from: 0, to: 1e9 }).traceEvents, []);
});

test("names of trace files", () => {
  assert.equal(traceFileName("digits_1.x", "2"), "digits_1.x-2-trace.json");
  assert.equal(traceFileName("a/b c", "1"), "a_b_c-1-trace.json");
});
