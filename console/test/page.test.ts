// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Live, LiveModel } from "../src/answers.ts";
import { credential } from "../src/api.ts";
import { bytes, counted, duration, number, percent, uptime, UNKNOWN } from "../src/format.ts";
import { History, KEPT_SAMPLES, units } from "../src/history.ts";
import { modelHash, parseRoute, tokenIn } from "../src/route.ts";

test("numbers and times as people read them", () => {
  assert.equal(number(undefined), UNKNOWN);
  assert.equal(number(0), "0");
  assert.equal(number(1234.5), "1,235");
  assert.equal(number(12.34), "12.3");
  assert.equal(number(0.5), "0.5");
  assert.equal(duration(0), "0");
  assert.equal(counted(1, "batch", "batches"), "1 batch");
  assert.equal(counted(1200, "batch", "batches"), "1,200 batches");
  assert.equal(duration(850), "850 ns");
  assert.equal(duration(12_300), "12.3 µs");
  assert.equal(duration(4_560_000), "4.56 ms");
  assert.equal(duration(7.89e9), "7.89 s");
  assert.equal(duration(NaN), UNKNOWN);
  assert.equal(uptime(7e9), "7 s");
  assert.equal(uptime(306e9), "5 min 06 s");
  assert.equal(uptime(3_720e9), "1 h 02 min");
  assert.equal(uptime(100 * 3600e9), "4 d 4 h");
  assert.equal(bytes(4096), "4 KiB");
  assert.equal(percent(0.256), "26 %");
});

test("addresses of views", () => {
  assert.deepEqual(parseRoute(""), { view: "overview" });
  assert.deepEqual(parseRoute("#/log"), { view: "log" });
  assert.deepEqual(parseRoute("#/nowhere"), { view: "overview" });
  assert.deepEqual(parseRoute("#/model/a"), { view: "overview" });
  assert.deepEqual(parseRoute("#/model/a/1/x"), { view: "model", model: "a", version: "1", tab: "live" });
  for (const name of ["a/b c", "ü?#", "100%"]) {
    const hash = modelHash({ name, version: "2" }, "timeline", "id & /?");
    assert.deepEqual(parseRoute(hash), {
      view: "model",
      model: name,
      version: "2",
      tab: "timeline",
      request: "id & /?",
    });
  }
  assert.deepEqual(parseRoute("#/model/%E0%A4%A/1"), {
    view: "model",
    model: "%E0%A4%A",
    version: "1",
    tab: "live",
  });
});

test("what opens the API", () => {
  assert.deepEqual(credential("0af"), ["Authorization", "Bearer 0af"]);
  assert.deepEqual(credential(" http://localhost:8003/#token=0af\n"), ["Authorization", "Bearer 0af"]);
  assert.deepEqual(credential("admin-key=a=b: c"), ["admin-key", "a=b: c"]);
  assert.deepEqual(credential("Admin-Key: secret"), ["Admin-Key", "secret"]);
  assert.deepEqual(credential("=x"), ["Authorization", "Bearer =x"]);
});

test("the token of a link", () => {
  assert.equal(tokenIn("#token=0af"), "0af");
  assert.equal(tokenIn("#token="), undefined);
  assert.equal(tokenIn("#/log"), undefined);
});

function live(seconds: number, model: Partial<LiveModel>, uptimeNs = seconds * 1e9): Live {
  return {
    now_ns: seconds * 1e9 + 5,
    now_unix_ms: seconds * 1000,
    server: {
      name: "nereid",
      version: "1",
      uptime_ns: uptimeNs,
      in_flight: 1,
      in_flight_limit: 0,
      in_flight_bytes: 0,
      in_flight_bytes_limit: 0,
      queued: 2,
      succeeded: seconds * 100,
      failed: 0,
      states: { READY: 1 },
    },
    not_shown: 0,
    models: [
      { name: "m", version: "1", state: "READY", reason: "", queued: 0, instances: 2, failed: {}, ...model },
    ],
  };
}

test("rates are differences of counters", () => {
  const history = new History();
  history.add(live(10, { succeeded: 100, busy_ns: 0, batch_sizes: { "1": 10 } }));
  assert.equal(history.of().at(-1)?.requestsPerSecond, undefined);
  history.add(
    live(12, { succeeded: 160, failed: { backend: 20 }, busy_ns: 2e9, batch_sizes: { "1": 10, "4": 10 } }),
  );
  assert.equal(history.of().at(-1)?.requestsPerSecond, 100);
  const last = history.of({ name: "m", version: "1" }).at(-1);
  assert.equal(last?.requestsPerSecond, 40);
  assert.equal(last?.failuresPerSecond, 10);
  assert.equal(last?.batchSize, 4);
  assert.equal(last?.busy, 0.5);
});

test("the same answer again adds nothing, and a server that was started anew begins anew", () => {
  const history = new History();
  history.add(live(10, {}));
  history.add(live(10, {}));
  assert.equal(history.of().length, 1);
  history.add(live(11, {}));
  assert.equal(history.of().length, 2);
  history.add(live(12, {}, 1e9));
  assert.equal(history.of().length, 1);
});

test("a server on a machine that has run for a year is one server", () => {
  const history = new History();
  for (let i = 0; i < 20; i++) {
    const at = live(i, {}, 3e15 + i * 1e9 + i);
    at.now_ns = Number(32_000_000_000_000_001n + BigInt(i) * 1_000_000_001n);
    history.add(at);
  }
  assert.equal(history.of().length, 20);
});

test("a model that was loaded anew has no rate at first", () => {
  const history = new History();
  history.add(live(10, { succeeded: 100 }));
  history.add(live(11, { succeeded: 5 }));
  assert.equal(history.of({ name: "m", version: "1" }).at(-1)?.requestsPerSecond, undefined);
});

test("plots begin with what the server has remembered", () => {
  const sample = (seconds: number, succeeded: number) => {
    const counts = { succeeded, failed: 0, queued: 3, in_flight: 4 };
    const model = { name: "m", version: "1", instances: 2, busy_ns: seconds * 1e9, batches: succeeded / 5 };
    return {
      now_ns: seconds * 1e9 + 5,
      now_unix_ms: seconds * 1000,
      server: counts,
      models: [{ ...model, ...counts, units: succeeded, latency_ns: { p50: 1, p90: 2, p99: 3 } }],
    };
  };
  const history = new History();
  history.add(live(12, { succeeded: 300 }));
  const samples = [sample(10, 100), sample(11, 200), sample(12, 900)];
  history.fill({ started_ns: 5e9, samples });
  assert.equal(history.of().length, 1); // of another server
  history.fill({ started_ns: 5, samples: samples.slice(0, 2) });
  assert.deepEqual(
    history.of({ name: "m", version: "1" }).map((s) => s.requestsPerSecond),
    [undefined, 100, 100],
  );
  const second = history.of({ name: "m", version: "1" })[1];
  assert.equal(second?.batchSize, 5);
  assert.equal(second?.busy, 0.5);
  assert.equal(second?.p99, 3);
  assert.equal(history.of()[1]?.requestsPerSecond, 100);
  assert.equal(history.of()[1]?.inFlight, 4);
});

test("history is bounded", () => {
  const history = new History();
  for (let i = 0; i < KEPT_SAMPLES + 50; i++) history.add(live(i + 1, {}));
  assert.equal(history.of().length, KEPT_SAMPLES);
});

test("units of batches", () => {
  assert.equal(units({ "1": 2, "8": 3 }), 26);
});
