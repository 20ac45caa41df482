// SPDX-License-Identifier: Apache-2.0
#include "frontends/tracing/otlp_exporter.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "base/version.h"
#include "frontends/tracing/otlp_encoding.h"
#include "frontends/tracing/otlp_spans.h"
#include "frontends/tracing/span_ids.h"

namespace nereid {
namespace {

constexpr Duration kTimeout = std::chrono::seconds(10);
// The server waits no longer than this for its last spans.
constexpr Duration kLastTimeout = std::chrono::seconds(2);
constexpr Duration kFirstPause = std::chrono::seconds(1);
// The machine's wall clock was set if it differs by more from what the steady clock says.
constexpr int64_t kSetNs = 20'000'000;

std::map<std::string, std::string> WithDefaults(std::map<std::string, std::string> resource) {
  resource.emplace("service.name", "triton-inference-server");
  resource.emplace("telemetry.sdk.name", "nereid");
  resource.emplace("telemetry.sdk.language", "cpp");
  resource.emplace("telemetry.sdk.version", kVersion);
  return resource;
}

}  // namespace

OtlpExporter::OtlpExporter(const OtlpOptions& options, std::unique_ptr<HttpSender> sender,
                           Clock* clock)
    : options_(options),
      resource_(WithDefaults(options.resource)),
      sender_(std::move(sender)),
      clock_(clock) {}

size_t OtlpExporter::WeightOf(const FinishedTrace& trace) const { return CountSpans(trace); }

void OtlpExporter::Add(std::unique_ptr<FinishedTrace> trace) {
  std::vector<std::string> spans = MakeSpans(*trace, WallOffset(), &RandomBits);
  const auto fits = [&] { return spans_.size() + spans.size() <= options_.max_queue_size; };
  if (!fits() && failed_ == 0) Send(/*all=*/true, kTimeout);
  if (!fits()) return CountLost(1);
  const bool first = spans_.empty();
  for (size_t i = 0; i < spans.size(); ++i) {
    spans_.push_back({std::move(spans[i]), /*is_last=*/i + 1 == spans.size()});
  }
  if (failed_ > 0) return;
  if (first) due_ = clock_->Now() + std::chrono::milliseconds(options_.schedule_delay_ms);
  Send(/*all=*/false, kTimeout);
}

void OtlpExporter::OnDue() { Send(/*all=*/true, kTimeout); }

void OtlpExporter::Send(bool all, Duration timeout) {
  while (all ? !spans_.empty() : spans_.size() >= options_.max_export_batch_size) {
    if (SendOne(timeout)) continue;
    due_ = clock_->Now() + kFirstPause * (1 << (failed_ - 1));
    return;
  }
  if (spans_.empty()) due_.reset();
}

bool OtlpExporter::SendOne(Duration timeout) {
  const size_t count = std::min<size_t>(spans_.size(), options_.max_export_batch_size);
  std::vector<absl::string_view> batch;
  uint64_t traces = 0;
  for (size_t i = 0; i < count; ++i) {
    batch.push_back(spans_[i].span);
    traces += spans_[i].is_last ? 1 : 0;
  }
  const absl::Status sent = sender_->Post(MakeExportRequest(resource_, batch), timeout);
  if (!sent.ok() && !std::exchange(trouble_logged_, true)) {
    LOG_WARNING << "traces cannot be sent to '" << options_.url << "': " << sent.message();
  }
  if (sent.ok() && std::exchange(trouble_logged_, false)) {
    LOG_INFO << "traces are sent to '" << options_.url << "' again";
  }
  if (sent.code() == absl::StatusCode::kUnavailable && ++failed_ < kAttempts) return false;
  if (!sent.ok()) {
    LOG_WARNING << count << " spans are lost: " << sent.message();
    CountLost(traces);
  }
  failed_ = 0;
  spans_.erase(spans_.begin(), spans_.begin() + count);
  return true;
}

void OtlpExporter::Finish() {
  failed_ = 0;
  Send(/*all=*/true, kLastTimeout);
  for (const Waiting& waiting : spans_) CountLost(waiting.is_last ? 1 : 0);
  if (!spans_.empty()) LOG_WARNING << spans_.size() << " spans are lost: the server ends";
}

int64_t OtlpExporter::WallOffset() {
  const int64_t now = static_cast<int64_t>(clock_->WallMillis()) * 1'000'000 -
                      static_cast<int64_t>(ToNanos(clock_->Now()));
  // Not anew for each trace: the wall clock is only read in milliseconds.
  if (!wall_offset_ns_.has_value() || std::abs(now - *wall_offset_ns_) > kSetNs) {
    wall_offset_ns_ = now;
  }
  return *wall_offset_ns_;
}

}  // namespace nereid
