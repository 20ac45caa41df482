// SPDX-License-Identifier: Apache-2.0
// TraceOptions: what the command line says about tracing. Plain values; their defaults are defined
// only here.
#ifndef NEREID_FRONTENDS_TRACING_TRACE_OPTIONS_H_
#define NEREID_FRONTENDS_TRACING_TRACE_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "frontends/tracing/trace_settings.h"

namespace nereid {

// How spans get to a collector of OpenTelemetry.
struct OtlpOptions {
  std::string url = "http://localhost:4318/v1/traces";
  // Attributes that tell who sends; service.name is among them anyway.
  std::map<std::string, std::string> resource;
  // Spans that may wait to be sent; beyond these, traces are dropped.
  uint32_t max_queue_size = 2048;
  // Milliseconds that a span waits for others of its batch.
  uint32_t schedule_delay_ms = 5000;
  uint32_t max_export_batch_size = 512;  // spans of one message
  // Of the messages, "Name: value". They may hold secrets: never in a log.
  std::vector<std::string> headers;
};

struct TraceOptions {
  TraceMode mode = TraceMode::kTriton;
  TraceSettings settings;
  std::string file;  // of mode triton; empty: nothing can be traced
  OtlpOptions otlp;  // of mode opentelemetry
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_TRACE_OPTIONS_H_
