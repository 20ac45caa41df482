// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Execution, RecordedRequest, Timeline } from "../src/answers.ts";
import { timeOfDay } from "../src/format.ts";
import {
  MOST_LANES,
  MOST_REQUESTS,
  MOST_SLOTS,
  TimelineData,
  executionKey,
  requestKey,
} from "../src/timeline_data.ts";
import {
  AXIS_HEIGHT,
  GUTTER,
  INSTANCE_HEIGHT,
  LONGEST_SPAN_NS,
  SHORTEST_SPAN_NS,
  SLOT_HEIGHT,
  around,
  between,
  hit,
  layOut,
  tickLabel,
  ticks,
  zoom,
} from "../src/timeline_layout.ts";

const MS = 1e6;

function execution(number: number, start: number, end: number, instance = "m_0"): Execution {
  return {
    instance,
    number,
    reason: "full",
    requests: 1,
    units: 1,
    fillers: 0,
    thread: "instance",
    failed: false,
    left_queue_ns: start,
    start_ns: start,
    end_ns: end,
    members: [],
  };
}

function request(id: string, start: number, latency: number, batch?: number): RecordedRequest {
  return {
    id,
    model: "m",
    version: "1",
    outcome: "ok",
    start_ns: start,
    latency_ns: latency,
    phases_ns: { queue: latency / 4, compute_infer: (latency * 3) / 4 },
    ...(batch === undefined ? {} : { instance: "m_0", batch }),
  };
}

function timeline(executions: Execution[], requests: RecordedRequest[], now = 1e9): Timeline {
  return {
    now_ns: now,
    now_unix_ms: 1000,
    model: "m",
    version: "1",
    recording: true,
    instances: ["m_0", "m_1"],
    executions,
    requests,
  };
}

test("what comes twice is kept once", () => {
  const data = new TimelineData();
  const answer = timeline([execution(1, 0, MS)], [request("a", 0, MS, 1), request("b", 0, MS, 1)]);
  data.add(answer);
  data.add(answer);
  assert.equal(data.executions.size, 1);
  assert.equal(data.requests.size, 2);
  assert.deepEqual(
    data.membersOf("m_0#1").map((member) => member.request.id),
    ["a", "b"],
  );
  assert.deepEqual(data.membersOf("m_0#2"), []);
});

test("requests at the same time have lanes of their own, and later ones take them again", () => {
  const data = new TimelineData();
  data.add(timeline([], [request("a", 0, MS), request("b", MS / 2, MS), request("c", 3 * MS, MS)]));
  const lanes = Object.fromEntries(
    [...data.requests.values()].map((drawn) => [drawn.request.id, drawn.lane]),
  );
  assert.deepEqual(lanes, { a: 0, b: 1, c: 0 });
});

test("lanes and requests are bounded", () => {
  const data = new TimelineData();
  const many = Array.from({ length: MOST_REQUESTS + 10 }, (_, i) => request(`r${i}`, i, 1e9));
  data.add(timeline([], many));
  assert.equal(data.requests.size, MOST_REQUESTS);
  assert.equal(data.find("r0").length, 0);
  assert.equal(data.find(`r${MOST_REQUESTS}`).length, 1);
  const shown = layOut(data, { from: 0, to: 2e9 }, 1000);
  assert.ok(shown.requests.every((box) => box.drawn.lane < MOST_LANES));
  assert.equal(shown.requests.length + shown.notDrawn, MOST_REQUESTS);
});

test("the newest of several requests with an id is found first", () => {
  const data = new TimelineData();
  data.add(timeline([], [request("a", 0, MS), request("a", 5 * MS, MS)]));
  assert.deepEqual(
    data.find("a").map((drawn) => drawn.start),
    [5 * MS, 0],
  );
});

test("an empty part says where the newest record is", () => {
  const data = new TimelineData();
  data.add(timeline([], []));
  assert.equal(data.whyEmpty(), "nothing is remembered yet: send a request");
  data.add(timeline([execution(1, 0, MS)], [], 60e9)); // 60 s before now, which is second 1
  assert.equal(data.whyEmpty(), `the newest record is from ${timeOfDay(-59_000 + 1)} (Latest shows it)`);
});

