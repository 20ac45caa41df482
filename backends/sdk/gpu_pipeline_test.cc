// SPDX-License-Identifier: Apache-2.0
// The pipeline on a GPU that is a schedule: each copy and computation takes its time, on an engine
// of its own, after what it waits for. So gaps between computations can be counted exactly.
#include "backends/sdk/gpu_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

namespace nereid_backend {
namespace {

using Line = GpuWork::Line;
using Point = GpuWork::Point;
using Ms = uint64_t;

struct Span {
  Ms start = 0;
  Ms end = 0;
};

// What happened, in virtual milliseconds. Outlives the pipeline.
struct Schedule {
  std::mutex mu;
  Ms copy_ms = 4;  // of each list of copies
  Ms compute_ms = 10;
  std::vector<Span> computations;
  std::vector<std::string> calls;
  std::map<std::string, std::string> faults;  // by call, the error
  int blocking_waits = 0;
  int unfinished_reuse = 0;  // slots that were used anew before their batch had been waited for
  std::vector<std::string> finished;
  std::vector<uint64_t> computed_ns;
};

class ScheduledWork final : public GpuWork {
 public:
  explicit ScheduledWork(Schedule* schedule, int slots)
      : schedule_(schedule), slots_(static_cast<size_t>(slots)) {}

  Error Copy(Line line, const std::vector<NEREID_GpuCopy>& copies) override {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    NB_RETURN_IF_ERROR(Call(line == Line::kIn ? "copy in" : "copy out"));
    Ms& end = ends_[static_cast<size_t>(line)];
    end = std::max(end, host_) + (copies.empty() ? 0 : schedule_->copy_ms);
    return Error();
  }
  void* Native(Line) override { return nullptr; }
  Error Record(Line line, int slot, Point point) override {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    Slot& used = slots_[static_cast<size_t>(slot)];
    used.events[static_cast<size_t>(point)] = ends_[static_cast<size_t>(line)];
    if (point == Point::kDone) used.waited = false;
    return Error();
  }
  Error Wait(Line line, int slot, Point point) override {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    Ms& end = ends_[static_cast<size_t>(line)];
    end = std::max(end, slots_[static_cast<size_t>(slot)].events[static_cast<size_t>(point)]);
    return Error();
  }
  Error Synchronize(int slot, Point point) override {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    ++schedule_->blocking_waits;
    slots_[static_cast<size_t>(slot)].waited = true;
    return Call("wait");
  }
  Result<uint64_t> ElapsedNs(int slot, Point from, Point to) override {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    const auto& events = slots_[static_cast<size_t>(slot)].events;
    return (events[static_cast<size_t>(to)] - events[static_cast<size_t>(from)]) * 1'000'000;
  }

  // A batch is put into the slot: not before its last batch has been finished.
  void Begin(int slot) {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    const Slot& used = slots_[static_cast<size_t>(slot)];
    if (!used.waited) ++schedule_->unfinished_reuse;
    host_ = std::max(host_, used.events[static_cast<size_t>(Point::kDone)]);
  }
  Error Compute() {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    NB_RETURN_IF_ERROR(Call("compute"));
    Ms& end = ends_[static_cast<size_t>(Line::kCompute)];
    const Ms start = std::max(end, host_);
    end = start + schedule_->compute_ms;
    schedule_->computations.push_back({start, end});
    return Error();
  }

 private:
  struct Slot {
    std::array<Ms, kPoints> events = {};
    bool waited = true;
  };

  Error Call(const std::string& name) {
    schedule_->calls.push_back(name);
    const auto fault = schedule_->faults.find(name);
    return fault == schedule_->faults.end() ? Error() : Error::Internal(fault->second);
  }

  Schedule* const schedule_;
  std::vector<Slot> slots_;
  std::array<Ms, kLines> ends_ = {};
  Ms host_ = 0;  // when the thread that enqueues has come so far
};

class Job final : public GpuJob {
 public:
  Job(Schedule* schedule, ScheduledWork* work) : schedule_(schedule), work_(work) {}

