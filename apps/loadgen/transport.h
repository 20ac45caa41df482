// SPDX-License-Identifier: Apache-2.0
// Transport: one request in flight on each of its slots. The two implementations speak HTTP and
// gRPC; the driver decides when a slot sends. Used by one thread.
#ifndef NEREID_APPS_LOADGEN_TRANSPORT_H_
#define NEREID_APPS_LOADGEN_TRANSPORT_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace nereid::bench {

using BenchClock = std::chrono::steady_clock;
using BenchTime = BenchClock::time_point;

// Bytes of a server's words about a failure that are kept.
inline constexpr size_t kMostErrorBytes = 512;

class Transport {
 public:
  struct Completion {
    int slot = 0;
    bool ok = false;    // the server answered with success
    BenchTime first{};  // streams: when the first response had arrived; otherwise not set
  };

  virtual ~Transport() = default;

  virtual int slots() const = 0;
  // Sends the request on an idle slot, on a new connection if the last one is lost. An error means
  // that there is no connection: the run ends.
  virtual absl::Status Send(int slot) = 0;
  // Waits until something completes or `until` has passed; appends what completed. Requests on a
  // connection that is lost complete without success.
  virtual absl::Status Poll(BenchTime until, std::vector<Completion>* done) = 0;

  // Why the last request of a slot had no success, in the server's words where it said something.
  // REQUIRES: it had none.
  virtual std::string error(int slot) const = 0;
  // If the next request of an idle slot would continue a sequence: makes it the sequence's last
  // one, and returns true.
  virtual bool EndSequence(int slot) = 0;

  // While this is on, the tensor part of each slot's last answer is kept.
  virtual void KeepAnswers(bool keep) = 0;
  // The bytes that the reference is compared with. REQUIRES: kept.
  virtual absl::string_view answer(int slot) const = 0;
};

}  // namespace nereid::bench

#endif  // NEREID_APPS_LOADGEN_TRANSPORT_H_
