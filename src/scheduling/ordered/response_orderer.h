// ResponseOrderer: lets the responses to requests leave in the order in which places were reserved
// for them. Thread-safe. Shared by the places.
//
// A response that is ready before its turn is kept. The thread that ends the turn of the first
// request delivers the kept responses of the next ones, one thread at a time and without a lock.
// Responses that come meanwhile are left to that thread, so that no thread waits for another.
#ifndef NEREID_SCHEDULING_ORDERED_RESPONSE_ORDERER_H_
#define NEREID_SCHEDULING_ORDERED_RESPONSE_ORDERER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "infer/response.h"
#include "infer/response_stream.h"

namespace nereid {

class ResponseOrderer {
 public:
  // Reserves the next place. Its owner relays responses through it. The final response, or the
  // destructor, gives the place up.
  static std::unique_ptr<ResponseRelay> Reserve(const std::shared_ptr<ResponseOrderer>& orderer);

  // Responses that wait for their turn.
  size_t kept() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Kept {
    std::unique_ptr<InferResponse> response;
    uint32_t flags;
    ResponseTarget target;
  };
  struct PlaceState {
    std::vector<Kept> kept;     // none of them final
    std::optional<Kept> final;  // kept without an allocation, so that it cannot fail
    bool ended = false;         // nothing more will come
  };
  class Place;

  // Throws std::bad_alloc if there is no memory to keep a response that is not final. Then the
  // response is destroyed, and nothing has changed.
  void Relay(uint64_t number, Kept kept) ABSL_LOCKS_EXCLUDED(mu_);
  void End(uint64_t number) ABSL_LOCKS_EXCLUDED(mu_);
  // Delivers the responses whose turn it is, unless another thread does. Releases the mutex
  // meanwhile.
  void Flush() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  std::deque<PlaceState> places_ ABSL_GUARDED_BY(mu_);
  uint64_t first_ ABSL_GUARDED_BY(mu_) = 0;  // number of places_[0], whose turn it is
  bool flushing_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_ORDERED_RESPONSE_ORDERER_H_
