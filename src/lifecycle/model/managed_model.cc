// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/model/managed_model.h"

#include <exception>
#include <memory>
#include <utility>

#include "base/log.h"

namespace nereid {
namespace {

constexpr MetricFamily kLoadDuration = {"nv_model_load_duration_secs", MetricKind::kGauge,
                                        "Model load time in seconds", MetricSection::kVersion};

}  // namespace

void ManagedModel::DescribeMetrics(MetricSink* sink) const {
  ServingModel::DescribeMetrics(sink);
  sink->Report(kLoadDuration, load_seconds());
}

void ManagedModel::set_source(std::shared_ptr<ModelSource> source) {
  if (source != nullptr) source->Join();
  source_ = std::move(source);
}

ManagedModel::PreparedClose ManagedModel::PrepareClose(Reaper* reaper,
                                                       std::function<void()> on_done) {
  auto self = std::static_pointer_cast<ManagedModel>(shared_from_this());
  auto job = std::make_shared<Reaper::Job>();
  job->push_back([self, on_done = std::move(on_done)] {
    try {
      self->TearDown();
    } catch (const std::exception& e) {
      // The end is reported all the same, so that no thread waits for ever. The destructor frees
      // the rest.
      LOG_ERROR << "model '" << self->config().name << "': " << e.what();
    }
    if (const auto source = std::move(self->source_); source != nullptr) source->Leave();
    on_done();
  });
  return [reaper, job] { reaper->Run(std::move(*job)); };
}

void ManagedModel::Close(PreparedClose prepared) noexcept {
  if (source_ != nullptr) source_->BeginUnload();
  CloseAdmission();
  // TearDown runs as a job: the last request may end on a thread that TearDown has to join.
  lifetime().Close(std::move(prepared));
}

}  // namespace nereid
