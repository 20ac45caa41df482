// SPDX-License-Identifier: Apache-2.0
// InputRecorder: keeps copies of the inputs of chosen requests until a thread that writes them to a
// file takes them. Thread-safe; threads of requests copy, and wait for nobody.
#ifndef NEREID_INFER_INPUT_RECORDER_H_
#define NEREID_INFER_INPUT_RECORDER_H_

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/export.h"
#include "base/mutex.h"
#include "infer/infer_request.h"

namespace nereid {

struct KeptInput {
  std::string name;
  DataType data_type = DataType::kInvalid;
  Shape shape;  // as sent
  // Whether `bytes` has the tensor: not if it is secret, or in memory that this process cannot
  // read.
  bool has_bytes = false;
  std::string bytes;
};

struct KeptInputs {
  const ServingModel* model = nullptr;  // tells models apart; it may be gone
  uint64_t request_start = 0;
  std::vector<KeptInput> inputs;
};

class NEREID_API InputRecorder {
 public:
  // Most bytes that wait to be taken, and most of one request.
  static constexpr uint64_t kMostBytes = 64 << 20;
  static constexpr uint64_t kMostRequestBytes = 16 << 20;

  // `share` of the requests is kept, chosen as by IsInSample. Of inputs with one of the names
  // `secret`, the bytes are never copied.
  InputRecorder(double share, std::set<std::string> secret)
      : share_(share), secret_(std::move(secret)) {}

  // Copies the inputs, if the request is recorded at all, and chosen. REQUIRES: it has begun its
  // flight.
  void Keep(const InferRequest& request) noexcept;
  // All that have been kept since the last call.
  std::vector<KeptInputs> Take() ABSL_LOCKS_EXCLUDED(mu_);
  // Keeps no more.
  void Stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Requests that were chosen and not kept, because of the bounds or for lack of memory.
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  KeptInput Copy(const InferInput& input) const;
  uint64_t SizeOf(const InferRequest& request) const;

  const double share_;
  const std::set<std::string> secret_;
  std::atomic<bool> stopped_{false};
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> bytes_{0};  // of what is kept, and of what is being copied
  Mutex mu_;
  std::vector<KeptInputs> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace nereid

#endif  // NEREID_INFER_INPUT_RECORDER_H_
