// SPDX-License-Identifier: Apache-2.0
#include "backends/sdk/gpu_pipeline.h"

#include <utility>

#include "backends/sdk/boundary.h"

namespace nereid_backend {

using Line = GpuWork::Line;
using Point = GpuWork::Point;

GpuPipeline::GpuPipeline(std::unique_ptr<GpuWork> work, int slots)
    : work_(std::move(work)), slots_(static_cast<size_t>(slots)) {
  if (slots > 1) waiter_ = std::thread([this] { WaitForBatches(); });
}

GpuPipeline::~GpuPipeline() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    ends_ = true;
  }
  changed_.notify_all();
  if (waiter_.joinable()) waiter_.join();
}

int GpuPipeline::TakeSlot() {
  const size_t number = std::exchange(next_, (next_ + 1) % slots_.size());
  Slot& slot = slots_[number];
  std::unique_lock<std::mutex> lock(mu_);
  changed_.wait(lock, [&] { return slot.state == State::kFree; });
  slot.state = State::kTaken;
  return static_cast<int>(number);
}

Error GpuPipeline::Enqueue(GpuJob* job, int slot) {
  copies_.clear();
  NB_RETURN_IF_ERROR(job->Stage(slot, &copies_));
  NB_RETURN_IF_ERROR(work_->Copy(Line::kIn, copies_));
  NB_RETURN_IF_ERROR(work_->Record(Line::kIn, slot, Point::kStaged));
  NB_RETURN_IF_ERROR(work_->Wait(Line::kCompute, slot, Point::kStaged));
  NB_RETURN_IF_ERROR(work_->Record(Line::kCompute, slot, Point::kStarted));
  NB_RETURN_IF_ERROR(job->Compute(slot, work_.get()));
  NB_RETURN_IF_ERROR(work_->Record(Line::kCompute, slot, Point::kComputed));
  NB_RETURN_IF_ERROR(work_->Wait(Line::kOut, slot, Point::kComputed));
  copies_.clear();
  NB_RETURN_IF_ERROR(job->Collect(slot, &copies_));
  NB_RETURN_IF_ERROR(work_->Copy(Line::kOut, copies_));
  return Error();
}

void GpuPipeline::Run(std::unique_ptr<GpuJob> job) noexcept {
  const int number = TakeSlot();
  Slot& slot = slots_[static_cast<size_t>(number)];
  slot.job = std::move(job);
  slot.error = Guarded("GpuPipeline", [&] { return Enqueue(slot.job.get(), number); });
  // Also after an error: what has been enqueued uses the slot's memory.
  for (const Line line : {Line::kIn, Line::kCompute}) {
    if (slot.error.ok()) break;
    const Error ordered = work_->Record(line, number, Point::kStaged);
    const Error waits = work_->Wait(Line::kOut, number, Point::kStaged);
  }
  Error recorded = work_->Record(Line::kOut, number, Point::kDone);
  if (slot.error.ok()) slot.error = std::move(recorded);
  if (!waiter_.joinable()) return End(number);
  SetState(&slot, State::kEnqueued);
}

void GpuPipeline::SetState(Slot* slot, State state) noexcept {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    slot->state = state;
  }
  changed_.notify_all();
}

void GpuPipeline::End(int number) noexcept {
  Slot& slot = slots_[static_cast<size_t>(number)];
  Error waited = work_->Synchronize(number, Point::kDone);
  if (slot.error.ok()) slot.error = std::move(waited);
  uint64_t computed_ns = 0;
  if (slot.error.ok()) {
    const auto elapsed = work_->ElapsedNs(number, Point::kStarted, Point::kComputed);
    if (elapsed.ok()) computed_ns = *elapsed;
  }
  slot.job->Finish(number, slot.error, computed_ns);
  slot.job.reset();
  slot.error = Error();
  SetState(&slot, State::kFree);
}

void GpuPipeline::WaitForBatches() noexcept {
  for (size_t number = 0;; number = (number + 1) % slots_.size()) {
    const Slot& oldest = slots_[number];
    {
      std::unique_lock<std::mutex> lock(mu_);
      const auto enqueued = [&] { return oldest.state == State::kEnqueued; };
      changed_.wait(lock, [&] { return ends_ || enqueued(); });
      if (!enqueued()) return;
    }
    End(static_cast<int>(number));
  }
}

}  // namespace nereid_backend