test("times become pixels", () => {
  const data = new TimelineData();
  data.add(
    timeline(
      [
        execution(1, 10 * MS, 20 * MS),
        execution(7, 10 * MS, 20 * MS, "m_1"),
        execution(2, 200 * MS, 300 * MS),
      ],
      [request("a", 10 * MS, 8 * MS, 1)],
    ),
  );
  const layout = layOut(data, { from: 0, to: 100 * MS }, GUTTER + 1000);
  assert.deepEqual(
    layout.batches.map((box) => [box.key, Math.round(box.x), Math.round(box.width)]),
    [
      ["m_0#1", GUTTER + 100, 100],
      ["m_1#7", GUTTER + 100, 100],
    ],
  );
  assert.ok(layout.batches[1]!.y > layout.batches[0]!.y);
  assert.ok(layout.batches[0]!.y >= AXIS_HEIGHT);
  const parts = layout.requests[0]!.parts.map((part) => ({
    ...part,
    x: Math.round(part.x),
    width: Math.round(part.width),
  }));
  assert.deepEqual(parts, [
    { phase: "queue", x: GUTTER + 100, width: 20 },
    { phase: "compute_infer", x: GUTTER + 120, width: 60 },
  ]);
});

// From its fourth part on, a request computes.
function inSlot(id: string, start: number, slot: number, sequence = "7"): RecordedRequest {
  return { ...request(id, start, 8 * MS, 1), sequence, sequence_slot: slot };
}

test("slots of sequences have rows below their instance, and move what is below", () => {
  const data = new TimelineData();
  data.add(
    timeline(
      [execution(1, 10 * MS, 20 * MS), execution(7, 10 * MS, 20 * MS, "m_1")],
      [inSlot("a", 10 * MS, 0), inSlot("b", 10 * MS, 2), request("c", 40 * MS, MS)],
    ),
  );
  const layout = layOut(data, { from: 0, to: 100 * MS }, GUTTER + 1000);
  assert.deepEqual(layout.rows, [
    { name: "m_0", y: AXIS_HEIGHT, slots: 3 },
    { name: "m_1", y: AXIS_HEIGHT + INSTANCE_HEIGHT + 3 * SLOT_HEIGHT, slots: 0 },
  ]);
  assert.deepEqual(
    layout.slots.map((box) => [box.drawn.request.id, Math.round(box.x), Math.round(box.width), box.y]),
    [
      ["a", GUTTER + 120, 60, AXIS_HEIGHT + INSTANCE_HEIGHT + 1],
      ["b", GUTTER + 120, 60, AXIS_HEIGHT + INSTANCE_HEIGHT + 2 * SLOT_HEIGHT + 1],
    ],
  );
  assert.ok(layout.batches[1]!.y > layout.slots[1]!.y + layout.slots[1]!.height);
  assert.ok(layout.requests[0]!.y > layout.batches[1]!.y + layout.batches[1]!.height);
  const [first] = layout.slots;
  assert.equal(hit(layout, first!.x + 5, first!.y + 5), first);
});

test("slots that have a row are bounded", () => {
  const data = new TimelineData();
  data.add(timeline([execution(1, 0, 8 * MS)], [inSlot("a", 0, MOST_SLOTS), inSlot("b", 0, 1)]));
  const layout = layOut(data, { from: 0, to: 100 * MS }, GUTTER + 1000);
  assert.equal(layout.rows[0]!.slots, MOST_SLOTS);
  assert.deepEqual(
    layout.slots.map((box) => box.drawn.request.id),
    ["b"],
  );
});

test("the thing under the pointer is found", () => {
  const data = new TimelineData();
  data.add(timeline([execution(1, 10 * MS, 20 * MS)], [request("a", 10 * MS, 8 * MS, 1)]));
  const layout = layOut(data, { from: 0, to: 100 * MS }, GUTTER + 1000);
  const [batch] = layout.batches;
  const [of] = layout.requests;
  assert.equal(hit(layout, batch!.x + 5, batch!.y + 5), batch);
  assert.equal(hit(layout, of!.x + 5, of!.y + 2), of);
  assert.equal(hit(layout, batch!.x + 500, batch!.y + 5), undefined);
});

