// SPDX-License-Identifier: Apache-2.0
// OtlpExporter: sends finished traces to a collector of OpenTelemetry, as OTLP over HTTP. Used by
// one thread.
//
// Spans wait for others of their message until there are enough of them or the delay is over. A
// message that the collector does not take is sent again a few times, later each time; meanwhile
// spans wait, and those that do not fit into the queue are dropped.
#ifndef NEREID_FRONTENDS_TRACING_OTLP_EXPORTER_H_
#define NEREID_FRONTENDS_TRACING_OTLP_EXPORTER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "frontends/tracing/http_sender.h"
#include "frontends/tracing/trace_collector.h"
#include "frontends/tracing/trace_options.h"

namespace nereid {

class OtlpExporter final : public TraceOutput {
 public:
  // A message is sent this often.
  static constexpr int kAttempts = 5;

  // `clock` outlives the exporter.
  OtlpExporter(const OtlpOptions& options, std::unique_ptr<HttpSender> sender, Clock* clock);

  size_t WeightOf(const FinishedTrace& trace) const override;
  void Add(std::unique_ptr<FinishedTrace> trace) override;
  void Retire(std::shared_ptr<const TraceSampler> /*sampler*/) override {}
  std::optional<TimePoint> due() const override { return due_; }
  void OnDue() override;
  void Finish() override;

 private:
  struct Waiting {
    std::string span;      // encoded
    bool is_last = false;  // of its trace
  };

  // Sends messages while there are full ones or, if `all`, spans.
  void Send(bool all, Duration timeout);
  // Sends the next message. False if it has to be sent again later.
  bool SendOne(Duration timeout);
  // What is added to the steady clock's times to get those since the Unix epoch.
  int64_t WallOffset();

  const OtlpOptions options_;
  const std::map<std::string, std::string> resource_;
  const std::unique_ptr<HttpSender> sender_;
  Clock* const clock_;
  std::deque<Waiting> spans_;     // not sent yet
  std::optional<TimePoint> due_;  // when spans_ have waited long enough
  int failed_ = 0;                // attempts to send the next message
  bool trouble_logged_ = false;   // the collector was not reached when it was tried last
  std::optional<int64_t> wall_offset_ns_;
};

}  // namespace nereid

#endif  // NEREID_FRONTENDS_TRACING_OTLP_EXPORTER_H_
