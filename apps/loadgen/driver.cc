#include "apps/loadgen/driver.h"

#include <absl/strings/str_cat.h>

#include <string>
#include <vector>

#include "base/status_macros.h"

namespace nereid::bench {
namespace {

using Completions = std::vector<Transport::Completion>;
using std::chrono::nanoseconds;

// The time limit for answers that are still missing at the end.
constexpr std::chrono::seconds kDrain{10};

int64_t NanosecondsBetween(BenchTime from, BenchTime to) {
  return std::chrono::duration_cast<nanoseconds>(to - from).count();
}

double SecondsBetween(BenchTime from, BenchTime to) {
  return std::chrono::duration<double>(to - from).count();
}

void Record(const Transport::Completion& completion, BenchTime begun, BenchTime now,
            Measured* measured) {
  if (completion.ok) {
    measured->latency.Add(NanosecondsBetween(begun, now));
  } else {
    ++measured->errors;
  }
}

absl::Status Drain(Transport* transport, int in_flight) {
  const BenchTime deadline = BenchClock::now() + kDrain;
  Completions done;
  while (in_flight > 0) {
    if (BenchClock::now() > deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat(in_flight, " requests had no answer after the end of the run"));
    }
    done.clear();
    RETURN_IF_ERROR(transport->Poll(deadline, &done));
    in_flight -= static_cast<int>(done.size());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Measured> RunClosed(Transport* transport, BenchClock::duration length) {
  Measured measured;
  const BenchTime start = BenchClock::now();
  const BenchTime end = start + length;
  std::vector<BenchTime> begun(static_cast<size_t>(transport->slots()));
  for (int slot = 0; slot < transport->slots(); ++slot) {
    begun[static_cast<size_t>(slot)] = BenchClock::now();
    RETURN_IF_ERROR(transport->Send(slot));
  }
  int in_flight = transport->slots();
  Completions done;
  for (BenchTime now = start; now < end;) {
    done.clear();
    RETURN_IF_ERROR(transport->Poll(end, &done));
    now = BenchClock::now();
    for (const Transport::Completion& completion : done) {
      now = BenchClock::now();
      BenchTime& began = begun[static_cast<size_t>(completion.slot)];
      if (now < end) {
        Record(completion, began, now, &measured);
        began = now;
        RETURN_IF_ERROR(transport->Send(completion.slot));
      } else {
        --in_flight;
      }
    }
  }
  measured.seconds = SecondsBetween(start, end);
  RETURN_IF_ERROR(Drain(transport, in_flight));
  return measured;
}

absl::StatusOr<Measured> RunOpen(Transport* transport, const std::vector<nanoseconds>& due,
                                 nanoseconds within) {
  Measured measured;
  if (due.empty()) return measured;
  const size_t total = due.size();
  const BenchTime start = BenchClock::now();
  const BenchTime give_up = start + due.back() + kDrain;

  std::vector<BenchTime> begun(static_cast<size_t>(transport->slots()));
  std::vector<int> idle;
  for (int slot = transport->slots(); slot-- > 0;) idle.push_back(slot);
  Completions done;
  size_t sent = 0;
  size_t answered = 0;
  BenchTime now = start;
  while (answered < total && now < give_up) {
    for (; sent < total && !idle.empty() && start + due[sent] <= now; ++sent) {
      const int slot = idle.back();
      idle.pop_back();
      begun[static_cast<size_t>(slot)] = start + due[sent];
      RETURN_IF_ERROR(transport->Send(slot));
    }
    done.clear();
    const bool may_send = sent < total && !idle.empty();
    RETURN_IF_ERROR(transport->Poll(may_send ? start + due[sent] : give_up, &done));
    now = BenchClock::now();
    for (const Transport::Completion& completion : done) {
      const BenchTime began = begun[static_cast<size_t>(completion.slot)];
      Record(completion, began, now, &measured);
      if (completion.ok && now - began <= within) ++measured.in_time;
      idle.push_back(completion.slot);
    }
    answered += done.size();
  }
  measured.errors += total - answered;
  measured.seconds = SecondsBetween(start, now);
  return measured;
}

}  // namespace nereid::bench