  Error Stage(int slot, std::vector<NEREID_GpuCopy>* in) override {
    work_->Begin(slot);
    in->emplace_back();
    return Error();
  }
  Error Compute(int, GpuWork*) override { return work_->Compute(); }
  Error Collect(int, std::vector<NEREID_GpuCopy>* out) override {
    out->emplace_back();
    return Error();
  }
  void Finish(int, const Error& error, uint64_t computed_ns) noexcept override {
    const std::lock_guard<std::mutex> lock(schedule_->mu);
    schedule_->finished.push_back(error.ok() ? "" : error.message());
    schedule_->computed_ns.push_back(computed_ns);
  }

 private:
  Schedule* const schedule_;
  ScheduledWork* const work_;
};

void RunBatches(Schedule* schedule, int slots, int batches) {
  auto owned = std::make_unique<ScheduledWork>(schedule, slots);
  ScheduledWork* const work = owned.get();
  GpuPipeline pipeline(std::move(owned), slots);
  for (int i = 0; i < batches; ++i) pipeline.Run(std::make_unique<Job>(schedule, work));
}

// Between the computations, without those before the pipeline is full.
std::vector<Ms> Gaps(const Schedule& schedule) {
  std::vector<Ms> gaps;
  for (size_t i = 2; i < schedule.computations.size(); ++i) {
    gaps.push_back(schedule.computations[i].start - schedule.computations[i - 1].end);
  }
  return gaps;
}

TEST(GpuPipelineTest, WithTwoSlotsTheNextBatchTravelsWhileThisOneComputes) {
  Schedule schedule;
  RunBatches(&schedule, 2, 20);
  EXPECT_EQ(Gaps(schedule), std::vector<Ms>(18, 0));
  EXPECT_EQ(schedule.finished, std::vector<std::string>(20));
  EXPECT_EQ(schedule.computed_ns, std::vector<uint64_t>(20, 10'000'000)) << "without the waiting";
  EXPECT_EQ(schedule.unfinished_reuse, 0);
}

TEST(GpuPipelineTest, WithOneSlotTheGpuWaitsForBothCopies) {
  Schedule schedule;
  RunBatches(&schedule, 1, 20);
  EXPECT_EQ(Gaps(schedule), std::vector<Ms>(18, 8));
  EXPECT_EQ(schedule.unfinished_reuse, 0);
}

TEST(GpuPipelineTest, CopiesThatTakeLongerThanTheComputationAreTheLimit) {
  Schedule schedule;
  schedule.copy_ms = 8;
  RunBatches(&schedule, 2, 20);
  // A batch takes 26 ms in all, and two of them are under way.
  const Span first = schedule.computations[2], last = schedule.computations[18];
  EXPECT_EQ(last.start - first.start, 8u * 26);
}

TEST(GpuPipelineTest, ABatchIsOneListOfCopiesEachWayAndOneWait) {
  Schedule schedule;
  RunBatches(&schedule, 2, 1);
  EXPECT_EQ(schedule.calls, (std::vector<std::string>{"copy in", "compute", "copy out", "wait"}));
  RunBatches(&schedule, 2, 9);
  EXPECT_EQ(schedule.blocking_waits, 10);
}

TEST(GpuPipelineTest, AFailureEndsItsBatchWhenNothingOfItGoesOnAnyMore) {
  for (const char* const call : {"copy in", "compute", "copy out", "wait"}) {
    Schedule schedule;
    schedule.faults[call] = "no";
    RunBatches(&schedule, 2, 3);
    EXPECT_EQ(schedule.finished, std::vector<std::string>(3, "no")) << call;
    EXPECT_EQ(schedule.blocking_waits, 3) << call;
    EXPECT_EQ(schedule.unfinished_reuse, 0) << call;
  }
}

}  // namespace
}  // namespace nereid_backend
