// SPDX-License-Identifier: Apache-2.0
#include "huge_pages/huge_page_thread.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/caught.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/threads/thread.h"

namespace nereid {
namespace {

// For want of a huge page. One alone may mean that its memory has been unmapped meanwhile.
constexpr int kMostRefusals = 3;

// A part that was in a huge page already takes microseconds.
constexpr Duration kLeastTurn = std::chrono::microseconds(200);

size_t Mebibytes(size_t huge_pages) { return huge_pages * (OwnMemory::kHugePageBytes >> 20); }

double Milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

HugePageThread::HugePageThread(Clock* clock, std::unique_ptr<ProcessMemory> memory)
    : clock_(clock),
      memory_(std::move(memory)),
      thread_(StartThread({.name = "huge pages", .background = true}, [this] { Run(); })) {}

HugePageThread::~HugePageThread() {
  {
    MutexLock lock(&mu_);
    closed_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void HugePageThread::Run() {
  Duration rest = kInterval;
  while (Rest(rest)) {
    absl::StatusOr<Duration> taken = absl::InternalError("not looked at");
    try {
      taken = Look();
    } catch (...) {  // memory is exhausted
      taken = CaughtStatus();
    }
    rest = kInterval;
    if (taken.ok()) {
      rest = std::max(rest, *taken * kLeastRest);
    } else {  // files may be exhausted; the next look may succeed
      LOG_VERBOSE(1) << "no huge pages for models at this time: " << taken.status().message();
    }
  }
}

absl::StatusOr<Duration> HugePageThread::Look() {
  ASSIGN_OR_RETURN(const uint64_t bytes, memory_->AnonymousBytes());
  if (!watch_.HasGrown(bytes)) return Duration::zero();
  ASSIGN_OR_RETURN(const Duration taken, MakeAllHuge());
  watch_.Done(bytes);
  return taken;
}

absl::StatusOr<Duration> HugePageThread::MakeAllHuge() {
  const TimePoint begin = clock_->Now();
  ASSIGN_OR_RETURN(const std::vector<uint64_t> parts, memory_->FullParts());
  Duration taken = clock_->Now() - begin;
  size_t huge = 0;
  int refusals = 0;  // in succession
  for (const uint64_t part : parts) {
    const TimePoint asked = clock_->Now();
    const absl::Status moved = memory_->MakeHuge(part);
    const Duration turn = clock_->Now() - asked;
    taken += turn;
    if (moved.ok()) ++huge;
    refusals = absl::IsResourceExhausted(moved) ? refusals + 1 : 0;
    if (refusals == kMostRefusals) break;
    if (!Rest(turn < kLeastTurn ? Duration::zero() : turn * kRestAfterPart)) break;
  }
  LOG_VERBOSE(1) << "huge pages hold " << Mebibytes(huge) << " of " << Mebibytes(parts.size())
                 << " MiB of memory that could be in them, after " << Milliseconds(taken) << " ms";
  return taken;
}

bool HugePageThread::Rest(Duration time) {
  const TimePoint end = clock_->Now() + time;
  MutexLock lock(&mu_);
  while (!closed_ && clock_->Now() < end) clock_->Wait(&changed_, &mu_, end);
  return !closed_;
}

std::unique_ptr<HugePageThread> StartHugePageThread(Clock* clock) try {
  absl::StatusOr<OwnMemory> memory = OwnMemory::Open();
  if (!memory.ok()) {
    LOG_VERBOSE(1) << "no huge pages for models: " << memory.status().message();
    return nullptr;
  }
  return std::make_unique<HugePageThread>(clock, std::make_unique<OwnMemory>(*std::move(memory)));
} catch (...) {
  LOG_WARNING << "no huge pages for models: " << CaughtStatus().message();
  return nullptr;
}

}  // namespace nereid
