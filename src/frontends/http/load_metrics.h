// SPDX-License-Identifier: Apache-2.0
// The header endpoint-load-metrics: tells a balancer with an answer how full the server is (the
// format of Open Request Cost Aggregation, ORCA). The numbers are those that backends of language
// models publish about their KV cache. Pure functions, thread-safe.
#ifndef NEREID_FRONTENDS_HTTP_LOAD_METRICS_H_
#define NEREID_FRONTENDS_HTTP_LOAD_METRICS_H_

#include <absl/strings/string_view.h>
#include <absl/types/span.h>

#include <cstdint>
#include <optional>
#include <string>

#include "frontends/http/http_message.h"
#include "observe/metrics/custom_metrics.h"

namespace nereid {

enum class LoadMetricsFormat : uint8_t { kNone, kText, kJson };

// What the header endpoint-load-metrics-format of `request` asks for: text or json.
LoadMetricsFormat LoadMetricsFormatOf(const HttpRequest& request);

// The value of the header; nothing unless `values`, those of the family of KV cache blocks, have
// all that it needs. The caches of several models count together.
std::optional<std::string> LoadMetricsText(LoadMetricsFormat format,
                                           absl::Span<const CustomValue> values);

// Adds the header to `response` if it is asked for and there are such metrics.
void AddLoadMetrics(LoadMetricsFormat format, HttpResponse* response);

}  // namespace nereid

#endif  // NEREID_FRONTENDS_HTTP_LOAD_METRICS_H_
