// SPDX-License-Identifier: Apache-2.0
// Suspects: requests that were being executed when their model's process ended. A client that sends
// such a request again and again would keep the process from serving others. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_SUSPECTS_H_
#define NEREID_BACKENDS_PYTHON_SUSPECTS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace nereid_backend {

class Suspects {
 public:
  enum class Verdict {
    kUnknown,
    kSuspect,  // was present once: it is executed alone, so that no other request suffers
    kGuilty,   // ended the process twice, the second time alone: it is refused for a while
  };
  // For how long a guilty request is refused. Then it is a suspect again.
  static constexpr uint64_t kQuarantineNs = uint64_t{600} * 1'000'000'000;
  // For how long a suspect is remembered that does not come again.
  static constexpr uint64_t kMemoryNs = uint64_t{600} * 1'000'000'000;

  // `now`: nanoseconds of a steady clock.
  explicit Suspects(std::function<uint64_t()> now) : now_(std::move(now)) {}

  // False while there are no suspects; this check costs nothing.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  Verdict Judge(uint64_t fingerprint);
  // The process ended while it executed requests with these fingerprints. Whether one of them is
  // guilty from now on.
  bool Accuse(const std::vector<uint64_t>& fingerprints);
  // A request with this fingerprint was executed, and the process survived.
  void Acquit(uint64_t fingerprint);

 private:
  // Number of suspects remembered; the oldest are dropped.
  static constexpr size_t kMost = 64;
  struct Suspect {
    uint64_t fingerprint = 0;
    bool guilty = false;
    uint64_t since = 0;  // of what `guilty` says
  };

  Suspect* Find(uint64_t fingerprint);  // REQUIRES mu_
  // Forgets suspects, and releases the guilty, whose time is over. REQUIRES mu_.
  void Expire(uint64_t now);

  const std::function<uint64_t()> now_;
  std::mutex mu_;
  std::deque<Suspect> suspects_;  // guarded by mu_; ascending by `since`
  std::atomic<bool> any_{false};
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_SUSPECTS_H_
