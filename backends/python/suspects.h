// Suspects: requests that were being executed when their model's process ended. A client that sends
// such a request again and again would keep the process from serving others. Thread-safe.
#ifndef NEREID_BACKENDS_PYTHON_SUSPECTS_H_
#define NEREID_BACKENDS_PYTHON_SUSPECTS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace nereid_backend {

class Suspects {
 public:
  enum class Verdict {
    kUnknown,
    kSuspect,  // was present once: it is executed alone, so that no other request suffers
    kGuilty,   // ended the process twice, the second time alone: it is refused
  };

  // False while there are no suspects; this check costs nothing.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  Verdict Judge(uint64_t fingerprint) const;
  // The process ended while it executed requests with these fingerprints.
  void Accuse(const std::vector<uint64_t>& fingerprints);
  // A request with this fingerprint was executed, and the process survived.
  void Acquit(uint64_t fingerprint);

 private:
  // Number of suspects remembered; the oldest are dropped.
  static constexpr size_t kMost = 64;
  struct Suspect {
    uint64_t fingerprint = 0;
    bool guilty = false;
  };

  mutable std::mutex mu_;
  std::deque<Suspect> suspects_;  // guarded by mu_
  std::atomic<bool> any_{false};
};

}  // namespace nereid_backend

#endif  // NEREID_BACKENDS_PYTHON_SUSPECTS_H_
