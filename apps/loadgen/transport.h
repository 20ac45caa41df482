// Transport: one request in flight on each of its slots. The two implementations speak HTTP and
// gRPC; the driver decides when a slot sends. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_TRANSPORT_H_
#define NEREID_APPS_LOADGEN_TRANSPORT_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <chrono>
#include <vector>

namespace nereid::bench {

using BenchClock = std::chrono::steady_clock;
using BenchTime = BenchClock::time_point;

class Transport {
 public:
  struct Completion {
    int slot = 0;
    bool ok = false;  // the server answered with success
  };

  virtual ~Transport() = default;

  virtual int slots() const = 0;
  // Sends the request on an idle slot. An error means that the connection is lost: the run ends.
  virtual absl::Status Send(int slot) = 0;
  // Waits until something completes or `until` has passed; appends what completed.
  virtual absl::Status Poll(BenchTime until, std::vector<Completion>* done) = 0;

  // While this is on, the tensor part of each slot's last answer is kept.
  virtual void KeepAnswers(bool keep) = 0;
  // The bytes that the reference is compared with. REQUIRES: kept.
  virtual absl::string_view answer(int slot) const = 0;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_TRANSPORT_H_
