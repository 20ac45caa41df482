// SPDX-License-Identifier: Apache-2.0
// The answers of the server that the page reads (docs/operate/top.md, docs/operate/recording.md).

export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
}

export type Counts = Record<string, number>;

export interface Recent {
  window_ns: number;
  executions: number;
  batch_sizes: Counts;
  reasons: Counts;
  instances: { name: string; busy: number }[];
  requests: number;
  phases_ns: Record<string, Percentiles>;
  latency_ns: Percentiles;
}

// Without `instances` and all that follows for a model that does not serve.
export interface LiveModel {
  name: string;
  version: string; // not there for a model whose versions are unknown
  state: string;
  reason: string;
  in_flight?: number;
  instances?: number;
  busy_ns?: number;
  queued?: number;
  succeeded?: number;
  failed?: Counts;
  cache_hits?: number;
  inferences?: number;
  executions?: number;
  batch_sizes?: Counts;
  recent?: Recent;
}

// A GPU in use. What nothing measures is missing.
export interface LiveGpu {
  id: number;
  name: string;
  uuid: string;
  memory_bytes: number;
  pool_bytes: number;
  pool_used_bytes: number;
  instances: number;
  utilization?: number;
  memory_used_bytes?: number;
  power_watts?: number;
  failure?: string; // it has failed
}

export interface Live {
  now_ns: number;
  now_unix_ms: number;
  server: {
    name: string;
    version: string;
    uptime_ns: number;
    in_flight: number;
    in_flight_limit: number;
    in_flight_bytes: number;
    in_flight_bytes_limit: number;
    queued: number;
    succeeded: number;
    failed: number;
    states: Counts;
    gpus?: LiveGpu[];
  };
  not_shown: number;
  models: LiveModel[];
}

// The answer of /console/history: samples of the last minutes, oldest first.
export interface SampleCounts {
  succeeded: number;
  failed: number;
  queued: number;
  in_flight: number;
}
export interface ModelSample extends SampleCounts {
  name: string;
  version: string;
  instances: number;
  busy_ns: number;
  batches: number;
  units: number;
  latency_ns?: Percentiles;
}
export interface Remembered {
  started_ns: number;
  samples: { now_ns: number; now_unix_ms: number; server: SampleCounts; models: ModelSample[] }[];
}

// The answer of /console/problems: what `nereid check` says of the repositories.
export interface Problems {
  checked: number;
  problems: { model: string; kind: "problem" | "warning"; text: string }[];
}

export interface Execution {
  instance: string;
  number: number;
  reason: string;
  requests: number;
  units: number;
  fillers: number;
  thread: string;
  failed: boolean;
  left_queue_ns: number;
  start_ns: number;
  end_ns: number;
  members: string[];
}

export interface RecordedRequest {
  id: string;
  model: string;
  version: string;
  outcome: string;
  start_ns: number;
  latency_ns: number;
  phases_ns: Counts;
  batch_size?: number;
  sequence?: string;
  sequence_slot?: number; // that its sequence had in the instance
  instance?: string;
  batch?: number;
  execution?: Execution;
  ensemble?: number; // there, if the model is an ensemble
  steps?: RecordedRequest[]; // only in the answer about an id
}

export interface Timeline {
  now_ns: number;
  now_unix_ms: number;
  model: string;
  version: string;
  recording: boolean;
  instances: string[];
  executions: Execution[];
  requests: RecordedRequest[];
}

export interface LogLine {
  number: number;
  unix_us: number;
  level: string;
  message: string;
  place?: string;
  request_id?: string;
  model?: string;
}

export interface LogTail {
  dropped: number;
  lines: LogLine[];
}

export interface TensorMetadata {
  name: string;
  datatype: string;
  shape: number[];
}

export interface ModelMetadata {
  name: string;
  versions: string[];
  platform: string;
  inputs: TensorMetadata[];
  outputs: TensorMetadata[];
}

export interface ConsoleSettings {
  model_control: "none" | "poll" | "explicit" | "ondemand";
  http_port: number; // 0: there is none
  http_tls: boolean;
}
