// SPDX-License-Identifier: Apache-2.0
// What the names of reasons and phases mean, and how they are coloured (style.css has the colours).
// docs/reference/batching.md and docs/operate/recording.md are the whole truth.

export const REASONS: Record<string, string> = {
  full: "it had as many requests as a batch may have",
  preferred_size: "it had reached a preferred size",
  delay_over: "its oldest request had waited for the queue delay",
  idle_instance: "an instance was idle, and no delay is configured",
  end_of_turn: "an instance was idle; it ran on the thread that brought its requests",
  shape_change: "the next request may not share the batch",
  target: "a larger batch would have missed the latency target",
  strategy: "the custom batching strategy left the next request out",
  sequence_slots: "enough slots of sequences had a request",
  not_batched: "the model does not batch: each request is a batch",
};

// The pattern of each reason beside its colour: lines in a tile of eight pixels, from x, y to x, y.
type Line = readonly [number, number, number, number];
export const PATTERNS: Record<string, readonly Line[]> = {
  full: [],
  preferred_size: [[0, 8, 8, 0]],
  delay_over: [[0, 0, 8, 8]],
  idle_instance: [[4, 0, 4, 8]],
  end_of_turn: [[0, 4, 8, 4]],
  shape_change: [[4, 0, 4, 8], [0, 4, 8, 4]],
  target: [[0, 8, 8, 0], [0, 0, 8, 8]],
  strategy: [[3, 4, 5, 4]],
  sequence_slots: [[2, 0, 2, 8], [4, 0, 4, 8]],
  not_batched: [[0, 2, 8, 2], [0, 4, 8, 4]],
  other: [[2, 2, 6, 6]],
};

export const PHASES: Record<string, string> = {
  admission: "until the scheduler has it",
  cache: "until the response cache has said what it has",
  sequence_slot: "waiting for a slot of an instance",
  queue: "waiting until its batch left the queue",
  rate_limit: "waiting until the instance had its resources",
  dispatch: "until the instance began to execute",
  compute_input: "until the inputs were ready",
  compute_infer: "computing the outputs",
  steps: "the steps of the ensemble",
  compute_output: "until the final response was handed over",
  sending: "until the frontend had taken it",
};

export function meaningOf(reason: string): string {
  return REASONS[reason] ?? "a reason that this page does not know";
}

// Phases are drawn in three colours: waiting, computing, handing over.
const WAITING = new Set(["admission", "cache", "sequence_slot", "queue", "rate_limit", "dispatch"]);
const COMPUTING = new Set(["compute_input", "compute_infer", "steps"]);

export function phaseKind(phase: string): "waiting" | "computing" | "leaving" {
  if (WAITING.has(phase)) return "waiting";
  return COMPUTING.has(phase) ? "computing" : "leaving";
}

// The class of a reason's colour; style.css has one for each.
export function reasonClass(reason: string): string {
  return `reason-${reason in REASONS ? reason : "other"}`;
}
