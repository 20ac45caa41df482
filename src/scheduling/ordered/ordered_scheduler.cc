#include "scheduling/ordered/ordered_scheduler.h"

#include "infer/infer_request.h"

namespace nereid {

absl::Status OrderedScheduler::Enqueue(RequestPtr* request) {
  (*request)->stream()->SetRelay(ResponseOrderer::Reserve(orderer_));
  // A request that is refused gives its place up with its stream.
  return inner().Enqueue(request);
}

}  // namespace nereid
