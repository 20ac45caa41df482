// SPDX-License-Identifier: Apache-2.0
// FinishedTrace: all that was seen of one request, for whoever writes or sends it. A plain value.
#ifndef NEREID_FRONTENDS_TRACING_FINISHED_TRACE_H_
#define NEREID_FRONTENDS_TRACING_FINISHED_TRACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/budget.h"
#include "frontends/tracing/trace_parent.h"
#include "frontends/tracing/trace_sampler.h"
#include "model/data_type.h"

namespace nereid {

// Which request an id stands for: that of the client, a step of an ensemble, or one that a model
// has issued.
struct TracedNames {
  uint64_t id = 0;
  uint64_t parent_id = 0;  // 0: the client's own
  std::string model_name;
  int64_t model_version = 0;
  std::string request_id;
  SpanId span_id{};  // all zero: none was given
};

struct TracedTime {
  uint64_t id = 0;
  std::string name;      // of the activity
  uint64_t time_ns = 0;  // steady clock
  bool custom = false;   // the name is a backend's own
};

struct TracedTensor {
  uint64_t id = 0;
  std::string activity;
  std::string name;
  DataType data_type = DataType::kInvalid;
  std::vector<int64_t> shape;
  std::string bytes;
  uint64_t time_ns = 0;  // steady clock
};

// A span, possibly of another trace.
struct SpanPlace {
  SpanTraceId trace_id{};
  SpanId span_id{};
};

// The batch in which a request goes to a backend.
struct TracedBatch {
  uint64_t id = 0;
  uint64_t batch_id = 0;  // the same for all requests of the batch
  uint64_t requests = 0;
  uint64_t time_ns = 0;           // steady clock
  std::optional<SpanPlace> span;  // of the batch; none: it has none
  // The spans of all requests of the batch that are traced, if the batch's span belongs to this
  // trace.
  std::vector<SpanPlace> members;
};

// The request to a model has failed, or the client was told of a fault of the server.
struct TracedError {
  uint64_t id = 0;  // 0: the latter
  std::string message;
};

using TracedEvent = std::variant<TracedNames, TracedTime, TracedTensor, TracedBatch, TracedError>;

struct FinishedTrace {
  uint64_t root_id = 0;  // of the client's request
  std::vector<TracedEvent> events;
  std::optional<TraceParent> parent;
  SpanTraceId span_trace_id{};  // of the spans that are made of it; all zero: none was given
  std::shared_ptr<const TraceSampler> sampler;
  BudgetUnits memory;  // pays for the events
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_FINISHED_TRACE_H_