test("the newest record is known", () => {
  const data = new TimelineData();
  assert.equal(data.newest(), undefined);
  data.add(timeline([execution(1, 0, 3 * MS)], [request("a", 0, 4 * MS, 1), request("b", 0, MS, 1)]));
  assert.equal(data.newest(), 4 * MS);
});

test("keys tell records apart", () => {
  assert.notEqual(executionKey({ instance: "a", number: 1 }), executionKey({ instance: "b", number: 1 }));
  assert.notEqual(requestKey(request("a", 1, 2)), requestKey(request("a", 2, 2)));
});

test("zooming keeps the point under the pointer, within limits", () => {
  const closer = zoom({ from: 0, to: 1000 * MS }, 0.5, 0.25);
  assert.deepEqual(closer, { from: 125 * MS, to: 625 * MS });
  const least = zoom({ from: 0, to: MS }, 1e-9, 0.5);
  assert.equal(least.to - least.from, SHORTEST_SPAN_NS);
  const most = zoom({ from: 0, to: MS }, 1e12, 0.5);
  assert.equal(most.to - most.from, LONGEST_SPAN_NS);
});

test("a found request lies in the middle", () => {
  const span = around(100 * MS, 110 * MS);
  assert.equal((span.from + span.to) / 2, 105 * MS);
  assert.ok(span.from < 100 * MS && span.to > 110 * MS);
});

test("ticks are round and not too many", () => {
  const { step, at } = ticks({ from: 3 * MS, to: 103 * MS }, 1000);
  assert.equal(step, 20 * MS);
  assert.deepEqual(
    at,
    [20, 40, 60, 80, 100].map((ms) => ms * MS),
  );
});

test("ticks are round in the time of day, whatever the server's clock says", () => {
  const offset = -7 * MS;
  const { at } = ticks({ from: 3 * MS, to: 103 * MS }, 1000, offset);
  assert.deepEqual(
    at.map((tick) => (tick + offset) / MS),
    [0, 20, 40, 60, 80],
  );
});

test("requests fill the height that there is, within limits", () => {
  const data = new TimelineData();
  data.add(timeline([], [request("a", 0, MS), request("b", 0, MS)]));
  const heightIn = (room: number) => layOut(data, { from: 0, to: MS }, 800, room);
  assert.equal(heightIn(0).requests[0]?.height, 8);
  const some = heightIn(180);
  assert.ok(some.requests[0]!.height > 8 && some.height <= 180);
  assert.equal(heightIn(10_000).requests[0]?.height, 24);
});

test("a part of the time is chosen by pixels, whatever the direction", () => {
  const span = { from: 0, to: 1000 * MS };
  const width = GUTTER + 1000;
  assert.deepEqual(between(span, GUTTER + 250, GUTTER + 500, width), { from: 250 * MS, to: 500 * MS });
  assert.deepEqual(between(span, GUTTER + 500, GUTTER + 250, width), { from: 250 * MS, to: 500 * MS });
  assert.deepEqual(between(span, 0, GUTTER + 2000, width), span);
  assert.equal(between(span, GUTTER, GUTTER, width).to, SHORTEST_SPAN_NS);
});

test("labels of the axis: the time of day at full seconds, milliseconds in between", () => {
  const noon = new Date(2026, 0, 2, 12, 0, 5).getTime();
  assert.equal(tickLabel(noon, 1e9), "12:00:05");
  assert.equal(tickLabel(noon, 1e5), "12:00:05");
  assert.equal(tickLabel(noon + 250, 5e7), "+250 ms");
  assert.equal(tickLabel(noon + 250.2, 2e5), "+250.2 ms");
  assert.equal(tickLabel(noon + 0.05, 5e4), "+0.05 ms");
  assert.equal(tickLabel(noon - 0.0001, 1e8), "12:00:05"); // a little less by rounding
});
