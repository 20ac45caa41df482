// DroppedRequests: requests that were taken out of a queue and that no instance will see. Filled
// under a scheduler's mutex, answered without it. Thread-compatible; owned by the thread that took
// them out.
#ifndef NEREID_SCHEDULING_DYNAMIC_DROPPED_REQUESTS_H_
#define NEREID_SCHEDULING_DYNAMIC_DROPPED_REQUESTS_H_

#include <vector>

#include "infer/request_ptr.h"

namespace nereid {

struct DroppedRequests {
  DroppedRequests() = default;
  // If memory runs out after the requests have left the queue, they are answered here. Released
  // without an answer, they would count as forgotten by the backend.
  ~DroppedRequests() { Answer(); }
  DroppedRequests(const DroppedRequests&) = delete;
  DroppedRequests& operator=(const DroppedRequests&) = delete;

  bool empty() const { return cancelled.empty() && expired.empty(); }
  // Answers and releases them. REQUIRES: no mutex of a scheduler is held.
  void Answer() noexcept;

  std::vector<RequestPtr> cancelled;
  std::vector<RequestPtr> expired;
};

}  // namespace nereid

#endif  // NEREID_SCHEDULING_DYNAMIC_DROPPED_REQUESTS_H_
